package here

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// pageSize is how many contracts a page lists.
const pageSize = 500

// pastOrders is how many orders of the past are read of a contract.
const pastOrders = 20

// List returns a page of the contracts that are not over.
func (s *Service) List(ctx context.Context, of shop.Shop, q moving.Query) (moving.Page, error) {
	f := contract.Filter{Line: q.Line, UpdatedFrom: q.Since}
	after := contract.ID(0)
	var page moving.Page
	for n := 0; n <= q.Page; n++ {
		found, err := s.Directory.MatchingContracts(ctx, of.ID, f, after, pageSize)
		if err != nil {
			return moving.Page{}, err
		}
		page.Found = nil
		for _, id := range found {
			page.Found, after = append(page.Found, int64(id)), id
		}
		if page.More = len(found) == pageSize; !page.More {
			break
		}
	}
	total, err := s.Directory.CountMatching(ctx, of.ID, f)
	page.Total = total
	return page, err
}

// Contract returns a contract as it is stored, with the details that only the platform has. One
// behind a fence is PAUSED.
func (s *Service) Contract(ctx context.Context, of shop.Shop, line shop.Line, id int64) (moving.Contract, error) {
	c, _, err := s.read(ctx, of, line, id)
	return c, err
}

// read is Contract, with the notices without which the next orders of a contract that has come do not have
// the prices of swap rules.
func (s *Service) read(ctx context.Context, of shop.Shop, line shop.Line, id int64) (moving.Contract, []billing.Notice, error) {
	d, err := s.Detail(ctx, of.ID, line, contract.ID(id))
	if err != nil {
		return moving.Contract{}, nil, err
	}
	var attempts []billing.Attempt
	var oneOffs []billing.OneOff
	var inputs map[contract.ID]billing.Inputs // of a contract that has come
	err = s.Store.View(ctx, of.ID, func(tx intake.ReadTx) (err error) {
		if attempts, err = tx.AttemptsOf(ctx, []contract.ID{d.ID}); err != nil {
			return err
		}
		if oneOffs, err = tx.OneOffs(ctx, []contract.ID{d.ID}); err != nil || s.Leaves {
			return err
		}
		inputs, err = billing.ReadInputs(ctx, tx, of, map[contract.ID]*contract.Contract{d.ID: &d.Contract})
		return err
	})
	if err != nil {
		return moving.Contract{}, nil, err
	}
	c := describe(d)
	c.CyclesDone = d.EarlierOrders + amend.NextCycle(d.Contract, attempts, s.Clock.Now()) - 1 - d.PassedCycles
	c.Upcoming, c.Past = orders(attempts, oneOffs)
	if len(c.Upcoming) > 0 {
		c.Next = c.Upcoming[0].Date
	}
	cal, err := of.Calendar()
	if err != nil {
		return moving.Contract{}, nil, err
	}
	if c.Next.IsZero() {
		c.Next = d.AfterPause(cal)
	}
	if s.Leaves {
		addPlanPrices(&c, d)
		return c, nil, nil
	}
	rules := inputs[d.ID].Rules
	var notices []billing.Notice
	if c.Expected, notices = expected(c, d.Contract, rules, cal); len(notices) > 0 {
		rules.Notices = slices.Clone(rules.Notices)
		for _, n := range notices {
			rules.Notices = append(rules.Notices, n.Notice)
		}
		c.Announced, _ = expected(c, d.Contract, rules, cal)
	}
	return c, notices, nil
}

// expected returns what the next orders of a contract that has come will cost, without one-time products, and the
// notices that prices of swap rules in them wait for, as of now.
func expected(c moving.Contract, is contract.Contract, rules order.Rules, cal cadence.Calendar) (amounts []money.Amount, wait []billing.Notice) {
	if c.Next.IsZero() {
		return nil, nil
	}
	dates, first := c.Stored(cal), c.CyclesDone+1-is.EarlierOrders+is.PassedCycles
	var places []order.Place
	for n := range moving.ComparedOrders {
		places = append(places, order.Place{Cycle: first + n, Date: dates.DueOn(1+n, cal)})
	}
	for _, o := range order.Walk(is, rules, places) {
		amounts = append(amounts, o.Bill.Total)
		for _, r := range o.Rises {
			n := billing.Notice{Contract: is.ID, Notice: r.Notice(is.CreatedAt)}
			if !slices.ContainsFunc(wait, func(had billing.Notice) bool {
				return had.Rule == n.Rule && had.Variant == n.Variant && had.Price == n.Price
			}) {
				wait = append(wait, n)
			}
		}
	}
	return amounts, wait
}

