// Package amend changes contracts when people ask for it: at the platform first,
// through a draft that it takes over as a whole or not at all, and then here.
package amend

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// entity is what failures of this package are about, in the interface's words.
const entity = "subscriptionContract"

// Platform is what the changes need of the commerce platform.
type Platform interface {
	platform.Editor
	platform.Catalogue
	Cycles(ctx context.Context, shop platform.Shop, contract int64, from, to int) ([]platform.Cycle, error)
	ContractsUpdatedSince(ctx context.Context, shop platform.Shop, since time.Time, cursor string) (ids []int64, next string, err error)
}

// Adopter takes over what the platform answered to a change.
type Adopter interface {
	Adopt(ctx context.Context, store shop.Shop, fresh platform.Contract, by intake.AuthoredChange) (contract.Contract, error)
}

// Publisher tells the platform again what is to happen to single cycles.
type Publisher interface {
	// Republish marks the contract's upcoming attempts to be told to the
	// platform anew at an instant: dates, skips and one-offs.
	Republish(ctx context.Context, of shop.ID, c contract.ID, at time.Time) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(intake.Tx) error) error
}

// Orders moves orders to other dates, or charges them at once.
type Orders interface {
	Trigger(ctx context.Context, of shop.ID, cmd command.Trigger) error
	Reschedule(ctx context.Context, of shop.ID, cmd command.Reschedule) (billing.Record, error)
}

// Service carries changes of contracts to the platform and takes over the
// result. Every method answers with the contract as it is afterwards.
type Service struct {
	Store     Store
	Platform  Platform
	Adopter   Adopter
	Publish   Publisher
	Plans     plan.Offers
	Orders    Orders
	OneOffs   OneOffs
	Due       Finder
	Bundles   Bundles
	Trail     activity.Trail
	Creations Creations
	Clock     clock.Clock
	Log       *slog.Logger
}

// Command says which contract is to be changed, and who asks.
type Command struct {
	Line     shop.Line
	Contract contract.ID
	Actor    activity.Actor
}

// change is what a command makes of a contract as it is. The zero change leaves
// it alone.
type change struct {
	edit    platform.Edit
	also    func(*contract.Contract) // of what only the service keeps
	entries []note
	moved   *contract.Move // the change of status that this is; it has its own entries
	told    *underway      // how it was announced; nil: not at all
	alone   bool           // nobody may change meanwhile what only the service keeps
}

// note is an entry to be written when the change has been made.
type note struct {
	event   activity.EventType
	details any
}

func (c change) empty() bool { return len(c.entries) == 0 }

// adoptions is how often the result of a change is taken over anew because the
// contract was written meanwhile.
const adoptions = 20

// tries is how often a change is begun anew because the contract changed
// meanwhile or the answer was lost.
const tries = 4

// PendingChangeTimeout is how long what a change left undone waits for whoever is at it: single
// cycles without what people chose for them, and splits.
const PendingChangeTimeout = contract.PendingChangeTimeout

// amend reads the contract as the platform has it, lets want decide on it, and
// carries the change out. When the contract changes meanwhile, it begins anew. What
// the platform's revision does not show, which is what a box's rules count and what
// only the service keeps, one changes at a time.
func (s *Service) amend(ctx context.Context, of shop.ID, cmd Command, want func(shop.Shop, contract.Detail) (change, error)) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	var lost []sent
	var mine claim
	defer s.giveBack(ctx, of, &mine)
	for range tries {
		store, known, err := s.known(ctx, of, cmd)
		if err != nil {
			return contract.Detail{}, err
		}
		is, err := s.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
		if err != nil {
			return contract.Detail{}, unanswered(err)
		}
		for _, l := range lost {
			if landed(l.before, is, l.change.edit) {
				return s.adopt(ctx, store, cmd, is, mine.ends(l.change))
			}
		}
		current, _, err := contract.Read(&known, is.Contract, store.Settings, s.Clock.Now())
		if err != nil {
			return contract.Detail{}, err
		}
		c, err := want(store, contract.DetailOf(current, is))
		if err != nil {
			return contract.Detail{}, err
		}
		if c.empty() {
			return contract.DetailOf(current, is), nil
		}
		if lessens(is.Contract, c.edit) {
			if err := current.CheckCommitment(store.Settings, cmd.Actor); err != nil {
				return contract.Detail{}, err
			}
		}
		boxed, err := s.checkLines(ctx, store, contract.DetailOf(current, is), c.edit.Lines)
		if err != nil {
			return contract.Detail{}, err
		}
		if boxed || c.alone || c.edit.Empty() {
			if ours, err := s.claim(ctx, of, known, &mine); err != nil {
				return contract.Detail{}, err
			} else if !ours {
				continue
			}
		}
		c = mine.ends(c.over(current).priced())
		if c.edit.Empty() {
			return s.adopt(ctx, store, cmd, is, c)
		}
		from := is.Revision
		if len(lost) > 0 { // what was sent before may be made yet
			from = lost[0].before.Revision
		}
		c.edit.Revision = is.Revision
		after, told, err := s.carry(ctx, of, cmd.Contract, from, func() (platform.Detail, error) {
			return s.Platform.EditContract(ctx, store.At(), int64(cmd.Contract), c.edit)
		})
		c.told = told
		switch {
		case err == nil:
			made, err := s.adopt(ctx, store, cmd, after, c)
			if err != nil {
				err = fault.Because(fault.Unavailable, err, "the platform changed the contract, and that is not shown here yet: read it before you try again").
					Entity(entity).Code(fault.InDoubt)
			}
			return made, err
		case refusedWith(err, platform.CodeStale):
		case refusedWith(err, platform.CodeFutureEdits):
			if err := s.clear(ctx, store, known); err != nil {
				return contract.Detail{}, err
			}
		case errors.Is(err, platform.ErrUnknown):
			lost = append(lost, sent{before: is, change: c})
		default:
			return contract.Detail{}, err
		}
	}
	if len(lost) > 0 {
		mine.contract = 0 // until it ends by itself: the change may still be found
		return contract.Detail{}, s.inDoubt(ctx, of, cmd, lost[len(lost)-1].change)
	}
	return contract.Detail{}, changedMeanwhile()
}

