package billing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Work acts on what of a shop is due, batch by batch, until nothing is left, ctx
// ends, or other shops must have their turn: then it asks to be run again. Any number of nodes may do so at once, and any of them
// may die at any point: what was taken up falls due again after its lease.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for n := 0; ctx.Err() == nil; n++ {
		if n == batchesAtOnce {
			return s.Store.Update(ctx, of, func(tx Tx) error { return tx.Enqueue(ctx, Work{Shop: of}) })
		}
		b, err := s.takeUp(ctx, of)
		if err != nil {
			return fmt.Errorf("take up due attempts: %w", err)
		}
		if b.taken == 0 {
			return s.tellOfAll(ctx, of, b.besides)
		}
		findings := s.askPlatform(ctx, b)
		if err := s.settle(ctx, b.shop, findings); err != nil {
			return fmt.Errorf("settle %d attempts: %w", len(findings), err)
		}
		if err := s.settleDunned(ctx, of, b.dunned); err != nil {
			return fmt.Errorf("pursue %d orders that could not be charged: %w", len(b.dunned), err)
		}
		if err := s.settlePrepared(ctx, b.shop, s.prepareAll(ctx, b)); err != nil {
			return fmt.Errorf("settle %d orders that are being prepared: %w", len(b.preparing), err)
		}
	}
	return ctx.Err()
}

// tellOfAll tells the platform what it is to hear, of what waits for that.
func (s *Service) tellOfAll(ctx context.Context, of shop.ID, waits Waits) error {
	if waits.News {
		if err := s.publish(ctx, of); err != nil {
			return err
		}
	}
	if waits.Marks {
		return s.markAll(ctx, of)
	}
	return nil
}

