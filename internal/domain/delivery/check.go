package delivery

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of a profile.
const (
	MaxName     = 127 // characters, of the profile; the platform's limit
	MaxRateName = 255
	MaxPlaces   = 50
	MaxZones    = 250       // of a place
	MaxRates    = 50        // of a zone
	MaxProvince = 10        // characters of a part's code
	MaxPrice    = 1_000_000 // in the currency's main unit
	MaxWeight   = 1_000_000
)

// CheckName returns the name without spaces around it, or says what is wrong.
func CheckName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", invalid("name", "a delivery profile needs a name")
	}
	if n := utf8.RuneCountInString(name); n > MaxName {
		return "", invalid("name", "the name has %d characters: at most %d are possible", n, MaxName)
	}
	return name, nil
}

// CheckPlaces says what is wrong with the places of a profile. The parameter of
// the failure is a path such as "places.0.zones.1.country".
func CheckPlaces(places []platform.Place) error {
	switch {
	case len(places) == 0:
		return invalid("places", "a delivery profile needs at least one location")
	case len(places) > MaxPlaces:
		return invalid("places", "a delivery profile has at most %d locations, not %d", MaxPlaces, len(places))
	}
	first := map[int64]int{}
	for i, p := range places {
		at := fmt.Sprintf("places.%d", i)
		if p.Location < 1 {
			return invalid(at+".location", "a location is required")
		}
		if j, twice := first[p.Location]; twice {
			return invalid(at+".location", "location %d is given twice, first as number %d: put its countries together", p.Location, j)
		}
		first[p.Location] = i
		if err := checkZones(at, p.Zones); err != nil {
			return err
		}
	}
	return nil
}

func checkZones(at string, zones []platform.Zone) error {
	switch {
	case len(zones) == 0:
		return invalid(at+".zones", "a location needs at least one country to deliver to")
	case len(zones) > MaxZones:
		return invalid(at+".zones", "a location delivers to at most %d countries, not %d", MaxZones, len(zones))
	}
	whole, parts := map[string]bool{}, map[string]bool{}
	for i, z := range zones {
		at := fmt.Sprintf("%s.zones.%d", at, i)
		switch {
		case z.Country != "" && !IsCountry(z.Country):
			return invalid(at+".country", "%q is not a country: write two letters such as US, or restOfWorld", z.Country)
		case utf8.RuneCountInString(z.Province) > MaxProvince:
			return invalid(at+".province", "%q is not a part of a country: a code has at most %d characters", z.Province, MaxProvince)
		case whole[z.Country] || z.Province == "" && parts[z.Country]:
			return invalid(at+".country", "%s is given twice: put its delivery methods together", countryName(z.Country))
		case parts[z.Country+"-"+z.Province]:
			return invalid(at+".province", "%s-%s is given twice: put its delivery methods together", z.Country, z.Province)
		}
		if z.Province == "" {
			whole[z.Country] = true
		} else {
			parts[z.Country], parts[z.Country+"-"+z.Province] = true, true
		}
		if err := checkRates(at, z.Rates); err != nil {
			return err
		}
	}
	return nil
}

func countryName(code string) string {
	if code == "" {
		return "the rest of the world"
	}
	return code
}

func checkRates(at string, rates []platform.Rate) error {
	switch {
	case len(rates) == 0:
		return invalid(at+".rates", "a country needs at least one delivery method")
	case len(rates) > MaxRates:
		return invalid(at+".rates", "a country has at most %d delivery methods, not %d", MaxRates, len(rates))
	}
	for i, r := range rates {
		at := fmt.Sprintf("%s.rates.%d", at, i)
		switch n := utf8.RuneCountInString(r.Name); {
		case strings.TrimSpace(r.Name) == "":
			return invalid(at+".name", "a delivery method needs a name")
		case n > MaxRateName:
			return invalid(at+".name", "the name of a delivery method has %d characters: at most %d are possible", n, MaxRateName)
		case outOfRange(r.Price):
			return invalid(at+".price", "the price %s is not between 0 and %d", r.Price, MaxPrice)
		}
		if err := checkConditions(at, r.Conditions); err != nil {
			return err
		}
	}
	return nil
}

// checkConditions refuses two conditions of a kind from the same side, and those
// that no order meets. An order must meet them all, of both kinds.
func checkConditions(at string, list []platform.RateCondition) error {
	type side struct {
		price bool
		of    platform.ConditionOperator
	}
	given := map[side]platform.RateCondition{}
	for i, c := range list {
		at := fmt.Sprintf("%s.conditions.%d", at, i)
		switch {
		case c.Price != nil && outOfRange(*c.Price):
			return invalid(at+".price", "the price %s is not between 0 and %d", *c.Price, MaxPrice)
		case c.Weight != nil && (c.Weight.Value < 0 || c.Weight.Value > MaxWeight):
			return invalid(at+".weight", "the weight %v is not between 0 and %d", c.Weight.Value, MaxWeight)
		}
		priced := c.Price != nil
		if _, twice := given[side{priced, c.Operator}]; twice {
			return invalid(at+".operator", "%s is given twice", c.Operator)
		}
		given[side{priced, c.Operator}] = c
		low, from := given[side{priced, platform.AtLeast}]
		high, upTo := given[side{priced, platform.AtMost}]
		if from && upTo && (priced && low.Price.Minor > high.Price.Minor || !priced && grams(*low.Weight) > grams(*high.Weight)) {
			return invalid(at, "no order meets both conditions: the lower end lies above the upper end")
		}
	}
	return nil
}

func outOfRange(a money.Amount) bool { return a.Minor < 0 || a.Milli() > MaxPrice*1000 }

// grams makes weights of different units comparable.
func grams(w platform.Weight) float64 {
	return w.Value * map[platform.WeightUnit]float64{
		platform.Grams: 1, platform.Kilograms: 1000, platform.Ounces: 28.349523125, platform.Pounds: 453.59237,
	}[w.Unit]
}

func invalid(path, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Field(path)
}