// describe returns a contract without its orders.
func describe(d contract.Detail) moving.Contract {
	c := moving.Contract{
		ID: int64(d.ID), Line: d.Line, Status: d.Status, Currency: d.Currency, Customer: d.Customer, Billing: d.Billing, Delivery: d.Delivery,
		MinCycles: d.MinCycles + d.EarlierOrders, MaxCycles: d.MaxCycles + d.EarlierOrders, Orders: d.EarlierOrders + d.Completed(),
		Discounts: d.Discounts, DeliveryPrice: d.DeliveryPrice, Method: d.Method, PaymentMethod: d.PaymentMethod, Note: d.Note,
		Next: d.NextBillingDate, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, ImportedID: d.ImportedID,
	}
	if d.MinCycles == 0 {
		c.MinCycles = 0
	}
	if d.MaxCycles == 0 {
		c.MaxCycles = 0
	}
	if d.Ending != nil {
		c.EndsAt = d.Ending.At
	}
	if d.Status == contract.Paused && d.Pause != nil {
		c.PausedTo = d.Pause.Until
	}
	if d.Fenced() && !d.Terminated() {
		c.Status = contract.Paused
	}
	for _, a := range d.Attributes {
		if a.Key != contract.FenceAttribute {
			c.Attributes = append(c.Attributes, a)
		}
	}
	for n, l := range d.Lines {
		line := moving.Line{
			ID: l.ID, Variant: l.VariantID, Product: l.ProductID, Title: l.Title, Quantity: l.Quantity, Price: l.Price, Plan: l.SellingPlanID, PlanName: l.SellingPlanName,
		}
		if n < len(d.LineDetails) {
			for _, a := range d.LineDetails[n].Attributes {
				line.Attributes = append(line.Attributes, contract.Attribute(a))
			}
		}
		if p, priced := d.Pricing[l.ID]; priced { // it counts with the platform's cycles of this contract, and CyclesDone with those before it
			line.Pricing = new(p.From(1 - d.EarlierOrders + d.PassedCycles))
		}
		c.Lines = append(c.Lines, line)
	}
	return c
}

// addPlanPrices gives lines whose price changes with the orders, by their plan, what is left of its steps
// as prices by cycle: the service that they go to may not have the plan, or counts its own orders alone.
func addPlanPrices(c *moving.Contract, d contract.Detail) {
	for n, l := range d.Lines {
		p, has := d.PlanPricing[l.ID]
		if !has || !d.Priced || !p.Made(l.Price) {
			continue
		}
		later := p.Cycles
		for i, s := range p.Cycles {
			if s.Computed == l.Price { // the price never goes back to that of an earlier step
				later = p.Cycles[i+1:]
			}
		}
		if len(later) > 0 {
			c.Lines[n].Pricing = new(contract.Pricing{Base: l.Price, Cycles: later}.From(d.NextOrder() - c.CyclesDone))
		}
	}
}

