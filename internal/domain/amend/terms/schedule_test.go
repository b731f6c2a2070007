package terms

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func TestCheckMultipleRequiresWholeDeliveries(t *testing.T) {
	t.Parallel()
	every := func(n int, i cadence.Interval) Frequency { return Frequency{Interval: i, Count: n} }
	for _, row := range []struct {
		name              string
		billed, delivered Frequency
		ok                bool
	}{
		{"the same", every(1, cadence.Month), every(1, cadence.Month), true},
		{"three deliveries at once", every(3, cadence.Month), every(1, cadence.Month), true},
		{"a year of months", every(1, cadence.Year), every(1, cadence.Month), true},
		{"four weeks of fortnights", every(28, cadence.Day), every(2, cadence.Week), true},
		{"one and a half", every(3, cadence.Month), every(2, cadence.Month), false},
		{"less than one", every(1, cadence.Month), every(2, cadence.Month), false},
		{"months are no number of weeks", every(1, cadence.Month), every(1, cadence.Week), false},
	} {
		if err := CheckMultiple(row.billed, row.delivered); (err == nil) != row.ok {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
