package prove

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

func mapsKeys[K comparable, V any](m map[K]V) func(func(K) bool) { return maps.Keys(m) }

// deal is a contract of the story, and what the story knows of it.
type deal struct {
	plan     dealPlan
	shop     *merchant
	id       int64
	method   string    // graph id of its payment method
	first    int       // cycle of the first renewal
	touched  time.Time // since when people changed it; zero: never
	triggers int       // charges that people asked for
	asked    time.Time // when they did last
	carded   time.Time // when its payment method changed last; zero: never
	noticed  time.Time // the change of it that was found late last

	cancelled time.Time // when its cancellation was first requested; zero: never
	left      time.Time // when it was cancelled without a later request to keep it; zero: it was not
	woken     time.Time // when a request for it to run was last sent, or answered
	splits    int       // requests for a part of it
	parent    *deal     // the contract it was split off; nil: a buyer made it

	// Of one that has a tale.
	moved  map[int]time.Time // to where its orders were moved, by cycle
	adrift bool              // the oracle cannot say what becomes of it
}

// request is a request to a node. Its entries name it.
type request struct {
	deed deed
	deal *deal
	done bool // it was answered, and not refused
}

// requester is the actor of a request's entries.
func requester(number int) string { return fmt.Sprintf("requester %d", number) }

// definite reports whether a request that failed has changed nothing, and will not.
func definite(err error) bool {
	return fault.Is(err, fault.FailedPrecondition) || fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict)
}

// tell schedules the whole story.
func (w *world) tell() {
	for i, d := range w.plan.Deals {
		if d.At.Before(w.plan.Start) {
			w.sign(i)
			continue
		}
		w.at(d.At, func() { w.sign(i) })
	}
	for _, a := range w.plan.Acts {
		w.at(a.At, func() { w.act(a) })
	}
}

// sign lets a buyer make a contract.
func (w *world) sign(i int) {
	p := w.plan.Deals[i]
	s := w.shops[p.Shop]
	if s.gone {
		return
	}
	spec := p.Spec
	spec.Lines = slices.Clone(spec.Lines)
	spec.Lines[0].VariantID, spec.Lines[0].SellingPlanID = s.variants[p.Variant], s.offers[p.Offer]
	if price, changes := p.Offer.price(s.plan.Prices[p.Variant], s.plan.Currency, 1); changes {
		spec.Lines[0].CurrentPrice = price.String()
	}
	if p.Second {
		spec.Lines = append(spec.Lines, simulator.LineSpec{VariantID: s.variants[(p.Variant+1)%len(s.variants)], Quantity: 1})
	}
	made, err := w.sim.Checkout(spec)
	if err != nil {
		w.fail(fmt.Errorf("the story's checkout: %w", err))
		return
	}
	d := &deal{plan: p, shop: s, id: made.Contract, method: made.PaymentMethod, first: 1, moved: make(map[int]time.Time)}
	if w.plan.Switches.OriginOrderBillsFirstCycle {
		d.first = 2
	}
	w.deals[i], w.byID[d.id] = d, d
	for _, o := range p.Outcomes {
		w.check(w.sim.Outcome(simulator.Outcome{Contract: d.id, Cycles: []int{o.Cycle}, Code: o.Code}))
	}
	w.note("checkout", fmt.Sprint(d.id))
	w.platformDue()
}

// act carries out an act.
func (w *world) act(a act) {
	w.note("act", string(a.Deed), fmt.Sprint(a.Deal))
	w.asked[a.Deed]++
	switch a.Deed {
	case uninstallApp:
		w.done[a.Deed]++
		w.uninstall(w.shops[a.Deal])
		return
	case installApp:
		w.done[a.Deed]++
		w.install(w.shops[a.Deal])
		return
	}
	d := w.deals[a.Deal]
	if d == nil {
		return
	}
	if d.touched.IsZero() {
		d.touched = w.now
	}
	switch a.Deed {
	case breakCard, mendCard:
		status := simulator.MethodExpired
		if a.Deed == mendCard {
			status = simulator.MethodValid
		}
		for _, other := range w.dealsInOrder() {
			if other.method == d.method { // one customer may have several contracts
				other.ask(2, w.now) // its webhook may be worked twice
				other.carded = w.now
			}
		}
		w.check(w.sim.SetPaymentMethodStatus(d.method, status))
		w.done[a.Deed]++
		w.platformDue()
		return
	}
	n := w.anyNode()
	if n == nil {
		return // no node answers the request
	}
	r := &request{deed: a.Deed, deal: d}
	w.requests = append(w.requests, r)
	by := activity.Actor{Source: activity.MerchantExternalAPI, By: requester(len(w.requests) - 1), ClientIP: "192.0.2.1"}
	if a.Pick>>32%2 == 0 {
		by.Source = activity.CustomerPortal
	}
	n.spawn("act "+string(a.Deed), func(ctx context.Context, app *app.App) {
		if err := w.do(ctx, app, a, d, by); err != nil {
			w.note("refused", string(a.Deed), err.Error())
			return
		}
		r.done = true
		w.done[a.Deed]++
	})
}

