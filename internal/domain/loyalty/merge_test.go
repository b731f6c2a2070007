package loyalty

import (
	"fmt"
	"testing"
	"time"
)

// What is left of a member's lots is another one's, pending or not, and both ledgers add
// up. Nothing is left to move then.
func TestPointsMoveToAnotherMemberAsTheyAre(t *testing.T) {
	t.Parallel()
	terms := DefaultTerms()
	terms.Expiry = ExpiryPolicy{Mode: LotAge, Months: 3}
	gone, kept := newMember(terms), newMember(terms)
	kept.account.ID = 8
	old := gone.earn(100 * One)
	if _, err := gone.spend(60 * One); err != nil {
		t.Fatal(err)
	}
	gone.now = gone.now.AddDate(0, 1, 0)
	kept.now = gone.now
	gone.terms.PendingDays = 14
	waits := gone.earn(20 * One)
	kept.earn(5 * One)
	kept.sources = 100 // a store's sources are never the same
	var moved []Points
	for range 2 {
		gone.on(func(from *Ledger) {
			kept.on(func(to *Ledger) { moved = append(moved, from.MoveTo(to, "the platform")) })
		})
	}
	if got := fmt.Sprint(moved); got != "[60 0]" {
		t.Errorf("there moved %s", got)
	}
	gone.check(t)
	kept.check(t)
	if s := gone.account.Sums; s.Available != 0 || s.Pending != 0 || s.Spent != 60*One {
		t.Errorf("who is gone has %+v", s)
	}
	if s := kept.account.Sums; s.Available != 45*One || s.Pending != 20*One || s.Earned != 45*One {
		t.Errorf("who is kept has %+v", s)
	}
	for i, want := range []Lot{gone.lots[old], gone.lots[waits]} {
		got := kept.lots[int64(i+2)]
		if !got.ExpiresAt.Equal(want.ExpiresAt) || !got.AvailableFrom.Equal(want.AvailableFrom) || got.Source.Type != want.Source.Type || got.Pending != (i == 1) {
			t.Errorf("lot %d is %+v, want it as it was: %+v", i, got, want)
		}
	}
	for _, e := range kept.entries[1:] {
		if e.gives() || e.Rule != 1 || e.Description == "" {
			t.Errorf("entry %+v", e)
		}
	}
	kept.pass(60 * 24 * time.Hour) // the old ones are over, the pending ones are released
	if s := kept.account.Sums; s.Pending != 0 || s.Expired != 40*One {
		t.Errorf("two months later who is kept has %+v", s)
	}
	kept.check(t)
}
