package loyalty

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func noon() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// member is an account whose ledger a test posts to, with everything that was
// ever posted.
type member struct {
	account Account
	lots    map[int64]Lot
	entries []Entry
	uses    []Use
	terms   Terms
	now     time.Time
	sources int
}

func newMember(terms Terms) *member {
	return &member{account: Account{ID: 7, ActiveAt: noon()}, lots: map[int64]Lot{}, terms: terms, now: noon()}
}

// on opens the ledger as the service does: with the lots that are open, and those
// that it names.
func (m *member) on(do func(*Ledger), also ...int64) {
	var lots []Lot
	for _, seq := range slices.Sorted(func(yield func(int64) bool) {
		for seq := range m.lots {
			if !yield(seq) {
				return
			}
		}
	}) {
		if l := m.lots[seq]; l.open() || slices.Contains(also, seq) {
			lots = append(lots, l)
		}
	}
	l := OpenLedger(m.account, lots, m.terms, time.UTC, m.now)
	do(l)
	account, changed := l.Close()
	m.account = account
	m.entries, m.uses = append(m.entries, l.Entries...), append(m.uses, l.Uses...)
	for _, lot := range changed {
		m.lots[lot.Seq] = lot
	}
}

func (m *member) source(of SourceType) Source {
	m.sources++
	return Source{of, fmt.Sprint(m.sources)}
}

func (m *member) earn(p Points) int64 {
	m.on(func(l *Ledger) { l.Earn(Posting{Source: m.source(Purchase), Points: p, Rule: 1, At: m.now}) })
	return m.account.Seq
}

func (m *member) spend(p Points) (seq int64, err error) {
	m.on(func(l *Ledger) { err = l.Spend(Posting{Source: m.source(RewardSource), Points: p}) })
	return m.account.Seq, err
}

func (m *member) refund(spent int64) {
	var of []Use
	var lots []int64
	for _, u := range m.uses {
		if u.Entry == spent {
			of, lots = append(of, u), append(lots, u.Lot)
		}
	}
	m.on(func(l *Ledger) { l.Refund(Posting{Source: m.source(RewardSource)}, of) }, lots...)
}

func (m *member) takeBack(lot int64, p Points) {
	m.on(func(l *Ledger) { l.Reverse(lot, Posting{Source: m.source(Purchase), Points: p}) }, lot)
}

func (m *member) pass(d time.Duration) {
	m.now = m.now.Add(d)
	m.on(func(l *Ledger) { l.Settle() })
}

// check states what is always true of a ledger.
func (m *member) check(t interface{ Errorf(string, ...any) }) {
	var available, pending, rests, waiting Points
	for _, e := range m.entries {
		available += e.Available
		pending += e.Pending
	}
	for _, l := range m.lots {
		rests += l.Remaining
		waiting += l.pendingPoints()
		if l.Remaining < 0 || l.Remaining > l.Points || l.Reversed > l.Points {
			t.Errorf("lot %+v is used beyond what is in it", l)
		}
	}
	s := m.account.Sums
	if s.Available != available || s.Pending != pending {
		t.Errorf("kept %+v, the entries add up to %d available and %d pending", s, available, pending)
	}
	if rests-s.Debt != s.Available || s.Pending != waiting || s.Pending < 0 || s.Debt < 0 {
		t.Errorf("lots hold %d and %d pending, debt is %d: %+v", rests, waiting, s.Debt, s)
	}
	if s.Debt > 0 && rests > 0 {
		t.Errorf("a debt of %d stands beside points that could pay it: %d", s.Debt, rests)
	}
	if !m.terms.Negative && s.Available < 0 {
		t.Errorf("the balance is %d although it must not fall below 0", s.Available)
	}
	sums, lots := Rebuild(m.entries, m.uses)
	if !sums.equal(s) {
		t.Errorf("rebuilt %+v\nkept    %+v", sums, s)
	}
	for _, l := range lots {
		if !l.equal(m.lots[l.Seq]) {
			t.Errorf("rebuilt lot %+v\nkept        %+v", l, m.lots[l.Seq])
		}
	}
	if len(lots) != len(m.lots) {
		t.Errorf("rebuilt %d lots of %d", len(lots), len(m.lots))
	}
	for i, e := range m.entries {
		if e.Seq != int64(i+1) {
			t.Errorf("entry %d has number %d", i+1, e.Seq)
		}
	}
}

