package charge

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/billing/cases"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestChargeIsCommittedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s, b := open(nil, billingtest.Due())
	taken, err := s.claim(t.Context(), 1)
	if err != nil || len(taken.charges) != 1 || !taken.charges[0].send {
		t.Fatalf("took up %+v, %v; want one charge", taken.charges, err)
	}
	a := b.Rows[1]
	if a.Status != billing.Requesting || a.Try != 1 || a.Key != billing.KeyOf(b.Store.Domain, a.Contract, a.Cycle, 1) || a.Key != taken.charges[0].Key {
		t.Errorf("committed as %s, try %d, key %q; the charge has key %q", a.Status, a.Try, a.Key, taken.charges[0].Key)
	}
	if !a.FirstSentAt.Equal(billingtest.Now) || !a.SentAt.Equal(billingtest.Now) {
		t.Errorf("committed as sent at %s, first at %s; want %s", a.SentAt, a.FirstSentAt, billingtest.Now)
	}
	if want := billingtest.Now.Add(billing.DefaultPolicy().Lease); !a.DueAt.Equal(want) {
		t.Errorf("due again at %s, want the end of the lease, %s", a.DueAt, want)
	}
	if again, err := s.claim(t.Context(), 1); err != nil || again.claimed != 0 {
		t.Errorf("another node took up %d attempts of the first one's, %v", again.claimed, err)
	}
}

func TestNewAttemptRequiresKnownResult(t *testing.T) {
	t.Parallel()
	for status, want := range map[billing.Status]int{billing.Queued: 2, billing.Requesting: 2, billing.PlatformException: 2, billing.Failure: 3} {
		a := billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.Key = status, 2, "key" })
		billingtest.Must(t, a.Request(shop.Shop{Domain: "demo.myshopify.com"}, billingtest.Now))
		if a.Try != want || (a.Key == "key") != (want == 2) {
			t.Errorf("what was %s is asked for with try %d and key %q, want try %d", status, a.Try, a.Key, want)
		}
	}
}

// belated is a platform whose answers about cycles take longer than a lease.
type belated struct {
	billing.Platform
	clock *clock.Manual
	asked int
	sent  int
}

func (p *belated) CycleStates(_ context.Context, _ platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	p.asked++
	p.clock.Set(p.clock.Now().Add(billing.DefaultPolicy().Lease))
	return make([]platform.CycleState, len(of)), nil
}

func (p *belated) Charge(_ context.Context, _ platform.Shop, charges []platform.Charge) ([]platform.ChargeAnswer, error) {
	p.sent++
	return make([]platform.ChargeAnswer, len(charges)), nil
}

func TestExpiredLeaseSendsNothing(t *testing.T) {
	t.Parallel()
	s, b := open(nil, billingtest.Due())
	p := &belated{clock: s.Clock.(*clock.Manual)}
	s.Platform = p
	taken, err := s.claim(t.Context(), 1)
	billingtest.Must(t, err)
	findings := s.askPlatform(t.Context(), taken)
	if p.asked != 1 || p.sent != 0 || !findings[0].late {
		t.Errorf("asked %d times, sent %d charges, %+v; want one question and nothing sent", p.asked, p.sent, findings)
	}
	before := b.Rows[1]
	billingtest.Must(t, s.settle(t.Context(), taken.shop, findings))
	if after := b.Rows[1]; !reflect.DeepEqual(before, after) {
		t.Errorf("who was late wrote %+v over %+v", after, before)
	}
}

