package queue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// settleOneOffs moves the one-time products of contracts with their queues: those of an order that
// will not be made go to the next one that will, those of an order that was made are done, and
// those of a contract that has ended are deleted. It sets in the contracts how many still wait.
func settleOneOffs(ctx context.Context, tx billing.Tx, contracts []*contract.Contract, now time.Time) error {
	if len(contracts) == 0 {
		return nil
	}
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	waiting, err := tx.OneOffs(ctx, ids)
	if err != nil {
		return err
	}
	attempts, err := tx.AttemptsOf(ctx, ids)
	if err != nil {
		return err
	}
	m := moving{now: now, put: make(map[billing.OneOffID]billing.OneOff), touched: make(map[int]bool)}
	for _, c := range contracts {
		var mine []billing.OneOff
		for _, o := range waiting {
			if o.Contract == c.ID {
				mine = append(mine, o)
			}
		}
		from, to := 0, len(attempts)
		for from < to && attempts[from].Contract != c.ID {
			from++
		}
		for to > from && attempts[to-1].Contract != c.ID {
			to--
		}
		c.OneOffs = m.contract(*c, mine, attempts[from:to], from)
	}
	return m.write(ctx, tx, attempts)
}

// moving collects what one transaction does to one-time products.
type moving struct {
	now     time.Time
	put     map[billing.OneOffID]billing.OneOff
	drop    []billing.OneOffID
	touched map[int]bool // indexes of attempts to be written
	entries []activity.Entry
}

// contract settles the products of one contract and returns how many still wait.
// The attempts are in the order of their cycles; offset is the index of the first.
func (m *moving) contract(c contract.Contract, waiting []billing.OneOff, attempts []billing.Attempt, offset int) int {
	left := make([]billing.OneOff, 0, len(waiting))
	for _, o := range waiting {
		at := attemptOn(attempts, o.Cycle)
		switch {
		case c.Status == contract.Cancelled || c.Status == contract.Expired:
			m.drop = append(m.drop, o.ID)
			m.entries = append(m.entries, activity.Entry{
				EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.OneTimePurchaseProductRemoved,
				Status: activity.Success, Actor: activity.System, At: m.now,
				Info: activity.Details(billing.EntryInfo{Cycle: o.Cycle, Variant: o.Variant.ID, Quantity: o.Quantity, Reason: "the contract has ended"}),
			})
		case at >= 0 && attempts[at].Status == billing.Success:
			o.Done, o.UpdatedAt = true, m.now
			m.put[o.ID] = o
		case at >= 0 && (becomesOrder(attempts[at]) || mayStillBePaid(attempts[at], m.now) || attempts[at].Status == billing.Failure && c.Status != contract.Active):
			left = append(left, o)
			m.announce(attempts, at, offset)
		default:
			leftOut := billing.Attempt{Cycle: o.Cycle}
			if at >= 0 {
				leftOut = attempts[at]
			}
			to := NextQueued(attempts, leftOut)
			if to < 0 {
				left = append(left, o) // until there is an order again
				continue
			}
			if at >= 0 && attempts[at].Prep.Edited && attempts[at].PublishAt.IsZero() {
				if attempts[at].Status == billing.Failure { // a person may still charge it
					attempts[at].ResetPreparation()
				} else {
					attempts[at].PublishAt = m.now
				}
				m.touched[offset+at] = true
			}
			m.entries = append(m.entries, billing.NewEntry(attempts[to], activity.UpcomingOrderUpdated, activity.Success, activity.System, m.now, billing.EntryInfo{
				Cycle: attempts[to].Cycle, Variant: o.Variant.ID, Quantity: o.Quantity, Reason: "the one-time product comes from an order that is not made",
			}))
			attempts[to].PublishOneOffs(m.now)
			m.touched[offset+to] = true
			left = m.move(left, waiting, o, attempts[to].Cycle)
		}
	}
	return len(left)
}

// move gives a product to another cycle. If that order has the variant already, it gets more of
// it, even more than may be asked for at once.
func (m *moving) move(left, waiting []billing.OneOff, o billing.OneOff, cycle int) []billing.OneOff {
	for _, list := range [][]billing.OneOff{left, waiting} {
		for i, there := range list {
			if there.ID == o.ID || there.Cycle != cycle || there.Variant.ID != o.Variant.ID {
				continue
			}
			if changed, ok := m.put[there.ID]; ok {
				there = changed
			}
			there.Quantity, there.UpdatedAt = there.Quantity+o.Quantity, m.now
			list[i] = there
			m.put[there.ID] = there
			m.drop = append(m.drop, o.ID)
			return left
		}
	}
	o.Cycle, o.UpdatedAt = cycle, m.now
	m.put[o.ID] = o
	return append(left, o)
}

// announce publishes a product whose attempt is new.
func (m *moving) announce(attempts []billing.Attempt, at, offset int) {
	if a := &attempts[at]; a.Status == billing.Queued && !a.Prep.Edited {
		a.PublishOneOffs(m.now)
		m.touched[offset+at] = true
	}
}

func (m *moving) write(ctx context.Context, tx billing.Tx, attempts []billing.Attempt) error {
	var changed []billing.Attempt
	for i := range attempts {
		if m.touched[i] {
			attempts[i].UpdatedAt = m.now
			changed = append(changed, attempts[i])
		}
	}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return err
	}
	// What is dropped goes first: a moved product may take its place.
	if err := tx.DeleteOneOffs(ctx, m.drop); err != nil {
		return err
	}
	list := make([]billing.OneOff, 0, len(m.put))
	for _, id := range sortedIDs(m.put) {
		list = append(list, m.put[id])
	}
	if err := tx.PutOneOffs(ctx, list); err != nil {
		return err
	}
	return tx.Record(ctx, m.entries...)
}

// becomesOrder reports whether the attempt becomes an order, as far as is known. A declined one
// does while it may be tried again.
func becomesOrder(a billing.Attempt) bool {
	return a.Status == billing.Queued || a.Status.InFlight() || a.Unpaid()
}

// LeftOpen is how long a charge may still be paid that was given up while the platform
// held it open. The platform does not say when it ends those itself.
const LeftOpen = 60 * 24 * time.Hour

// mayStillBePaid reports whether the attempt was given up and may become an order all the
// same, with what it carries.
func mayStillBePaid(a billing.Attempt, now time.Time) bool {
	open := a.ErrorCode == dunning.ChallengeExpired || a.ErrorCode == dunning.EarlierChargeOpen
	return open && (a.Status == billing.Failure || a.Status == billing.SkippedDunning) && now.Sub(a.UpdatedAt) < LeftOpen
}

func attemptOn(attempts []billing.Attempt, cycle int) int {
	for i, a := range attempts {
		if a.Cycle == cycle {
			return i
		}
	}
	return -1
}

// NextQueued returns, of the attempts that wait for their dates, the one whose order is
// made next after that of another one; -1 when there is none. Of the other one the cycle
// may be all that is known: then it is the next of later cycles.
func NextQueued(attempts []billing.Attempt, after billing.Attempt) int {
	next := -1
	for i, a := range attempts {
		later := a.Cycle > after.Cycle
		if !after.BillingDate.IsZero() && !a.BillingDate.Equal(after.BillingDate) {
			later = a.BillingDate.After(after.BillingDate)
		}
		if a.Status == billing.Queued && later && (next < 0 || a.Precedes(attempts[next])) {
			next = i
		}
	}
	return next
}

func sortedIDs[V any](m map[billing.OneOffID]V) []billing.OneOffID {
	return slices.Sorted(maps.Keys(m))
}
