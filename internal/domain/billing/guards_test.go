package billing

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

func TestWhatIsSentWasCommittedBefore(t *testing.T) {
	t.Parallel()
	s, b := open(t, nil, due())
	taken, err := s.takeUp(t.Context(), 1)
	if err != nil || len(taken.charges) != 1 || !taken.charges[0].send {
		t.Fatalf("took up %+v, %v; want one charge", taken.charges, err)
	}
	a := b.attempts[1]
	if a.Status != Requesting || a.Try != 1 || a.Key != KeyOf(b.shop.Domain, a.Contract, a.Cycle, 1) || a.Key != taken.charges[0].Key {
		t.Errorf("committed as %s, try %d, key %q; the charge has key %q", a.Status, a.Try, a.Key, taken.charges[0].Key)
	}
	if !a.FirstSentAt.Equal(now) || !a.SentAt.Equal(now) {
		t.Errorf("committed as sent at %s, first at %s; want %s", a.SentAt, a.FirstSentAt, now)
	}
	if want := now.Add(DefaultPolicy().Lease); !a.DueAt.Equal(want) {
		t.Errorf("due again at %s, want the end of the lease, %s", a.DueAt, want)
	}
	if again, err := s.takeUp(t.Context(), 1); err != nil || again.taken != 0 {
		t.Errorf("another node took up %d attempts of the first one's, %v", again.taken, err)
	}
}

func TestATryIsANewOneOnlyAfterAKnownEnd(t *testing.T) {
	t.Parallel()
	for status, want := range map[Status]int{Queued: 2, Requesting: 2, PlatformException: 2, Failure: 3} {
		a := due(func(a *Attempt) { a.Status, a.Try, a.Key = status, 2, "key" })
		must(t, a.request(shop.Shop{Domain: "demo.myshopify.com"}, now))
		if a.Try != want || (a.Key == "key") != (want == 2) {
			t.Errorf("what was %s is asked for with try %d and key %q, want try %d", status, a.Try, a.Key, want)
		}
	}
}

// belated is a platform whose answers about cycles take longer than a lease.
type belated struct {
	Platform
	clock *clock.Manual
	asked int
	sent  int
}

func (p *belated) CycleStates(_ context.Context, _ platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	p.asked++
	p.clock.Set(p.clock.Now().Add(DefaultPolicy().Lease))
	return make([]platform.CycleState, len(of)), nil
}

func (p *belated) Charge(_ context.Context, _ platform.Shop, charges []platform.Charge) ([]platform.ChargeAnswer, error) {
	p.sent++
	return make([]platform.ChargeAnswer, len(charges)), nil
}

func TestNothingIsSentAfterItsLease(t *testing.T) {
	t.Parallel()
	s, b := open(t, nil, due())
	p := &belated{clock: s.Clock.(*clock.Manual)}
	s.Platform = p
	taken, err := s.takeUp(t.Context(), 1)
	must(t, err)
	findings := s.askPlatform(t.Context(), taken)
	if p.asked != 1 || p.sent != 0 || !findings[0].late {
		t.Errorf("asked %d times, sent %d charges, %+v; want one question and nothing sent", p.asked, p.sent, findings)
	}
	before := b.attempts[1]
	must(t, s.settle(t.Context(), taken.shop, findings))
	if after := b.attempts[1]; !reflect.DeepEqual(before, after) {
		t.Errorf("who was late wrote %+v over %+v", after, before)
	}
}

