package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// declining is a platform on which every charge was declined.
type declining struct{ Platform }

func (declining) Attempts(_ context.Context, _ platform.Shop, ids []string) ([]platform.Attempt, error) {
	var list []platform.Attempt
	for _, id := range ids {
		list = append(list, platform.Attempt{ID: id, Key: "key", State: platform.Failed, ErrorCode: "CARD_DECLINED"})
	}
	return list, nil
}

// ends is a store that finishes events, and a settler that stores the results.
type ends struct {
	Store
	Biller
	settled  []platform.Attempt
	finished []string
	shop     shop.Shop
	deferred []time.Time
	failures int // counted last
}

func (e *ends) Update(_ context.Context, _ shop.ID, fn func(Tx) error) error {
	return fn(finishing{of: e})
}

func (e *ends) View(_ context.Context, _ shop.ID, fn func(ReadTx) error) error {
	return fn(finishing{of: e})
}

func (e *ends) Settle(_ context.Context, _ billing.Tx, found []platform.Attempt) error {
	e.settled = append(e.settled, found...)
	return nil
}

type finishing struct {
	Tx
	of *ends
}

func (f finishing) DeferEvents(_ context.Context, _ []string, until time.Time, failures int, _ string) error {
	f.of.deferred, f.of.failures = append(f.of.deferred, until), failures
	return nil
}

func (f finishing) FinishEvents(_ context.Context, ids []string, _ time.Time) error {
	f.of.finished = append(f.of.finished, ids...)
	return nil
}

func TestEventCausesReadOfPlatform(t *testing.T) {
	t.Parallel()
	e := &ends{}
	s := &Service{Platform: declining{}, Store: e, Billing: e, Clock: clock.System{}}
	said := InboxEvent{Event: platform.Event{ID: "event", Topic: platform.AttemptSucceeded, Attempt: "gid", Key: "key"}}
	if err := s.settle(t.Context(), batch{store: shop.Shop{ID: 1}, events: []InboxEvent{said}}); err != nil {
		t.Fatal(err)
	}
	if len(e.settled) != 1 || e.settled[0].State != platform.Failed {
		t.Errorf("settled %+v, want the decline that the platform has, whatever the event says", e.settled)
	}
	if !slices.Equal(e.finished, []string{"event"}) {
		t.Errorf("finished %v, want the event", e.finished)
	}
}

func TestOutageGivesUpNoEvent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name     string
		cause    error
		failures int
		until    time.Time // zero: it is given up
		counted  int
	}{
		{"the first failure", errors.New("it cannot be read"), 0, now.Add(time.Minute), 1},
		{"the last one", errors.New("it cannot be read"), maxFailures - 1, time.Time{}, maxFailures},
		{"a platform that does not answer", fmt.Errorf("read: %w", platform.ErrUnknown), 0, now.Add(time.Minute), 1},
		{"one that has not answered for days", fmt.Errorf("read: %w", platform.ErrUnknown), outageFailures, now.Add(64 * time.Minute), outageFailures},
		{"one that does not answer a last try", fmt.Errorf("read: %w", platform.ErrUnknown), maxFailures - 1, now.Add(6 * time.Hour), maxFailures - 1},
		{"one that does not know us any more", fmt.Errorf("read: %w", platform.ErrDisconnected), maxFailures - 1, now.Add(6 * time.Hour), maxFailures - 1},
		{"one that has no time for us", fmt.Errorf("read: %w", platform.ErrThrottled), outageFailures, now.Add(64 * time.Minute), outageFailures},
	} {
		e := &ends{}
		s := &Service{Store: e, Clock: clock.NewManual(now), Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}
		if err := s.deferFailed(t.Context(), shop.Shop{ID: 1}, []InboxEvent{{Event: platform.Event{ID: "event"}, Failures: row.failures}}, row.cause); err != nil {
			t.Fatal(err)
		}
		if len(e.deferred) != 1 || !e.deferred[0].Equal(row.until) || e.failures != row.counted {
			t.Errorf("%s: put off until %v after %d failures, want %s and %d", row.name, e.deferred, e.failures, row.until, row.counted)
		}
	}
}