// do carries out an action by way of the domain.
func (w *world) do(ctx context.Context, a *app.App, what act, d *deal, by activity.Actor) error {
	of := d.shop.id
	cmd := amend.Command{Line: shop.Subscriptions, Contract: contract.ID(d.id), Actor: by}
	queued, date, err := w.attemptIn(d, "QUEUED")
	if err != nil {
		return err
	}
	switch what.Deed {
	case skipIt:
		_, err = a.Command.Skip(ctx, of, command.Skip{Line: shop.Subscriptions, Attempt: queued, Actor: by})
	case unskipIt:
		var skipped billing.AttemptID
		if skipped, _, err = w.attemptIn(d, "SKIPPED"); err == nil {
			_, err = a.Command.Unskip(ctx, of, command.Skip{Line: shop.Subscriptions, Attempt: skipped, Actor: by})
		}
	case moveIt, moveAll:
		to := date.Add(time.Duration(int(what.Pick%30)-10) * day)
		_, err = a.Command.Reschedule(ctx, of, command.Reschedule{
			Line: shop.Subscriptions, Attempt: queued, BillingDate: to, Future: what.Deed == moveAll, Actor: by,
		})
	case overtake:
		err = w.overtake(ctx, a, what, d, by)
	case chargeNow:
		attempt := queued
		if what.Pick%2 == 0 {
			if failed, _, none := w.attemptIn(d, "FAILURE"); none == nil && failed != 0 {
				attempt = failed
			}
		}
		d.ask(1, w.now)
		err = a.Command.Trigger(ctx, of, command.Trigger{Line: shop.Subscriptions, Attempt: attempt, Actor: by})
	case pauseIt:
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Paused})
	case pauseUntil:
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Paused, Until: w.now.Add(time.Duration(1+what.Pick%60) * day), Reason: "away"})
	case pauseSome:
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Paused, Cycles: 1 + int(what.Pick%3)})
	case activateOn:
		defer d.wake(w)()
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Active, From: w.now.Add(time.Duration(1+what.Pick%30) * day)})
	case activateIt:
		defer d.wake(w)()
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Active})
	case cancelIt, cancelNow:
		if d.cancelled.IsZero() {
			d.cancelled = w.now
		}
		_, err = a.Lifecycle.SetStatus(ctx, of, cmd, lifecycle.StatusChange{To: contract.Cancelled, Feedback: "too much coffee", Now: what.Deed == cancelNow})
		if err == nil && w.now.Sub(d.woken) > day { // one that was begun before may still be made
			d.left = w.now
		}
	case splitIt:
		err = w.split(ctx, a, what, d, cmd)
	case newLimits:
		_, err = a.Edits.SetCycles(ctx, of, cmd, terms.Cycles{Max: new(int(what.Pick % 14))})
	case newDelivery:
		_, err = a.Edits.SetDeliveryPrice(ctx, of, cmd, money.Amount{Minor: int64(what.Pick % 2000), Currency: d.shop.plan.Currency})
	case newInterval:
		rhythms := []terms.Frequency{{Interval: cadence.Week, Count: 2}, {Interval: cadence.Month, Count: 1}, {Interval: cadence.Day, Count: 10}, {Interval: cadence.Month, Count: 2}}
		_, err = a.Edits.SetBillingInterval(ctx, of, cmd, rhythms[what.Pick%uint64(len(rhythms))])
	case newQuantity, newPrice:
		change := contractedit.LineChange{OldVariant: d.shop.variants[d.plan.Variant], Quantity: new(1 + int(what.Pick%5))}
		if what.Deed == newPrice {
			change.Quantity, change.Price = nil, &money.Amount{Minor: 1 + int64(what.Pick%100_000), Currency: d.shop.plan.Currency}
		}
		_, err = a.Edits.ChangeLine(ctx, of, cmd, change)
	case addOnce:
		_, err = a.Edits.AddOneOff(ctx, of, cmd, terms.NewLine{Variant: d.shop.variants[what.Pick%uint64(len(d.shop.variants))], Quantity: 1})
	}
	return err
}

