package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// callers is how many calls of one batch are under way at once.
const callers = 4

// Work acts on everything of a shop that is due, batch by batch, until nothing
// is left or ctx ends. Any number of nodes may do so at once, and any of them
// may die at any point: what was taken up falls due again after its lease.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		b, err := s.takeUp(ctx, of)
		if err != nil {
			return fmt.Errorf("take up due attempts: %w", err)
		}
		if b.taken == 0 {
			return s.publish(ctx, of)
		}
		findings := s.askPlatform(ctx, b)
		if err := s.settle(ctx, of, findings); err != nil {
			return fmt.Errorf("settle %d attempts: %w", len(findings), err)
		}
	}
	return ctx.Err()
}

// batch is what one transaction took up.
type batch struct {
	shop    shop.Shop
	policy  Policy
	taken   int
	charges []errand // to be charged, or asked for
	polls   []Attempt
}

// errand is one attempt on its way to the platform.
type errand struct {
	Attempt
	send bool // false: only ask
}

// takeUp decides on due attempts and commits the intent to charge, before the
// platform hears of it.
func (s *Service) takeUp(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		b = batch{policy: s.Policy}
		now := s.Clock.Now()
		due, err := tx.DueAttempts(ctx, now, batchSize)
		if err != nil || len(due) == 0 {
			return err
		}
		b.taken = len(due)
		if b.shop, err = tx.Shop(ctx); err != nil {
			return err
		}
		cal, err := b.shop.Calendar()
		if err != nil {
			return err
		}
		ids := contractsOf(due)
		contracts, err := byID(tx.Contracts(ctx, ids))
		if err != nil {
			return err
		}
		others, err := tx.OpenAttempts(ctx, ids, now)
		if err != nil {
			return err
		}
		open := make(map[contract.ID][]Attempt, len(ids))
		for _, a := range others {
			open[a.Contract] = append(open[a.Contract], a)
		}
		var entries []activity.Entry
		var ended []contract.ID
		for i := range due {
			a := &due[i]
			c := contracts[a.Contract]
			v := decide(*a, ground{b.shop, *c, cal, b.policy, open[a.Contract]}, now)
			entry, err := b.carry(a, v, now)
			if err != nil {
				return err
			}
			open[a.Contract] = replaced(open[a.Contract], *a)
			if entry != nil {
				entries = append(entries, *entry)
				ended = append(ended, a.Contract)
			}
		}
		if err := tx.PutAttempts(ctx, due); err != nil {
			return err
		}
		b.refresh(due)
		if err := Refill(ctx, tx, b.shop, chosen(contracts, ended), now); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
	return b, err
}

// carry applies a verdict to an attempt and puts it where it goes next. The
// entry is set when the attempt ended.
func (b *batch) carry(a *Attempt, v verdict, now time.Time) (*activity.Entry, error) {
	a.UpdatedAt = now
	switch v.do {
	case poll:
		a.DueAt = now.Add(b.policy.Lease)
		b.polls = append(b.polls, *a)
	case wait:
		a.DueAt = v.until
	case rest:
		a.DueAt = time.Time{}
		return ptr(entryOf(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, outcome{Cycle: a.Cycle, Reason: v.reason})), nil
	case end:
		if err := a.move(v.status); err != nil {
			return nil, err
		}
		a.DueAt = time.Time{}
		a.ErrorMessage = v.reason
		return ptr(entryOf(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, outcome{Cycle: a.Cycle, Reason: v.reason})), nil
	case charge, ask:
		if err := a.request(b.shop, now); err != nil {
			return nil, err
		}
		a.DueAt = now.Add(b.policy.Lease)
		if v.do == charge {
			if a.FirstSentAt.IsZero() {
				a.FirstSentAt = now
			}
			a.SentAt = now
		}
		b.charges = append(b.charges, errand{*a, v.do == charge})
	}
	return nil, nil
}

// request states the intent to charge. The first request of a cycle is its
// first try; one after a failure, whose end is known for certain, is the next. When to act on it next is the caller's business.
func (a *Attempt) request(s shop.Shop, now time.Time) error {
	failed := a.Status == Failure
	if err := a.move(Requesting); err != nil {
		return err
	}
	if a.Try == 0 || failed {
		a.newTry(s)
	}
	if a.AttemptedAt.IsZero() {
		a.AttemptedAt = now
	}
	return nil
}

// newTry gives the attempt its next idempotency key. It must only be called when
// the end of the try before is known for certain.
func (a *Attempt) newTry(s shop.Shop) {
	a.Try++
	a.Key = KeyOf(s.Domain, a.Contract, a.Cycle, a.Try)
	a.FirstSentAt, a.SentAt, a.AttemptedAt = time.Time{}, time.Time{}, time.Time{}
	a.Failures, a.Polls = 0, 0
	a.PlatformID, a.ActionURL = "", ""
}

// refresh takes over the versions that writing gave the attempts.
func (b *batch) refresh(written []Attempt) {
	versions := make(map[AttemptID]int64, len(written))
	for _, a := range written {
		versions[a.ID] = a.Version
	}
	for i := range b.charges {
		b.charges[i].Version = versions[b.charges[i].ID]
	}
}