func TestEventsOfDisconnectedStoreAreDeferred(t *testing.T) {
	t.Parallel()
	e := &ends{}
	s := &Service{Platform: declining{}, Store: e, Billing: e, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Policy: DefaultPolicy()}
	said := InboxEvent{Event: platform.Event{ID: "event", Topic: platform.AttemptSucceeded, Attempt: "gid", Key: "key"}}
	for _, connected := range []bool{false, true} {
		if err := s.processBatch(t.Context(), batch{store: shop.Shop{ID: 1, Connected: connected}, events: []InboxEvent{said}}); err != nil {
			t.Fatal(err)
		}
		if (len(e.settled) == 1) != connected || len(e.deferred) != 1 {
			t.Errorf("connected %t: settled %d charges, put off %d events", connected, len(e.settled), len(e.deferred))
		}
	}
}

// installed is a platform that opens a store to one token.
type installed struct {
	Platform
	token platform.Token
	asked int
}

func (p *installed) Store(_ context.Context, of platform.Shop) (platform.Store, error) {
	if p.asked++; of.Token != p.token {
		return platform.Store{}, platform.ErrDisconnected
	}
	return platform.Store{}, nil
}

func (f finishing) Shop(context.Context) (shop.Shop, error) { return f.of.shop, nil }

func (f finishing) PutShop(_ context.Context, s shop.Shop) error {
	f.of.shop = s
	return nil
}

func (f finishing) Record(context.Context, ...activity.Entry) error { return nil }

func (f finishing) LockKeys(context.Context) error { return nil }

func (f finishing) OpenConnections(context.Context) ([]partner.Connection, error) { return nil, nil }

// The topic of a webhook is not signed: what ends a connection is that the platform
// refuses the token.
func TestUninstallDisconnectsOnlyWhenPlatformRefusesToken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name      string
		age       time.Duration
		token     platform.Token // that the platform accepts
		meanwhile platform.Token // that the store has when the end is written
		connected bool
		again     bool // the platform is asked again
		fails     bool
	}{
		{"reported just now, and refused", time.Second, "", "ours", false, false, false},
		{"reported just now, and accepted still", time.Second, "ours", "ours", true, true, false},
		{"reported just now, from before the app came back", 3 * time.Minute, "ours", "ours", true, false, false},
		{"reported late, and refused", 3 * 24 * time.Hour, "", "ours", false, false, false},
		{"reported late, and accepted", 3 * 24 * time.Hour, "ours", "ours", true, false, false},
		{"the app comes back meanwhile", 3 * 24 * time.Hour, "", "new", true, false, true},
	} {
		e := &ends{shop: shop.Shop{ID: 1, Connected: true, Token: row.meanwhile}}
		s := &Service{Platform: &installed{token: row.token}, Store: e, Clock: clock.NewManual(now)}
		at := now.Add(-row.age)
		said := InboxEvent{ReceivedAt: at, Event: platform.Event{ID: "event", Topic: platform.Uninstalled, TriggeredAt: at}}
		err := s.uninstall(t.Context(), batch{store: shop.Shop{ID: 1, Connected: true, Token: "ours", Guard: shop.Guard{ConnectedAt: now.Add(-time.Minute)}}, events: []InboxEvent{said}})
		ended := !row.fails && !row.again
		if (err != nil) != row.fails || e.shop.Connected != row.connected || (len(e.finished) == 1) != ended || (len(e.deferred) == 1) != row.again {
			t.Errorf("%s: connected %t, finished %v, put off %v, %v; want connected %t", row.name, e.shop.Connected, e.finished, e.deferred, err, row.connected)
		}
	}
}

// paying is a transaction on contracts that are paid with cards.
type paying struct {
	Tx
	since map[contract.ID]time.Time
}

func (p paying) Contracts(_ context.Context, ids []contract.ID) (list []contract.Contract, err error) {
	for _, id := range ids {
		list = append(list, contract.Contract{ID: id, Card: contract.Card{Since: p.since[id]}})
	}
	return list, nil
}

func TestPaymentEventOfKnownCardIsIgnored(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	told := map[contract.ID]time.Time{1: at, 2: at, 3: at, 4: at}
	tx := paying{since: map[contract.ID]time.Time{
		2: at.Add(3 * time.Hour),    // the word comes late
		3: at.Add(-2 * time.Second), // our clock is behind
		4: at.Add(-time.Hour),       // another change
	}}
	if err := dropKnownCards(t.Context(), tx, told); err != nil {
		t.Fatal(err)
	}
	if left := contractKeys(told); !slices.Equal(left, []contract.ID{1, 4}) {
		t.Errorf("news for the contracts %v, want 1, without a known card, and 4", left)
	}
}