// wake notes a request for the contract to run, and once more its end.
func (d *deal) wake(w *world) (ended func()) {
	note := func() { d.left, d.woken = time.Time{}, w.now }
	note()
	return note
}

// split has the last line of a contract split off, once or for good, and charged at
// once or not.
func (w *world) split(ctx context.Context, a *app.App, what act, d *deal, cmd amend.Command) error {
	is, err := w.sim.Contract(d.id)
	if err != nil {
		return err
	}
	d.splits++
	split := split.Params{Lines: []string{is.Lines[len(is.Lines)-1].ID}, Once: what.Pick%3 == 0, Now: what.Pick%4 == 0}
	if split.Now {
		d.ask(1, w.now)
	}
	_, err = a.Splits.Split(ctx, d.shop.id, cmd, split)
	return err
}

// dealOf returns the deal of a contract; nil: no buyer made it. A part that was split
// off is a deal of its own from when it is first seen.
func (w *world) dealOf(id int64) *deal {
	if d := w.byID[id]; d != nil {
		return d
	}
	is, err := w.sim.Contract(id)
	if err != nil {
		return nil
	}
	for _, d := range w.deals {
		if d == nil || d.splits == 0 || d.shop.plan.Domain != is.Shop || d.plan.Spec.Customer.Email != is.Customer.Email {
			continue
		}
		part := &deal{plan: d.plan, shop: d.shop, id: id, method: is.PaymentMethod, first: 1, touched: w.now, triggers: d.triggers, asked: d.asked, carded: d.carded, cancelled: d.cancelled, parent: d}
		w.parts, w.byID[id] = append(w.parts, part), part
		return part
	}
	return nil
}

// attemptIn finds the earliest attempt of a contract in a status, or the latest
// that failed, as the reader of a list would. It is 0 when there is none.
func (w *world) attemptIn(d *deal, status string) (billing.AttemptID, time.Time, error) {
	order := "ASC"
	if status == "FAILURE" || status == "SKIPPED" {
		order = "DESC"
	}
	var id, date int64
	err := w.books.QueryRowContext(context.Background(), "SELECT id, billing_date FROM attempts WHERE shop_id = "+fmt.Sprint(d.shop.id)+" AND contract_id = "+fmt.Sprint(d.id)+
		" AND status = '"+status+"' ORDER BY billing_date "+order+", id LIMIT 1").Scan(&id, &date)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, w.now, nil
	}
	return billing.AttemptID(id), time.UnixMilli(date).UTC(), err
}

// uninstall removes the app from a store.
func (w *world) uninstall(s *merchant) {
	s.gone, s.connected = true, false
	for _, d := range w.dealsInOrder() {
		if d.shop != s {
			continue
		}
		if d.adrift = true; d.touched.IsZero() {
			d.touched = w.now
		}
	}
	w.check(w.sim.Uninstall(s.plan.Domain))
	w.platformDue()
}

// install puts it back, with another token. The merchant tries until it works,
// also when the node that answers dies.
func (w *world) install(s *merchant) {
	if s.gone {
		s.installed++
		s.gone = false
		w.check(w.sim.Install(s.plan.Domain, s.plan.token(s.installed)))
		w.byToken[s.plan.token(s.installed)] = s
	}
	w.after(time.Hour, func() {
		if !s.connected && !s.gone {
			w.install(s)
		}
	})
	n := w.anyNode()
	if n == nil {
		return
	}
	n.spawn("connect", func(ctx context.Context, a *app.App) {
		known, err := a.Intake.Connect(ctx, platform.Shop{Domain: s.plan.Domain, Token: platform.Token(s.plan.token(s.installed))}, s.plan.Hour, s.plan.Minute, s.plan.Settings)
		if err == nil {
			_, err = a.Confirm.ConfirmUnseen(ctx, known.ID, activity.Operator)
		}
		if err != nil {
			w.note("refused", "connect", err.Error())
		} else {
			s.connected = true
		}
	})
}

func (w *world) dealsInOrder() []*deal {
	var list []*deal
	for _, d := range w.deals {
		if d != nil {
			list = append(list, d)
		}
	}
	return append(list, w.parts...)
}
