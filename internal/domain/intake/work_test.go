package intake

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
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

// ends is a store that finishes events, and a settler that keeps what it is told.
type ends struct {
	Store
	settled  []platform.Attempt
	finished []string
}

func (e *ends) Update(_ context.Context, _ shop.ID, fn func(Tx) error) error {
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

func (f finishing) FinishEvents(_ context.Context, ids []string, _ time.Time) error {
	f.of.finished = append(f.of.finished, ids...)
	return nil
}

func TestAnEventIsAHintAndThePlatformIsRead(t *testing.T) {
	t.Parallel()
	e := &ends{}
	s := &Service{Platform: declining{}, Store: e, Billing: e, Clock: clock.System{}}
	said := Pending{Event: platform.Event{ID: "event", Topic: platform.AttemptSucceeded, Attempt: "gid", Key: "key"}}
	if err := s.settle(t.Context(), shop.Shop{ID: 1}, []Pending{said}); err != nil {
		t.Fatal(err)
	}
	if len(e.settled) != 1 || e.settled[0].State != platform.Failed {
		t.Errorf("settled %+v, want the decline that the platform has, whatever the event says", e.settled)
	}
	if !slices.Equal(e.finished, []string{"event"}) {
		t.Errorf("finished %v, want the event", e.finished)
	}
}