// orders returns the orders to come, by date, and the last ones of the past, the newest first.
func orders(attempts []billing.Attempt, oneOffs []billing.OneOff) (upcoming []moving.Upcoming, past []moving.Past) {
	slices.SortFunc(attempts, billing.CompareByDate)
	for _, a := range attempts {
		if a.Status == billing.Queued {
			u := moving.Upcoming{ID: int64(a.ID), Date: a.BillingDate, Note: a.Note}
			for _, o := range oneOffs {
				if o.Cycle == a.Cycle && !o.Done {
					u.OneOffs = append(u.OneOffs, moving.OneOff{Variant: o.Variant.ID, Quantity: o.Quantity, Price: o.Variant.Price})
				}
			}
			upcoming = append(upcoming, u)
			continue
		}
		p := moving.Past{ID: int64(a.ID), Status: string(a.Status), Date: a.BillingDate, At: a.AttemptedAt, Order: a.OrderID, Amount: a.Amount}
		for _, l := range a.Lines {
			p.Lines = append(p.Lines, moving.Sold{Variant: l.VariantID, Quantity: l.Quantity})
		}
		past = append(past, p)
	}
	slices.Reverse(past)
	return upcoming, past[:min(len(past), pastOrders)]
}

// Adjust makes upcoming orders of a contract that has come here what they were at the other service.
func (s *Service) Adjust(ctx context.Context, of shop.Shop, line shop.Line, id int64, edits []moving.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	_, known, err := s.Load(ctx, of.ID, named(line, id))
	if err != nil {
		return err
	}
	first := known.Series.Cycle
	var attempts []billing.Attempt
	for n, e := range edits {
		if n == 0 || edits[n-1].Restart { // later orders have other dates now
			err := s.Store.View(ctx, of.ID, func(tx intake.ReadTx) (err error) {
				attempts, err = tx.AttemptsOf(ctx, []contract.ID{known.ID}, billing.Queued, billing.Skipped)
				return err
			})
			if err != nil {
				return err
			}
		}
		at := slices.IndexFunc(attempts, func(a billing.Attempt) bool { return a.Cycle == first+e.Cycle-1 })
		if at < 0 {
			continue // further ahead than the queue is long
		}
		if err := s.adjust(ctx, of, line, attempts[at], e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) adjust(ctx context.Context, of shop.Shop, line shop.Line, a billing.Attempt, e moving.Edit) error {
	if e.Skip {
		if a.Status == billing.Skipped {
			return nil
		}
		_, err := s.Orders.Skip(ctx, of.ID, command.Skip{Line: line, Attempt: a.ID, Actor: activity.System})
		return err
	}
	if !e.MoveTo.IsZero() && !a.BillingDate.Equal(e.MoveTo) && e.MoveTo.After(s.Clock.Now()) {
		if _, err := s.Orders.Reschedule(ctx, of.ID, command.Reschedule{Line: line, Attempt: a.ID, BillingDate: e.MoveTo, Future: e.Restart, Actor: activity.System}); err != nil {
			return err
		}
	}
	if e.Note != "" {
		if _, err := s.Orders.SetNote(ctx, of.ID, command.Note{Line: line, Attempt: a.ID, Note: e.Note, Actor: activity.System}); err != nil {
			return err
		}
	}
	for _, o := range e.OneOffs {
		cmd := command.OneOff{Line: line, Contract: a.Contract, Attempt: a.ID, Variant: o.Variant, Quantity: o.Quantity, Actor: activity.System}
		if o.Price.Currency != "" {
			cmd.Price = &o.Price
		}
		if err := s.Orders.AddOneOff(ctx, of, cmd); err != nil {
			return err
		}
	}
	return nil
}

// takeDates gives a contract the date of its next order: that of the other service, or now when that
// is past. Later orders keep their days.
func (s *Service) takeDates(ctx context.Context, of shop.Shop, c moving.Contract, known contract.Contract) error {
	if c.Next.IsZero() || known.NextBillingDate.IsZero() {
		return nil
	}
	cal, err := of.Calendar()
	if err != nil || cal.Day(known.NextBillingDate) == cal.Day(c.Next) {
		return err
	}
	now := s.Clock.Now()
	date := c.Next
	if date.Before(now) {
		date = now.Add(time.Minute)
	}
	if _, err = s.Orders.Reschedule(ctx, of.ID, command.Reschedule{Line: c.Line, Contract: known.ID, BillingDate: date, Future: true, Actor: activity.System}); err != nil {
		return err
	}
	return s.Adjust(ctx, of, c.Line, int64(known.ID), c.Edits(cal))
}