// finding is what was learned of one attempt outside of any transaction.
type finding struct {
	Attempt                   // as it was taken up
	found   *platform.Attempt // the platform's attempt for its key
	refused *platform.Refusal // a definite no
	billed  bool              // somebody else's order exists for the cycle
	skipped bool              // the platform skips the cycle
	busy    bool              // another charge of the cycle has not ended
	absent  bool              // asked only: the platform never saw the try
	early   time.Time         // the platform takes no charge for the cycle before a day before this
	late    bool              // the lease ran out before anything was sent
	err     error             // the platform could not be asked
}

// askPlatform makes every call that a batch needs. It changes nothing here.
func (s *Service) askPlatform(ctx context.Context, b batch) []finding {
	findings := make([]finding, len(b.charges)+len(b.polls))
	g := errgroup.Group{}
	g.SetLimit(callers)
	for from := 0; from < len(b.charges); from += platform.MaxCharges {
		to := min(from+platform.MaxCharges, len(b.charges))
		g.Go(func() error {
			s.chargeAll(ctx, b.shop, b.charges[from:to], findings[from:to])
			return nil
		})
	}
	polled := findings[len(b.charges):]
	for from := 0; from < len(b.polls); from += platform.MaxIDs {
		to := min(from+platform.MaxIDs, len(b.polls))
		g.Go(func() error {
			s.pollAll(ctx, b.shop, b.polls[from:to], polled[from:to])
			return nil
		})
	}
	_ = g.Wait() // the calls report through their findings
	return findings
}

// chargeAll asks the platform what it knows of each cycle, adopts what is there
// and charges the rest.
func (s *Service) chargeAll(ctx context.Context, of shop.Shop, errands []errand, out []finding) {
	refs := make([]platform.CycleRef, len(errands))
	for i, e := range errands {
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
	for i := range errands {
		f := &out[i]
		if !f.weigh(states[i], errands[i].send) {
			continue
		}
		if !s.bringForward(ctx, of, f, states[i].Cycle) {
			continue
		}
		charges = append(charges, platform.Charge{CycleRef: refs[i], Key: f.Key})
		asked = append(asked, f)
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
			f.early = s.Clock.Now().Add(2 * early)
		case answers[i].Refused != nil:
			f.refused = answers[i].Refused
		default:
			f.found = answers[i].Attempt
		}
	}
}

// weigh takes in what the platform knows of the cycle and reports whether the
// charge should be sent.
func (f *finding) weigh(state platform.CycleState, mayend bool) (send bool) {
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
			f.busy = true // a charge of this cycle, an earlier try's or somebody else's, has not ended
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
	return mayend
}

// early is how long before its expected date the platform takes a charge of a
// cycle, less a minute for clocks that differ.
const early = 24*time.Hour - time.Minute

// tooEarly is the platform's code for a charge that comes earlier than that.
const tooEarly = "BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE"

// bringForward moves the platform's expected date when it lies so far ahead that
// the platform would refuse the charge. Where that date cannot be moved, because
// the cycle has not begun or the platform says so, the finding tells when the
// charge is possible.
func (s *Service) bringForward(ctx context.Context, of shop.Shop, f *finding, c platform.Cycle) (ready bool) {
	now := s.Clock.Now()
	if c.Index == 0 || !c.Expected.After(now.Add(early)) {
		return true
	}
	if c.Start.After(now.Add(early)) {
		f.early = c.Start
		return false
	}
	at := now.Add(time.Minute)
	if at.Before(c.Start) {
		at = c.Start
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
func (s *Service) pollAll(ctx context.Context, of shop.Shop, polls []Attempt, out []finding) {
	ids := make([]string, len(polls))
	for i, a := range polls {
		ids[i] = a.PlatformID
		out[i] = finding{Attempt: a}
	}
	found, err := s.Platform.Attempts(ctx, of.At(), ids)
	byKey := make(map[string]*platform.Attempt, len(found))
	for i := range found {
		byKey[found[i].ID] = &found[i]
	}
	for i := range out {
		if out[i].err = err; err == nil {
			out[i].found = byKey[ids[i]]
		}
	}
}

func ptr[T any](v T) *T { return &v }

func contractsOf(attempts []Attempt) []contract.ID {
	seen := make(map[contract.ID]bool, len(attempts))
	var ids []contract.ID
	for _, a := range attempts {
		if !seen[a.Contract] {
			seen[a.Contract] = true
			ids = append(ids, a.Contract)
		}
	}
	return ids
}

func byID(list []contract.Contract, err error) (map[contract.ID]*contract.Contract, error) {
	m := make(map[contract.ID]*contract.Contract, len(list))
	for i := range list {
		m[list[i].ID] = &list[i]
	}
	return m, err
}

// chosen returns the contracts with the given ids, once each.
func chosen(all map[contract.ID]*contract.Contract, ids []contract.ID) []contract.Contract {
	seen := make(map[contract.ID]bool, len(ids))
	var list []contract.Contract
	for _, id := range ids {
		if c := all[id]; c != nil && !seen[id] {
			seen[id] = true
			list = append(list, *c)
		}
	}
	return list
}

func replaced(list []Attempt, a Attempt) []Attempt {
	for i := range list {
		if list[i].ID == a.ID {
			list[i] = a
			return list
		}
	}
	return append(list, a)
}