// batch is what one transaction took up.
type batch struct {
	shop      shop.Shop
	policy    Policy
	taken     int
	besides   Waits    // what waits when no attempt is due
	allowance int      // charges that may be sent for the first time
	charges   []errand // to be charged, or asked for
	polls     []Attempt

	preparing []preparing // to be made what they should be
	dunned    []dunned    // of which the case is due
	cards     cards
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
		due, err := b.due(ctx, tx, now)
		if err != nil {
			return err
		}
		if b.taken = len(due); b.taken == 0 {
			b.besides, err = tx.Waits(ctx, now)
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
		needs, err := openPreparations(ctx, tx, b.shop, contracts)
		if err != nil {
			return err
		}
		if b.cards, err = readCards(ctx, tx, due, contracts, now); err != nil {
			return err
		}
		open := ByContract(others)
		var entries []activity.Entry
		var rewritten []contract.ID
		var returned []*contract.Contract // that do not run: what waits goes
		refused, taken := false, make([]Attempt, 0, len(due))
		slices.SortStableFunc(due, failedLast) // retries give way to other charges
		due = missedFirst(due, others, now)
		for i := range due {
			a := &due[i]
			c := contracts[a.Contract]
			_, needed := needs.errandOf(*a, *c)
			v := decide(*a, inputs{b.shop, *c, cal, b.policy, open[a.Contract], needed, b.cards.known[c.PaymentMethod], b.cards.tried[c.PaymentMethod]}, now)
			if v = blockIfFrozen(v, *a, b.shop.Guard, b.policy, now); v.action == charge && !a.sent() && b.sends() >= b.allowance {
				refused = true
				continue
			}
			if v.action == charge && a.Status == Failure {
				b.retry(a, *c, now)
			}
			if v.action == charge || v.action == prepare {
				b.cards.use(c.PaymentMethod, now)
			}
			if v.action == charge {
				a.holdLines(*c)
			}
			if v.action == prepare && a.Prep.Stage == Ready {
				a.anew(*c)
			}
			entry, err := b.carry(a, *c, v, now)
			if err != nil {
				return err
			}
			if v.action == requeue {
				returned = append(returned, c)
			}
			if v.action == prepare {
				errand, _ := needs.errandOf(*a, *c)
				b.preparing = append(b.preparing, errand)
			}
			if v.action == end && a.Dunning.State.Live() { // somebody had asked for it again
				a.Dunning.Close(dunning.Lost, now)
				showCase(c, *a, b.shop)
			}
			if v.look {
				c.AmendBy(now)
				rewritten = append(rewritten, a.Contract)
			}
			open[a.Contract] = replaced(open[a.Contract], *a)
			taken = append(taken, *a)
			if entry != nil {
				entries = append(entries, *entry)
				rewritten = append(rewritten, a.Contract)
			}
		}
		if err := tx.PutAttempts(ctx, taken); err != nil {
			return err
		}
		if err := Replan(ctx, tx, b.shop, returned, now); err != nil {
			return err
		}
		b.refresh(taken)
		if err := b.announce(ctx, tx, contracts); err != nil {
			return err
		}
		if err := s.pace(ctx, tx, &b, refused, now); err != nil {
			return err
		}
		if err := tx.AddCardTries(ctx, b.cards.made); err != nil {
			return err
		}
		if err := b.findEdited(ctx, tx); err != nil {
			return err
		}
		if err := Refill(ctx, tx, b.shop, chosen(contracts, rewritten), now); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
	return b, err
}

// failedLast orders attempts that failed behind others.
func failedLast(a, b Attempt) int {
	switch {
	case (a.Status == Failure) == (b.Status == Failure):
		return 0
	case a.Status == Failure:
		return 1
	}
	return -1
}

// missedFirst puts those before what is due that are given up for it: they end before
// the newer order is charged, and some may wait for a turn that is to come.
func missedFirst(due, others []Attempt, now time.Time) []Attempt {
	newer := ByContract(due)
	var first []Attempt
	for _, o := range others {
		if _, is := missed(o, newer[o.Contract], now); is && o.Status == Queued {
			first = append(first, o)
		}
	}
	rest := slices.DeleteFunc(due, func(a Attempt) bool {
		return slices.ContainsFunc(first, func(o Attempt) bool { return o.ID == a.ID })
	})
	return append(first, rest...)
}

// carry applies a verdict to an attempt and puts it where it goes next. The
// entry is set when the attempt ended.
func (b *batch) carry(a *Attempt, c contract.Contract, v decision, now time.Time) (*activity.Entry, error) {
	a.UpdatedAt = now
	switch v.action {
	case poll:
		a.DueAt = now.Add(b.policy.Lease)
		b.polls = append(b.polls, *a)
	case prepare:
		a.DueAt = now.Add(b.policy.Lease)
	case startDunning:
		a.DueAt = now.Add(b.policy.Lease)
		b.dunned = append(b.dunned, dunned{a.ID, v})
	case wait:
		a.DueAt = v.until
	case leave:
		a.DueAt = time.Time{}
		return ptr(entryOf(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, outcome{Cycle: a.Cycle, Reason: v.reason})), nil
	case requeue:
		if err := a.withdraw(); err != nil {
			return nil, err
		}
		return ptr(entryOf(*a, activity.BillingAttemptTriggered, activity.Failure, activity.System, now, outcome{Cycle: a.Cycle, Reason: v.reason})), nil
	case end:
		if err := a.endWithoutCharge(v.status, c, 0); err != nil {
			return nil, err
		}
		a.DueAt = time.Time{}
		a.ErrorMessage = v.reason
		event := activity.BillingAttemptSkipped
		if v.status == SkippedDunning {
			event = activity.DunningAttemptSkipped
		}
		return ptr(entryOf(*a, event, activity.Skipped, activity.System, now, outcome{Cycle: a.Cycle, Reason: v.reason})), nil
	case charge, ask:
		if err := a.request(b.shop, now); err != nil {
			return nil, err
		}
		a.DueAt = now.Add(b.policy.Lease)
		if v.action == charge {
			if a.FirstSentAt.IsZero() {
				a.FirstSentAt = now
			}
			a.SentAt = now
		}
		b.charges = append(b.charges, errand{*a, v.action == charge})
	}
	return nil, nil
}

// retry notes that a failed attempt is about to be charged again.
func (b *batch) retry(a *Attempt, c contract.Contract, now time.Time) {
	a.Manual = a.Dunning.Cause == dunning.ByHand
	if a.Dunning.State.Live() && a.Dunning.Cause == "" {
		a.Dunning.Cause = dunning.ByPlan
	}
	b.cards.retried(c.PaymentMethod, now)
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

// holdLines notes what a try orders that is sent for the first time: what its order
// was prepared to be, or what the contract has. The contract may change before the
// end of the try is known.
func (a *Attempt) holdLines(c contract.Contract) {
	sent := a.Status != Failure && !a.FirstSentAt.IsZero()
	prepared := len(a.Lines) > 0 && a.Prep.Stage == Ready && c.Revision <= a.Prep.Revision
	if !sent && !prepared {
		a.Lines = c.Lines
	}
}

// linesKnown reports whether an order that was made for the attempt has the lines that
// are noted. The platform makes it of what the contract has when the charge comes to
// its end, which may be days after it was sent. A copy that was made for the order
// stays as it is; one of which nobody knows whether it was made, because preparing the
// order was given up, may have been made all the same.
func (a Attempt) linesKnown(c contract.Contract) bool {
	if a.Prep.Edited {
		return len(a.Lines) > 0 && a.Prep.Stage == Ready && a.Prep.Contract != ""
	}
	return len(a.Lines) > 0 && fingerprintOf(a.Lines) == fingerprintOf(c.Lines)
}

// withdraw puts an attempt back into the queue of which nothing was sent, or nothing
// that could still be charged.
func (a *Attempt) withdraw() error {
	if err := a.move(Queued); err != nil {
		return err
	}
	a.FirstSentAt, a.SentAt, a.AttemptedAt = time.Time{}, time.Time{}, time.Time{}
	a.Failures, a.Manual = 0, false
	a.unready()
	a.DueAt = a.BillingDate
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
	for i := range b.preparing {
		b.preparing[i].Version = versions[b.preparing[i].ID]
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

// ByContract returns attempts by the contracts that they are of, in the order in which
// they are given.
func ByContract(attempts []Attempt) map[contract.ID][]Attempt {
	m := make(map[contract.ID][]Attempt)
	for _, a := range attempts {
		m[a.Contract] = append(m[a.Contract], a)
	}
	return m
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
