package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// world is a service on a database, with a sender that answers as the test configures.
type world struct {
	*testing.T
	*webhook.Service
	db    *store.DB
	clock *clock.Manual
	here  shop.ID

	happened []webhook.MessageID // what members did

	mu     sync.Mutex
	sent   []webhook.Call
	answer func(ctx context.Context, c webhook.Call) webhook.Answer
	data   func(m webhook.Message) ([]byte, error)
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, db: storetest.SQLite(t), clock: clock.NewManual(time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC))}
	w.answer = func(context.Context, webhook.Call) webhook.Answer { return webhook.Answer{Code: 200} }
	w.data = func(m webhook.Message) ([]byte, error) { return fmt.Appendf(nil, `{"contract":%d}`, m.Contract), nil }
	of := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", Currency: "USD", Connected: true, CreatedAt: w.clock.Now()}
	if err := w.db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	w.here = of.ID
	w.restart()
	return w
}

// restart puts another process in the place of the service.
func (w *world) restart() {
	w.Service = &webhook.Service{Store: w.db.Webhooks(), Sender: w, Clock: w.clock, Log: slog.New(slog.DiscardHandler), MaxTasks: 4}
}

func (w *world) Send(ctx context.Context, c webhook.Call) webhook.Answer {
	w.mu.Lock()
	w.sent = append(w.sent, c)
	w.mu.Unlock()
	return w.answer(ctx, c)
}

// Work publishes upcoming orders, renders due messages, makes events of them and sends them.
func (w *world) Work(ctx context.Context, of shop.ID) error {
	err := w.PublishUpcoming(ctx, of)
	for err == nil {
		var due []webhook.Message
		if due, err = w.WithoutBody(ctx, of); len(due) == 0 {
			break
		}
		for _, m := range due {
			if data, failed := w.data(m); failed != nil {
				err = errors.Join(err, w.NotRendered(ctx, m, failed))
			} else {
				err = errors.Join(err, w.Rendered(ctx, m, data))
			}
		}
	}
	return errors.Join(err, w.Place(ctx, of), w.Deliver(ctx, of))
}

func (w *world) listener(name string) webhook.Endpoint {
	w.Helper()
	e, err := w.Add(w.Context(), w.here, webhook.NewEndpoint{URL: "https://" + name, Types: []webhook.Type{webhook.ImmediateSuccess}, Actor: activity.System})
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// owe owes a message about a contract.
func (w *world) owe(about int64, to ...webhook.Endpoint) webhook.MessageID {
	w.Helper()
	now := w.clock.Now()
	m := webhook.Message{Shop: w.here, Type: webhook.ImmediateSuccess, Line: shop.Subscriptions, Attempt: about, At: now}
	m.Contract, m.ID = 42, webhook.NewMessageID(w.here, about, m.Type, now)
	if about > 100 {
		m.Contract = 43
	}
	ids := make([]webhook.EndpointID, len(to))
	for i, e := range to {
		ids[i] = e.ID
	}
	err := w.db.Update(w.Context(), w.here, func(tx *store.Tx) error { return tx.AddMessages(w.Context(), webhook.Addressed{Message: m, To: ids}) })
	if err != nil {
		w.Fatal(err)
	}
	return m.ID
}

func (w *world) pass(d time.Duration) { w.clock.Set(w.clock.Now().Add(d)) }

func (w *world) work() {
	w.Helper()
	if err := w.Work(w.Context(), w.here); err != nil {
		w.Fatal(err)
	}
}

// got returns what was sent, as "address message", and forgets it.
func (w *world) got() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]string, len(w.sent))
	for i, c := range w.sent {
		list[i] = c.URL[len("https://"):] + " " + string(c.ID)
	}
	w.sent = nil
	return list
}

func (w *world) want(list ...string) {
	w.Helper()
	got := w.got()
	slices.Sort(got)
	slices.Sort(list)
	if !slices.Equal(got, list) {
		w.Errorf("sent\n%q, want\n%q", got, list)
	}
}

