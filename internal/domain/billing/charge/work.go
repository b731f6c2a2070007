// Package charge works on due attempts: it claims them, asks the platform about their cycles,
// adopts or sends their charges, and settles the outcomes.
package charge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/annotate"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/billing/publish"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Service charges what is due.
type Service struct {
	*billing.Env
	Prepare  *prepare.Service
	Publish  *publish.Service
	Annotate *annotate.Service
}

// New returns the service and those whose work it does along with its own.
func New(env *billing.Env) *Service {
	return &Service{env, &prepare.Service{Env: env}, &publish.Service{Env: env}, &annotate.Service{Env: env}}
}

const (
	// batchSize is how many due attempts one transaction claims.
	batchSize = 200
	// batchesAtOnce is how many batches of a shop are worked before other shops are.
	batchesAtOnce = 2
)

// Work acts on everything of a shop that is due, batch by batch, until nothing is left or ctx
// ends. After batchesAtOnce batches it enqueues itself again, so that other shops get workers.
// Several nodes may work on a shop at once, and any of them may die at any point: claimed
// attempts fall due again when their lease ends.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for n := 0; ctx.Err() == nil; n++ {
		if n == batchesAtOnce {
			return s.Store.Update(ctx, of, func(tx billing.Tx) error { return tx.Enqueue(ctx, billing.Task{Shop: of}) })
		}
		b, err := s.claim(ctx, of)
		if err != nil {
			return fmt.Errorf("claim due attempts: %w", err)
		}
		if b.claimed == 0 {
			return s.rest(ctx, of, b.waits)
		}
		findings := s.askPlatform(ctx, b)
		if err := s.settle(ctx, b.shop, findings); err != nil {
			return fmt.Errorf("settle %d attempts: %w", len(findings), err)
		}
		if err := s.settleDunned(ctx, of, b.dunned); err != nil {
			return fmt.Errorf("advance %d cases of dunning: %w", len(b.dunned), err)
		}
		if err := s.Prepare.Work(ctx, b.shop, b.preparing); err != nil {
			return fmt.Errorf("prepare %d orders: %w", len(b.preparing), err)
		}
	}
	return ctx.Err()
}

// rest does the other work that waits while no attempt is due.
func (s *Service) rest(ctx context.Context, of shop.ID, waits billing.PendingWork) error {
	if waits.Prices {
		if err := billing.PriceOrders(ctx, s.Store, of, s.Clock); err != nil {
			return err
		}
	}
	if waits.Unpublished {
		if err := s.Publish.Work(ctx, of); err != nil {
			return err
		}
	}
	if waits.Annotations {
		return s.Annotate.Work(ctx, of)
	}
	return nil
}

// batch is what one transaction claimed.
type batch struct {
	shop      shop.Shop
	policy    billing.Policy
	claimed   int
	waits     billing.PendingWork // what else waits, if no attempt is due
	allowance int                 // charges that may be sent for the first time
	charges   []request           // to charge, or to ask about
	polls     []billing.Attempt
	preparing []prepare.Order
	dunned    []dunned
	cards     cards
}

// request is an attempt whose cycle the platform is asked about.
type request struct {
	billing.Attempt
	send bool // charge it if the platform has no charge
}

