package billing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// entity is what failures of this package are about, in the interface's words.
const entity = "subscriptionBillingAttempt"

// EditCommand changes an attempt. What is nil stays as it is.
type EditCommand struct {
	Line        shop.Line
	Attempt     AttemptID
	BillingDate *time.Time // the order is charged on that day, at the store's order time, or later today
	Note        *string    // empty clears
	Status      *Status    // only QUEUED to SKIPPED and back
	Actor       activity.Actor

	RetryingNeeded, ApplyUsageCharge, UpgradeDowngradeBilling *bool
}

// Edit changes an attempt that waits or has failed.
func (s *Service) Edit(ctx context.Context, of shop.ID, cmd EditCommand) (Record, error) {
	t := target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt}
	var opens opening
	if cmd.BillingDate != nil {
		var err error
		if opens, err = s.openingFor(ctx, of, t, *cmd.BillingDate); err != nil {
			return Record{}, err
		}
	}
	return s.change(ctx, of, t, func(r *Record, now time.Time) ([]activity.Entry, error) {
		r.opens = opens
		return s.edit(r, cmd, now)
	})
}

func (s *Service) edit(r *Record, cmd EditCommand, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() && !cmd.onlyRepeats(*r) {
		return nil, busy(r.Attempt)
	}
	var entries []activity.Entry
	if cmd.Status != nil && *cmd.Status != r.Status {
		moved, err := editStatus(r, *cmd.Status, cmd.Actor, now)
		if err != nil {
			return nil, err
		}
		entries = append(entries, moved...)
	} else if r.Status != Queued && r.Status != Failure && !cmd.onlyRepeats(*r) {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only QUEUED and FAILURE attempts can be changed", r.ID, r.Status).
			Entity(entity).Code("billingAttemptStatus")
	}
	if cmd.BillingDate != nil && !cmd.BillingDate.Equal(r.BillingDate) {
		entry, err := editDate(r, *cmd.BillingDate, cmd.Actor, now)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry...)
	}
	if changed, err := editMarks(r, cmd); err != nil {
		return nil, err
	} else if changed {
		entries = append(entries, entryOf(r.Attempt, activity.BillingAttemptUpdated, activity.Success, cmd.Actor, now, outcome{Cycle: r.Cycle}))
	}
	return entries, nil
}

// onlyRepeats reports whether the command says nothing but what is so already.
func (c EditCommand) onlyRepeats(r Record) bool {
	same := func(want *bool, is bool) bool { return want == nil || *want == is }
	return (c.Status == nil || *c.Status == r.Status) && (c.BillingDate == nil || c.BillingDate.Equal(r.BillingDate)) && (c.Note == nil || *c.Note == r.Note) &&
		same(c.RetryingNeeded, r.RetryingNeeded()) && same(c.ApplyUsageCharge, r.Flags.ApplyUsageCharge) &&
		same(c.UpgradeDowngradeBilling, r.Flags.UpgradeDowngradeBilling)
}

func editStatus(r *Record, to Status, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	switch {
	case r.Status == Queued && to == Skipped:
		return skip(r, by, now)
	case r.Status == Skipped && to == Queued:
		return unskip(r, by, now)
	}
	return nil, fault.New(fault.FailedPrecondition, "the status of billing attempt %d cannot be set from %s to %s: only QUEUED to SKIPPED and back", r.ID, r.Status, to).
		Entity(entity).Code("billingAttemptStatus").Field("status")
}

