package admin

import "github.com/perennialhq/perennial/internal/web"

// shippingProfileBody is a delivery profile as it is asked for.
type shippingProfileBody struct {
	ID        web.AnyID     `json:"id,omitempty" doc:"The profile to be changed: our number or the platform's, or its graph id. Absent or empty: a new one."`
	Shop      string        `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	Name      *string       `json:"name,omitempty" minLength:"1" maxLength:"127" doc:"Required for a new profile." example:"Subscriptions"`
	Locations *[]placeInput `json:"locationInfos,omitempty" minItems:"1" maxItems:"50" doc:"Where things are sent from. Required for a new profile."`
}

// placeInput is a location and the countries that it delivers to.
type placeInput struct {
	Location  web.AnyID   `json:"locationId" doc:"A location of the store, once: number or graph id." example:"6001"`
	Countries []zoneInput `json:"countryInfos" minItems:"1" maxItems:"250" doc:"Where things are delivered to."`
}

// zoneInput is a country, a part of one, or the rest of the world.
type zoneInput struct {
	Code         string      `json:"code,omitempty" maxLength:"2" doc:"The country, two letters. Required unless restOfWorld." example:"US"`
	AllProvinces *bool       `json:"shouldIncludeAllProvince,omitempty" doc:"The whole country. Absent: true unless provinceCode is given."`
	RestOfWorld  bool        `json:"restOfWorld,omitempty" doc:"Every country that no other entry of the location names. Takes no code."`
	Province     string      `json:"provinceCode,omitempty" maxLength:"10" doc:"One part of the country alone, such as CA of US." example:"CA"`
	Methods      []rateInput `json:"deliveryMethodInfo" minItems:"1" maxItems:"50" doc:"The ways of delivery that a buyer chooses from."`
}

// rateInput is a way of delivery.
type rateInput struct {
	Name             string         `json:"name" minLength:"1" maxLength:"255" example:"Standard" doc:"Name of the way of delivery, as buyers read it."`
	Amount           *exactNumber   `json:"amount,omitempty" minimum:"0" maximum:"1000000" doc:"The price in the store's currency. Required unless carrierRate." example:"4.9"`
	CarrierServiceID web.AnyID      `json:"carrierServiceId,omitempty" doc:"The carrier service that says the price: number or graph id. Required with carrierRate."`
	CarrierRate      bool           `json:"carrierRate,omitempty" doc:"A carrier service says the price."`
	ConditionType    string         `json:"deliveryConditionType,omitempty" enum:"NONE,PRICE,WEIGHT" doc:"What the method depends on. Absent or empty: what conditions are given for. TOTAL_PRICE and TOTAL_WEIGHT are read too. In any letter case, as all such words."`
	Prices           []priceInput   `json:"priceConditions,omitempty" maxItems:"2" doc:"At most one from below and one from above. An order must meet them all, and those of the weight."`
	Weights          []weightsInput `json:"weightConditions,omitempty" maxItems:"2" doc:"At most one from below and one from above."`
}

// priceInput compares an order's price.
type priceInput struct {
	Amount   *exactNumber `json:"amount" minimum:"0" maximum:"1000000" doc:"In the store's currency." example:"50"`
	Operator string       `json:"deliverCondtion" enum:"GREATER_THAN_OR_EQUAL_TO,LESS_THAN_OR_EQUAL_TO" doc:"Whether the order must come to amount at least or at most. The name is spelt so." example:"GREATER_THAN_OR_EQUAL_TO"` // sic: the interface spells it so
}

// weightsInput compares an order's weight.
type weightsInput struct {
	Operator string   `json:"deliveryCondition" enum:"GREATER_THAN_OR_EQUAL_TO,LESS_THAN_OR_EQUAL_TO" doc:"Whether the order must weigh so much at least or at most." example:"LESS_THAN_OR_EQUAL_TO"`
	Weight   *float64 `json:"weight" minimum:"0" maximum:"1000000" doc:"The weight, in weightUnit." example:"2.5"`
	Unit     string   `json:"weightUnit" enum:"GRAMS,KILOGRAMS,OUNCES,POUNDS" doc:"Unit of weight." example:"KILOGRAMS"`
}