func TestOrderOnPlatformIsNotChargedAgain(t *testing.T) {
	t.Parallel()
	is := func(key string, state platform.AttemptState) []platform.Attempt {
		return []platform.Attempt{{ID: "gid", Key: key, State: state}}
	}
	for _, row := range []struct {
		name  string
		state platform.CycleState
		found string // key of the charge that is adopted
		busy  bool
		send  bool
	}{
		{name: "of a cycle that has nothing", send: true},
		{name: "our own try that the cycle shows", state: platform.CycleState{Attempts: is("key", platform.Pending)}, found: "key"},
		{name: "our own try that the contract shows", state: platform.CycleState{Recent: is("key", platform.Failed)}, found: "key"},
		{name: "a charge that has not ended", state: platform.CycleState{Attempts: is("other", platform.Pending)}, busy: true},
		{name: "a charge that waits for the customer", state: platform.CycleState{Attempts: is("other", platform.Challenged)}, busy: true},
		{name: "an order that is not ours", state: platform.CycleState{Cycle: platform.Cycle{Billed: true}, Attempts: is("other", platform.Succeeded)}, found: "other"},
		{name: "a cycle that was billed some other way", state: platform.CycleState{Cycle: platform.Cycle{Billed: true}}},
		{name: "a cycle that is skipped", state: platform.CycleState{Cycle: platform.Cycle{Skipped: true}}},
		{name: "a failed charge that is not ours", state: platform.CycleState{Attempts: is("other", platform.Failed)}, send: true},
	} {
		f := finding{Attempt: billingtest.Sent(0, 0)}
		send := f.weigh(row.state, true)
		found := ""
		if f.found != nil {
			found = f.found.Key
		}
		if send != row.send || found != row.found || f.busy != row.busy {
			t.Errorf("%s: sent %t, adopted %q, busy %t; want %t, %q, %t", row.name, send, found, f.busy, row.send, row.found, row.busy)
		}
	}
}

func TestLearn(t *testing.T) {
	t.Parallel()
	cancelled := func(c *contract.Contract) { c.Status = contract.Cancelled }
	of := func(key string, state platform.AttemptState) *platform.Attempt {
		return &platform.Attempt{ID: "gid", Key: key, State: state, Order: platform.OrderRef{ID: 7, Name: "#7"}}
	}
	challenged := func(ago time.Duration) billing.Attempt {
		a := billingtest.Sent(ago, ago)
		a.Status, a.PlatformID = billing.Challenge, "gid"
		return a
	}
	tired := billingtest.Sent(time.Hour, time.Minute)
	tired.Failures = len(billing.DefaultPolicy().Retries)
	for _, row := range []struct {
		name   string
		of     func(*contract.Contract)
		a      billing.Attempt
		f      finding
		status billing.Status
		code   string
		due    time.Time // zero: whenever
	}{
		{"an order that is not ours is the cycle's", nil, billingtest.Sent(0, 0), finding{billed: true, found: of("other", platform.Succeeded)}, billing.Success, "", time.Time{}},
		{"a cycle that was billed some other way is left out", nil, billingtest.Sent(0, 0), finding{billed: true}, billing.Skipped, "", time.Time{}},
		{"a charge that comes too early is no decline", nil, billingtest.Sent(0, 0), finding{early: billingtest.Now.AddDate(0, 0, 3)}, billing.Queued, "", billingtest.Now.AddDate(0, 0, 3)},
		{"what the platform has not seen may still be on its way", cancelled, billingtest.Sent(time.Hour, 59*time.Minute), finding{absent: true}, billing.Requesting, "", billingtest.Now.Add(time.Minute)},
		{"what it has not seen for an hour never came", cancelled, billingtest.Sent(time.Hour, time.Hour), finding{absent: true}, billing.ContractCancelled, "", time.Time{}},
		{"an order of a contract that was cancelled meanwhile is one", cancelled, billingtest.Sent(time.Hour, time.Hour), finding{found: of("key", platform.Succeeded)}, billing.Success, "", time.Time{}},
		{"a customer has two days to confirm a payment", nil, challenged(47 * time.Hour), finding{found: of("key", platform.Challenged)}, billing.Challenge, "", time.Time{}},
		{"and no more", nil, challenged(48 * time.Hour), finding{found: of("key", platform.Challenged)}, billing.Failure, dunning.ChallengeExpired, time.Time{}},
		{"an accepted charge is polled", nil, billingtest.Sent(0, 0), finding{found: of("key", platform.Pending)}, billing.Progress, "", billingtest.Now.Add(10 * time.Minute)},
		{"what could not be sent for long is shown, and looked for again", nil, tired, finding{err: platform.ErrUnknown}, billing.PlatformException, "", billingtest.Now.Add(time.Hour)},
		{"a platform that cannot be reached may have charged", nil, billingtest.Sent(time.Minute, time.Minute), finding{err: platform.ErrUnknown}, billing.Requesting, "", billingtest.Now.Add(time.Minute)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(row.of, row.a)
			row.f.Attempt = row.a
			row.f.UpdatedAt = billingtest.Now
			billingtest.Must(t, s.settle(t.Context(), b.Store, []finding{row.f}))
			a := b.Rows[1]
			if a.Status != row.status || a.ErrorCode != row.code || a.Key != "key" || !row.due.IsZero() && !a.DueAt.Equal(row.due) {
				t.Errorf("%s %q, due at %s, key %q; want %s %q at %s", a.Status, a.ErrorCode, a.DueAt, a.Key, row.status, row.code, row.due)
			}
		})
	}
}

