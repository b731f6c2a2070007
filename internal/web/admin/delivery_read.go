package admin

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/web"
)

// shippingReader reads the places of a profile. Its failures name the field by
// its whole path.
type shippingReader struct {
	currency money.Currency
}

func (r shippingReader) places(list []placeInput) ([]delivery.Place, error) {
	places := make([]delivery.Place, len(list))
	for i, in := range list {
		at := fmt.Sprintf("locationInfos[%d]", i)
		id, err := in.Location.Parse("Location", at+".locationId")
		if err != nil {
			return nil, err
		}
		if id == 0 {
			return nil, required(at+".locationId", "a location of the store")
		}
		places[i] = delivery.Place{Location: id, Zones: make([]delivery.Zone, len(in.Countries))}
		for j, z := range in.Countries {
			if places[i].Zones[j], err = r.zone(fmt.Sprintf("%s.countryInfos[%d]", at, j), z); err != nil {
				return nil, err
			}
		}
	}
	return places, nil
}

func (r shippingReader) zone(at string, in zoneInput) (delivery.Zone, error) {
	z := delivery.Zone{Country: upper(in.Code), Province: upper(in.Province), Rates: make([]delivery.Rate, len(in.Methods))}
	whole := in.AllProvinces
	switch {
	case in.RestOfWorld && z.Country != "":
		return z, clash(at+".code", "restOfWorld takes no country: leave code out")
	case in.RestOfWorld && z.Province != "":
		return z, clash(at+".provinceCode", "restOfWorld takes no part of a country: leave provinceCode out")
	case in.RestOfWorld:
	case z.Country == "":
		return z, required(at+".code", "a country, or restOfWorld")
	case whole != nil && *whole && z.Province != "":
		return z, clash(at+".provinceCode", "shouldIncludeAllProvince means the whole country: leave provinceCode out, or say false")
	case whole != nil && !*whole && z.Province == "" && delivery.HasParts(z.Country):
		return z, required(at+".provinceCode", "a part of "+z.Country+", or shouldIncludeAllProvince")
	}
	for i, m := range in.Methods {
		var err error
		if z.Rates[i], err = r.rate(fmt.Sprintf("%s.deliveryMethodInfo[%d]", at, i), m); err != nil {
			return z, err
		}
	}
	return z, nil
}

func (r shippingReader) rate(at string, in rateInput) (delivery.Rate, error) {
	rate := delivery.Rate{Name: strings.TrimSpace(in.Name), Price: money.Amount{Currency: r.currency}}
	carrier, err := in.CarrierServiceID.Parse("DeliveryCarrierService", at+".carrierServiceId")
	if err != nil {
		return rate, err
	}
	if in.Amount != nil {
		if rate.Price, err = in.Amount.amount(at+".amount", r.currency); err != nil {
			return rate, err
		}
	}
	switch {
	case in.CarrierRate && carrier == 0:
		return rate, required(at+".carrierServiceId", "the carrier service that says the price")
	case in.CarrierRate && rate.Price.Minor != 0:
		return rate, clash(at+".amount", "the carrier service says the price: leave amount out, or say 0")
	case !in.CarrierRate && carrier != 0:
		return rate, clash(at+".carrierServiceId", "a carrier service needs carrierRate")
	case !in.CarrierRate && in.Amount == nil:
		return rate, required(at+".amount", "the price of the delivery method")
	}
	rate.Carrier = carrier
	rate.Conditions, err = r.conditions(at, in)
	return rate, err
}

// What a method depends on.
const (
	onNothing = "NONE"
	onPrice   = "PRICE"
	onWeight  = "WEIGHT"
)

func (r shippingReader) conditions(at string, in rateInput) ([]delivery.Condition, error) {
	depends := strings.TrimPrefix(upper(in.ConditionType), "TOTAL_")
	if depends != "" {
		var err error
		if depends, err = web.ParseEnum(at+".deliveryConditionType", depends, []string{onNothing, onPrice, onWeight}); err != nil {
			return nil, err
		}
	}
	switch prices, weights := len(in.Prices) > 0, len(in.Weights) > 0; {
	case prices && (depends == onNothing || depends == onWeight):
		return nil, clash(at+".priceConditions", "deliveryConditionType %s takes no priceConditions", depends)
	case weights && (depends == onNothing || depends == onPrice):
		return nil, clash(at+".weightConditions", "deliveryConditionType %s takes no weightConditions", depends)
	case depends == onPrice && !prices:
		return nil, required(at+".priceConditions", "deliveryConditionType PRICE needs them")
	case depends == onWeight && !weights:
		return nil, required(at+".weightConditions", "deliveryConditionType WEIGHT needs them")
	}
	var list []delivery.Condition
	for i, c := range in.Prices {
		at := fmt.Sprintf("%s.priceConditions[%d]", at, i)
		if c.Amount == nil {
			return nil, required(at+".amount", "the price that an order is compared with")
		}
		price, err := c.Amount.amount(at+".amount", r.currency)
		if err != nil {
			return nil, err
		}
		operator, err := operatorOf(at+".deliverCondtion", c.Operator)
		if err != nil {
			return nil, err
		}
		list = append(list, delivery.Condition{Operator: operator, Price: &price})
	}
	for i, c := range in.Weights {
		at := fmt.Sprintf("%s.weightConditions[%d]", at, i)
		if c.Weight == nil {
			return nil, required(at+".weight", "the weight that an order is compared with")
		}
		operator, err := operatorOf(at+".deliveryCondition", c.Operator)
		if err != nil {
			return nil, err
		}
		if c.Unit == "" {
			return nil, required(at+".weightUnit", "GRAMS, KILOGRAMS, OUNCES or POUNDS")
		}
		unit, err := web.ParseEnum(at+".weightUnit", c.Unit, delivery.Units)
		if err != nil {
			return nil, err
		}
		list = append(list, delivery.Condition{Operator: operator, Weight: &delivery.Weight{Value: *c.Weight, Unit: unit}})
	}
	return list, nil
}

func operatorOf(path, word string) (delivery.Operator, error) {
	if word == "" {
		return "", required(path, "GREATER_THAN_OR_EQUAL_TO or LESS_THAN_OR_EQUAL_TO")
	}
	return web.ParseEnum(path, word, delivery.Operators)
}

func upper(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

func clash(path, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity("deliveryProfile").Code("bodyField").Field(path)
}
