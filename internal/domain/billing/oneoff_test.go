package billing

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

func TestWhatAnOrderCarriedThatIsLeftOpenStaysWithIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		given Status
		code  string
		ago   time.Duration
		stays bool
	}{
		{"given up while the customer was asked to confirm", SkippedDunning, dunning.ChallengeExpired, LeftOpen - time.Hour, true},
		{"given up when the platform was asked once more", SkippedDunning, dunning.EarlierChargeOpen, time.Hour, true},
		{"not charged any more, and not given up", Failure, dunning.ChallengeExpired, time.Hour, true},
		{"given up for so long that nobody asks for it any more", SkippedDunning, dunning.ChallengeExpired, LeftOpen, false},
		{"given up after a decline", SkippedDunning, "CARD_DECLINED", time.Hour, false},
	} {
		given := due(func(a *Attempt) {
			a.Cycle, a.Status, a.ErrorCode, a.UpdatedAt = 3, row.given, row.code, now.Add(-row.ago)
		})
		next := due(func(a *Attempt) { a.ID, a.Cycle = 2, 4 })
		m := moving{now: now, put: make(map[OneOffID]OneOff), touched: make(map[int]bool)}
		once := OneOff{ID: 1, Cycle: 3, Quantity: 1}
		if left := m.contract(contract.Contract{Status: contract.Active}, []OneOff{once}, []Attempt{given, next}, 0); left != 1 || (len(m.put) == 0) != row.stays {
			t.Errorf("%s: moved %+v, want that it stays: %t", row.name, m.put, row.stays)
		}
	}
}
