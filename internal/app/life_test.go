package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// life is the assembled service on a real store and the simulator, with one shop and one
// contract. There is no network, no queue and no process: the test's goroutine carries
// out every task, so that a simulated month takes milliseconds. It is for variants of
// what happens to a contract over time; that all of it works together over HTTP is shown
// by the stories in test/.
type life struct {
	t     *testing.T
	clock *clock.Manual
	sim   *simulator.Simulator
	app   *App
	of    shop.Shop
	id    contract.ID
	tasks []task.Task

	staff *shopify.Client // another vendor's app at the platform
	peer  http.Handler    // another service, from which contracts come; nil: there is none
}

// inProcess carries requests to a handler.
type inProcess func() http.Handler

// RoundTrip carries one request.
func (to inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	to().ServeHTTP(w, r)
	return w.Result(), nil
}

// noMail takes e-mails, and sends none.
type noMail struct{}

// Send takes every letter.
func (noMail) Send(_ context.Context, list []notify.Email) []error { return make([]error, len(list)) }

// rareChecks is the time between two comparisons of a life with the platform. They are not what a life
// is about, and one takes as long as all else that happens on a day.
const rareChecks = 7 * 24 * time.Hour

const lifeSecret = "the secret of a simulated app"

// live begins a life on November 1, 2026, in New York. The contract is renewed every
// month from November 11 on, at nine in the morning.
func live(t *testing.T) *life {
	t.Helper()
	return liveOn(t, "2026-11-11", simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1})
}

// liveOn begins a life whose contract is renewed by a policy from a day on.
func liveOn(t *testing.T, next string, policy simulator.PolicySpec) *life {
	t.Helper()
	day, err := time.Parse(time.DateOnly, next)
	if err != nil {
		t.Fatal(err)
	}
	l := &life{t: t, clock: clock.NewManual(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	ctx := t.Context()
	at := platform.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo"}
	l.sim, err = simulator.New(simulator.Options{
		Clock: l.clock, ThrottleClock: l.clock, AppSecret: lifeSecret, CostMaximum: 1e9, CostRestore: 1e9, AllowHTTPWebhooks: true,
		Deliver: inProcess(func() http.Handler { return l.app.Subscriptions }),
	})
	l.must(err)
	t.Cleanup(func() {
		l.must(l.sim.Close())
		*l = life{t: t} // package testing keeps every parallel test's cleanups until the last test has ended
	})
	l.must(l.sim.AddShop(simulator.ShopSpec{Domain: at.Domain, Token: string(at.Token), TimeZone: "America/New_York"}))
	variants, err := l.sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Green", Price: "12.50"}}})
	l.must(err)
	platformSide := l.sim.Handler()
	wire := inProcess(func() http.Handler { return platformSide })
	l.staff = shopify.New(shopify.Options{HTTP: &http.Client{Transport: wire}})

	db := storetest.SQLite(t).Fork(l)
	l.must(db.Claim(ctx, Sandbox))
	l.app, err = On(db, Options{
		Settings: config.Server{
			Platform:       config.Platform{PlatformURL: "https://{shop}", APIVersion: schema.Version, AppSecret: lifeSecret, PublicURL: "http://perennial.example.com", CallTimeout: time.Hour},
			ReconcileEvery: rareChecks,
		},
		Clock: l.clock, Log: slog.New(slog.DiscardHandler), Kind: Sandbox,
		Simulated: &Simulated{Platform: wire, Peers: inProcess(func() http.Handler { return l.peer }), Wait: func(context.Context, time.Duration, time.Duration) error { return nil }, Mail: noMail{}},
	})
	l.must(err)
	place, err := l.app.place(ctx)
	l.must(err)
	l.must(l.app.Repair.SetPlace(ctx, place))
	l.of, err = l.app.Intake.Connect(ctx, at, 9, 0, shop.Settings{ImmediateOrders: true})
	l.must(err)
	_, err = l.app.Confirm.ConfirmUnseen(ctx, l.of.ID, activity.Operator)
	l.must(err)
	made, err := l.sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: "ana@shopper.example"}, NextBillingDate: day.Add(14 * time.Hour),
		Billing: policy, Lines: []simulator.LineSpec{{VariantID: variants[0].ID, Quantity: 2, CurrentPrice: "12.50"}},
	})
	l.must(err)
	l.id = contract.ID(made.Contract)
	l.settle()
	return l
}

