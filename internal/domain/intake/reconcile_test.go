package intake

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// silent is a platform on which no contract has changed, and which sends no events for
// which it wants more than every app has.
type silent struct {
	Platform
	topics map[platform.Topic]string
	since  time.Time
	listed int   // times that it was asked for what changed
	err    error // answered to subscribing
}

func (p *silent) Subscribe(_ context.Context, _ platform.Shop, address string, topics []platform.Topic) error {
	if slices.Equal(topics, platform.SpareTopics) {
		return &platform.Refusal{Message: "You cannot create a webhook subscription with the specified topic"}
	}
	for _, t := range topics {
		p.topics[t] = address
	}
	return p.err
}

func (*silent) Store(context.Context, platform.Shop) (platform.Store, error) {
	return platform.Store{}, nil
}

func (p *silent) ContractsUpdatedSince(_ context.Context, _ platform.Shop, since time.Time, _ string) ([]int64, string, error) {
	p.since = since
	p.listed++
	return nil, "", nil
}

func TestReconciliationRenewsSubscriptions(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, last := range map[string]time.Time{"the first one": {}, "a later one": noon} {
		p := &silent{topics: make(map[platform.Topic]string)}
		s := &Service{Platform: p, Store: &ends{}, Clock: clock.NewManual(noon), Callback: "https://example.com/webhooks"}
		of := shop.Shop{ID: 1, ReconciledAt: last}
		of.Reading = newReading(of, noon)
		if err := s.reconcile(t.Context(), &of, nil); err != nil {
			t.Fatal(err)
		}
		for _, topic := range platform.Topics {
			if p.topics[topic] != s.Callback {
				t.Errorf("%s leaves %s without an address", name, topic)
			}
		}
		// The node that made the last one may have been ahead by half a day.
		if ran := last.Add(-12 * time.Hour); !last.IsZero() && !p.since.Before(ran) {
			t.Errorf("%s asks for what changed since %s, which leaves out what changed since the last one ran, at %s", name, p.since, ran)
		}
	}
}

func (finishing) ActiveContractsInDunning(context.Context, contract.ID, int) ([]contract.Contract, error) {
	return nil, nil
}

func (finishing) UnreadContracts(context.Context, contract.ID, int) ([]contract.Unread, error) {
	return nil, nil
}

func TestReconciliationReadsContractsWithoutSubscriptions(t *testing.T) {
	t.Parallel()
	refusal := fmt.Errorf("subscribe: %w", &platform.Refusal{Code: "ACCESS_DENIED", Message: "no"})
	for _, row := range []struct {
		name    string
		err     error
		before  string // what is known of events
		unheard string // what is known afterwards
		listed  int
	}{
		{"it tells", nil, "", "", 1},
		{"it tells again", nil, "it did not", "", 1},
		{"it refuses to", refusal, "", refusal.Error(), 1},
		{"it does not answer", platform.ErrUnknown, "it did not", "it did not", 0},
	} {
		p := &silent{topics: make(map[platform.Topic]string), err: row.err}
		s := &Service{Platform: p, Store: &ends{}, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Callback: "https://example.com/webhooks"}
		of := shop.Shop{ID: 1, SubscribeError: row.before}
		err := s.reconcile(t.Context(), &of, nil)
		if p.listed != row.listed || (err != nil) != (row.listed == 0) || of.SubscribeError != row.unheard {
			t.Errorf("%s: asked %d times for what changed, %v, %q; want %d, %q", row.name, p.listed, err, of.SubscribeError, row.listed, row.unheard)
		}
	}
}
