package charge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// finding is what was found out about one attempt outside of any transaction.
type finding struct {
	billing.Attempt                   // as it was taken up
	found           *platform.Attempt // the platform's attempt for its key
	refused         *platform.Refusal // a definite refusal
	billed          bool              // the platform has billed the cycle, perhaps by an order that is not ours
	skipped         bool              // the platform skips the cycle
	busy            bool              // another charge of the cycle has not ended
	absent          bool              // the platform has not received the try
	early           time.Time         // the platform accepts no charge of the cycle until a day before this
	moved           time.Time         // the date of the cycle after an edit at the platform
	late            bool              // the lease ran out before anything was sent
	err             error             // the platform could not be asked
}

// askPlatform makes every call that a batch needs. It changes nothing here.
func (s *Service) askPlatform(ctx context.Context, b batch) []finding {
	findings := make([]finding, len(b.charges)+len(b.polls))
	charges := pieces(b.charges)
	polled := findings[len(b.charges):]
	polls := (len(b.polls) + platform.MaxIDs - 1) / platform.MaxIDs
	s.Each(ctx, len(charges)+polls, func(i int) {
		if i < len(charges) {
			p := charges[i]
			s.chargeAll(ctx, b.shop, b.charges[p.from:p.to], findings[p.from:p.to])
			return
		}
		from := (i - len(charges)) * platform.MaxIDs
		to := min(from+platform.MaxIDs, len(b.polls))
		s.pollAll(ctx, b.shop, b.polls[from:to], polled[from:to])
	})
	return findings
}

// piece is a run of requests that share a call.
type piece struct{ from, to int }

// pieces sorts requests by how often they failed and says which share a call.
// When the fate of one charge of a call is unknown, so is that of all: requests
// that failed share ever smaller calls, so that one of them cannot hold up the
// others for ever.
func pieces(requests []request) []piece {
	slices.SortStableFunc(requests, func(a, b request) int { return cmp.Compare(a.Failures, b.Failures) })
	var list []piece
	for from := 0; from < len(requests); {
		size := max(1, platform.MaxCharges>>min(requests[from].Failures, 8))
		to := from + 1
		for to < len(requests) && to-from < size && requests[to].Failures == requests[from].Failures {
			to++
		}
		list = append(list, piece{from, to})
		from = to
	}
	return list
}

// chargeAll asks the platform what it knows of each cycle, adopts what is there
// and charges the rest.
func (s *Service) chargeAll(ctx context.Context, of shop.Shop, requests []request, out []finding) {
	refs := make([]platform.CycleRef, len(requests))
	for i, e := range requests {
		out[i] = finding{Attempt: e.Attempt}
		refs[i] = platform.CycleRef{Contract: int64(e.Contract), Index: e.Cycle}
	}
	states, err := s.Platform.CycleStates(ctx, of.At(), refs)
	if err != nil {
		for i := range out {
			out[i].err = err
		}
		return
	}
	var charges []platform.Charge
	var asked []*finding
	var expected []time.Time // when the platform expects the charges
	for i := range requests {
		f := &out[i]
		if !f.weigh(states[i], requests[i].send) {
			continue
		}
		if f.movedAway(states[i].Cycle, s.Clock.Now()) {
			continue
		}
		if !s.bringForward(ctx, of, f, states[i].Cycle) {
			continue
		}
		charges = append(charges, platform.Charge{CycleRef: refs[i], Key: f.Key})
		asked = append(asked, f)
		expected = append(expected, states[i].Cycle.Expected)
	}
	if len(charges) == 0 {
		return
	}
	if !s.Clock.Now().Before(asked[0].DueAt) { // this process slept: another may have taken over
		for _, f := range asked {
			f.late = true
		}
		return
	}
	answers, err := s.Platform.Charge(ctx, of.At(), charges)
	for i, f := range asked {
		switch {
		case err != nil:
			f.fail(err)
		case answers[i].Refused != nil && answers[i].Refused.Code == tooEarly:
			if f.early = s.Clock.Now().Add(2 * billing.ChargeLead); !expected[i].IsZero() {
				f.early = expected[i]
			}
		case answers[i].Refused != nil:
			f.refused = answers[i].Refused
		default:
			f.found = answers[i].Attempt
		}
	}
}

// weigh takes in what the platform knows of the cycle and reports whether the
// charge should be sent.
func (f *finding) weigh(state platform.CycleState, maySend bool) (send bool) {
	for _, list := range [][]platform.Attempt{state.Attempts, state.Recent} {
		for i := range list {
			if list[i].Key == f.Key {
				f.found = &list[i]
				return false
			}
		}
	}
	for _, a := range state.Attempts {
		if a.State == platform.Pending || a.State == platform.Challenged {
			f.busy = true // another charge of this cycle has not ended
			return false
		}
	}
	switch {
	case state.Cycle.Billed:
		f.billed = true
		for i := range state.Attempts {
			if state.Attempts[i].State == platform.Succeeded {
				f.found = &state.Attempts[i]
			}
		}
		return false
	case state.Cycle.Skipped:
		f.skipped = true
		return false
	}
	f.absent = true
	return maySend
}

// tooEarly is the platform's code for a charge that comes earlier than that.
const tooEarly = "BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE"

// movedAway notes that the cycle was moved to a later day at the platform, by an edit that was
// not reported to us or that a restored database does not have. Ours is newer if a person here
// asked for the charge, if our date is not published yet or was refused, or if we have edited
// the order ourselves.
func (f *finding) movedAway(c platform.Cycle, now time.Time) bool {
	if !c.Edited || f.Prep.Edited || f.Manual || f.Try > 1 || f.Failures > 0 || !f.PublishAt.IsZero() || c.Expected.Equal(f.Prep.Kept) || !c.Expected.After(now.Add(billing.ChargeLead)) {
		return false
	}
	f.moved = c.Expected
	return true
}

// bringForward moves the platform's expected date when it lies so far ahead that
// the platform would refuse the charge. Where that date cannot be moved, because
// the cycle has not begun or the platform says so, the finding tells when the
// charge is possible.
func (s *Service) bringForward(ctx context.Context, of shop.Shop, f *finding, c platform.Cycle) (ready bool) {
	now := s.Clock.Now()
	if c.Index == 0 || !c.Expected.After(now.Add(billing.ChargeLead)) {
		return true
	}
	if c.Start.After(now.Add(billing.ChargeLead)) {
		f.early = c.Start
		return false
	}
	at := now.Add(time.Minute)
	if at.Before(c.Start) {
		at = c.Start
	}
	if at.After(c.End) { // it was longer when it was given its date
		at = c.End
	}
	err := s.Platform.MoveCycle(ctx, of.At(), int64(f.Contract), f.Cycle, at)
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		f.early = c.Expected
		return false
	}
	if err != nil {
		f.fail(err)
	}
	return err == nil
}

func (f *finding) fail(err error) {
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok {
		f.refused = refusal
		return
	}
	f.absent = false
	f.err = err
}

// pollAll asks how far accepted tries are.
func (s *Service) pollAll(ctx context.Context, of shop.Shop, polls []billing.Attempt, out []finding) {
	ids := make([]string, len(polls))
	for i, a := range polls {
		ids[i] = a.PlatformID
		out[i] = finding{Attempt: a}
	}
	found, err := s.Platform.Attempts(ctx, of.At(), ids)
	known := make(map[string]*platform.Attempt, len(found))
	for i := range found {
		known[found[i].ID] = &found[i]
	}
	for i := range out {
		if out[i].err = err; err == nil {
			out[i].found = known[ids[i]]
		}
	}
}
