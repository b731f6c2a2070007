package loyalty

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Work processes everything that is due.
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

// credit gives points for orders.
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
		if err := d.checkRewardsOf(ctx, facts); err != nil {
			return err
		}
		if err := tx.DeleteFacts(ctx, outside); err != nil {
			return err
		}
		return tx.FinishFacts(ctx, counting)
	})
	if err != nil {
		return 0, fmt.Errorf("give points for orders: %w", err)
	}
	return done, nil
}

// counts reports whether the programme is active and a fact lies within it. The answer can
// change with the programme.
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

// members opens the ledgers of the customers of facts, and enrols customers where the
// programme enrols automatically.
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
		d.earnForEnrolment(l)
		ledgers[a.Person.Customer] = l
	}
	return ledgers, nil
}

// settle releases and expires points that are due, and reminds members of points that expire soon.
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
			l.remind()
			ledgers = append(ledgers, l)
		}
		return d.save(ctx, ledgers...)
	})
	if err != nil {
		return 0, fmt.Errorf("release and expire points: %w", err)
	}
	return done, nil
}
