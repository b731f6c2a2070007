package command

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// PreviewSkip returns the order as Skip would leave it, by the same rule, and changes nothing.
func PreviewSkip(of shop.Shop, r billing.Record, by activity.Actor, now time.Time) (billing.Record, error) {
	d := draft{Record: r, shop: of}
	_, err := skip(&d, by, now)
	return d.Record, err
}

// PreviewMove returns the order as Reschedule would leave it, by the same rule, and changes
// nothing. Whether the platform accepts a charge before the present date is not asked.
func PreviewMove(of shop.Shop, r billing.Record, to time.Time, by activity.Actor, now time.Time) (billing.Record, error) {
	d := draft{Record: r, shop: of, opens: opening{contract: r.Contract, cycle: r.Cycle}}
	if err := checkDate(to, now); err != nil {
		return r, err
	}
	_, err := reschedule(&d, Reschedule{BillingDate: to, Actor: by}, now)
	return d.Record, err
}