func editDate(r *Record, date time.Time, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if err := r.Of.CheckCommitment(r.shop.Settings, by); err != nil {
		return nil, err
	}
	if r.Status != Queued && r.Status != Failure {
		return nil, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only QUEUED and FAILURE attempts can be given another date", r.ID, r.Status).
			Entity(entity).Code("billingAttemptStatus").Field("billingDate")
	}
	if err := checkDate(date, now); err != nil {
		return nil, err
	}
	before := r.BillingDate
	cal, err := r.shop.Calendar()
	if err != nil {
		return nil, err
	}
	effective := OrderAt(date, now, cal)
	if effective.Equal(before) {
		return nil, nil
	}
	if err := r.opens.allows(*r, effective, cal); err != nil {
		return nil, err
	}
	r.BillingDate, r.Moved = effective, true
	if r.Status == Queued {
		r.ErrorMessage = "" // it told of another date
	}
	if r.DueAt = effective; r.Status == Queued {
		r.PublishAt = now // a failed cycle is charged again on the date; the platform's own is past
	} else if r.Dunning.State.Live() {
		r.Dunning.Retry(dunning.ByHand, effective)
		showCase(&r.Of, r.Attempt, r.shop)
	}
	return []activity.Entry{
		entryOf(r.Attempt, activity.NextBillingDateChange, activity.Success, by, now, outcome{
			Cycle: r.Cycle, From: before.Format(time.RFC3339), To: effective.Format(time.RFC3339),
		}),
	}, nil
}

// OrderAt returns when an order is charged that somebody wants on a date: at the order
// time of its day. An instant that is later today is not brought forward to an order
// time before it, which may have passed.
func OrderAt(date, now time.Time, cal cadence.Calendar) time.Time {
	at := cal.At(date)
	if at.Before(date) && cal.Day(date) == cal.Day(now) {
		at = date
	}
	return clock.Trim(at)
}

// checkDate says whether anything may be charged on a date that a person asks for.
func checkDate(date, now time.Time) error {
	if date.Before(now.Add(-PastTolerance)) {
		return fault.New(fault.Invalid, "billingDate %s is in the past", date.UTC().Format(time.RFC3339)).
			Entity(entity).Code("billingDatePast").Field("billingDate")
	}
	if date.After(now.AddDate(maxYearsAhead, 0, 0)) {
		return fault.New(fault.Invalid, "billingDate %s is more than %d years ahead", date.UTC().Format(time.RFC3339), maxYearsAhead).
			Entity(entity).Code("billingDateTooFar").Field("billingDate")
	}
	return nil
}

func editMarks(r *Record, cmd EditCommand) (changed bool, err error) {
	if cmd.RetryingNeeded != nil && r.hadCase() && *cmd.RetryingNeeded != r.RetryingNeeded() {
		return false, fault.New(fault.Invalid, "field 'retryingNeeded' of billing attempt %d says what the service does about its decline and cannot be changed", r.ID).
			Entity(entity).Code("fieldReadOnly").Field("retryingNeeded")
	}
	if cmd.Note != nil && *cmd.Note != r.Note {
		if err := CheckNote(*cmd.Note); err != nil {
			return false, err
		}
		r.Note, changed = *cmd.Note, true
		r.unready()
	}
	for _, f := range []struct {
		want *bool
		flag *bool
	}{
		{cmd.RetryingNeeded, &r.Flags.RetryingNeeded},
		{cmd.ApplyUsageCharge, &r.Flags.ApplyUsageCharge},
		{cmd.UpgradeDowngradeBilling, &r.Flags.UpgradeDowngradeBilling},
	} {
		if f.want != nil && *f.want != *f.flag {
			*f.flag, changed = *f.want, true
		}
	}
	return changed, nil
}

// CheckNote says whether a text may be an order note.
func CheckNote(note string) error {
	if n := utf8.RuneCountInString(note); n > MaxNote {
		return fault.New(fault.Invalid, "orderNote has %d characters: at most %d are allowed", n, MaxNote).Entity(entity).Code("orderNoteTooLong").Field("orderNote")
	}
	return nil
}

// target names the attempt that a person wants to change: by its own number, or
// as the next order of a contract.
type target struct {
	by      activity.Actor // whose contract it must be, if it is a subscriber
	line    shop.Line
	attempt AttemptID
	next    contract.ID // whose next order is meant, when there is no attempt
}

