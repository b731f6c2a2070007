package letters

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// untrue says why a message is not sent: what it reports holds no longer. "": it does.
func (m matter) untrue() string {
	c := m.sheet.Contract
	switch {
	case m.Facts.Link != nil || m.notice != nil:
		return ""
	case m.Facts.Points != nil:
		return notify.NoLongerTrue
	case c.ID == 0:
		return notify.NoLongerTrue // the contract is gone, or another customer's
	case c.Terminated() && !m.outlives():
		return notify.ContractCancelled
	}
	is := true
	switch m.Kind {
	case notify.SubscriptionCreated, notify.UpcomingOrder:
		return m.unannounced()
	case notify.ExpiringCard:
		is = c.Card.Ends().Equal(m.Facts.Date) && !c.CardRemindAt().IsZero()
	case notify.TransactionFailed, notify.OutOfStock, notify.SuspensionWarning:
		is = m.unpaid()
	case notify.SecurityChallenge:
		is = m.unpaid() || m.order.Status == billing.Challenge
	case notify.Suspension:
		is = m.suspended()
	case notify.Paused:
		is = c.Status == contract.Paused
	case notify.Resumed:
		is = c.Status == contract.Active
	case notify.Canceled:
		is = c.Status == contract.Cancelled
	case notify.OrderSkipped:
		is = m.order.Status == billing.Skipped
	case notify.NextDate:
		is = m.moved()
	case notify.ProductAdded, notify.ProductReplaced:
		is = slices.ContainsFunc(m.added(), m.has)
	case notify.ProductRemoved:
		is = !m.has(m.Facts.Change.Variant)
	case notify.PriceUpdated:
		is = m.priced()
	}
	if !is {
		return notify.NoLongerTrue
	}
	return ""
}

// outlives reports whether a message is sent though its contract has ended.
func (m matter) outlives() bool {
	return m.Kind == notify.Canceled || m.Kind == notify.Suspension || m.Kind == notify.TransactionSuccess
}

// unannounced says why a contract or its next order is not announced; "": it is.
func (m matter) unannounced() string {
	c := m.sheet.Contract
	switch {
	case c.Status == contract.Paused:
		return notify.ContractPaused
	case c.Status != contract.Active:
		return notify.NoLongerTrue
	case c.PaymentMethod == "":
		return notify.NoPayment
	case m.Kind == notify.SubscriptionCreated:
		return ""
	case m.order.ID == 0 || m.order.Status != billing.Queued || !m.order.BillingDate.Equal(m.Facts.Date):
		return notify.NoLongerTrue
	}
	return ""
}

// unpaid reports whether the order still waits for its payment.
func (m matter) unpaid() bool {
	return m.sheet.Unpaid != nil && m.sheet.Unpaid.ID == m.order.ID
}

// suspended reports whether what ended an unpaid order still holds.
func (m matter) suspended() bool {
	c := m.sheet.Contract
	switch m.Facts.Decline.Action {
	case dunning.Pause:
		return c.Status == contract.Paused
	case dunning.Cancel:
		return c.Status == contract.Cancelled
	case dunning.Skip:
	}
	return m.order.Status == billing.SkippedDunning
}

// dates returns the dates of an order before and after its change.
func (m matter) dates() (from, to time.Time) {
	from, _ = time.Parse(time.RFC3339, m.Facts.Change.From)
	to, _ = time.Parse(time.RFC3339, m.Facts.Change.To)
	return from, to
}

// moved reports whether an order is on the day to which it was moved from another one.
func (m matter) moved() bool {
	from, to := m.dates()
	day := func(t time.Time) string { return m.visit.Local(t).Format(time.DateOnly) }
	return m.order.Status == billing.Queued && m.order.BillingDate.Equal(to) && day(from) != day(to)
}

// added returns the variants that a change brought.
func (m matter) added() []int64 {
	change := m.Facts.Change
	if change.Variant != 0 {
		return []int64{change.Variant}
	}
	var list []int64
	for _, p := range change.Added {
		list = append(list, p.Variant)
	}
	return list
}

// has reports whether the contract or the order has a variant.
func (m matter) has(variant int64) bool {
	is := func(l contract.LineItem) bool { return l.VariantID == variant }
	if m.order != nil && m.order.ID != 0 {
		return slices.ContainsFunc(m.order.LinesOf(), is)
	}
	return slices.ContainsFunc(m.sheet.Contract.Lines, is)
}

// priced reports whether a line has the price that it was given.
func (m matter) priced() bool {
	change := m.Facts.Change
	if change.Rule != 0 && m.announces() {
		next, comes := m.sheet.Next()
		return comes && slices.ContainsFunc(next.Rules.Notices, func(n swap.Notice) bool {
			return int64(n.Rule) == change.Rule && n.Variant == change.Variant && n.Price.String() == change.Price
		})
	}
	if m.announces() {
		return slices.ContainsFunc(m.sheet.Contract.Pricing[change.Line].Cycles, func(step contract.CyclePrice) bool { return step.Computed.String() == change.Price })
	}
	return slices.ContainsFunc(m.sheet.Contract.Lines, func(l contract.LineItem) bool {
		return (l.ID == change.Line || change.Line == "" && l.VariantID == change.Variant) && l.Price.String() == change.Price && change.OldPrice != ""
	})
}

// replaced reports whether a later message says what has become of the same thing.
func (m matter) replaced(later []matter) bool {
	if m.Facts.Change == nil {
		return false
	}
	return slices.ContainsFunc(later, func(o matter) bool { return m.about() == o.about() })
}

// about is what a change changed.
type about struct {
	contract contract.ID
	attempt  int64
	what     string
	variant  int64
}

func (m matter) about() about {
	a := about{contract: m.Contract, attempt: m.Attempt, what: string(m.Kind)}
	switch m.Facts.Change.Event {
	case activity.ProductAdd, activity.ProductRemove, activity.ProductReplace, activity.ProductPriceChange:
		a.variant = m.Facts.Change.Variant
	case activity.ContractPaused, activity.ContractActivated:
		a.what = "status"
	}
	return a
}
