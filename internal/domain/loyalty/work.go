package loyalty

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Work is the task of doing what is due for a store's members: crediting what
// was ordered, releasing and expiring points, and bringing rewards to the
// platform.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "loyalty_work" }

// batchSize is how many facts or members one transaction takes.
const batchSize = 100

// Work does everything that is due.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for _, step := range []func(context.Context, shop.ID) (int, error){s.credit, s.settle} {
		for {
			n, err := step(ctx, of)
			if err != nil {
				return err
			}
			if n < batchSize {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return s.processRewards(ctx, of)
}

// credit gives points for what was ordered.
func (s *Service) credit(ctx context.Context, of shop.ID) (done int, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		facts, err := tx.Facts(ctx, d.now, batchSize)
		done = len(facts)
		if err != nil || done == 0 {
			return err
		}
		var counting, outside []Fact
		for _, f := range facts {
			if d.program.counts(f) {
				counting = append(counting, f)
			} else {
				outside = append(outside, f)
			}
		}
		if err := d.creditAll(ctx, counting); err != nil {
			return err
		}
		if err := d.lookAfter(ctx, facts); err != nil {
			return err
		}
		if err := tx.ForgetFacts(ctx, outside); err != nil {
			return err
		}
		return tx.FinishFacts(ctx, counting)
	})
	if err != nil {
		return 0, fmt.Errorf("give points for orders: %w", err)
	}
	return done, nil
}

// counts reports whether a fact lies within the time of a programme that runs. One that
// does not may, when the programme is changed.
func (p Program) counts(f Fact) bool { return p.Active && !f.At.Before(p.StartedAt) }

func (d *memberTx) creditAll(ctx context.Context, facts []Fact) error {
	facts = slices.DeleteFunc(slices.Clone(facts), func(f Fact) bool { return f.Customer.Customer == 0 })
	ledgers, err := d.members(ctx, facts)
	if err != nil || len(ledgers) == 0 {
		return err
	}
	var sources []Source
	for _, f := range facts {
		sources = append(sources, f.Source)
		for _, p := range f.With {
			sources = append(sources, p.Source)
		}
	}
	posted, err := d.tx.Posted(ctx, sources)
	if err != nil {
		return err
	}
	type line struct {
		Source
		rule RuleID
	}
	given := make(map[line]Points, len(posted))
	for _, e := range posted {
		given[line{e.Source, e.Rule}] += e.Pending + e.Available
	}
	touched := make(map[int64]*Ledger, len(ledgers))
	for _, f := range facts {
		l := ledgers[f.Customer.Customer]
		if l == nil || !l.Account.Status.takesPart() {
			continue
		}
		touched[f.Customer.Customer] = l
		order := f.wholeOrder().inCurrency(d.shop.Currency)
		f = f.inCurrency(d.shop.Currency)
		if f.Type == Purchase || f.Type == Renewal {
			l.Account.Spent = l.Account.Spent.Plus(f.Amount)
		}
		for _, r := range d.program.Terms.Earn {
			if _, known := given[line{f.Source, r.ID}]; known {
				continue
			}
			points := r.Gives(order) // an order earns once, however many parts it has
			for _, p := range f.With {
				points -= given[line{p.Source, r.ID}]
			}
			if points > 0 {
				l.Earn(Posting{Source: f.Source, Rule: r.ID, Points: points, Description: describe(r, f), At: f.At})
				given[line{f.Source, r.ID}] = points
			}
		}
	}
	return d.save(ctx, inOrder(touched)...)
}

func describe(r EarnRule, f Fact) string {
	if f.OrderName == "" {
		return r.Name
	}
	return r.Name + " (" + f.OrderName + ")"
}

// inOrder returns ledgers by their accounts' numbers.
func inOrder(m map[int64]*Ledger) []*Ledger {
	list := make([]*Ledger, 0, len(m))
	for _, l := range m {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *Ledger) int { return int(a.Account.ID - b.Account.ID) })
	return list
}