func TestUnseenChargeOfFrozenStoreIsCheckedLater(t *testing.T) {
	t.Parallel()
	a := billingtest.Sent(25*time.Hour, 3*time.Hour)
	s, b := open(nil, a)
	b.Store.Guard.FrozenAt = billingtest.Now
	billingtest.Must(t, s.settle(t.Context(), b.Store, []finding{{Attempt: a, absent: true}}))
	if got := b.Rows[1]; got.Status != billing.Requesting || !got.DueAt.Equal(billingtest.Now.Add(time.Hour)) {
		t.Errorf("it is %s and asked for at %s, want it to be asked for in an hour", got.Status, got.DueAt)
	}
}

func TestUnseenOrderIsMissedWhenNewerIsDue(t *testing.T) {
	t.Parallel()
	newer := billingtest.Due(func(a *billing.Attempt) { a.ID, a.Cycle = 2, 4 })
	first := func(last time.Duration, change ...func(*billing.Attempt)) billing.Attempt {
		a := billingtest.Sent(8*24*time.Hour, last)
		a.AttemptedAt, a.BillingDate = billingtest.Now, billingtest.Now.AddDate(0, 0, -8)
		for _, f := range change {
			f(&a)
		}
		return a
	}
	for _, row := range []struct {
		name  string
		a     billing.Attempt
		other billing.Attempt
		asked time.Time
		f     finding
		want  billing.Status
	}{
		{"the platform says so, an hour after the last send", first(time.Hour), newer, billingtest.Now, finding{absent: true}, billing.Skipped},
		{"it may still be on its way", first(59 * time.Minute), newer, billingtest.Now, finding{absent: true}, billing.Requesting},
		{"it was asked before it could know", first(time.Hour), newer, billingtest.Now.Add(-time.Minute), finding{absent: true}, billing.Requesting},
		{"the platform did not answer", first(time.Hour), newer, billingtest.Now, finding{err: platform.ErrUnknown}, billing.Requesting},
		{"the platform has the charge", first(time.Hour), newer, billingtest.Now, finding{found: &platform.Attempt{ID: "gid", Key: "key", State: platform.Pending}}, billing.Progress},
		{"another charge of the cycle is under way", first(time.Hour), newer, billingtest.Now, finding{busy: true}, billing.Requesting},
		{"the newer one has been skipped meanwhile", first(time.Hour), billingtest.Due(func(a *billing.Attempt) { a.ID, a.Cycle, a.Status, a.DueAt = 2, 4, billing.Skipped, time.Time{} }), billingtest.Now, finding{absent: true}, billing.Requesting},
		{"the newer one is not due yet", first(time.Hour), billingtest.Due(func(a *billing.Attempt) {
			a.ID, a.Cycle, a.BillingDate, a.DueAt = 2, 4, billingtest.Now.Add(time.Hour), billingtest.Now.Add(time.Hour)
		}), billingtest.Now, finding{absent: true}, billing.Requesting},
		{"a person asked for it", first(time.Hour, func(a *billing.Attempt) { a.Manual = true }), newer, billingtest.Now, finding{absent: true}, billing.Requesting},
		{"it had been declined before", first(time.Hour, func(a *billing.Attempt) { a.Try = 2 }), newer, billingtest.Now, finding{absent: true}, billing.Requesting},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(nil, row.a, row.other)
			row.f.Attempt = row.a
			row.f.UpdatedAt = row.asked
			billingtest.Must(t, s.settle(t.Context(), b.Store, []finding{row.f}))
			a := b.Rows[1]
			if a.Status != row.want || (a.Status == billing.Skipped) != a.DueAt.IsZero() {
				t.Errorf("it is %s and due at %s, want %s", a.Status, a.DueAt, row.want)
			}
			if a.Status != billing.Skipped {
				return
			}
			const reason = "missed, and cycle 4 is due too: only the newest is charged"
			if a.ErrorMessage != reason || len(b.Entries) != 1 || b.Entries[0].Event != activity.BillingAttemptSkipped || b.Entries[0].Status != activity.Skipped {
				t.Errorf("it was left out because %q, with the entries %+v", a.ErrorMessage, b.Entries)
			}
		})
	}
}