func (w *world) is(status webhook.Status) []webhook.Delivery {
	w.Helper()
	list, _, err := w.Deliveries(w.Context(), w.here, webhook.DeliveryFilter{Status: status}, page.Request{Size: 100})
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func TestDeliveryOfDeadProcessIsSentByAnother(t *testing.T) {
	t.Parallel()
	w := begin(t)
	id := w.owe(1, w.listener("erp"))
	dies, kill := context.WithCancel(t.Context())
	w.answer = func(context.Context, webhook.Call) webhook.Answer { kill(); return webhook.Answer{Code: 200} }
	if err := w.Work(dies, w.here); err == nil {
		t.Error("a process that died says that it is done")
	}
	first := w.sent[0]
	w.want("erp " + string(id))
	w.restart()
	w.answer = func(context.Context, webhook.Call) webhook.Answer { return webhook.Answer{Code: 200} }
	w.data = func(webhook.Message) ([]byte, error) { return []byte(`"another"`), nil }
	w.work()
	w.want() // it may still be on its way
	w.pass(time.Minute)
	w.work()
	if again := w.sent[0]; string(again.Body) != string(first.Body) || again.ID != first.ID || again.At.Equal(first.At) {
		t.Errorf("sent again as %s %s", again.ID, again.Body)
	}
	w.want("erp " + string(id))
	if list := w.is(webhook.Delivered); len(list) != 1 {
		t.Errorf("delivered %+v", list)
	}
}

func TestHangingEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t)
	slow, quick := w.listener("slow"), w.listener("quick")
	var ids []webhook.MessageID
	for i := range int64(3) {
		ids = append(ids, w.owe(i+1, slow, quick))
		w.pass(time.Millisecond)
	}
	arrived := make(chan struct{}, 10)
	hang := make(chan struct{})
	w.answer = func(_ context.Context, c webhook.Call) webhook.Answer {
		if c.URL == "https://slow" {
			<-hang
			return webhook.Answer{Failed: "there was no answer", Took: webhook.CallTimeout}
		}
		arrived <- struct{}{}
		return webhook.Answer{Code: 200}
	}
	done := make(chan error)
	go func() { done <- w.Work(t.Context(), w.here) }()
	for i := range 3 { // while the other one hangs
		select {
		case <-arrived:
		case <-time.After(time.Minute):
			t.Errorf("only %d arrived", i)
		}
	}
	close(hang)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, g := range w.got() {
		if g[:5] == "quick" {
			order = append(order, g)
		}
	}
	if want := []string{"quick " + string(ids[0]), "quick " + string(ids[1]), "quick " + string(ids[2])}; !slices.Equal(order, want) {
		t.Errorf("sent %q, want %q", order, want)
	}
}

func TestMessagesAboutContractAreSentInOrder(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("erp")
	first := w.owe(1, e)
	w.pass(time.Millisecond)
	second, other := w.owe(2, e), w.owe(101, e)
	w.answer = func(_ context.Context, c webhook.Call) webhook.Answer {
		if c.ID == first {
			return webhook.Answer{Code: 500, Failed: "it answered 500"}
		}
		return webhook.Answer{Code: 200}
	}
	w.work()
	w.want("erp "+string(first), "erp "+string(other))
	for range 100 { // until the first one is given up
		w.pass(time.Hour)
		w.work()
	}
	want := slices.Repeat([]string{"erp " + string(first)}, 9)
	w.want(append(want, "erp "+string(second))...)
	if list := w.is(webhook.Failed); len(list) != 1 || list[0].Message != first || list[0].Tries != 10 {
		t.Errorf("given up: %+v", list)
	}
}

func TestBodyShowsStateAtTimeOfEvent(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("erp")
	w.owe(1, e)
	w.pass(time.Millisecond)
	second := w.owe(2, e)
	w.answer = func(context.Context, webhook.Call) webhook.Answer {
		return webhook.Answer{Failed: "there was no answer"}
	}
	w.work()
	w.data = func(webhook.Message) ([]byte, error) { return []byte(`"later"`), nil }
	w.answer = func(context.Context, webhook.Call) webhook.Answer { return webhook.Answer{Code: 200} }
	w.pass(time.Minute)
	w.work()
	if last := w.sent[len(w.sent)-1]; last.ID != second || string(last.Body) != `{"type":"SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS","timestamp":"2026-01-31T12:00:00.001Z","sequence":2,"cause":null,"data":{"contract":42}}` {
		t.Errorf("sent %s %s", last.ID, last.Body)
	}
}

func TestFailedRenderDelaysNoOtherMessage(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("erp")
	away, unknown, fine := w.owe(1, e), w.owe(102, e), w.owe(103, e)
	w.data = func(m webhook.Message) ([]byte, error) {
		switch m.ID {
		case away:
			return nil, fault.New(fault.Unavailable, "the platform does not answer")
		case unknown:
			return nil, fault.New(fault.NotFound, "no such contract")
		}
		return []byte("{}"), nil
	}
	w.work()
	w.want("erp " + string(fine))
	if list := w.is(webhook.Failed); len(list) != 1 || list[0].Message != unknown {
		t.Errorf("given up: %+v", list)
	}
	w.data = func(webhook.Message) ([]byte, error) { return []byte("{}"), nil }
	w.pass(time.Minute)
	w.work()
	w.want("erp " + string(away))
}

