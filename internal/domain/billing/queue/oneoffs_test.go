package queue

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestUnfinishedOrderKeepsItsOneOffs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		given billing.Status
		code  string
		ago   time.Duration
		stays bool
	}{
		{"given up while the customer was asked to confirm", billing.SkippedDunning, dunning.ChallengeExpired, LeftOpen - time.Hour, true},
		{"given up when the platform was asked once more", billing.SkippedDunning, dunning.EarlierChargeOpen, time.Hour, true},
		{"not charged any more, and not given up", billing.Failure, dunning.ChallengeExpired, time.Hour, true},
		{"given up for so long that the service no longer asks for it", billing.SkippedDunning, dunning.ChallengeExpired, LeftOpen, false},
		{"given up after a decline", billing.SkippedDunning, "CARD_DECLINED", time.Hour, false},
	} {
		given := billingtest.Due(func(a *billing.Attempt) {
			a.Cycle, a.Status, a.ErrorCode, a.UpdatedAt = 3, row.given, row.code, billingtest.Now.Add(-row.ago)
		})
		next := billingtest.Due(func(a *billing.Attempt) { a.ID, a.Cycle = 2, 4 })
		m := moving{now: billingtest.Now, put: make(map[billing.OneOffID]billing.OneOff), touched: make(map[int]bool)}
		once := billing.OneOff{ID: 1, Cycle: 3, Quantity: 1}
		if left := m.contract(contract.Contract{Status: contract.Active}, []billing.OneOff{once}, []billing.Attempt{given, next}, 0); left != 1 || (len(m.put) == 0) != row.stays {
			t.Errorf("%s: moved %+v, want that it stays: %t", row.name, m.put, row.stays)
		}
	}
}

func TestOneOffsFollowTheQueue(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)
	attempt := func(cycle int, s billing.Status) billing.Attempt {
		return billing.Attempt{ID: billing.AttemptID(100 + cycle), Cycle: cycle, Status: s}
	}
	one := func(id billing.OneOffID, cycle int, variant int64, quantity int) billing.OneOff {
		return billing.OneOff{ID: id, Cycle: cycle, Quantity: quantity, Variant: platform.Variant{ID: variant}}
	}
	for name, test := range map[string]struct {
		contract contract.Status
		attempts []billing.Attempt
		waiting  []billing.OneOff
		left     int
		put      string // "id: cycle ×quantity done"
		drop     []billing.OneOffID
		entries  int
	}{
		"an order that is made is done":                     {contract.Active, []billing.Attempt{attempt(1, billing.Success), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 0, "1: 1 ×2 true", nil, 0},
		"what waits stays":                                  {contract.Active, []billing.Attempt{attempt(1, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"what failed and is tried again stays":              {contract.Active, []billing.Attempt{inDunning(attempt(1, billing.Failure)), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"what failed and is tried no more moves on":         {contract.Active, []billing.Attempt{attempt(1, billing.Failure), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "1: 2 ×2 false", nil, 1},
		"not while the contract stands still":               {contract.Paused, []billing.Attempt{attempt(1, billing.Failure), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"a skipped order's products move on":                {contract.Active, []billing.Attempt{attempt(1, billing.Skipped), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "1: 2 ×2 false", nil, 1},
		"those of an order that dunning gave up too":        {contract.Active, []billing.Attempt{attempt(1, billing.SkippedDunning), attempt(2, billing.Skipped), attempt(3, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "1: 3 ×2 false", nil, 1},
		"two of one variant become one":                     {contract.Active, []billing.Attempt{attempt(1, billing.Skipped), attempt(2, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2), one(2, 2, 7, 998)}, 1, "2: 2 ×1000 false", []billing.OneOffID{1}, 1},
		"two skipped orders meet":                           {contract.Active, []billing.Attempt{attempt(1, billing.Skipped), attempt(2, billing.Skipped), attempt(3, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2), one(2, 2, 7, 3)}, 1, "1: 3 ×5 false", []billing.OneOffID{2}, 2},
		"without an order to come they wait":                {contract.Paused, nil, []billing.OneOff{one(1, 1, 7, 2)}, 1, "", nil, 0},
		"a cycle that is gone gives to the next":            {contract.Active, []billing.Attempt{attempt(4, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 1, "1: 4 ×2 false", nil, 1},
		"those of a contract that has ended are dropped":    {contract.Cancelled, []billing.Attempt{attempt(1, billing.Queued)}, []billing.OneOff{one(1, 1, 7, 2)}, 0, "", []billing.OneOffID{1}, 1},
		"those of a contract that has expired are, as well": {contract.Expired, nil, []billing.OneOff{one(1, 1, 7, 2)}, 0, "", []billing.OneOffID{1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := moving{now: now, put: make(map[billing.OneOffID]billing.OneOff), touched: make(map[int]bool)}
			left := m.contract(contract.Contract{ID: 5, Status: test.contract}, test.waiting, test.attempts, 0)
			var put []string
			for _, id := range sortedIDs(m.put) {
				o := m.put[id]
				put = append(put, fmt.Sprintf("%d: %d ×%d %t", id, o.Cycle, o.Quantity, o.Done))
			}
			if got := strings.Join(put, ", "); left != test.left || got != test.put || !reflect.DeepEqual(m.drop, test.drop) || len(m.entries) != test.entries {
				t.Errorf("left %d, put %q, dropped %v, %d entries; want %d, %q, %v, %d", left, got, m.drop, len(m.entries), test.left, test.put, test.drop, test.entries)
			}
			for i, a := range test.attempts {
				if m.touched[i] && (a.PublishAt.IsZero() || a.Status == billing.Queued && !a.Prep.Edited) {
					t.Errorf("the platform does not hear of cycle %d: %+v", a.Cycle, a)
				}
			}
		})
	}
}

func inDunning(a billing.Attempt) billing.Attempt {
	a.Dunning.State = dunning.Open
	return a
}
