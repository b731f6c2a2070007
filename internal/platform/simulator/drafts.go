package simulator

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// draft is a set of changes that wait for their commit.
type draft struct {
	Shop      string
	ID        int64
	App       string `json:",omitempty"` // owner
	Contract  int64  // 0 until a new contract's draft is committed
	New       bool   // the commit makes the contract
	Revision  uint64 // of the contract when the draft was opened
	Customer  int64
	Currency  money.Currency
	Terms     terms
	Lines     int64 // added so far
	Discounts int64 `json:",omitempty"` // added so far
	Committed bool
	CreatedAt time.Time

	Cycle      int `json:",omitempty"` // the cycle that alone is changed; 0: the contract
	CycleEdits int `json:",omitempty"` // of the cycle when the draft was opened
}

func (d *draft) key() rowKey { return number("draft", d.Shop, d.ID) }
func (d *draft) gid() string { return gid.Of("SubscriptionDraft", d.ID) }

func (s *Simulator) openDraft(sh *store, c *contract) *draft {
	d := &draft{
		Shop: sh.Domain, ID: take(&sh.next.Draft), App: c.App, Contract: c.ID, Revision: c.Revision,
		Customer: c.Customer, Currency: c.Currency, Terms: c.Terms.clone(), CreatedAt: s.now(),
	}
	sh.drafts.add(d.ID, d)
	s.save(&sh.next)
	s.save(d)
	return d
}

func (s *Simulator) newDraft(sh *store, cust *customer, cur money.Currency, t terms) *draft {
	d := &draft{
		Shop: sh.Domain, ID: take(&sh.next.Draft), New: true, Customer: cust.ID,
		Currency: cur, Terms: t, CreatedAt: s.now(),
	}
	sh.drafts.add(d.ID, d)
	s.save(&sh.next)
	s.save(d)
	return d
}

// open returns why a draft can no longer be changed.
func (d *draft) open() *userError {
	if d.Committed {
		return &userError{Code: "COMMITTED", Field: []string{"draftId"}, Message: "Subscription draft has been already committed."}
	}
	return nil
}

// line returns the position of a line, or why it cannot be changed.
func (d *draft) line(tail string) (int, *userError) {
	i := slices.IndexFunc(d.Terms.Lines, func(l line) bool { return l.ID == tail })
	if i < 0 {
		return 0, &userError{Code: "INVALID", Field: []string{"lineId"}, Message: "Line does not exist."}
	}
	if d.Terms.Lines[i].Removed {
		return 0, &userError{Code: "ALREADY_REMOVED", Field: []string{"lineId"}, Message: "This line has already been removed."}
	}
	return i, nil
}

// commit makes a draft's changes live.
func (s *Simulator) commit(sh *store, d *draft) (*contract, *userError) {
	if e := d.open(); e != nil {
		return nil, e
	}
	if d.Cycle > 0 {
		return nil, &userError{Code: "BILLING_CYCLE_PRESENT", Field: []string{"draftId"}, Message: "Cannot commit a billing cycle contract draft with this mutation. Please use SubscriptionBillingCycleContractDraftCommit."}
	}
	if e := s.checkTerms(sh, d.Terms); e != nil {
		return nil, e
	}
	now := s.now()
	var c *contract
	if d.New {
		t := d.Terms.settled(nil)
		cust, _ := sh.customers.get(d.Customer)
		c = s.newContract(sh, cust, d.Currency, t, now)
		c.App = d.App
		if s.opts.Switches.DraftCreateIgnoresNextBillingDate {
			c.Segments = []segment{s.draftSegment(now, t.Billing, sh.zone)}
		}
		s.save(c)
		s.emitContract(c, "SUBSCRIPTION_CONTRACTS_CREATE", now)
		d.Contract = c.ID
	} else {
		c, _ = sh.contracts.get(d.Contract)
		t := d.Terms.settled(&c.Terms)
		if c.Revision != d.Revision {
			return nil, stale()
		}
		if c.hasFutureEdits(now) {
			return nil, futureEdits()
		}
		if t.Status != c.Terms.Status && c.terminated() {
			return nil, &userError{Code: "INVALID", Field: []string{"draftId"}, Message: "Subscription contract status cannot be changed once terminated."}
		}
		old := c.Terms
		c.Terms = t
		if !old.Billing.recurs(t.Billing) {
			s.changeRhythm(c, t.Billing, now)
		}
		s.changed(c, now)
		if old.Status != t.Status {
			s.emitContract(c, statusTopics[t.Status], now)
		}
	}
	s.redeemed(sh, d.Terms.Discounts)
	d.Committed = true
	s.save(d)
	return c, nil
}

// newContract makes a contract whose first cycle ends at its next billing date.
// Lines that have no id get one.
func (s *Simulator) newContract(sh *store, cust *customer, cur money.Currency, t terms, created time.Time) *contract {
	if t.Status == "" {
		t.Status = statusActive
	}
	c := &contract{
		Shop: sh.Domain, ID: s.contractNumber(sh), Currency: cur, Customer: cust.ID, Revision: 1,
		CreatedAt: created, UpdatedAt: s.now(), Terms: t,
	}
	for i := range c.Terms.Lines {
		if c.Terms.Lines[i].ID == "" {
			c.Terms.Lines[i].ID = s.newLineID(c)
		}
	}
	c.Segments = []segment{s.firstSegment(created, t.NextBillingDate, t.Billing)}
	sh.indexContract(c)
	s.save(&sh.next)
	s.save(c)
	return c
}

// contractNumber returns the next number of a store's contracts that is not a
// number of another store's: directors name contracts without their store.
func (s *Simulator) contractNumber(sh *store) int64 {
	for {
		id := take(&sh.next.Contract)
		if _, err := s.contract(id); err != nil {
			return id
		}
	}
}

// indexContract makes a contract findable.
func (sh *store) indexContract(c *contract) {
	c.shop = sh
	c.cycles = map[int]*cycle{}
	sh.contracts.add(c.ID, c)
	if cust, ok := sh.customers.get(c.Customer); ok {
		c.customer = cust
		cust.contracts = append(cust.contracts, c)
	}
}