func TestWhatThePlatformHasIsNotChargedAgain(t *testing.T) {
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
		{name: "an order of somebody else's", state: platform.CycleState{Cycle: platform.Cycle{Billed: true}, Attempts: is("other", platform.Succeeded)}, found: "other"},
		{name: "a cycle that was billed some other way", state: platform.CycleState{Cycle: platform.Cycle{Billed: true}}},
		{name: "a cycle that is skipped", state: platform.CycleState{Cycle: platform.Cycle{Skipped: true}}},
		{name: "a charge of somebody else's that failed", state: platform.CycleState{Attempts: is("other", platform.Failed)}, send: true},
	} {
		f := finding{Attempt: sent(0, 0)}
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
	challenged := func(ago time.Duration) Attempt {
		a := sent(ago, ago)
		a.Status, a.PlatformID = Challenge, "gid"
		return a
	}
	tired := sent(time.Hour, time.Minute)
	tired.Failures = len(DefaultPolicy().Retries)
	for _, row := range []struct {
		name   string
		of     func(*contract.Contract)
		a      Attempt
		f      finding
		status Status
		code   string
		due    time.Time // zero: whenever
	}{
		{"an order of somebody else's is the cycle's", nil, sent(0, 0), finding{billed: true, found: of("other", platform.Succeeded)}, Success, "", time.Time{}},
		{"a cycle that was billed some other way is left out", nil, sent(0, 0), finding{billed: true}, Skipped, "", time.Time{}},
		{"a charge that comes too early is no decline", nil, sent(0, 0), finding{early: now.AddDate(0, 0, 3)}, Queued, "", now.AddDate(0, 0, 3)},
		{"what the platform has not seen may still be on its way", cancelled, sent(time.Hour, 59*time.Minute), finding{absent: true}, Requesting, "", now.Add(time.Minute)},
		{"what it has not seen for an hour never came", cancelled, sent(time.Hour, time.Hour), finding{absent: true}, ContractCancelled, "", time.Time{}},
		{"an order of a contract that was cancelled meanwhile is one", cancelled, sent(time.Hour, time.Hour), finding{found: of("key", platform.Succeeded)}, Success, "", time.Time{}},
		{"a customer has two days to confirm a payment", nil, challenged(47 * time.Hour), finding{found: of("key", platform.Challenged)}, Challenge, "", time.Time{}},
		{"and no more", nil, challenged(48 * time.Hour), finding{found: of("key", platform.Challenged)}, Failure, dunning.ChallengeExpired, time.Time{}},
		{"what the platform has accepted is asked for, should nobody tell", nil, sent(0, 0), finding{found: of("key", platform.Pending)}, Progress, "", now.Add(10 * time.Minute)},
		{"what could not be sent for long is shown, and looked for again", nil, tired, finding{err: platform.ErrUnknown}, PlatformException, "", now.Add(time.Hour)},
		{"a platform that cannot be reached may have charged", nil, sent(time.Minute, time.Minute), finding{err: platform.ErrUnknown}, Requesting, "", now.Add(time.Minute)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(t, row.of, row.a)
			row.f.Attempt = row.a
			row.f.UpdatedAt = now
			must(t, s.settle(t.Context(), b.shop, []finding{row.f}))
			a := b.attempts[1]
			if a.Status != row.status || a.ErrorCode != row.code || a.Key != "key" || !row.due.IsZero() && !a.DueAt.Equal(row.due) {
				t.Errorf("%s %q, due at %s, key %q; want %s %q at %s", a.Status, a.ErrorCode, a.DueAt, a.Key, row.status, row.code, row.due)
			}
		})
	}
}

func TestAFrozenStoreIsAskedLaterForAChargeThatThePlatformNeverSaw(t *testing.T) {
	t.Parallel()
	a := sent(25*time.Hour, 3*time.Hour)
	s, b := open(t, nil, a)
	b.shop.Guard.FrozenAt = now
	must(t, s.settle(t.Context(), b.shop, []finding{{Attempt: a, absent: true}}))
	if got := b.attempts[1]; got.Status != Requesting || !got.DueAt.Equal(now.Add(time.Hour)) {
		t.Errorf("it is %s and asked for at %s, want it to be asked for in an hour", got.Status, got.DueAt)
	}
}