// change lets a person's command work on one attempt: it is read under its lock,
// changed, written with its entries and the contract's progress, and the work
// that follows is asked for, all in one commit.
func (s *Service) change(ctx context.Context, of shop.ID, t target, do func(*Record, time.Time) ([]activity.Entry, error)) (Record, error) {
	var r Record
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		var err error
		if r, err = find(ctx, tx, t); err != nil {
			return err
		}
		if err := r.countAhead(ctx, tx); err != nil {
			return err
		}
		before := r.Attempt
		entries, err := do(&r, now)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			if r.Status != before.Status || !r.BillingDate.Equal(before.BillingDate) || r.restarts != (contract.Series{}) {
				r.Of.QueueUpdatedAt = now
			}
			if err := r.put(ctx, tx, entries, now); err != nil {
				return err
			}
			if !r.DueAt.Equal(before.DueAt) || !r.PublishAt.Equal(before.PublishAt) {
				if err := tx.Enqueue(ctx, Work{Shop: of}); err != nil {
					return err
				}
			}
		}
		return r.complete(ctx, tx)
	})
	return r, err
}

// Attempt returns an attempt as it is, to whoever it is not hidden from.
func (s *Service) Attempt(ctx context.Context, of shop.ID, line shop.Line, id AttemptID, by activity.Actor) (Record, error) {
	return s.change(ctx, of, target{by: by, line: line, attempt: id}, func(*Record, time.Time) ([]activity.Entry, error) { return nil, nil })
}

// put writes the record, what follows from it for the contract, and the entries.
func (r *Record) put(ctx context.Context, tx Tx, entries []activity.Entry, now time.Time) error {
	r.UpdatedAt = now
	changed := []Attempt{r.Attempt}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return err
	}
	r.Attempt = changed[0]
	if r.restarts != (contract.Series{}) {
		if err := r.turn(ctx, tx, now); err != nil {
			return err
		}
	}
	contracts := []contract.Contract{r.Of}
	if err := Refill(ctx, tx, r.shop, contracts, now); err != nil {
		return err
	}
	r.Of = contracts[0]
	return tx.Record(ctx, entries...)
}

// complete reads what else is shown of an order: its one-time products, how many
// orders come before it where discounts end, and what became of the e-mails about
// it.
func (r *Record) complete(ctx context.Context, tx Tx) error {
	status, err := tx.MailsUnder(ctx, slices.Collect(maps.Values(r.LastMails())))
	if err != nil {
		return err
	}
	r.Mailed(status)
	p, err := readOneOffs(ctx, tx, map[contract.ID]*contract.Contract{r.Of.ID: &r.Of})
	if err != nil {
		return err
	}
	r.OneOffs = p.oneOffsOf(r.Attempt)
	return r.countAhead(ctx, tx)
}

// countAhead reads how many orders of the contract come before the record's, where that
// matters to what it costs.
func (r *Record) countAhead(ctx context.Context, tx Tx) error {
	r.Ahead = 0
	if !r.Of.CountsOrders() {
		return nil
	}
	open, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID}, Open...)
	r.CountAhead(open)
	return err
}

// find reads an attempt and its contract under their locks. Another line's
// attempt is not found, nor by a subscriber another subscriber's.
func find(ctx context.Context, tx Tx, t target) (Record, error) {
	if t.attempt == 0 {
		return findNext(ctx, tx, t)
	}
	missing := fault.New(fault.NotFound, "billing attempt %d does not exist", t.attempt).Entity(entity).Code("billingAttemptNotFound")
	rows, err := tx.Attempts(ctx, []AttemptID{t.attempt})
	if err != nil || len(rows) == 0 {
		return Record{}, firstError(err, missing)
	}
	contracts, err := tx.Contracts(ctx, []contract.ID{rows[0].Contract})
	if err != nil || len(contracts) == 0 || contracts[0].Line != t.line || contracts[0].HiddenFrom(t.by) {
		return Record{}, firstError(err, missing)
	}
	of, err := tx.Shop(ctx)
	return Record{Attempt: rows[0], Of: contracts[0], shop: of}, err
}

func firstError(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// busy is the answer to a change of an attempt whose charge is under way.
func busy(a Attempt) error {
	return fault.New(fault.Conflict, "Another billing operation is already in progress").
		Entity("subscriptionBillingAttempt").Code("billingInProgress").Field(fmt.Sprint(a.ID))
}