func (l *life) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// Transact runs one transaction of the service.
func (l *life) Transact(_ context.Context, run func(commit bool) error) error { return run(true) }

// Enqueue takes the tasks of a transaction that has committed.
func (l *life) Enqueue(tasks []task.Task) {
	for _, t := range tasks {
		if !slices.Contains(l.tasks, t) {
			l.tasks = append(l.tasks, t)
		}
	}
}

var _ store.TxInterceptor = (*life)(nil)

// mostRounds is how many rounds may pass at one instant until nothing is due any more.
const mostRounds = 100

// settle does what is due now, on either side.
func (l *life) settle() {
	l.t.Helper()
	for range mostRounds {
		for len(l.tasks) > 0 {
			next := l.tasks[0]
			l.tasks = l.tasks[1:]
			if err := l.app.Do(l.t.Context(), next); err != nil {
				l.t.Fatalf("%s at %s: %v", next.Kind(), l.clock.Now(), err)
			}
		}
		due, some := l.due()
		if !some || due.After(l.clock.Now()) {
			return
		}
		_, err := l.sim.RunDue(l.t.Context())
		l.must(err)
		_, err = l.app.Sweep.Once(l.t.Context())
		l.must(err)
	}
	l.t.Fatalf("at %s there is always something due", l.clock.Now())
}

// due returns the instant of the earliest work of either side.
func (l *life) due() (time.Time, bool) {
	l.t.Helper()
	at, some, err := l.app.NextDue(l.t.Context())
	l.must(err)
	if there, also := l.sim.NextDue(); also && (!some || there.Before(at)) {
		return there, true
	}
	return at, some
}

// to lets time pass until an instant.
func (l *life) to(end time.Time) {
	l.t.Helper()
	for {
		l.settle()
		due, some := l.due()
		if !some || due.After(end) {
			l.clock.Set(end)
			l.settle()
			return
		}
		l.clock.Set(due)
	}
}

// pass lets time pass.
func (l *life) pass(d time.Duration) {
	l.t.Helper()
	l.to(l.clock.Now().Add(d))
}

// until lets time pass until the afternoon of a day, such as 2026-12-20.
func (l *life) until(day string) {
	l.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	l.must(err)
	l.to(at.Add(20 * time.Hour))
}

// merchant is who changes the contract.
func merchant() activity.Actor {
	return activity.Actor{Source: activity.MerchantExternalAPI, By: "erp"}
}

func (l *life) command() amend.Command {
	return amend.Command{Line: shop.Subscriptions, Contract: l.id, Actor: merchant()}
}

// upcoming returns the number of an order that waits, the next one being 0.
func (l *life) upcoming(n int) billing.AttemptID {
	l.t.Helper()
	list, _, err := l.app.Store.AttemptsWhere(l.t.Context(), l.of.ID, billing.Question{Line: shop.Subscriptions, Contract: l.id, Upcoming: true}, page.Request{Size: 20})
	l.must(err)
	if len(list) <= n {
		l.t.Fatalf("%d orders wait", len(list))
	}
	return list[n].ID
}

// reschedule moves an order that waits to a day.
func (l *life) reschedule(n int, day string, future bool) {
	l.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	l.must(err)
	calendar, err := l.of.Calendar()
	l.must(err)
	year, month, number := at.Date()
	_, err = l.app.Command.Reschedule(l.t.Context(), l.of.ID, command.Reschedule{
		Line: shop.Subscriptions, Attempt: l.upcoming(n), BillingDate: calendar.Local(cadence.Date{Year: year, Month: month, Day: number}), Future: future, Actor: merchant(),
	})
	l.must(err)
	l.settle()
}

