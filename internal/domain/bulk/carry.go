package bulk

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MaxTries is how often a contract is begun before a failure that may pass counts.
const MaxTries = 5

// firstWait is how long a contract waits after the first failure that may pass; four times as
// long after each one that follows.
const firstWait = 30 * time.Second

// begin takes up an item, or settles it at once, and reports which. What is meant for the
// contract is fixed when it is begun first. What an earlier worker began and the contract does
// not show is done again: its change is committed together with Changed.
func (i *Item) begin(j *Job, known map[contract.ID]facts, now time.Time) bool {
	f, exists := known[i.Contract]
	switch {
	case i.Changed:
		i.settle(nil, now)
		return false
	case !exists:
		i.settle(amend.ContractNotFound(i.Contract), now)
		return false
	case i.Tries >= 2*MaxTries:
		i.settle(fault.New(fault.Unavailable, "the change was begun %d times and never ended", i.Tries), now)
		return false
	case i.Tries == 0:
		_, in, err := assess(f, j.Action, j.actor(), now)
		if err != nil {
			i.settle(err, now)
			return false
		}
		i.Intent = in
	}
	i.Status, i.DueAt, i.Tries = Begun, now.Add(lease), i.Tries+1
	return true
}

// carryOutAll changes the contracts of items, some at a time, and returns what came of each.
func (s *Service) carryOutAll(ctx context.Context, store shop.Shop, j Job, items []Item, known map[contract.ID]facts) []error {
	results := make([]error, len(items))
	next := make(chan int)
	var workers sync.WaitGroup
	work := func() {
		for n := range next {
			results[n] = s.carryOutInTime(ctx, store, j, items[n], known[items[n].Contract].contract)
		}
	}
	if s.Parallel <= 1 {
		for n := range items {
			results[n] = s.carryOutInTime(ctx, store, j, items[n], known[items[n].Contract].contract)
		}
		return results
	}
	for range s.Parallel {
		workers.Go(func() {
			work()
			task.Done(ctx)
		})
	}
	for n := range items {
		next <- n
	}
	close(next)
	workers.Wait()
	return results
}

// errNotBegun says that a contract was left alone.
var errNotBegun = fault.New(fault.Unavailable, "the worker ran out of time")

// carryOutInTime changes a contract if its lease is long enough.
func (s *Service) carryOutInTime(ctx context.Context, store shop.Shop, j Job, i Item, c contract.Contract) error {
	if ctx.Err() != nil || i.DueAt.Sub(s.Clock.Now()) < itemTime {
		return errNotBegun
	}
	ctx, cancel := context.WithTimeout(ctx, itemTime)
	defer cancel()
	return s.carryOut(ctx, store, j, i, c)
}