func TestLedgerAddsUpAfterAnyPostings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := DefaultTerms()
		terms.Negative = rapid.Bool().Draw(t, "negative")
		terms.Approval = rapid.Bool().Draw(t, "approval")
		terms.PendingDays = rapid.SampledFrom([]int{0, 14}).Draw(t, "pending days")
		terms.Expiry = rapid.SampledFrom([]ExpiryPolicy{
			{Mode: NoExpiry}, {Mode: LotAge, Months: 1}, {Mode: Inactivity, Days: 20}, {Mode: FixedDate, Month: time.February, Day: 30},
		}).Draw(t, "expiry")
		m := newMember(terms)
		points := rapid.Custom(func(t *rapid.T) Points { return Points(rapid.Int64Range(1, 20_000).Draw(t, "points")) })
		var earned, spent []int64
		some := func(t *rapid.T, from []int64, what string) int64 {
			if len(from) == 0 {
				t.Skip("there is none")
			}
			return rapid.SampledFrom(from).Draw(t, what)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.check(t) },
			"earn": func(t *rapid.T) {
				earned = append(earned, m.earn(points.Draw(t, "earned")))
			},
			"adjust": func(t *rapid.T) {
				p := points.Draw(t, "adjusted")
				if rapid.Bool().Draw(t, "down") {
					p = -p
				}
				m.on(func(l *Ledger) {
					if err := l.Adjust(Posting{Source: m.source(Manual), Points: p}); err != nil && !fault.Is(err, fault.FailedPrecondition) {
						t.Fatal(err)
					}
				})
			},
			"spend": func(t *rapid.T) {
				if seq, err := m.spend(points.Draw(t, "spent")); err == nil {
					spent = append(spent, seq)
				}
			},
			"refund": func(t *rapid.T) {
				seq := some(t, spent, "spending")
				m.refund(seq)
				spent = slices.DeleteFunc(spent, func(n int64) bool { return n == seq })
			},
			"take back": func(t *rapid.T) { m.takeBack(some(t, earned, "earning"), points.Draw(t, "taken back")) },
			"approve": func(t *rapid.T) {
				seq := some(t, earned, "earning")
				m.on(func(l *Ledger) { l.Release(seq, Posting{}) })
			},
			"pass": func(t *rapid.T) { m.pass(time.Duration(rapid.IntRange(1, 40).Draw(t, "days")) * 24 * time.Hour) },
		})
	})
}

// A refund takes as much whether it comes before or after points are released,
// and before or after they expire.
func TestReverseTakesSameInAnyOrderWithReleaseAndExpiry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := DefaultTerms()
		terms.PendingDays, terms.Expiry = 10, ExpiryPolicy{Mode: LotAge, Months: 1}
		earned := Points(rapid.Int64Range(1, 10_000).Draw(t, "earned"))
		back := Points(rapid.Int64Range(1, 10_000).Draw(t, "taken back"))
		part := Points(rapid.Int64Range(0, int64(earned)).Draw(t, "spent"))
		end := func(day int) Points {
			m := newMember(terms)
			seq := m.earn(earned)
			for d := 1; d <= 100; d++ {
				if d == day {
					m.takeBack(seq, back)
				}
				if d == 30 && part > 0 {
					if _, err := m.spend(part); err != nil && day > 30 {
						t.Fatal(err)
					} else if err != nil { // what was taken back cannot be spent: then it is debt otherwise
						return -1
					}
				}
				m.pass(24 * time.Hour)
			}
			m.check(t)
			return m.account.Sums.Available
		}
		want := end(35)
		for _, day := range []int{5, 20, 60, 90} {
			if got := end(day); got != want && got != -1 {
				t.Errorf("taken back on day %d the balance is %d, on day 35 %d", day, got, want)
			}
		}
	})
}

func TestSpendTakesSoonestExpiryThenOldest(t *testing.T) {
	t.Parallel()
	terms := DefaultTerms()
	terms.Expiry = ExpiryPolicy{Mode: LotAge, Months: 2}
	m := newMember(terms)
	first := m.earn(100)
	m.pass(24 * time.Hour)
	second := m.earn(100)
	m.terms.Expiry.Months = 1
	soonest := m.earn(100)
	seq, err := m.spend(250)
	if err != nil {
		t.Fatal(err)
	}
	want := []Use{{7, seq, soonest, Take, 100}, {7, seq, first, Take, 100}, {7, seq, second, Take, 50}}
	if !slices.Equal(m.uses, want) {
		t.Errorf("uses %+v\nwant %+v", m.uses, want)
	}
	m.check(t)
}

