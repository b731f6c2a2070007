package intake

import (
	"context"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// silent is a platform on which no contract has changed.
type silent struct {
	Platform
	topics map[platform.Topic]string
	since  time.Time
}

func (p *silent) Subscribe(_ context.Context, _ platform.Shop, address string, topics []platform.Topic) error {
	for _, t := range topics {
		p.topics[t] = address
	}
	return nil
}

func (p *silent) ContractsUpdatedSince(_ context.Context, _ platform.Shop, since time.Time, _ string) ([]int64, string, error) {
	p.since = since
	return nil, "", nil
}

func TestEveryReconciliationSubscribesAnew(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, last := range map[string]time.Time{"the first one": {}, "a later one": noon} {
		p := &silent{topics: make(map[platform.Topic]string)}
		s := &Service{Platform: p, Callback: "https://example.com/webhooks"}
		of := shop.Shop{ID: 1, ReconciledAt: last}
		of.Reading = begun(of, noon)
		if err := s.find(t.Context(), &of); err != nil {
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