func TestAnOrderThatThePlatformNeverSawIsGivenUpForANewerOne(t *testing.T) {
	t.Parallel()
	newer := due(func(a *Attempt) { a.ID, a.Cycle = 2, 4 })
	first := func(last time.Duration, change ...func(*Attempt)) Attempt {
		a := sent(8*24*time.Hour, last)
		a.AttemptedAt, a.BillingDate = now, now.AddDate(0, 0, -8)
		for _, f := range change {
			f(&a)
		}
		return a
	}
	for _, row := range []struct {
		name  string
		a     Attempt
		other Attempt
		asked time.Time
		f     finding
		want  Status
	}{
		{"the platform says so, an hour after the last send", first(time.Hour), newer, now, finding{absent: true}, Skipped},
		{"it may still be on its way", first(59 * time.Minute), newer, now, finding{absent: true}, Requesting},
		{"it was asked before it could know", first(time.Hour), newer, now.Add(-time.Minute), finding{absent: true}, Requesting},
		{"the platform did not answer", first(time.Hour), newer, now, finding{err: platform.ErrUnknown}, Requesting},
		{"the platform has the charge", first(time.Hour), newer, now, finding{found: &platform.Attempt{ID: "gid", Key: "key", State: platform.Pending}}, Progress},
		{"another charge of the cycle is under way", first(time.Hour), newer, now, finding{busy: true}, Requesting},
		{"the newer one has been skipped meanwhile", first(time.Hour), due(func(a *Attempt) { a.ID, a.Cycle, a.Status, a.DueAt = 2, 4, Skipped, time.Time{} }), now, finding{absent: true}, Requesting},
		{"the newer one is not due yet", first(time.Hour), due(func(a *Attempt) { a.ID, a.Cycle, a.BillingDate, a.DueAt = 2, 4, now.Add(time.Hour), now.Add(time.Hour) }), now, finding{absent: true}, Requesting},
		{"a person asked for it", first(time.Hour, func(a *Attempt) { a.Manual = true }), newer, now, finding{absent: true}, Requesting},
		{"it had been declined before", first(time.Hour, func(a *Attempt) { a.Try = 2 }), newer, now, finding{absent: true}, Requesting},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(t, nil, row.a, row.other)
			row.f.Attempt = row.a
			row.f.UpdatedAt = row.asked
			must(t, s.settle(t.Context(), b.shop, []finding{row.f}))
			a := b.attempts[1]
			if a.Status != row.want || (a.Status == Skipped) != a.DueAt.IsZero() {
				t.Errorf("it is %s and due at %s, want %s", a.Status, a.DueAt, row.want)
			}
			if a.Status != Skipped {
				return
			}
			const reason = "missed, and cycle 4 is due too: only the newest is charged"
			if a.ErrorMessage != reason || len(b.entries) != 1 || b.entries[0].Event != activity.BillingAttemptSkipped || b.entries[0].Status != activity.Skipped {
				t.Errorf("it was left out because %q, with the entries %+v", a.ErrorMessage, b.entries)
			}
		})
	}
}

// refusing is a platform that refuses every charge of cycles which it expects in
// three days.
type refusing struct {
	Platform
	code string
}