// members opens the ledgers of the customers that facts are about. Where
// customers become members by themselves, they do.
func (d *memberTx) members(ctx context.Context, facts []Fact) (map[int64]*Ledger, error) {
	people := make(map[int64]Person, len(facts))
	var numbers []int64
	for _, f := range facts {
		if _, seen := people[f.Customer.Customer]; !seen {
			numbers = append(numbers, f.Customer.Customer)
		}
		people[f.Customer.Customer] = f.Customer
	}
	accounts, err := d.tx.AccountsOf(ctx, numbers)
	if err != nil {
		return nil, err
	}
	if d.program.Terms.Enrol == Auto && len(accounts) < len(numbers) {
		var added []Account
		for _, n := range numbers {
			if !slices.ContainsFunc(accounts, func(a Account) bool { return a.Person.Customer == n }) {
				added = append(added, d.account(people[n], ""))
			}
		}
		if err := d.tx.AddAccounts(ctx, added); err != nil {
			return nil, err
		}
		if accounts, err = d.tx.AccountsOf(ctx, numbers); err != nil {
			return nil, err
		}
	}
	var owing []AccountID
	for _, a := range accounts {
		if a.Sums.Debt > 0 {
			owing = append(owing, a.ID)
		}
	}
	lots, err := d.tx.OpenLots(ctx, owing)
	if err != nil {
		return nil, err
	}
	ledgers := make(map[int64]*Ledger, len(accounts))
	for _, a := range accounts {
		var mine []Lot
		for _, lot := range lots {
			if lot.Account == a.ID {
				mine = append(mine, lot)
			}
		}
		l := d.ledger(a, mine)
		l.partial = a.Sums.Debt <= 0 && a.Seq > 0 // earning needs no lots: they stay where they are
		d.welcome(l)
		ledgers[a.Person.Customer] = l
	}
	return ledgers, nil
}

// settle releases and expires what is due.
func (s *Service) settle(ctx context.Context, of shop.ID) (done int, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		accounts, err := tx.DueAccounts(ctx, d.now, batchSize)
		done = len(accounts)
		if err != nil || done == 0 {
			return err
		}
		ids := make([]AccountID, len(accounts))
		for i, a := range accounts {
			ids[i] = a.ID
		}
		lots, err := tx.OpenLots(ctx, ids)
		if err != nil {
			return err
		}
		var ledgers []*Ledger
		for _, a := range accounts {
			mine := slices.DeleteFunc(slices.Clone(lots), func(l Lot) bool { return l.Account != a.ID })
			l := d.ledger(a, mine)
			l.Settle()
			ledgers = append(ledgers, l)
		}
		return d.save(ctx, ledgers...)
	})
	if err != nil {
		return 0, fmt.Errorf("release and expire points: %w", err)
	}
	return done, nil
}

// Audit computes a member anew from everything that was posted and reports
// whether what is kept is the same. With repair, what differs is written.
func (s *Service) Audit(ctx context.Context, of shop.ID, who CustomerRef, repair bool) (same bool, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		d.who = who
		a, err := d.find(ctx)
		if err != nil {
			return err
		}
		entries, uses, kept, err := tx.Ledger(ctx, a.ID)
		if err != nil {
			return err
		}
		sums, lots := Rebuild(entries, uses)
		if same = sums.equal(a.Sums) && slices.EqualFunc(lots, kept, Lot.equal); same || !repair {
			return nil
		}
		a.Sums = sums
		l := d.ledger(a, lots)
		for _, lot := range lots {
			l.touch(lot.Seq)
		}
		return d.save(ctx, l)
	})
	return same, err
}

func (s Sums) equal(o Sums) bool {
	if len(s.Rewarded) != len(o.Rewarded) {
		return false
	}
	for k, n := range s.Rewarded {
		if o.Rewarded[k] != n {
			return false
		}
	}
	return s.Available == o.Available && s.Pending == o.Pending && s.Credited == o.Credited && s.Spent == o.Spent && s.Expired == o.Expired &&
		s.Earned == o.Earned && s.Debt == o.Debt && s.Activities == o.Activities
}

func (l Lot) equal(o Lot) bool {
	same := func(a, b time.Time) bool { return a.Equal(b) }
	return l.Account == o.Account && l.Seq == o.Seq && l.Points == o.Points && l.Pending == o.Pending && same(l.AvailableFrom, o.AvailableFrom) &&
		same(l.ExpiresAt, o.ExpiresAt) && l.Remaining == o.Remaining && l.Expired == o.Expired && l.Reversed == o.Reversed && l.Absorbed == o.Absorbed
}
