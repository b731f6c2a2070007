package contractedit

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// PriceNotice is how long before the first order with it a customer is notified of a higher price that
// is announced.
const PriceNotice = swap.NoticeTime

// announced is a price of later orders.
type announced struct {
	price   money.Amount
	at      time.Time // when the first order is due that has it
	pricing *platform.Pricing
}

// announce returns from when on a higher price applies that is announced; nil: from the next order on,
// because the price is not higher, or no order comes before PriceNotice is over.
func (s *Service) announce(ctx context.Context, store shop.Shop, d contract.Detail, at int, l LineChange) (*announced, error) {
	to := l.Price
	if to == nil {
		to = l.Base
	}
	if to == nil || to.Minor <= d.Lines[at].Price.Minor {
		return nil, nil //nolint:nilnil // there is nothing to announce
	}
	var attempts []billing.Attempt
	err := s.Store.View(ctx, store.ID, func(tx intake.ReadTx) (err error) {
		attempts, err = tx.AttemptsOf(ctx, []contract.ID{d.ID})
		return err
	})
	if err != nil {
		return nil, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, err
	}
	cycle, date, err := AnnouncedFrom(d.Contract, attempts, d.Lines[at].ID, s.Clock.Now(), cal)
	if err != nil || date.IsZero() {
		return nil, err
	}
	step := contract.CyclePrice{After: cycle - 1, Kind: platform.FixedPrice, Amount: *to}
	return &announced{*to, date, terms.ComputePricing(d.Lines[at].Price, []contract.CyclePrice{step})}, nil
}

// AnnouncedFrom returns the first order that has a price of a line which is announced now; no date: the
// next one has it. It is a FailedPrecondition for a line with prices by cycle, and for a contract that
// ends before.
func AnnouncedFrom(c contract.Contract, attempts []billing.Attempt, line string, now time.Time, cal cadence.Calendar) (cycle int, date time.Time, err error) {
	cycle, date = amend.DueFrom(c, attempts, now.Add(PriceNotice), now, cal)
	refuse := func(code, format string, args ...any) error {
		return fault.New(fault.FailedPrecondition, format, args...).Entity(amend.Entity).Code(code)
	}
	own, plans := c.Pricing[line], c.PlanPricing[line]
	switch {
	case cycle == amend.NextCycle(c, attempts, now):
		return cycle, time.Time{}, nil
	case len(own.Cycles) > 0 || plans.Changes():
		return 0, time.Time{}, refuse("pricesByCycle", "the line has prices by cycle: change these, or change the price from the next order on")
	case c.PastLastCycle(cycle):
		return 0, time.Time{}, refuse("noLaterOrder", "the contract has no order in %d days or later", int(PriceNotice.Hours()/24))
	}
	return cycle, date, nil
}