// refusing is a platform that refuses every charge of cycles which it expects in
// three days.
type refusing struct {
	billing.Platform
	code string
}

func (p refusing) CycleStates(_ context.Context, _ platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	states := make([]platform.CycleState, len(of))
	for i := range states {
		states[i].Cycle.Expected = billingtest.Now.AddDate(0, 0, 3)
	}
	return states, nil
}

func (p refusing) Charge(_ context.Context, _ platform.Shop, charges []platform.Charge) ([]platform.ChargeAnswer, error) {
	answers := make([]platform.ChargeAnswer, len(charges))
	for i := range answers {
		answers[i].Refused = &platform.Refusal{Code: p.code}
	}
	return answers, nil
}

func TestChargeIsPostponedOnlyWhenEarly(t *testing.T) {
	t.Parallel()
	for code, postponed := range map[string]bool{tooEarly: true, "CONTRACT_UNDER_REVIEW": false} {
		s, _ := open(nil, billingtest.Due())
		s.Platform = refusing{code: code}
		taken, err := s.claim(t.Context(), 1)
		billingtest.Must(t, err)
		f := s.askPlatform(t.Context(), taken)[0]
		if f.early.Equal(billingtest.Now.AddDate(0, 0, 3)) != postponed || (f.refused == nil) != postponed {
			t.Errorf("%s: possible at %s, refused %v; want it postponed: %t", code, f.early, f.refused, postponed)
		}
	}
}

// A customer may take two days to confirm an earlier charge of the cycle.
func TestUnfinishedEarlierChargeIsPolledWithBackoff(t *testing.T) {
	t.Parallel()
	a := billingtest.Sent(0, 0)
	a.AttemptedAt = billingtest.Now
	s, b := open(nil, a)
	at := s.Clock.(*clock.Manual)
	var waits []time.Duration
	for b.Rows[1].Status == billing.Requesting {
		billingtest.Must(t, s.settle(t.Context(), b.Store, []finding{{Attempt: b.Rows[1], busy: true}}))
		if due := b.Rows[1].DueAt; b.Rows[1].Status == billing.Requesting {
			waits = append(waits, due.Sub(at.Now()))
			at.Set(due)
		}
	}
	want := slices.Clone(s.Policy.Polls)
	for len(want) < len(waits) {
		want = append(want, 6*time.Hour)
	}
	if !slices.Equal(waits, want) {
		t.Errorf("looked at after %v, want %v", waits, want)
	}
	if a := b.Rows[1]; a.Status != billing.Failure || a.ErrorCode != dunning.EarlierChargeOpen {
		t.Errorf("in the end it is %s %q", a.Status, a.ErrorCode)
	}
}

