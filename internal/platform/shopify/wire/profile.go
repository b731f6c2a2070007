package wire

// ProfileInput is what a delivery profile is changed to. What is empty is left
// out.
type ProfileInput struct {
	Name           string               `json:"name,omitempty"`
	GroupsToCreate []LocationGroupInput `json:"locationGroupsToCreate,omitempty"`
	GroupsToUpdate []LocationGroupInput `json:"locationGroupsToUpdate,omitempty"`
	GroupsToDelete []string             `json:"locationGroupsToDelete,omitempty"`
	ZonesToDelete  []string             `json:"zonesToDelete,omitempty"`
	PlanGroups     []string             `json:"sellingPlanGroupsToAssociate,omitempty"`
}

// LocationGroupInput is places with the same zones.
type LocationGroupInput struct {
	ID            string      `json:"id,omitempty"`
	Locations     []string    `json:"locations,omitempty"`
	ZonesToCreate []ZoneInput `json:"zonesToCreate,omitempty"`
}

// ZoneInput is where something is delivered to.
type ZoneInput struct {
	Name      string         `json:"name"`
	Countries []CountryInput `json:"countries"`
	Rates     []RateInput    `json:"methodDefinitionsToCreate,omitempty"`
}

// CountryInput is a country, parts of one, or the rest of the world.
type CountryInput struct {
	Code         string          `json:"code,omitempty"`
	RestOfWorld  bool            `json:"restOfWorld,omitempty"`
	AllProvinces bool            `json:"includeAllProvinces"`
	Provinces    []ProvinceInput `json:"provinces,omitempty"`
}

// ProvinceInput is a part of a country.
type ProvinceInput struct {
	Code string `json:"code"`
}

// RateInput is a way of delivery. Exactly one of Fixed and Carrier is set.
type RateInput struct {
	Name    string                 `json:"name"`
	Active  bool                   `json:"active"`
	Fixed   *FixedRateInput        `json:"rateDefinition,omitempty"`
	Carrier *CarrierInput          `json:"participant,omitempty"`
	Prices  []PriceConditionInput  `json:"priceConditionsToCreate,omitempty"`
	Weights []WeightConditionInput `json:"weightConditionsToCreate,omitempty"`
}

// FixedRateInput is a price.
type FixedRateInput struct {
	Price Money `json:"price"`
}

// CarrierInput is a carrier service that says the price.
type CarrierInput struct {
	Service string `json:"carrierServiceId"`
	Adapt   bool   `json:"adaptToNewServices"`
}

// PriceConditionInput compares an order's price.
type PriceConditionInput struct {
	Criteria Money  `json:"criteria"`
	Operator string `json:"operator"`
}

// WeightConditionInput compares an order's weight.
type WeightConditionInput struct {
	Criteria WeightInput `json:"criteria"`
	Operator string      `json:"operator"`
}

// WeightInput is a weight in a unit.
type WeightInput struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}