// carryOut changes a contract by the service that changes it for the API.
func (s *Service) carryOut(ctx context.Context, store shop.Shop, j Job, i Item, c contract.Contract) error {
	by, a := j.actor(), j.Action
	cmd := amend.Command{Line: c.Line, Contract: c.ID, Actor: by}
	product := command.OneOff{Line: c.Line, Contract: c.ID, Attempt: i.Intent.Attempt, Variant: a.Variant, Quantity: a.Quantity, Actor: by}
	var err error
	switch a.Kind {
	case Pause, Resume, Cancel:
		_, err = s.Statuses.SetStatus(ctx, store.ID, cmd, a.status())
	case SkipNext:
		_, err = s.Orders.Skip(ctx, store.ID, command.Skip{Line: c.Line, Attempt: i.Intent.Attempt, Actor: by})
	case MoveNext:
		_, err = s.Orders.Reschedule(ctx, store.ID, command.Reschedule{Line: c.Line, Attempt: i.Intent.Attempt, BillingDate: i.Intent.Date, Future: a.Future, Actor: by})
	case SetQuantity, SetPrice, SwapVariant:
		_, err = s.Edits.ChangeLine(ctx, store.ID, cmd, a.line())
	case ApplyCode:
		_, err = s.Edits.ApplyCode(ctx, store.ID, cmd, strings.TrimSpace(a.Code))
	case RemoveCode:
		_, err = s.Edits.RemoveDiscount(ctx, store.ID, cmd, i.Intent.Discount)
	case SetCycles:
		_, err = s.Edits.SetCycles(ctx, store.ID, cmd, a.cycles())
	case AddOneOff:
		err = s.Orders.AddOneOff(ctx, store, product)
	case RemoveOneOff:
		err = s.Orders.RemoveOneOff(ctx, store, product)
	case SendLink:
		err = s.Links.SendLink(ctx, store.ID, login.CustomerRef{Line: c.Line, Customer: c.Customer.ID, Email: c.Customer.Email}, by)
	case SendNews:
		err = s.Mails.SendNews(ctx, store.ID, notify.Mailing{ID: int64(j.ID), Contract: c.ID, Customer: c.Customer, News: a.News, Actor: by})
	default:
		err = fault.New(fault.Internal, "%q is not an action", a.Kind)
	}
	if err != nil && i.Tries > 1 && slices.Contains(alreadySo[a.Kind], codeOf(err)) && (a.Kind != SwapVariant || c.LineByVariant(a.NewVariant) >= 0) {
		return nil
	}
	return err
}

// alreadySo are the codes with which a service refuses to do again what the platform did for an
// earlier worker, whose answer was lost. What changes only our own rows needs none: Changed is
// committed with it.
var alreadySo = map[Kind][]string{
	Pause:       {"sameStatus"},
	Resume:      {"sameStatus"},
	Cancel:      {"sameStatus", "cancellationPending"},
	SwapVariant: {"lineNotFound"},
	ApplyCode:   {"discountApplied"},
	RemoveCode:  {"discountNotFound"},
}

// passing reports whether a failure may pass.
func passing(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Unavailable, fault.RateLimited, fault.Internal:
		return true
	}
	return false
}

// note settles items by what came of them, and lets the job go on. Of an item that another
// worker has taken up since, nothing is noted.
func (s *Service) note(ctx context.Context, of shop.ID, taken Job, begun []Item, results []error) error {
	ctx = context.WithoutCancel(ctx)
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		j, err := tx.BulkJob(ctx, taken.ID)
		if err != nil {
			return err
		}
		stored, err := tx.BulkItemsOf(ctx, j.ID, contractsOf(begun))
		if err != nil {
			return err
		}
		var changed []Item
		for n, mine := range begun {
			at := slices.IndexFunc(stored, func(i Item) bool { return i.Contract == mine.Contract })
			if at < 0 || stored[at].Status != Begun || stored[at].Tries != mine.Tries {
				continue
			}
			i := stored[at]
			s.conclude(ctx, &i, results[n], now)
			j.count(i)
			changed = append(changed, i)
		}
		if err := tx.PutBulkItems(ctx, changed); err != nil {
			return err
		}
		if j.Status.Open() {
			j.DueAt = now
		}
		return tx.PutBulkJob(ctx, &j)
	})
}

// conclude settles an item, or lets it wait until it is tried again.
func (s *Service) conclude(ctx context.Context, i *Item, err error, now time.Time) {
	switch {
	case err == nil || i.Changed:
		i.settle(nil, now)
	case err == errNotBegun: //nolint:errorlint // it is this very one
		i.Status, i.DueAt, i.Tries = Waiting, now, i.Tries-1
	case passing(err) && i.Tries < MaxTries:
		i.Status, i.DueAt = Waiting, now.Add(firstWait<<(2*(i.Tries-1)))
		i.Code, i.Reason = codeOf(err), reasonOf(err)
	default:
		i.settle(err, now)
	}
	if err != nil && fault.KindOf(err) == fault.Internal {
		s.Log.WarnContext(ctx, "a bulk action could not change a contract", "job", i.Job, "contract", i.Contract, "error", err)
	}
}
