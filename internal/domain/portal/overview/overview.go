// Package overview is what subscribers see of their contracts and orders, with what they may do
// about each. It changes nothing.
package overview

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MaxContracts is how many contracts of a subscriber are shown, the newest ones.
const MaxContracts = 100

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	portal.ReadTx
	// SubscriberContracts returns at most limit contracts of a customer, newest first.
	SubscriberContracts(ctx context.Context, customer int64, limit int) ([]contract.Contract, error)
	// OrdersOf returns the attempts of contracts that are open, skipped or were declined, and of
	// all others the newest ones, at most past.
	OrdersOf(ctx context.Context, contracts []contract.ID, past int) ([]billing.Attempt, error)
	// PastOrders returns a page of the attempts of a contract that are neither open nor skipped with a
	// date after now, the newest first.
	PastOrders(ctx context.Context, c contract.ID, p PastPage) ([]billing.Attempt, error)
}

// Store runs transactions.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service reads for subscribers. Every method finds only the caller's own contracts: others are
// NotFound.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Order is an order to come, with what may be done about it.
type Order struct {
	billing.Record

	Can portal.Permissions
}

// Sheet is a contract with its orders.
type Sheet struct {
	portal.View

	Upcoming []Order           // that may still be made, or whose skip can be undone, soonest first
	Past     []billing.Attempt // all others, newest first
	MorePast bool
	Unpaid   *Order // was declined and is not given up; nil: none
}

// Next returns the order that comes next; false when none is to come.
func (s Sheet) Next() (Order, bool) { return s.NextFrom(time.Time{}) }

// NextFrom returns the first order that comes at an instant or later; false when none is in the queue.
func (s Sheet) NextFrom(at time.Time) (Order, bool) {
	for _, o := range s.Upcoming {
		if o.Status != billing.Skipped && !o.BillingDate.Before(at) {
			return o, true
		}
	}
	return Order{}, false
}

// After returns the order that comes after one; false when none does.
func (s Sheet) After(o billing.Attempt) (Order, bool) {
	for _, other := range s.Upcoming {
		if other.Status != billing.Skipped && other.ID != o.ID && o.Precedes(other.Attempt) {
			return other, true
		}
	}
	return Order{}, false
}

// Home is all contracts of a subscriber, those that run first.
type Home struct{ Sheets []Sheet }

// Next returns the sheet and the order that comes next of all; false when none is to come.
func (h Home) Next() (Sheet, Order, bool) {
	var of Sheet
	var first Order
	found := false
	for _, s := range h.Sheets {
		if o, comes := s.Next(); comes && s.Contract.Status == contract.Active && (!found || o.Precedes(first.Attempt)) {
			of, first, found = s, o, true
		}
	}
	return of, first, found
}

// rank is the order in which contracts are listed.
var rank = map[contract.Status]int{contract.Active: 0, contract.Failed: 0, contract.Paused: 1, contract.Cancelled: 2, contract.Expired: 2}

// Home returns the caller's contracts, those that run first.
func (s *Service) Home(ctx context.Context, who portal.Caller) (home Home, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		home = Home{}
		contracts, err := tx.SubscriberContracts(ctx, who.Actor.Customer, MaxContracts)
		if err != nil || len(contracts) == 0 || who.Actor.Customer == 0 {
			return err
		}
		home.Sheets, err = s.sheets(ctx, tx, who, contracts, 0)
		return err
	})
	slices.SortStableFunc(home.Sheets, func(a, b Sheet) int {
		return cmp.Compare(rank[a.Contract.Status], rank[b.Contract.Status])
	})
	return home, err
}

// Sheet returns one contract of the caller's with at most so many past orders.
func (s *Service) Sheet(ctx context.Context, who portal.Caller, id contract.ID, past int) (sheet Sheet, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		sheet, err = s.find(ctx, tx, who, id, past)
		return err
	})
	return sheet, err
}

func (s *Service) find(ctx context.Context, tx ReadTx, who portal.Caller, id contract.ID, past int) (Sheet, error) {
	rows, err := tx.Contracts(ctx, []contract.ID{id})
	if err != nil {
		return Sheet{}, err
	}
	if len(rows) == 0 || who.CannotSee(rows[0]) {
		return Sheet{}, amend.ContractNotFound(id)
	}
	sheets, err := s.sheets(ctx, tx, who, rows, past)
	if err != nil {
		return Sheet{}, err
	}
	return sheets[0], nil
}

// sheets reads the orders of contracts.
func (s *Service) sheets(ctx context.Context, tx ReadTx, who portal.Caller, contracts []contract.Contract, past int) ([]Sheet, error) {
	settings, err := tx.PortalSettings(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	more := past
	if past > 0 {
		more++ // tells whether there are older ones
	}
	attempts, err := tx.OrdersOf(ctx, ids, more)
	if err != nil {
		return nil, err
	}
	byID, _ := billing.ContractsByID(contracts, nil)
	inputs, err := billing.ReadInputs(ctx, tx, who.Shop, byID)
	if err != nil {
		return nil, err
	}
	sheets := make([]Sheet, len(contracts))
	for i, c := range contracts {
		is := portal.State{Shop: who.Shop, Contract: c, Inputs: inputs[c.ID], Now: s.Clock.Now()}
		for _, a := range attempts {
			if a.Contract == c.ID {
				is.Orders = append(is.Orders, a)
			}
		}
		if sheets[i], err = sheetOf(is, settings, past); err != nil {
			return nil, err
		}
	}
	return sheets, nil
}

// sheetOf sorts a contract's orders into those to come and those that have passed.
func sheetOf(is portal.State, settings portal.Settings, past int) (Sheet, error) {
	s := Sheet{View: portal.View{State: is, Settings: settings}}
	var err error
	if s.Can, err = settings.ForContract(is); err != nil {
		return s, err
	}
	for _, a := range is.Orders {
		unpaid := a.Unpaid() && is.Contract.Dunning != nil && is.Contract.Dunning.Attempt == int64(a.ID)
		comes := slices.Contains(billing.Open, a.Status) || a.SkipsAhead(is.Now)
		if !comes {
			s.Past = append(s.Past, a)
		}
		if !comes && !unpaid {
			continue
		}
		o, err := orderOf(s.View, a)
		if err != nil {
			return s, err
		}
		if unpaid {
			s.Unpaid = &o
		} else {
			s.Upcoming = append(s.Upcoming, o)
		}
	}
	slices.SortFunc(s.Upcoming, func(a, b Order) int { return billing.CompareByDate(a.Attempt, b.Attempt) })
	slices.SortFunc(s.Past, func(a, b billing.Attempt) int { return cmp.Compare(b.Cycle, a.Cycle) })
	if s.MorePast = len(s.Past) > past; s.MorePast {
		s.Past = s.Past[:past]
	}
	return s, nil
}

// orderOf returns an order with its one-time products, and what may be done about it.
func orderOf(v portal.View, a billing.Attempt) (Order, error) {
	can, err := v.Order(a)
	return Order{v.Record(a), can}, err
}