func TestMessageWithoutBodyWaitsAndIsNotOvertaken(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("erp")
	first := w.owe(1, e)
	w.pass(time.Millisecond)
	second, other := w.owe(2, e), w.owe(101, e)
	due, err := w.WithoutBody(t.Context(), w.here)
	if err != nil || len(due) != 3 || due[0].ID != first {
		t.Fatalf("without a body: %+v, %v", due, err)
	}
	for _, m := range due[1:] { // the first one came after the others were rendered
		if err := w.Rendered(t.Context(), m, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Deliver(t.Context(), w.here); err != nil {
		t.Fatal(err)
	}
	w.want("erp " + string(other))
	for _, d := range w.is(webhook.Pending) {
		if d.Version != 1 {
			t.Errorf("written again while it waits: %+v", d)
		}
	}
	w.work()
	w.want("erp "+string(first), "erp "+string(second))
}

func TestRemovingEndpointRemovesDeliveries(t *testing.T) {
	t.Parallel()
	w := begin(t)
	gone, removed := w.listener("gone"), w.listener("removed")
	w.owe(1, gone, removed)
	w.pass(time.Millisecond)
	w.owe(2, gone, removed)
	w.answer = func(_ context.Context, c webhook.Call) webhook.Answer {
		if c.URL == "https://gone" {
			return webhook.Answer{Code: 410, Failed: "it answered 410"}
		}
		return webhook.Answer{Code: 500, Failed: "it answered 500"}
	}
	w.work()
	if e, err := w.Endpoint(t.Context(), w.here, gone.ID); err != nil || e.Enabled || e.Reason == "" {
		t.Errorf("%+v, %v", e, err)
	}
	if list := w.is(webhook.Failed); len(list) != 2 {
		t.Errorf("given up: %+v", list)
	}
	_, err := w.Replay(t.Context(), w.here, w.is(webhook.Failed)[0].ID)
	if !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("replayed to a disabled endpoint: %v", err)
	}
	if err := w.Remove(t.Context(), w.here, removed.ID, activity.System); err != nil {
		t.Fatal(err)
	}
	w.got()
	w.pass(24 * time.Hour)
	w.work()
	w.want()
}

func TestEndpointEnabledAgainAfterFiveDaysOfFailuresSurvivesItsFirstFailure(t *testing.T) {
	t.Parallel()
	w := begin(t)
	e := w.listener("down")
	w.answer = func(context.Context, webhook.Call) webhook.Answer {
		return webhook.Answer{Code: 500, Failed: "it answered 500"}
	}
	w.owe(1, e)
	w.work()
	w.pass(5 * 24 * time.Hour)
	w.work()
	if e, err := w.Endpoint(t.Context(), w.here, e.ID); err != nil || e.Enabled || e.Reason != "nothing arrived for 5 days" {
		t.Fatalf("after five days: %+v, %v", e, err)
	}
	enabled := true
	if _, err := w.Change(t.Context(), w.here, e.ID, webhook.Edit{Enabled: &enabled, Actor: activity.System}); err != nil {
		t.Fatal(err)
	}
	w.owe(2, e)
	w.got()
	w.work()
	if tries := len(w.got()); tries != 1 {
		t.Fatalf("%d tries, want 1", tries)
	}
	if e, err := w.Endpoint(t.Context(), w.here, e.ID); err != nil || !e.Enabled || e.Reason != "" || !e.FailingSince.Equal(w.clock.Now()) {
		t.Errorf("after the first failed try: %+v, %v; want it enabled, and failing since now", e, err)
	}
	w.pass(5*24*time.Hour - time.Millisecond)
	w.work()
	if e, err := w.Endpoint(t.Context(), w.here, e.ID); err != nil || !e.Enabled {
		t.Errorf("just before five more days: %+v, %v", e, err)
	}
	w.pass(24 * time.Hour)
	w.work()
	if e, err := w.Endpoint(t.Context(), w.here, e.ID); err != nil || e.Enabled {
		t.Errorf("after five more days: %+v, %v", e, err)
	}
}

func TestConcurrentTasksAreLimited(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.MaxTasks = 0
	id := w.owe(1, w.listener("erp"))
	w.work()
	w.want()
	w.MaxTasks = 1
	w.work()
	w.want("erp " + string(id))
}
