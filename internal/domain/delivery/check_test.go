package delivery

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
)

func dollars(cents int64) *money.Amount { return &money.Amount{Minor: cents, Currency: "USD"} }

func zone(country string, rates ...Rate) Zone {
	if len(rates) == 0 {
		rates = []Rate{{Name: "Standard", Price: *dollars(490)}}
	}
	return Zone{Country: country, Rates: rates}
}

func limited(list ...Condition) Zone {
	return zone("US", Rate{Name: "Standard", Conditions: list})
}

func weighs(op Operator, value float64, unit Unit) Condition {
	return Condition{Operator: op, Weight: &Weight{Value: value, Unit: unit}}
}

func TestCheckPlacesRejects(t *testing.T) {
	t.Parallel()
	part := func(country, province string) Zone {
		z := zone(country)
		z.Province = province
		return z
	}
	at := func(zones ...Zone) []Place { return []Place{{Location: 1, Zones: zones}} }
	for name, test := range map[string]struct {
		places []Place
		want   string // the path at fault
	}{
		"one country":                                 {at(zone("US")), ""},
		"a country and the rest of the world":         {at(zone("US"), zone("")), ""},
		"two parts of a country":                      {at(part("US", "CA"), part("US", "NY")), ""},
		"one country from two places":                 {[]Place{{Location: 1, Zones: []Zone{zone("US")}}, {Location: 2, Zones: []Zone{zone("US")}}}, ""},
		"no place":                                    {nil, "places"},
		"a place without a location":                  {[]Place{{Location: 0, Zones: []Zone{zone("US")}}}, "places.0.location"},
		"a place twice":                               {[]Place{{Location: 1, Zones: []Zone{zone("US")}}, {Location: 1, Zones: []Zone{zone("DE")}}}, "places.1.location"},
		"a place that delivers nowhere":               {at(), "places.0.zones"},
		"a country that is none":                      {at(zone("US"), zone("QQ")), "places.0.zones.1.country"},
		"a country in small letters":                  {at(zone("us")), "places.0.zones.0.country"},
		"a country twice":                             {at(zone("US"), zone("DE"), zone("US")), "places.0.zones.2.country"},
		"the rest of the world twice":                 {at(zone(""), zone("")), "places.0.zones.1.country"},
		"a part twice":                                {at(part("US", "CA"), part("US", "CA")), "places.0.zones.1.province"},
		"a country after a part of it":                {at(part("US", "CA"), zone("US")), "places.0.zones.1.country"},
		"a part after its country":                    {at(zone("US"), part("US", "CA")), "places.0.zones.1.country"},
		"a country without a method":                  {at(Zone{Country: "US"}), "places.0.zones.0.rates"},
		"a method without a name":                     {at(zone("US", Rate{Name: " "})), "places.0.zones.0.rates.0.name"},
		"a method with a long name":                   {at(zone("US", Rate{Name: strings.Repeat("x", 256)})), "places.0.zones.0.rates.0.name"},
		"a method that pays the buyer":                {at(zone("US", Rate{Name: "a"}, Rate{Name: "b", Price: *dollars(-1)})), "places.0.zones.0.rates.1.price"},
		"a price beyond all reason":                   {at(zone("US", Rate{Name: "a", Price: *dollars(100_000_001)})), "places.0.zones.0.rates.0.price"},
		"a million yen":                               {at(zone("US", Rate{Name: "a", Price: money.Amount{Minor: 1_000_000, Currency: "JPY"}})), ""},
		"from ten dollars":                            {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(1000)})), ""},
		"from ten to twenty dollars":                  {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(1000)}, Condition{Operator: platform.AtMost, Price: dollars(2000)})), ""},
		"up to twenty from ten dollars":               {at(limited(Condition{Operator: platform.AtMost, Price: dollars(2000)}, Condition{Operator: platform.AtLeast, Price: dollars(1000)})), ""},
		"from twenty to ten dollars":                  {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(2000)}, Condition{Operator: platform.AtMost, Price: dollars(1000)})), "places.0.zones.0.rates.0.conditions.1"},
		"twice from below":                            {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(1)}, Condition{Operator: platform.AtLeast, Price: dollars(2)})), "places.0.zones.0.rates.0.conditions.1.operator"},
		"by price and by weight":                      {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(1)}, weighs(platform.AtMost, 1, platform.Grams))), ""},
		"three conditions":                            {at(limited(weighs(platform.AtLeast, 1, platform.Grams), weighs(platform.AtMost, 2, platform.Grams), weighs(platform.AtMost, 3, platform.Grams))), "places.0.zones.0.rates.0.conditions.2.operator"},
		"by weight the wrong way round, and by price": {at(limited(Condition{Operator: platform.AtMost, Price: dollars(1)}, weighs(platform.AtLeast, 3, platform.Grams), weighs(platform.AtMost, 2, platform.Grams))), "places.0.zones.0.rates.0.conditions.2"},
		"less than nothing":                           {at(limited(weighs(platform.AtLeast, -1, platform.Grams))), "places.0.zones.0.rates.0.conditions.0.weight"},
		"from one pound to one kilogram":              {at(limited(weighs(platform.AtLeast, 1, platform.Pounds), weighs(platform.AtMost, 1, platform.Kilograms))), ""},
		"from one kilogram to two pounds":             {at(limited(weighs(platform.AtLeast, 1, platform.Kilograms), weighs(platform.AtMost, 2, platform.Pounds))), "places.0.zones.0.rates.0.conditions.1"},
		"from 900 grams to 32 ounces":                 {at(limited(weighs(platform.AtLeast, 900, platform.Grams), weighs(platform.AtMost, 32, platform.Ounces))), ""},
		"a negative price that an order is compared":  {at(limited(Condition{Operator: platform.AtLeast, Price: dollars(-1)})), "places.0.zones.0.rates.0.conditions.0.price"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := CheckPlaces(test.places)
			f, _ := errors.AsType[*fault.Error](err)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (f == nil || f.Param != test.want || f.Kind != fault.Invalid):
				t.Errorf("got %+v, want %s at fault", f, test.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{" Boxes\t": "Boxes", "": "", "  ": "", strings.Repeat("ü", 127): strings.Repeat("ü", 127), strings.Repeat("x", 128): ""} {
		got, err := CheckName(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", given, got, err)
		}
	}
}

func TestCountriesMatchPlatform(t *testing.T) {
	t.Parallel()
	s, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, v := range s.Types["CountryCode"].EnumValues {
		if v.Name != "ZZ" { // unknown
			known = append(known, v.Name)
		}
	}
	if got := strings.Fields(countries); !slices.Equal(got, known) {
		t.Errorf("%d countries, the platform has %d", len(got), len(known))
	}
	for _, code := range strings.Fields(parted) {
		if !IsCountry(code) {
			t.Errorf("%s is no country", code)
		}
	}
	if IsCountry("U ") || IsCountry("") || IsCountry("ZZ") || IsCountry("S U") || !IsCountry("AC") || !IsCountry("ZW") {
		t.Error("what is a country")
	}
}
