package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

// server is a mail server that accepts what the test configures.
type server struct {
	taken   []notify.Email
	failure error
	during  func() // happens while a batch is sent
}

func (s *server) Send(_ context.Context, letters []notify.Email) []error {
	if s.during != nil {
		s.during()
	}
	failures := make([]error, len(letters))
	for i, l := range letters {
		if failures[i] = s.failure; s.failure == nil {
			s.taken = append(s.taken, l)
		}
	}
	return failures
}

// post is a store with a shop, and the service that sends its messages.
type post struct {
	*testing.T
	*notify.Service
	db     *store.DB
	at     *clock.Manual
	server *server
	shop   shop.Shop
	orders map[contract.ID]billing.AttemptID // the next ones of contracts
}

func begin(t *testing.T) *post {
	t.Helper()
	p := &post{T: t, db: storetest.SQLite(t), at: clock.NewManual(noon), server: &server{}, shop: shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", CreatedAt: noon}}
	if err := p.db.Shops().AddShop(t.Context(), &p.shop); err != nil {
		t.Fatal(err)
	}
	p.Service = &notify.Service{Store: p.db.Notify(), Transport: p.server, Clock: p.at, Log: slog.New(slog.DiscardHandler), Policy: notify.DefaultPolicy()}
	return p
}

func (p *post) queue(keys ...string) {
	p.Helper()
	var list []notify.Message
	for _, key := range keys {
		m, err := notify.New(notify.Message{
			Kind: notify.ManagementLink, To: "ada@shopper.example", Content: notify.Content{Subject: "s", Text: key, HTML: "h"}, Contract: 42,
			Actor: activity.System, DedupeKey: key, ExpiresAt: p.at.Now().Add(2 * time.Hour),
		}, p.at.Now())
		if err != nil {
			p.Fatal(err)
		}
		list = append(list, m)
	}
	err := p.Store.Update(p.Context(), p.shop.ID, func(tx notify.Tx) error {
		return notify.Queue(p.Context(), tx, p.shop.ID, append([]notify.Message(nil), list...)...)
	})
	if err != nil {
		p.Fatal(err)
	}
}

// pass lets time pass and works.
func (p *post) pass(d time.Duration) {
	p.Helper()
	p.at.Set(p.at.Now().Add(d))
	if err := p.Work(p.Context(), p.shop.ID); err != nil {
		p.Fatal(err)
	}
}

// never is when nothing falls due.
const never = -1

// want checks how many letters were taken, what is due next and how messages
// ended.
func (p *post) want(taken int, in time.Duration, ends ...activity.Status) {
	p.Helper()
	if len(p.server.taken) != taken {
		p.Errorf("%d letters were taken, want %d", len(p.server.taken), taken)
	}
	due, some, err := p.db.Shops().NextDue(p.Context(), p.at.Now())
	if next := due.Sub(p.at.Now()); err != nil || some != (in != never) || some && next != in {
		p.Errorf("due next in %s (%t), want %s; %v", next, some, in, err)
	}
	entries, _, err := p.db.Entries(p.Context(), p.shop.ID, nil, page.Request{Size: 100, Sort: []page.Sort{{Field: activity.FieldID}}})
	if err != nil || len(entries) != len(ends) {
		p.Fatalf("entries %+v, %v; want %v", entries, err, ends)
	}
	for i, e := range entries {
		if e.Status != ends[i] || e.Event != activity.SendSubscriptionManagementLink || e.EntityID != 42 {
			p.Errorf("entry %+v, want %s", e, ends[i])
		}
	}
}

const lease = 10 * time.Minute

func TestMessageIsSentOnceAndRecorded(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a", "b", "a")
	p.queue("b")
	p.want(0, 0)
	p.pass(0)
	p.want(2, never, activity.Success, activity.Success)
	p.pass(time.Hour)
	p.want(2, never, activity.Success, activity.Success)
	if first := p.server.taken[0]; first.Text != "a" || first.To != "ada@shopper.example" || first.Kind != notify.ManagementLink || !first.At.Equal(noon) {
		t.Errorf("the first letter is %+v", first)
	}
}

func TestUnavailableMailServerIsRetriedUntilMessageExpires(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	p.server.failure = errors.New("connection refused")
	p.pass(0)
	p.want(0, time.Minute)
	p.pass(time.Minute)
	p.want(0, 5*time.Minute)
	p.pass(5 * time.Minute)
	p.want(0, 30*time.Minute)
	p.pass(30 * time.Minute)
	p.want(0, 2*time.Hour)
	p.server.failure = nil
	p.pass(2 * time.Hour)
	p.want(0, never, activity.Skipped)
}

func TestRecoveredMailServerGetsMessage(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	p.server.failure = errors.New("connection refused")
	p.pass(0)
	p.server.failure = nil
	p.pass(time.Minute)
	p.want(1, never, activity.Success)
}

func TestRejectedMessageIsNotRetried(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	p.server.failure = notify.ErrRejected
	p.pass(0)
	p.want(0, never, activity.Failure)
}

func TestMessagesWaitWithoutMailServer(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	p.Transport = nil
	p.pass(0)
	p.want(0, time.Minute)
	p.Transport = p.server
	p.pass(time.Minute)
	p.want(1, never, activity.Success)
}

func TestDisabledKindIsNotSent(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	err := p.db.Update(t.Context(), p.shop.ID, func(tx *store.Tx) error {
		s, err := tx.Shop(t.Context())
		if err != nil {
			return err
		}
		s.Settings.DisabledMails = []notify.Kind{notify.ManagementLink}
		return tx.PutShop(t.Context(), s)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.pass(0)
	p.want(0, never, activity.Skipped)
}

// A process that dies after it has taken messages up leaves them to another one.
func TestMessageOfDeadProcessIsSentAfterLease(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	died := errors.New("killed")
	p.server.during = func() { panic(died) }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not die")
			}
		}()
		p.pass(0)
	}()
	p.server.during = nil
	p.want(0, lease)
	p.pass(lease - time.Minute)
	p.want(0, time.Minute)
	p.pass(time.Minute)
	p.want(1, never, activity.Success)
}

