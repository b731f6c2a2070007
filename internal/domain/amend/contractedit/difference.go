package contractedit

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// differenceTitle is the title of the discount that gives a credit.
const differenceTitle = "Price difference"

// replacement is a product that takes the place of a line's, as its selling plan sells it in the next order.
type replacement struct {
	line    int // position of the line
	plan    int64
	variant platform.Variant
	price   money.Amount
	pricing *platform.Pricing
}

// difference is the amount by which a product is dearer than the one before in the rest of the paid term.
type difference struct {
	total   money.Amount       // of all units; below zero: a credit
	pricing *platform.Pricing  // with which the next order is charged for it
	credit  *platform.Discount // by which the next orders are cheaper
}

// differenceOf settles the difference with the orders to come: the platform charges a cycle once, so the
// current one cannot be charged again. Nothing is settled on a plan that is not for upgrades and downgrades, nor
// where it is not known what was paid for the line.
func (s *Service) differenceOf(ctx context.Context, store shop.Shop, d contract.Detail, r replacement) (difference, error) {
	now := s.Clock.Now()
	term, paid := terms.PaidTerm(d.Contract, now)
	if !paid {
		return difference{}, nil
	}
	offer, ours, err := s.Offer(ctx, store.ID, d.Line, r.plan)
	if err != nil || !ours || !offer.Exchange {
		return difference{}, err
	}
	var attempts []billing.Attempt
	err = s.Store.View(ctx, store.ID, func(tx intake.ReadTx) (err error) {
		attempts, err = tx.AttemptsOf(ctx, []contract.ID{d.ID})
		return err
	})
	if err != nil {
		return difference{}, err
	}
	cycles := amend.NextCycle(d.Contract, attempts, now) - 1
	is, pricing := d.Lines[r.line], terms.PricingOf(d, r.line)
	if terms.DifferenceWaits(pricing, cycles) {
		return difference{}, notSettled("a difference of its price waits for the next order already")
	}
	paidFor, known := paidLine(d.Contract, is, attempts)
	if !known {
		return difference{}, nil
	}
	was := terms.PaidPrice(paidFor.Price, pricing)
	current, _ := offer.Sells(r.variant.Price, plan.Place{Order: max(d.NextOrder()-1, 1), Cycle: cycles, Deliveries: d.Deliveries()})
	rest := term.Rest(money.Amount{Minor: current.Minor - was.Minor, Currency: was.Currency}, now)
	units := int64(min(is.Quantity, paidFor.Quantity))
	total := rest.Times(units)
	switch {
	case total.Minor > 0:
		more := rest.Share(units, int64(is.Quantity)) // of each unit of the next order
		pricing, ok := terms.SettledWithNextOrder(r.pricing, r.price, more, cycles)
		if !ok {
			return difference{}, notSettled("its plan has another price for a later order, and the platform knows two prices of a line")
		}
		return difference{total: more.Times(int64(is.Quantity)), pricing: pricing}, nil
	case total.Minor < 0:
		credit := total.Times(-1)
		if most := term.Rest(d.LastOrderAmount, now); !d.LastOrderAt.IsZero() && most.Minor < credit.Minor {
			credit = most // discounts have made the order cheaper than its lines
		}
		if credit.Minor <= 0 {
			return difference{}, nil
		}
		each, orders, ok := terms.CreditOver(credit, r.price.Times(int64(is.Quantity)))
		if !ok {
			return difference{}, notSettled("its orders to come are too cheap for the credit")
		}
		return difference{total: credit.Times(-1), credit: &platform.Discount{Title: differenceTitle, Amount: each, CycleLimit: orders, AllLines: true}}, nil
	}
	return difference{}, nil
}

// paidLine returns a line as the contract's last order charged it; false when the order did not have its
// product, or it is not known what the checkout charged.
func paidLine(c contract.Contract, l contract.LineItem, attempts []billing.Attempt) (contract.LineItem, bool) {
	if c.LastOrderAt.IsZero() {
		return l, c.FirstAmount.Currency != "" && c.FirstAmount == c.Amount()
	}
	for _, a := range attempts {
		if a.Status != billing.Success || a.OrderID != c.LastOrderID {
			continue
		}
		for _, had := range a.Lines {
			if had.ID == l.ID && had.VariantID == l.VariantID {
				return had, true
			}
		}
	}
	return contract.LineItem{}, false
}

// apply makes a change of a line settle the difference, and returns it as an entry says it.
func (more difference) apply(c *amend.Change, edit *platform.LineEdit) string {
	if more.total.Minor == 0 {
		return ""
	}
	if more.pricing != nil {
		edit.Pricing = more.pricing
	}
	if more.credit != nil {
		c.Edit.Discounts = append(c.Edit.Discounts, platform.DiscountEdit{Add: more.credit})
		c.Entries = append(c.Entries, amend.Note{Event: activity.DiscountApplied, Details: discountDetails{Title: more.credit.Title}})
	}
	return more.total.String()
}

func notSettled(why string) error {
	return fault.New(fault.FailedPrecondition, "what the line costs more or less in the term that is paid for cannot be settled: %s; send skipBilling=false to change it without", why).
		Entity(amend.Entity).Code("differenceNotSettled").Field("skipBilling")
}
