package admin

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// domainWords are the words of the domain's paths and those of the interface.
var domainWords = map[string]string{
	"places": "locationInfos", "zones": "countryInfos", "rates": "deliveryMethodInfo", "location": "locationId",
	"country": "code", "province": "provinceCode", "price": "amount", "carrier": "carrierServiceId",
}

var number = regexp.MustCompile(`^\d+$`)

// wirePath spells the path of a failure as the interface does. Conditions stand
// in two lists there, those of the price first.
func wirePath(err error, places *[]placeInput) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Param == "" {
		return err
	}
	var path strings.Builder
	steps := strings.Split(f.Param, ".")
	rate := rateAt(places, steps)
	inCondition, weight := false, false
	for i, step := range steps {
		switch word, known := domainWords[step]; {
		case number.MatchString(step):
			path.WriteString("[" + step + "]")
			continue
		case step == "conditions":
			inCondition = true
			step = "priceConditions"
			if n, err := strconv.Atoi(steps[min(i+1, len(steps)-1)]); err == nil && rate != nil && n >= len(rate.Prices) {
				step, weight = "weightConditions", true
				steps[i+1] = strconv.Itoa(n - len(rate.Prices))
			}
		case step == "operator" && inCondition:
			step = "deliverCondtion"
			if weight {
				step = "deliveryCondition"
			}
		case known:
			step = word
		}
		if i > 0 {
			path.WriteByte('.')
		}
		path.WriteString(step)
	}
	told := *f
	return told.Field(path.String())
}

// rateAt returns the method that a path of the domain leads to, or nil.
func rateAt(places *[]placeInput, steps []string) *rateInput {
	var at [3]int
	if places == nil || len(steps) < 6 {
		return nil
	}
	for i := range at {
		n, err := strconv.Atoi(steps[2*i+1])
		if err != nil || n < 0 {
			return nil
		}
		at[i] = n
	}
	if at[0] >= len(*places) || at[1] >= len((*places)[at[0]].Countries) || at[2] >= len((*places)[at[0]].Countries[at[1]].Methods) {
		return nil
	}
	return &(*places)[at[0]].Countries[at[1]].Methods[at[2]]
}
