package amend

import (
	"context"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// MaxTries is how often a change starts again because the contract has changed or the
// answer was lost.
const MaxTries = 4

// Edit reads the contract at the platform, lets decide compute the change, and carries
// it out. When the contract changes in between, it starts again. Changes that the
// platform's revision does not cover (box rules, fields that only Perennial stores) are
// made under a claim.
func (ed *Editor) Edit(ctx context.Context, of shop.ID, cmd Command, decide func(shop.Shop, contract.Detail) (Change, error)) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	var lost []unknownEdit
	var mine claim
	defer ed.releaseClaim(ctx, of, &mine)
	for range MaxTries {
		store, known, err := ed.Load(ctx, of, cmd)
		if err != nil {
			return contract.Detail{}, err
		}
		cmd.Permit = nil // what it allows may be done already when the change starts again
		is, err := ed.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
		if err != nil {
			return contract.Detail{}, PlatformError(err)
		}
		for _, l := range lost {
			if applied(l.before, is, l.change.Edit) {
				return ed.Adopt(ctx, store, cmd, is, mine.release(l.change))
			}
		}
		current, _, err := contract.Read(&known, is.Contract, store.Settings, ed.Clock.Now())
		if err != nil {
			return contract.Detail{}, err
		}
		c, err := decide(store, contract.DetailOf(current, is))
		if err != nil {
			return contract.Detail{}, err
		}
		if c.empty() {
			return contract.DetailOf(current, is), nil
		}
		if reduces(is.Contract, c.Edit) {
			if err := current.CheckCommitment(store.Settings, cmd.Actor); err != nil {
				return contract.Detail{}, err
			}
		}
		if err := ed.priceBox(ctx, store, current, &c); err != nil {
			return contract.Detail{}, err
		}
		boxed, err := ed.CheckLines(ctx, store, contract.DetailOf(current, is), c.Edit.Lines)
		if err != nil {
			return contract.Detail{}, err
		}
		if boxed || c.Exclusive || c.Edit.Empty() {
			if ours, err := ed.claim(ctx, of, known, &mine); err != nil {
				return contract.Detail{}, err
			} else if !ours {
				continue
			}
		}
		c = mine.release(c.cancelPending(current).Priced())
		if c.Edit.Empty() {
			return ed.Adopt(ctx, store, cmd, is, c)
		}
		from := is.Revision
		if len(lost) > 0 { // an edit that was sent before may still be made
			from = lost[0].before.Revision
		}
		c.Edit.Revision = is.Revision
		after, told, err := ed.Send(ctx, of, cmd.Contract, from, func() (platform.Detail, error) {
			return ed.Platform.EditContract(ctx, store.At(), int64(cmd.Contract), c.Edit)
		})
		c.InFlight = told
		switch {
		case err == nil:
			made, err := ed.Adopt(ctx, store, cmd, after, c)
			if err != nil {
				err = fault.Because(fault.Unavailable, err, "the platform changed the contract, but the change is not stored yet: read the contract before you try again").
					Entity(Entity).Code(fault.InDoubt)
			}
			return made, err
		case RefusedWith(err, platform.CodeStale):
		case RefusedWith(err, platform.CodeFutureEdits):
			if err := ed.dropCycleEdits(ctx, store, known); err != nil {
				return contract.Detail{}, err
			}
		case errors.Is(err, platform.ErrUnknown):
			lost = append(lost, unknownEdit{before: is, change: c})
		default:
			return contract.Detail{}, err
		}
	}
	if len(lost) > 0 {
		mine.contract = 0 // keep the claim until it expires: the change may still be found
		return contract.Detail{}, ed.recordInDoubt(ctx, of, cmd, lost[len(lost)-1].change)
	}
	return contract.Detail{}, ChangedMeanwhile()
}

// recordInDoubt records a change with an unknown outcome and its author, and returns the
// error for the caller. A later reading finds out whether the change was made.
func (ed *Editor) recordInDoubt(ctx context.Context, of shop.ID, cmd Command, c Change) error {
	unknown := fault.New(fault.Unavailable, "the platform did not confirm whether contract %d was changed: read it before you try again", cmd.Contract).
		Entity(Entity).Code(fault.InDoubt)
	entries := make([]activity.Entry, len(c.Entries))
	for i, n := range c.Entries {
		entries[i] = activity.Entry{
			EntityID: int64(cmd.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: n.Event, Status: activity.PartialFailure,
			Actor: cmd.Actor, At: ed.Clock.Now(), Info: activity.Details(Failure{Reason: unknown.Message}),
		}
	}
	err := ed.Store.Update(ctx, of, func(tx intake.Tx) error { return tx.Record(ctx, entries...) })
	return errors.Join(unknown, err)
}

// unknownEdit is an edit whose answer was lost.
type unknownEdit struct {
	before platform.Detail
	change Change
}
