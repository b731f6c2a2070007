package repair

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// FindingID is the service's number of a finding, unique within a shop.
type FindingID int64

// Kind says how the books differ.
type Kind string

// The kinds of finding.
const (
	UnknownOrder  Kind = "UNKNOWN_ORDER"  // the platform charged, and no cycle of ours can be it
	MissingOrder  Kind = "MISSING_ORDER"  // we believe in an order that the platform does not have
	SecondOrder   Kind = "SECOND_ORDER"   // the platform charged a cycle that has another order
	AmountDiffers Kind = "AMOUNT_DIFFERS" // both have the order, with different amounts
	OpenCharge    Kind = "OPEN_CHARGE"    // a charge has had no end for longer than any should
	NotQueued     Kind = "NOT_QUEUED"     // a contract runs, its date is past, and nothing of it waits
	NoUpcoming    Kind = "NO_UPCOMING"    // a contract runs and has no order to come
	Unreadable    Kind = "UNREADABLE"     // what the platform has of a contract cannot be taken over
)

// Finding is a difference between the platform's books and ours, or within ours.
// There is one for a kind, contract, cycle and object.
type Finding struct {
	ID         FindingID
	Kind       Kind
	Contract   contract.ID
	Cycle      int    // 0: of no cycle
	Object     string // graph id of the platform's billing attempt; may be empty
	What       string
	FirstSeen  time.Time
	LastSeen   time.Time
	ResolvedAt time.Time // zero while it stands
	Version    int64
}

// about reports whether two findings say the same of the same.
func (f Finding) about(o Finding) bool {
	return f.Kind == o.Kind && f.Contract == o.Contract && f.Cycle == o.Cycle && f.Object == o.Object
}

// compareAmounts compares a paid attempt with the platform's charge of its cycle.
func compareAmounts(a billing.Attempt, p platform.Attempt) (Finding, bool) {
	f := Finding{Contract: a.Contract, Cycle: a.Cycle, Object: p.ID}
	switch {
	case a.OrderID != p.Order.ID:
		f.Kind = SecondOrder
		f.What = fmt.Sprintf("order %s (%d) was charged for a cycle that has order %s (%d)", p.Order.Name, p.Order.ID, a.OrderName, a.OrderID)
	case a.Amount != p.Amount:
		f.Kind = AmountDiffers
		f.What = fmt.Sprintf("the platform charged %s %s for order %s, and %s %s is noted", p.Amount, p.Amount.Currency, p.Order.Name, a.Amount, a.Amount.Currency)
	default:
		return Finding{}, false
	}
	return f, true
}

// believed compares what we believe of a successful charge with what the platform
// has under its id; nil when it has nothing.
func believed(a billing.Attempt, p *platform.Attempt) (Finding, bool) {
	f := Finding{Kind: MissingOrder, Contract: a.Contract, Cycle: a.Cycle, Object: a.PlatformID}
	switch {
	case p == nil:
		f.What = fmt.Sprintf("the platform has no charge of order %s (%d)", a.OrderName, a.OrderID)
	case p.State != platform.Succeeded:
		f.What = fmt.Sprintf("the platform says %s of the charge of order %s (%d)", p.State, a.OrderName, a.OrderID)
	default:
		return compareAmounts(a, *p)
	}
	return f, true
}

// unknown is the finding of a charge that belongs to no cycle of ours.
func unknown(p platform.Attempt) Finding {
	return Finding{
		Kind: UnknownOrder, Contract: contract.ID(p.Contract), Object: p.ID,
		What: fmt.Sprintf("order %s (%d) of %s %s belongs to no cycle that is known here", p.Order.Name, p.Order.ID, p.Amount, p.Amount.Currency),
	}
}

// merge says what becomes of the findings that stand. Those that are seen again
// stay; those that are not, and were looked for, are resolved.
func merge(standing, seen []Finding, lookedFor func(Finding) bool, now time.Time) (put, begun, ended []Finding) {
	matched := make([]bool, len(seen))
	for _, old := range standing {
		again := false
		for i, f := range seen {
			if old.about(f) {
				again, matched[i] = true, true
				old.What = f.What
			}
		}
		switch {
		case again && old.ResolvedAt.IsZero():
			old.LastSeen = now
			put = append(put, old)
		case again:
			old.FirstSeen, old.LastSeen, old.ResolvedAt = now, now, time.Time{}
			put, begun = append(put, old), append(begun, old)
		case old.ResolvedAt.IsZero() && lookedFor(old):
			old.ResolvedAt = now
			put, ended = append(put, old), append(ended, old)
		}
	}
	for i, f := range seen {
		if !matched[i] {
			f.FirstSeen, f.LastSeen = now, now
			put, begun = append(put, f), append(begun, f)
		}
	}
	return put, begun, ended
}