// The worker that claimed the message last stores its result.
func TestLateResultOfReclaimedMessageIsIgnored(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.queue("a")
	slow := p.server
	fast := &server{}
	slow.failure = errors.New("connection reset")
	slow.during = func() {
		p.at.Set(p.at.Now().Add(lease))
		other := *p.Service
		other.Transport = fast
		if err := other.Work(t.Context(), p.shop.ID); err != nil {
			t.Error(err)
		}
	}
	p.pass(0)
	if len(fast.taken) != 1 {
		t.Errorf("the other node sent %d letters", len(fast.taken))
	}
	p.want(0, never, activity.Success)
}

// sleeper is a store after whose next commit the process sleeps.
type sleeper struct {
	notify.Store
	sleep func()
	calls int
}

func (s *sleeper) Update(ctx context.Context, of shop.ID, fn func(notify.Tx) error) error {
	err := s.Store.Update(ctx, of, fn)
	if s.calls++; s.calls == 2 { // after reminding, this claims
		s.sleep()
	}
	return err
}

func TestNodePastLeaseSendsNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asleep        time.Duration
		slept, others int // letters
	}{
		"it wakes a moment before its lease ends": {lease - time.Millisecond, 2, 0},
		"it wakes when its lease ends":            {lease, 0, 2},
		"it wakes long after":                     {time.Hour, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begin(t)
			p.queue("a", "b")
			other, taker := *p.Service, &server{}
			other.Transport = taker
			p.Store = &sleeper{Store: p.Store, sleep: func() {
				p.at.Set(p.at.Now().Add(test.asleep))
				if err := other.Work(t.Context(), p.shop.ID); err != nil {
					t.Error(err)
				}
			}}
			p.pass(0)
			if len(taker.taken) != test.others {
				t.Errorf("the other node sent %d letters, want %d", len(taker.taken), test.others)
			}
			p.want(test.slept, never, activity.Success, activity.Success)
		})
	}
}

func TestMessagesAreSentInBatches(t *testing.T) {
	t.Parallel()
	p := begin(t)
	batches := 0
	p.server.during = func() { batches++ }
	var keys []string
	for n := range 45 {
		keys = append(keys, string(rune('A'+n)))
	}
	p.queue(keys...)
	p.pass(0)
	if len(p.server.taken) != 45 || batches != 3 {
		t.Errorf("%d letters in %d batches", len(p.server.taken), batches)
	}
}