func TestResultOfOtherAttemptOrStatusIsIgnored(t *testing.T) {
	t.Parallel()
	first := billingtest.Sent(time.Minute, time.Minute)
	for _, row := range []struct {
		name string
		a    billing.Attempt
		f    finding
	}{
		{"an answer about the try before", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.Key = billing.Requesting, 2, "second" }), finding{found: &platform.Attempt{ID: "gid", Key: "key", State: platform.Failed}}},
		{"no answer about the try before", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.Key = billing.Requesting, 2, "second" }), finding{err: platform.ErrUnknown}},
		{"the word that there is nothing of what is paid by now", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.Key = billing.Success, 1, "key" }), finding{absent: true}},
		{"a skip of what has failed by now", billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.Key = billing.Failure, 1, "key" }), finding{skipped: true}},
	} {
		s, b := open(nil, row.a)
		row.f.Attempt = first
		if err := s.settle(t.Context(), b.Store, []finding{row.f}); err != nil || !reflect.DeepEqual(b.Rows[1], row.a) {
			t.Errorf("%s: %v, made %+v of %+v", row.name, err, b.Rows[1], row.a)
		}
	}
}

func TestStoreDisconnectsOnRefusalOfItsOwnTokenOnly(t *testing.T) {
	t.Parallel()
	for token, connected := range map[platform.Token]bool{"theirs": false, "replaced": true} {
		a := billingtest.Sent(time.Minute, time.Minute)
		s, b := open(nil, a)
		b.Store.Token = "theirs"
		asked := b.Store
		asked.Token = token
		billingtest.Must(t, s.settle(t.Context(), asked, []finding{{Attempt: a, err: platform.ErrDisconnected}}))
		if b.Store.Connected != connected || (len(b.Entries) == 0) != connected {
			t.Errorf("with a token that is %s: connected %t, want %t", token, b.Store.Connected, connected)
		}
	}
}

func TestLateSuccessOfEarlierAttemptIsTheOrder(t *testing.T) {
	t.Parallel()
	a := billingtest.Due(func(a *billing.Attempt) { a.Status, a.Try, a.ErrorCode = billing.Failure, 2, "CARD_DECLINED" })
	a.Key = billing.KeyOf("demo.myshopify.com", a.Contract, a.Cycle, 2)
	s, b := open(nil, a)
	late := platform.Attempt{ID: "gid", Contract: 9001, Key: billing.KeyOf("demo.myshopify.com", a.Contract, a.Cycle, 1), State: platform.Succeeded, Order: platform.OrderRef{ID: 7, Name: "#7"}}
	billingtest.Must(t, b.Update(t.Context(), 1, func(tx billing.Tx) error { return s.Settle(t.Context(), tx, []platform.Attempt{late}) }))
	if got := b.Rows[1]; got.Status != billing.Success || got.OrderID != 7 {
		t.Errorf("it is %s with order %d, want the order of the first try", got.Status, got.OrderID)
	}
}

func TestDunningCaseIsClosedOnce(t *testing.T) {
	t.Parallel()
	a := billingtest.InCase()
	s, b := open(func(c *contract.Contract) { c.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open} }, a)
	c := b.Known[9001]
	c.Status = contract.Cancelled
	billingtest.Must(t, b.Update(t.Context(), 1, func(tx billing.Tx) error {
		return cases.Fence(t.Context(), tx, b.Store, []contract.Contract{c}, billingtest.Now)
	}))
	closed := b.Rows[1]
	if closed.Status != billing.SkippedDunning || closed.Dunning.State != dunning.Lost || !closed.DueAt.IsZero() || len(b.Entries) != 1 {
		t.Errorf("a cancellation left %s, case %s, due at %s, %d entries; want its case closed, with an entry", closed.Status, closed.Dunning.State, closed.DueAt, len(b.Entries))
	}
	billingtest.Must(t, s.settleDunned(t.Context(), 1, []dunned{{1, decide.Decision{Action: decide.StartDunning, CaseStep: decide.SkipRetry}}}))
	if got := b.Rows[1]; !reflect.DeepEqual(got, closed) || len(b.Entries) != 1 {
		t.Errorf("the worker that had claimed the case wrote %+v and %d entries", got, len(b.Entries))
	}
}
