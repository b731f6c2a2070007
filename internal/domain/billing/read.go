package billing

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// AttemptEntity is the entity that billing's errors name, in the words of the API.
const AttemptEntity = "subscriptionBillingAttempt"

// Find reads an attempt and its contract and, in a Tx, locks both. It returns NotFound for an
// attempt of another line, or of a contract that is hidden from the actor.
func Find(ctx context.Context, tx ReadTx, line shop.Line, id AttemptID, by activity.Actor) (Record, error) {
	rows, err := tx.Attempts(ctx, []AttemptID{id})
	if err != nil {
		return Record{}, err
	}
	if len(rows) == 0 {
		return Record{}, NotFound(id)
	}
	contracts, err := tx.Contracts(ctx, []contract.ID{rows[0].Contract})
	if err != nil {
		return Record{}, err
	}
	if len(contracts) == 0 || contracts[0].Line != line || contracts[0].HiddenFrom(by) {
		return Record{}, NotFound(id)
	}
	return Record{Attempt: rows[0], Of: contracts[0]}, nil
}

// Shown returns an attempt of the line, or NotFound if its contract is hidden from the
// actor.
func Shown(ctx context.Context, b Book, of shop.ID, line shop.Line, id AttemptID, by activity.Actor) (Record, error) {
	r, err := b.Attempt(ctx, of, line, id)
	if err == nil && r.Of.HiddenFrom(by) {
		return Record{}, NotFound(id)
	}
	return r, err
}

// ReadAhead reads the contract's open attempts and sets Ahead, if that matters to the cost.
func (r *Record) ReadAhead(ctx context.Context, tx AttemptReader) error {
	r.Ahead = 0
	if !r.Of.CountsOrders() {
		return nil
	}
	open, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID}, Open...)
	r.CountAhead(open)
	return err
}

// ReadOneOffs reads the one-time products of contracts' upcoming orders.
func ReadOneOffs(ctx context.Context, tx OneOffReader, contracts map[contract.ID]*contract.Contract) (OneOffs, error) {
	var with []contract.ID
	for id, c := range contracts {
		if c.OneOffs > 0 {
			with = append(with, id)
		}
	}
	if len(with) == 0 {
		return nil, nil
	}
	slices.Sort(with)
	list, err := tx.OneOffs(ctx, with)
	all := make(OneOffs, len(with))
	for _, o := range list {
		all[o.Contract] = append(all[o.Contract], o)
	}
	return all, err
}

// NotFound is the failure of naming an attempt that does not exist.
func NotFound(id AttemptID) error {
	return fault.New(fault.NotFound, "billing attempt %d does not exist", id).Entity(AttemptEntity).Code("billingAttemptNotFound")
}

// Busy is the error of changing an attempt while its charge is in flight.
func Busy(a Attempt) error {
	return fault.New(fault.Conflict, "Another billing operation is already in progress").
		Entity(AttemptEntity).Code("billingInProgress").Field(fmt.Sprint(a.ID))
}

// OrderAt returns when to charge an order that a person moves to a date: at the order time
// of that day. A time later today stays as it is, because the order time may have passed.
func OrderAt(date, now time.Time, cal cadence.Calendar) time.Time {
	at := cal.At(date)
	if at.Before(date) && cal.Day(date) == cal.Day(now) {
		at = date
	}
	return clock.Trim(at)
}

// CheckNote checks the length of an order note.
func CheckNote(note string) error {
	if n := utf8.RuneCountInString(note); n > MaxNote {
		return fault.New(fault.Invalid, "orderNote has %d characters: at most %d are allowed", n, MaxNote).Entity(AttemptEntity).Code("orderNoteTooLong").Field("orderNote")
	}
	return nil
}

// JoinNotes puts one note below another.
func JoinNotes(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}