func TestSpendTakesOldestOfSameExpiry(t *testing.T) {
	t.Parallel()
	m := newMember(DefaultTerms())
	first, second := m.earn(100), m.earn(100)
	seq, err := m.spend(150)
	if err != nil {
		t.Fatal(err)
	}
	want := []Use{{7, seq, first, Take, 100}, {7, seq, second, Take, 50}}
	if !slices.Equal(m.uses, want) {
		t.Errorf("uses %+v\nwant %+v", m.uses, want)
	}
}

func TestExpiryDoesNotCountAsActivity(t *testing.T) {
	t.Parallel()
	terms := DefaultTerms()
	terms.Expiry = ExpiryPolicy{Mode: Inactivity, Days: 30}
	m := newMember(terms)
	m.earn(100)
	m.pass(31 * 24 * time.Hour)
	if m.account.Sums.Expired != 100 || !m.account.ActiveAt.Equal(noon()) {
		t.Errorf("%d points have expired; last active %s, want %s", m.account.Sums.Expired, m.account.ActiveAt, noon())
	}
}

func TestRefundAfterInactivityExpiryCreatesNewLot(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	terms := DefaultTerms()
	terms.Expiry = ExpiryPolicy{Mode: Inactivity, Days: 30}
	m := newMember(terms)
	first := m.earn(500)
	spent, err := m.spend(400)
	if err != nil {
		t.Fatal(err)
	}
	m.pass(40 * day) // the other 100 expire
	m.refund(spent)
	own := m.lots[m.account.Seq]
	if old := m.lots[first]; old.Remaining != 0 || old.Expired != 100 {
		t.Errorf("the lot that expired: %+v, want nothing left in it", old)
	}
	if own.Points != 400 || own.Remaining != 400 || !own.AvailableFrom.Equal(m.now) || !own.ExpiresAt.Equal(m.now.Add(30*day)) || len(m.lots) != 2 {
		t.Errorf("lots %+v, want a second one of 400 points for 30 days", m.lots)
	}
	m.check(t)
	m.pass(20 * day)
	m.earn(50) // activity keeps other points, not these
	m.pass(10 * day)
	if s := m.account.Sums; s.Available != 50 || s.Expired != 500 {
		t.Errorf("thirty days later %d points are available and %d have expired, want 50 and 500", s.Available, s.Expired)
	}
	m.check(t)
}

