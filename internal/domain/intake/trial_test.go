package intake

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

func TestTrialLastsAsLongAsItsOptionSays(t *testing.T) {
	t.Parallel()
	cal := cadence.Calendar{Zone: time.UTC, Hour: 8}
	c := contract.Contract{CreatedAt: time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC), Billing: cadence.Policy{Interval: cadence.Month, Count: 1}}
	for want, trial := range map[string]plan.Trial{
		"03-24": {Enabled: true, Interval: cadence.Day, Count: 14},
		"03-31": {Enabled: true, Interval: cadence.Week, Count: 3},
		"05-10": {Enabled: true, Interval: cadence.Month, Count: 2},
	} {
		is := TrialOf(c, plan.Option{Trial: trial}, cal)
		if got := is.EndsAt.Format("01-02"); got != want || !is.ChargeAt.Equal(is.EndsAt) {
			t.Errorf("%+v ends on %s and is charged on %s, want %s", trial, got, is.ChargeAt, want)
		}
	}
}