// skip skips an order that waits.
func (l *life) skip(n int) {
	l.t.Helper()
	_, err := l.app.Command.Skip(l.t.Context(), l.of.ID, command.Skip{Line: shop.Subscriptions, Attempt: l.upcoming(n), Actor: merchant()})
	l.must(err)
	l.settle()
}

// trigger charges an order that waits now.
func (l *life) trigger(n int) {
	l.t.Helper()
	l.must(l.app.Command.Trigger(l.t.Context(), l.of.ID, command.Trigger{Line: shop.Subscriptions, Attempt: l.upcoming(n), Actor: merchant()}))
	l.settle()
}

// change changes the contract's status.
func (l *life) change(w lifecycle.StatusChange) {
	l.t.Helper()
	_, err := l.app.Lifecycle.SetStatus(l.t.Context(), l.of.ID, l.command(), w)
	l.must(err)
	l.settle()
}

func (l *life) status(to contract.Status) {
	l.t.Helper()
	l.change(lifecycle.StatusChange{To: to})
}

// standStill pauses the contract and activates it at once.
func (l *life) standStill() {
	l.t.Helper()
	l.status(contract.Paused)
	l.status(contract.Active)
}

// interval changes how often the contract is renewed.
func (l *life) interval(unit cadence.Interval, count int) {
	l.t.Helper()
	_, err := l.app.Edits.SetBillingInterval(l.t.Context(), l.of.ID, l.command(), terms.Frequency{Interval: unit, Count: count})
	l.must(err)
	l.settle()
}

// maxCycles changes after how many orders the contract ends.
func (l *life) maxCycles(n int) {
	l.t.Helper()
	_, err := l.app.Edits.SetCycles(l.t.Context(), l.of.ID, l.command(), terms.Cycles{Max: &n})
	l.must(err)
	l.settle()
}

// contract returns what the service keeps of the contract.
func (l *life) contract() contract.Contract {
	l.t.Helper()
	var list []contract.Contract
	l.must(l.app.Store.Update(l.t.Context(), l.of.ID, func(tx *store.Tx) (err error) {
		list, err = tx.Contracts(l.t.Context(), []contract.ID{l.id})
		return err
	}))
	if len(list) != 1 {
		l.t.Fatalf("%d contracts have the number %d", len(list), l.id)
	}
	return list[0]
}

// elsewhere changes the contract at the platform, as another app does.
func (l *life) elsewhere(change platform.Edit) {
	l.t.Helper()
	_, err := l.staff.EditContract(l.t.Context(), l.of.At(), int64(l.id), change)
	l.must(err)
}

// statusElsewhere changes the contract's status at the platform, as another app does.
func (l *life) statusElsewhere(to string) {
	l.t.Helper()
	_, err := l.staff.SetStatus(l.t.Context(), l.of.At(), int64(l.id), to)
	l.must(err)
}

// unheard calls do and drops the webhooks that follow.
func (l *life) unheard(do func()) {
	l.t.Helper()
	l.must(l.sim.SetFaults(simulator.Faults{Rate: 1, Kinds: []simulator.FaultKind{simulator.WebhookLost}}))
	do()
	l.must(l.sim.ClearFaults())
}

// wantOrders asserts the days of the renewals, such as "[11-11 12-11]".
func (l *life) wantOrders(want string) {
	l.t.Helper()
	var days []string
	for _, o := range l.sim.Orders(simulator.OrderFilter{Contract: int64(l.id)}) {
		days = append(days, o.At.Format("01-02"))
	}
	if got := fmt.Sprint(days); got != want {
		l.t.Errorf("orders on %s, want %s", got, want)
	}
}
