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
	"github.com/perennialhq/perennial/internal/domain/order"
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

// ReadOrder reads the data on which the attempt's order depends.
func (r *Record) ReadOrder(ctx context.Context, tx ReadTx, of shop.Shop) error {
	in, err := ReadInputs(ctx, tx, of, map[contract.ID]*contract.Contract{r.Of.ID: &r.Of})
	if err != nil {
		return err
	}
	r.OneOffs, r.Rules, r.Before = in[r.Of.ID].For(r.Cycle), in[r.Of.ID].Rules, nil
	if !r.CountsOrders() {
		return nil
	}
	open, err := tx.AttemptsOf(ctx, []contract.ID{r.Of.ID}, Open...)
	r.SetBefore(open)
	return err
}

// ReadInputs reads the inputs of contracts. Swap rules are read only if the store uses them.
func ReadInputs(ctx context.Context, tx InputReader, of shop.Shop, contracts map[contract.ID]*contract.Contract) (map[contract.ID]Inputs, error) {
	oneOffs, err := ReadOneOffs(ctx, tx, contracts)
	if err != nil {
		return nil, err
	}
	all := make(map[contract.ID]Inputs, len(contracts))
	if len(contracts) == 0 {
		return all, nil
	}
	boxes, err := tx.Boxes(ctx, of)
	if err != nil {
		return nil, err
	}
	for id, c := range contracts {
		all[id] = Inputs{OneOffs: oneOffs[id], Rules: order.Rules{Boxes: boxes[c.Line]}}
	}
	if !of.Settings.SwapRules {
		return all, nil
	}
	return all, addRules(ctx, tx, contracts, all)
}

// addRules adds the store's swap rules to inputs of contracts.
func addRules(ctx context.Context, tx InputReader, contracts map[contract.ID]*contract.Contract, all map[contract.ID]Inputs) error {
	rules, err := tx.SwapRules(ctx)
	if err != nil || len(rules) == 0 {
		return err
	}
	ids := slices.Sorted(maps.Keys(contracts))
	used, err := tx.SwapUses(ctx, ids)
	if err != nil {
		return err
	}
	notices, err := tx.SwapNotices(ctx, ids)
	if err != nil {
		return err
	}
	var lines []contract.LineItem
	for _, c := range contracts {
		lines = append(lines, c.Lines...)
	}
	variants := order.Named(rules)
	plans, err := tx.PlansFor(ctx, SellingPlans(lines), variants)
	if err != nil {
		return err
	}
	of := make(map[shop.Line]order.Rules)
	for id, c := range contracts {
		r, has := of[c.Line]
		if !has {
			r = order.RulesOf(rules, c.Line)
			r.Catalogue = order.Catalogue{Variants: variants, Plans: plans}
			of[c.Line] = r
		}
		in := all[id]
		r.Used, r.Notices, r.Boxes = used[id], notices[id], in.Rules.Boxes
		in.Rules = r
		all[id] = in
	}
	return nil
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