func changedMeanwhile() error {
	return fault.New(fault.Conflict, "The subscription contract has changed").Entity(entity).Code("changedMeanwhile")
}

// inDoubt is the failure of a change of which nobody knows whether it was made.
// The log says who asked for it: what became of it, a later reading tells.
func (s *Service) inDoubt(ctx context.Context, of shop.ID, cmd Command, c change) error {
	unknown := fault.New(fault.Unavailable, "the platform does not say whether contract %d was changed: read it before you try again", cmd.Contract).
		Entity(entity).Code(fault.InDoubt)
	entries := make([]activity.Entry, len(c.entries))
	for i, n := range c.entries {
		entries[i] = activity.Entry{
			EntityID: int64(cmd.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: n.event, Status: activity.PartialFailure,
			Actor: cmd.Actor, At: s.Clock.Now(), Info: activity.Details(failure{Reason: unknown.Message}),
		}
	}
	err := s.Store.Update(ctx, of, func(tx intake.Tx) error { return tx.Record(ctx, entries...) })
	return errors.Join(unknown, err)
}

// over makes a change end what waits for the contract's next order when it decides
// on the same line otherwise.
func (c change) over(is contract.Contract) change {
	if is.Pending == nil {
		return c
	}
	for _, l := range c.edit.Lines {
		if l.Line != is.Pending.Line || !l.Remove && l.Variant == nil {
			continue
		}
		also := c.also
		c.also = func(is *contract.Contract) {
			if also != nil {
				also(is)
			}
			dropPending(is)
		}
	}
	return c
}

// priced makes a change note that prices of the contract change with its orders.
func (c change) priced() change {
	if !slices.ContainsFunc(c.edit.Lines, func(l platform.LineEdit) bool { return l.Pricing != nil && len(l.Pricing.Cycles) > 0 }) {
		return c
	}
	also := c.also
	c.also = func(is *contract.Contract) {
		if also != nil {
			also(is)
		}
		is.Priced = true
	}
	return c
}

// sent is a change of which the answer was lost.
type sent struct {
	before platform.Detail
	change change
}

// known reads the store and its contract. Another line's contract is not found,
// nor by a subscriber another subscriber's.
func (s *Service) known(ctx context.Context, of shop.ID, cmd Command) (shop.Shop, contract.Contract, error) {
	var store shop.Shop
	var known contract.Contract
	err := s.Store.Update(ctx, of, func(tx intake.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Line != cmd.Line || rows[0].HiddenFrom(cmd.Actor) {
			return contractNotFound(cmd.Contract)
		}
		known = rows[0]
		store, err = tx.Shop(ctx)
		return err
	})
	if err == nil && !store.Connected {
		err = fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(entity).Code("connectionGone")
	}
	return store, known, err
}

func contractNotFound(id contract.ID) error {
	return fault.New(fault.NotFound, "subscription contract %d does not exist", id).Entity(entity).Code("contractNotFound")
}

// adopt takes over what the platform answered, with the entries that are owed. A
// change that was announced is so no more, whatever comes of it.
func (s *Service) adopt(ctx context.Context, store shop.Shop, cmd Command, after platform.Detail, c change) (contract.Detail, error) {
	now := s.Clock.Now()
	by := intake.AuthoredChange{Update: c.also, StatusChange: c.moved}
	if c.told != nil {
		by.Update = func(is *contract.Contract) {
			if c.also != nil {
				c.also(is)
			}
			is.EndEdit(c.told.as)
		}
	}
	for _, n := range c.entries {
		by.Entries = append(by.Entries, activity.Entry{
			EntityID: after.ID, EntityType: activity.EntitySubscriptionContractDetails, Event: n.event, Status: activity.Success,
			Actor: cmd.Actor, At: now, Info: activity.Details(n.details),
		})
	}
	// The platform has made the change: whoever is in the way here is waited for.
	for try := 1; ; try++ {
		adopted, err := s.Adopter.Adopt(ctx, store, after.Contract, by)
		if err == nil {
			return contract.DetailOf(adopted, after), nil
		}
		if !fault.Is(err, fault.Conflict) || try == adoptions {
			if c.told != nil {
				s.recall(ctx, store.ID, c.told)
			}
			return contract.Detail{}, err
		}
	}
}

// clear takes back what was edited of single cycles, which stands in the way of
// an edit of the contract. The queue knows it all and tells the platform again:
// at once when the edit has been made, and soon if this process dies before.
func (s *Service) clear(ctx context.Context, store shop.Shop, c contract.Contract) error {
	now := s.Clock.Now()
	if err := s.Publish.Republish(ctx, store.ID, c.ID, now.Add(PendingChangeTimeout)); err != nil {
		return err
	}
	var first, last int
	err := s.Store.Update(ctx, store.ID, func(tx intake.Tx) error {
		queues, err := tx.Queues(ctx, []contract.ID{c.ID})
		if err != nil {
			return err
		}
		last = queues[c.ID].LastCycle
		first = max(1, last-billing.QueueLength)
		open, err := tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Queued, billing.Skipped, billing.Failure)
		for _, a := range open { // a queue with skipped orders in it is longer
			if a.Status == billing.Queued || a.Prep.Edited {
				first = min(first, a.Cycle)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	cycles, err := s.Platform.Cycles(ctx, store.At(), int64(c.ID), first, last+billing.QueueLength)
	if err != nil {
		return unanswered(err)
	}
	for _, y := range cycles {
		if !y.Edited || y.Billed {
			continue
		}
		if err := s.Platform.DropCycleEdit(ctx, store.At(), platform.CycleRef{Contract: int64(c.ID), Index: y.Index}); err != nil {
			return unanswered(err)
		}
	}
	return nil
}

// shown is Detail after a change that has been made: when the platform does not
// answer, the contract is shown as it is kept here.
func (s *Service) shown(ctx context.Context, of shop.ID, cmd Command) (contract.Detail, error) {
	d, err := s.detail(ctx, of, cmd)
	if fault.Is(err, fault.Unavailable) {
		_, known, failed := s.known(ctx, of, cmd)
		return contract.Detail{Contract: known}, failed
	}
	return d, err
}

// Details returns contracts that are known here with all that is shown of them. While
// the platform does not answer they are shown as they are kept here, and so is one
// that it does not know any more.
func (s *Service) Details(ctx context.Context, of shop.ID, known []contract.Contract) ([]contract.Detail, error) {
	shown, err := s.shownThere(ctx, of, known)
	if err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.FailedPrecondition) {
		return nil, err
	}
	details := make([]contract.Detail, len(known))
	for i, c := range known {
		details[i] = contract.Detail{Contract: c}
		if d, ok := shown[int64(c.ID)]; ok {
			details[i] = contract.DetailOf(c, d)
		}
	}
	return details, nil
}

// shownThere returns what the platform shows of contracts, by their numbers.
func (s *Service) shownThere(ctx context.Context, of shop.ID, known []contract.Contract) (map[int64]platform.Detail, error) {
	store, err := s.store(ctx, of)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	ids := make([]int64, len(known))
	for i, c := range known {
		ids[i] = int64(c.ID)
	}
	is, err := s.Platform.Details(platform.Interactive(ctx), store.At(), ids)
	if err != nil {
		return nil, unanswered(err)
	}
	shown := make(map[int64]platform.Detail, len(is))
	for _, d := range is {
		shown[d.ID] = d
	}
	return shown, nil
}

// DetailOrStored returns a contract with all that is shown of it, for those who are told of
// changes: where the platform has nothing to show, because it does not know the
// contract or this service any more, as it is kept here.
func (s *Service) DetailOrStored(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error) {
	store, known, err := s.known(ctx, of, Command{Line: line, Contract: id})
	if err == nil {
		var is platform.Detail
		if is, err = s.Platform.Detail(ctx, store.At(), int64(id)); err == nil {
			return contract.DetailOf(known, is), nil
		}
		err = unanswered(err)
	}
	if known.ID != 0 && !fault.Is(err, fault.Unavailable) {
		return contract.Detail{Contract: known}, nil
	}
	return contract.Detail{}, err
}

// Detail returns a contract with all that is shown of it.
func (s *Service) Detail(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error) {
	return s.detail(ctx, of, Command{Line: line, Contract: id})
}

func (s *Service) detail(ctx context.Context, of shop.ID, cmd Command) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	store, known, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	is, err := s.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
	if err != nil {
		return contract.Detail{}, unanswered(err)
	}
	return contract.DetailOf(known, is), nil
}