// claim decides on due attempts and commits the intent to charge, before the platform is
// called.
func (s *Service) claim(ctx context.Context, of shop.ID) (batch, error) {
	var b batch
	err := s.Store.Update(ctx, of, func(tx billing.Tx) error {
		b = batch{policy: s.Policy}
		now := s.Clock.Now()
		due, err := b.due(ctx, tx, now)
		if err != nil {
			return err
		}
		if b.claimed = len(due); b.claimed == 0 {
			b.waits, err = tx.PendingWork(ctx, now)
			return err
		}
		cal, err := b.shop.Calendar()
		if err != nil {
			return err
		}
		ids := billing.ContractIDs(due)
		contracts, err := billing.ContractsByID(tx.Contracts(ctx, ids))
		if err != nil {
			return err
		}
		others, err := tx.OpenAttempts(ctx, ids, now)
		if err != nil {
			return err
		}
		inputs, err := billing.ReadInputs(ctx, tx, b.shop, contracts)
		if err != nil {
			return err
		}
		if b.cards, err = readCards(ctx, tx, due, contracts, now); err != nil {
			return err
		}
		open := billing.ByContract(others)
		var entries []activity.Entry
		var messages []notify.Message
		var rewritten []contract.ID
		var returned []*contract.Contract // that do not run: what waits goes
		refused, taken := false, make([]billing.Attempt, 0, len(due))
		slices.SortStableFunc(due, failedLast) // retries give way to other charges
		due = missedFirst(due, others, now)
		for i := range due {
			a := &due[i]
			c := contracts[a.Contract]
			_, needed := prepare.OrderFor(*a, *c, inputs[a.Contract])
			v := decide.Due(*a, decide.Inputs{
				Shop: b.shop, Contract: *c, Calendar: cal, Policy: b.policy, Others: open[a.Contract], Prepare: needed,
				Box:       inputs[a.Contract].Rules.Incomplete(*c),
				CardTries: b.cards.known[c.PaymentMethod], CardUses: b.cards.tried[c.PaymentMethod],
			}, now)
			if v = decide.BlockIfFrozen(v, *a, b.shop.Guard, b.policy, now); v.Action == decide.Charge && !a.Sent() && b.sends() >= b.allowance {
				refused = true
				continue
			}
			if v.Action == decide.Charge && a.Status == billing.Failure {
				b.retry(a, *c, now)
			}
			if v.Action == decide.Charge || v.Action == decide.Prepare {
				b.cards.use(c.PaymentMethod, now)
			}
			if v.Action == decide.Charge {
				keepLines(a, *c)
			}
			if v.Action == decide.Prepare && a.Prep.Stage == billing.Ready {
				prepare.Renew(a, *c)
			}
			if v.Complete && !a.Prep.Asked {
				asking, err := askToComplete(a, *c, b.shop, now)
				if err != nil {
					return err
				}
				messages = append(messages, asking...)
				entries = append(entries, billing.NewEntry(*a, activity.UpcomingOrderUpdated, activity.Failure, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Reason: v.Reason}))
			}
			was := billing.Record{Attempt: *a, Of: *c}
			if v.Action == decide.End { // its cost is recorded
				was = billing.RecordOf(*a, *c, inputs[a.Contract], open[a.Contract])
			}
			entry, err := b.apply(a, was, v, now)
			if err != nil {
				return err
			}
			if v.Action == decide.Requeue {
				returned = append(returned, c)
			}
			if v.Action == decide.Prepare {
				order, _ := prepare.OrderFor(*a, *c, inputs[a.Contract])
				b.preparing = append(b.preparing, order)
			}
			if v.Action == decide.End && a.Dunning.State.Live() { // a person had asked for a retry
				a.Dunning.Close(dunning.Lost, now)
				billing.SyncCase(c, *a, b.shop)
			}
			if v.CheckContract {
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
		if err := queue.Replan(ctx, tx, b.shop, returned, now); err != nil {
			return err
		}
		b.refresh(taken)
		if err := prepare.Announce(ctx, tx, b.preparing, contracts); err != nil {
			return err
		}
		if err := s.pace(ctx, tx, &b, refused, now); err != nil {
			return err
		}
		if err := tx.AddCardTries(ctx, b.cards.made); err != nil {
			return err
		}
		if err := prepare.FindEdited(ctx, tx, b.preparing); err != nil {
			return err
		}
		if err := queue.Refill(ctx, tx, b.shop, billing.PickContracts(contracts, rewritten), now); err != nil {
			return err
		}
		if err := notify.Queue(ctx, tx, of, messages...); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
	return b, err
}

// askToComplete returns the messages that ask a customer to complete the box for which an order waits.
func askToComplete(a *billing.Attempt, c contract.Contract, of shop.Shop, now time.Time) ([]notify.Message, error) {
	a.Prep.Asked = true
	if !of.Settings.Sends(notify.UpcomingOrder) {
		return nil, nil
	}
	return notify.ForCustomer(notify.Message{
		Kind: notify.UpcomingOrder, To: c.Customer.Email, Contract: c.ID, Customer: c.Customer.ID, Attempt: int64(a.ID), Facts: notify.Facts{Date: a.BillingDate},
		Actor: activity.System, DedupeKey: fmt.Sprintf("box:%d:%d:%d", a.Contract, a.Cycle, a.BillingDate.Unix()), ExpiresAt: now.Add(notify.Life),
	}, of, now)
}

// failedLast orders failed attempts behind others.
func failedLast(a, b billing.Attempt) int {
	switch {
	case (a.Status == billing.Failure) == (b.Status == billing.Failure):
		return 0
	case a.Status == billing.Failure:
		return 1
	}
	return -1
}

// missedFirst puts attempts that are given up for a due one before it: they end before the newer
// order is charged. Some of them are not due yet.
func missedFirst(due, others []billing.Attempt, now time.Time) []billing.Attempt {
	newer := billing.ByContract(due)
	var first []billing.Attempt
	for _, o := range others {
		if _, is := decide.Missed(o, newer[o.Contract], now); is && o.Status == billing.Queued {
			first = append(first, o)
		}
	}
	rest := slices.DeleteFunc(due, func(a billing.Attempt) bool {
		return slices.ContainsFunc(first, func(o billing.Attempt) bool { return o.ID == a.ID })
	})
	return append(first, rest...)
}

// apply applies a decision to an attempt and adds it to the batch. was is the order before. The entry is set if the
// attempt ended.
func (b *batch) apply(a *billing.Attempt, was billing.Record, v decide.Decision, now time.Time) (*activity.Entry, error) {
	a.UpdatedAt = now
	switch v.Action {
	case decide.Poll:
		a.DueAt = now.Add(b.policy.Lease)
		b.polls = append(b.polls, *a)
	case decide.Prepare:
		a.DueAt = now.Add(b.policy.Lease)
	case decide.StartDunning:
		a.DueAt = now.Add(b.policy.Lease)
		b.dunned = append(b.dunned, dunned{a.ID, v})
	case decide.Wait:
		a.DueAt = v.Until
	case decide.Leave:
		a.DueAt = time.Time{}
		return new(billing.NewEntry(*a, activity.BillingAttemptSkipped, activity.Skipped, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Reason: v.Reason})), nil
	case decide.Requeue:
		if err := withdraw(a); err != nil {
			return nil, err
		}
		return new(billing.NewEntry(*a, activity.BillingAttemptTriggered, activity.Failure, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Reason: v.Reason})), nil
	case decide.End:
		if err := a.EndWithoutCharge(v.Status, was); err != nil {
			return nil, err
		}
		a.DueAt = time.Time{}
		a.ErrorMessage = v.Reason
		event := activity.BillingAttemptSkipped
		if v.Status == billing.SkippedDunning {
			event = activity.DunningAttemptSkipped
		}
		return new(billing.NewEntry(*a, event, activity.Skipped, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Reason: v.Reason})), nil
	case decide.Charge, decide.Ask:
		if err := a.Request(b.shop, now); err != nil {
			return nil, err
		}
		a.DueAt = now.Add(b.policy.Lease)
		if v.Action == decide.Charge {
			if a.FirstSentAt.IsZero() {
				a.FirstSentAt = now
			}
			a.SentAt = now
		}
		b.charges = append(b.charges, request{*a, v.Action == decide.Charge})
	}
	return nil, nil
}

// retry records that a failed attempt is about to be charged again.
func (b *batch) retry(a *billing.Attempt, c contract.Contract, now time.Time) {
	a.Manual = a.Dunning.Cause == dunning.ByHand
	if a.Dunning.State.Live() && a.Dunning.Cause == "" {
		a.Dunning.Cause = dunning.ByPlan
	}
	b.cards.retried(c.PaymentMethod, now)
}

// refresh copies the versions that writing gave the attempts.
func (b *batch) refresh(written []billing.Attempt) {
	versions := make(map[billing.AttemptID]int64, len(written))
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

func replaced(list []billing.Attempt, a billing.Attempt) []billing.Attempt {
	for i := range list {
		if list[i].ID == a.ID {
			list[i] = a
			return list
		}
	}
	return append(list, a)
}
