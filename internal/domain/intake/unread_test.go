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
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// guarded is a platform that answers questions about cycles of one contract with a
// failure.
type guarded struct {
	Platform
	contract int64
	err      error
}

func (p guarded) Cycles(_ context.Context, _ platform.Shop, of int64, _, _ int) ([]platform.Cycle, error) {
	if of == p.contract {
		return nil, p.err
	}
	return nil, nil
}

func (finishing) AttemptsOf(context.Context, []contract.ID, ...billing.Status) ([]billing.Attempt, error) {
	return nil, nil
}

func TestAContractThatIsRefusedIsLeftOutAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	monthly := platform.Policy{Interval: "MONTH", Count: 1}
	yearly := platform.Policy{Interval: "YEAR", Count: 1, Anchors: []platform.Anchor{{Type: "MONTHDAY", Day: 15}}}
	for _, row := range []struct {
		name    string
		billing platform.Policy // of the second of three contracts
		cycles  error           // answered for its cycles
		by      *AuthoredChange
		unread  []contract.ID
		fails   bool
	}{
		{"all can be read", monthly, nil, nil, nil, false},
		{"one has days that its interval cannot have", yearly, nil, nil, []contract.ID{12}, false},
		{"the platform refuses to tell of the cycles of one", monthly, &platform.Refusal{Code: "INVALID"}, nil, []contract.ID{12}, false},
		{"the platform does not know one any more", monthly, fmt.Errorf("read: %w", platform.ErrNotFound), nil, []contract.ID{12}, false},
		{"the platform does not answer", monthly, platform.ErrUnknown, nil, nil, true},
		{"the platform has no time", monthly, platform.ErrThrottled, nil, nil, true},
		{"something else fails", monthly, errors.New("the disk is full"), nil, nil, true},
		{"whose author waits for it", yearly, nil, &AuthoredChange{}, nil, true},
		{"whose author waits for its cycles", monthly, &platform.Refusal{Code: "INVALID"}, &AuthoredChange{}, nil, true},
	} {
		s := &Service{Platform: guarded{contract: 12, err: row.cycles}, Store: &ends{}, Clock: clock.NewManual(now), Log: slog.New(slog.DiscardHandler)}
		var fresh []platform.Contract
		for id, p := range map[int64]platform.Policy{11: monthly, 12: row.billing, 13: monthly} {
			fresh = append(fresh, platform.Contract{ID: id, Revision: 1, Status: "ACTIVE", Currency: "USD", Billing: p, Delivery: p})
		}
		found, err := s.weigh(t.Context(), shop.Shop{ID: 1, TimeZone: "UTC"}, fresh, nil, row.by)
		if (err != nil) != row.fails {
			t.Errorf("%s: %v", row.name, err)
		}
		var unread []contract.ID
		for _, u := range found.unread {
			unread = append(unread, u.ID)
		}
		if !slices.Equal(unread, row.unread) || err == nil && len(found.fresh) != 3-len(unread) {
			t.Errorf("%s: %v cannot be read and %d can, want %v", row.name, unread, len(found.fresh), row.unread)
		}
	}
}