func TestLedgerExamples(t *testing.T) {
	t.Parallel()
	lotAge := DefaultTerms()
	lotAge.Expiry = ExpiryPolicy{Mode: LotAge, Months: 1}
	idle := DefaultTerms()
	idle.Expiry = ExpiryPolicy{Mode: Inactivity, Days: 30}
	pending := DefaultTerms()
	pending.PendingDays = 14
	strict := DefaultTerms()
	strict.Negative = false
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		terms Terms
		do    func(m *member)
		want  Sums
	}{
		"what is earned can be spent at once":                         {DefaultTerms(), func(m *member) { m.earn(500) }, Sums{Available: 500, Credited: 500, Earned: 500, Activities: 1}},
		"more than there is cannot be spent":                          {DefaultTerms(), func(m *member) { m.earn(500); _, _ = m.spend(501) }, Sums{Available: 500, Credited: 500, Earned: 500, Activities: 1}},
		"pending points cannot be spent":                              {pending, func(m *member) { m.earn(500); _, _ = m.spend(1) }, Sums{Pending: 500}},
		"pending points are released on their day":                    {pending, func(m *member) { m.earn(500); m.pass(14 * day) }, Sums{Available: 500, Credited: 500, Earned: 500, Activities: 1}},
		"pending points that are taken back are never released":       {pending, func(m *member) { m.takeBack(m.earn(500), 500); m.pass(14 * day) }, Sums{}},
		"a part of pending points that is taken back is not released": {pending, func(m *member) { m.takeBack(m.earn(500), 200); m.pass(14 * day) }, Sums{Available: 300, Credited: 300, Earned: 300, Activities: 1}},
		"points expire by the age of their lot":                       {lotAge, func(m *member) { m.earn(500); m.pass(20 * day); m.earn(100); m.pass(12 * day) }, Sums{Available: 100, Credited: 600, Earned: 600, Expired: 500, Activities: 2}},
		"all points expire by inactivity":                             {idle, func(m *member) { m.earn(500); m.pass(20 * day); m.earn(100); m.pass(31 * day) }, Sums{Credited: 600, Earned: 600, Expired: 600, Activities: 2}},
		"activity keeps points":                                       {idle, func(m *member) { m.earn(500); m.pass(29 * day); m.earn(100); m.pass(29 * day) }, Sums{Available: 600, Credited: 600, Earned: 600, Activities: 2}},
		"what was spent and is taken back becomes debt":               {DefaultTerms(), func(m *member) { seq := m.earn(500); _, _ = m.spend(400); m.takeBack(seq, 500) }, Sums{Available: -400, Debt: 400, Credited: 500, Spent: 400}},
		"new points pay the debt first":                               {DefaultTerms(), func(m *member) { seq := m.earn(500); _, _ = m.spend(400); m.takeBack(seq, 500); m.earn(1000) }, Sums{Available: 600, Credited: 1500, Spent: 400, Earned: 1000, Activities: 1}},
		"without debt taking back stops at nothing":                   {strict, func(m *member) { seq := m.earn(500); _, _ = m.spend(400); m.takeBack(seq, 500) }, Sums{Credited: 500, Spent: 400}},
		"what was taken back is not taken twice":                      {DefaultTerms(), func(m *member) { seq := m.earn(500); m.earn(500); m.takeBack(seq, 300); m.takeBack(seq, 300) }, Sums{Available: 500, Credited: 1000, Earned: 500, Activities: 1}},
		"a reward that is given back gives its points back":           {DefaultTerms(), func(m *member) { m.earn(500); seq, _ := m.spend(400); m.refund(seq) }, Sums{Available: 500, Credited: 500, Earned: 500, Activities: 1}},
		"what was spent when it was taken back does not come back with the reward": {strict, func(m *member) {
			seq := m.earn(500)
			spent, _ := m.spend(400)
			m.takeBack(seq, 500)
			m.refund(spent)
		}, Sums{Credited: 500}},
		"but what was not taken back of it does": {strict, func(m *member) {
			seq := m.earn(500)
			spent, _ := m.spend(500)
			m.takeBack(seq, 300)
			m.refund(spent)
		}, Sums{Available: 200, Credited: 500, Earned: 200, Activities: 1}},
		"points that come back after their expiry can be spent for thirty days": {lotAge, func(m *member) {
			m.earn(500)
			seq, _ := m.spend(400)
			m.pass(40 * day)
			m.refund(seq)
			m.pass(29 * day)
		}, Sums{Available: 400, Credited: 500, Earned: 500, Expired: 100, Activities: 1}},
		"and then expire": {lotAge, func(m *member) {
			m.earn(500)
			seq, _ := m.spend(400)
			m.pass(40 * day)
			m.refund(seq)
			m.pass(30 * day)
		}, Sums{Credited: 500, Earned: 500, Expired: 500, Activities: 1}},
		"points added by hand are not earned": {DefaultTerms(), func(m *member) {
			m.on(func(l *Ledger) { _ = l.Adjust(Posting{Source: m.source(Manual), Points: 250}) })
		}, Sums{Available: 250, Credited: 250}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMember(test.terms)
			test.do(m)
			m.check(t)
			got := m.account.Sums
			got.Rewarded, test.want.Rewarded = nil, nil
			if !got.equal(test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestMemberDueInstant(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	lotAge, idle, pending, approval := DefaultTerms(), DefaultTerms(), DefaultTerms(), DefaultTerms()
	lotAge.Expiry = ExpiryPolicy{Mode: LotAge, Months: 1}
	idle.Expiry = ExpiryPolicy{Mode: Inactivity, Days: 30}
	pending.PendingDays = 14
	approval.Approval = true
	for name, test := range map[string]struct {
		terms Terms
		want  time.Time
	}{
		"never when points do not expire":                            {DefaultTerms(), time.Time{}},
		"three days before the lot expires, on the month's last day": {lotAge, at(2, 25, 3)},
		"three days before the member has been idle for long":        {idle, at(2, 27, 3)},
		"when pending points are released":                           {pending, at(2, 14, 12)},
		"never while points wait for approval":                       {approval, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMember(test.terms)
			m.earn(500)
			if !m.account.DueAt.Equal(test.want) {
				t.Errorf("due at %s, want %s", m.account.DueAt, test.want)
			}
		})
	}
}