func (p refusing) CycleStates(_ context.Context, _ platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	states := make([]platform.CycleState, len(of))
	for i := range states {
		states[i].Cycle.Expected = now.AddDate(0, 0, 3)
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

func TestOnlyAnEarlyChargeIsPostponed(t *testing.T) {
	t.Parallel()
	for code, postponed := range map[string]bool{tooEarly: true, "CONTRACT_UNDER_REVIEW": false} {
		s, _ := open(t, nil, due())
		s.Platform = refusing{code: code}
		taken, err := s.takeUp(t.Context(), 1)
		must(t, err)
		f := s.askPlatform(t.Context(), taken)[0]
		if f.early.Equal(now.AddDate(0, 0, 3)) != postponed || (f.refused == nil) != postponed {
			t.Errorf("%s: possible at %s, refused %v; want it postponed: %t", code, f.early, f.refused, postponed)
		}
	}
}

// A customer may take two days to confirm an earlier charge of the cycle.
func TestAnEarlierChargeThatHasNotEndedIsLookedAtLessAndLess(t *testing.T) {
	t.Parallel()
	a := sent(0, 0)
	a.AttemptedAt = now
	s, b := open(t, nil, a)
	at := s.Clock.(*clock.Manual)
	var waits []time.Duration
	for b.attempts[1].Status == Requesting {
		must(t, s.settle(t.Context(), b.shop, []finding{{Attempt: b.attempts[1], busy: true}}))
		if due := b.attempts[1].DueAt; b.attempts[1].Status == Requesting {
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
	if a := b.attempts[1]; a.Status != Failure || a.ErrorCode != dunning.EarlierChargeOpen {
		t.Errorf("in the end it is %s %q", a.Status, a.ErrorCode)
	}
}

func TestFindingsOfAnotherTryOrStatusChangeNothing(t *testing.T) {
	t.Parallel()
	first := sent(time.Minute, time.Minute)
	for _, row := range []struct {
		name string
		a    Attempt
		f    finding
	}{
		{"an answer about the try before", due(func(a *Attempt) { a.Status, a.Try, a.Key = Requesting, 2, "second" }), finding{found: &platform.Attempt{ID: "gid", Key: "key", State: platform.Failed}}},
		{"no answer about the try before", due(func(a *Attempt) { a.Status, a.Try, a.Key = Requesting, 2, "second" }), finding{err: platform.ErrUnknown}},
		{"the word that there is nothing of what is paid by now", due(func(a *Attempt) { a.Status, a.Try, a.Key = Success, 1, "key" }), finding{absent: true}},
		{"a skip of what has failed by now", due(func(a *Attempt) { a.Status, a.Try, a.Key = Failure, 1, "key" }), finding{skipped: true}},
	} {
		s, b := open(t, nil, row.a)
		row.f.Attempt = first
		if err := s.settle(t.Context(), b.shop, []finding{row.f}); err != nil || !reflect.DeepEqual(b.attempts[1], row.a) {
			t.Errorf("%s: %v, made %+v of %+v", row.name, err, b.attempts[1], row.a)
		}
	}
}

func TestAStoreIsGoneByTheWordOnItsTokenAlone(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(s *Service, asked shop.Shop, a Attempt) error{
		"of a charge": func(s *Service, asked shop.Shop, a Attempt) error {
			return s.settle(t.Context(), asked, []finding{{Attempt: a, err: platform.ErrDisconnected}})
		},
		"of a preparation": func(s *Service, asked shop.Shop, a Attempt) error {
			return s.settlePrepared(t.Context(), asked, []prepared{{preparing: preparing{Attempt: a}, err: platform.ErrDisconnected}})
		},
	} {
		for token, connected := range map[platform.Token]bool{"theirs": false, "replaced": true} {
			a := sent(time.Minute, time.Minute)
			s, b := open(t, nil, a)
			b.shop.Token = "theirs"
			asked := b.shop
			asked.Token = token
			must(t, settle(s, asked, a))
			if b.shop.Connected != connected || (len(b.entries) == 0) != connected {
				t.Errorf("%s with a token that is %s: connected %t, want %t", name, token, b.shop.Connected, connected)
			}
		}
	}
}

func TestALateSuccessOfAnEarlierTryIsTheOrder(t *testing.T) {
	t.Parallel()
	a := due(func(a *Attempt) { a.Status, a.Try, a.ErrorCode = Failure, 2, "CARD_DECLINED" })
	a.Key = KeyOf("demo.myshopify.com", a.Contract, a.Cycle, 2)
	s, b := open(t, nil, a)
	late := platform.Attempt{ID: "gid", Contract: 9001, Key: KeyOf("demo.myshopify.com", a.Contract, a.Cycle, 1), State: platform.Succeeded, Order: platform.OrderRef{ID: 7, Name: "#7"}}
	must(t, b.Update(t.Context(), 1, func(tx Tx) error { return s.Settle(t.Context(), tx, []platform.Attempt{late}) }))
	if got := b.attempts[1]; got.Status != Success || got.OrderID != 7 {
		t.Errorf("it is %s with order %d, want the order of the first try", got.Status, got.OrderID)
	}
}

func TestACaseIsClosedOnce(t *testing.T) {
	t.Parallel()
	a := inCase()
	s, b := open(t, func(c *contract.Contract) { c.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3, State: dunning.Open} }, a)
	c := b.contracts[9001]
	c.Status = contract.Cancelled
	must(t, b.Update(t.Context(), 1, func(tx Tx) error { return Fence(t.Context(), tx, b.shop, []contract.Contract{c}, now) }))
	closed := b.attempts[1]
	if closed.Status != SkippedDunning || closed.Dunning.State != dunning.Lost || !closed.DueAt.IsZero() || len(b.entries) != 1 {
		t.Errorf("a cancellation left %s, case %s, due at %s, %d entries; want its case closed, with an entry", closed.Status, closed.Dunning.State, closed.DueAt, len(b.entries))
	}
	must(t, s.settleDunned(t.Context(), 1, []dunned{{1, decision{action: startDunning, how: leaveOut}}}))
	if got := b.attempts[1]; !reflect.DeepEqual(got, closed) || len(b.entries) != 1 {
		t.Errorf("whoever had taken the case up wrote %+v and %d entries", got, len(b.entries))
	}
}
