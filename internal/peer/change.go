package peer

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// of names a contract in a query.
func of(number int64, more ...string) url.Values {
	q := url.Values{"contractId": {strconv.FormatInt(number, 10)}}
	for n := 0; n+1 < len(more); n += 2 {
		q.Set(more[n], more[n+1])
	}
	return q
}

// status returns the status of a contract.
func (e *End) status(ctx context.Context, line shop.Line, number int64) (contract.Status, error) {
	row, err := e.row(ctx, line, number)
	return contract.Status(strings.ToUpper(string(row.Status))), err
}

// setStatus sets the status of a contract unless it has it.
func (e *End) setStatus(ctx context.Context, line shop.Line, number int64, to contract.Status) error {
	is, err := e.status(ctx, line, number)
	if err != nil || is == to {
		return err
	}
	_, err = e.send(ctx, call{method: http.MethodPut, path: "/subscription-contracts-update-status", line: line, query: of(number, "status", string(to))}, nil)
	return err
}

// Stop pauses a contract.
func (e *End) Stop(ctx context.Context, _ shop.Shop, line shop.Line, number int64) error {
	return about(e.setStatus(ctx, line, number, contract.Paused), "pause contract %d", number)
}

// Resume has a contract charged again that ran before: on the date that its next order had, or
// soon when that is past. Its orders to come are what they were.
func (e *End) Resume(ctx context.Context, of shop.Shop, c moving.Contract) error {
	if c.Status != contract.Active {
		return nil
	}
	return about(e.activate(ctx, of, c, c.ID, c.Past), "resume contract %d", c.ID)
}

// activate activates a contract and makes its orders to come what they were.
func (e *End) activate(ctx context.Context, store shop.Shop, c moving.Contract, number int64, before []moving.Past) error {
	cal, err := store.Calendar()
	if err != nil {
		return err
	}
	if err := e.setStatus(ctx, c.Line, number, contract.Active); err != nil {
		return err
	}
	is, err := e.contract(ctx, store, c.Line, number)
	if err != nil {
		return err
	}
	if err := e.takeDate(ctx, c, is, before); err != nil {
		return err
	}
	c.Billing = is.Billing // its days are those of its own policy: the interface creates none with anchors
	if err := e.keepDays(ctx, store, c, number, cal); err != nil {
		return err
	}
	return e.adjust(ctx, c.Line, number, c.Edits(cal))
}

// keepDays has the orders after one that is late fall on the days on which they would have fallen.
func (e *End) keepDays(ctx context.Context, store shop.Shop, c moving.Contract, number int64, cal cadence.Calendar) error {
	now := e.services.clock.Now()
	if c.Next.IsZero() || c.Next.After(now) {
		return nil
	}
	is, err := e.contract(ctx, store, c.Line, number)
	if err != nil {
		return err
	}
	day := c.Stored(cal).DueOn(2, cal)
	later := is.Upcoming
	if len(later) > 0 && later[0].Date.Sub(now) < day.Sub(later[0].Date) {
		later = later[1:] // the late one is still to come
	}
	if len(later) == 0 || !day.After(now.Add(2*soonest)) || cal.Day(later[0].Date) == cal.Day(day) {
		return nil
	}
	_, err = e.send(ctx, call{
		method: http.MethodPut, path: fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d", later[0].ID), line: c.Line,
		query: url.Values{"billingDate": {day.UTC().Format(time.RFC3339)}, "rescheduleFutureOrder": {"true"}},
	}, nil)
	return err
}

// takeDate gives the next order of a contract the date that it had, unless that order was charged
// already: an earlier call may have been carried out though its answer was lost.
func (e *End) takeDate(ctx context.Context, c, is moving.Contract, before []moving.Past) error {
	if c.Next.IsZero() || is.Next.Equal(c.Next) || is.Begun(before) {
		return nil
	}
	date := c.Next
	if soon := e.services.clock.Now().Add(soonest); date.Before(soon) {
		date = soon
	}
	if is.Next.Sub(date).Abs() < time.Hour {
		return nil
	}
	_, err := e.send(ctx, call{
		method: http.MethodPut, path: "/subscription-contracts-update-billing-date", line: c.Line, query: of(is.ID, "nextBillingDate", date.UTC().Format(time.RFC3339), "rescheduleFutureOrder", "true"),
	}, nil)
	return err
}

// soonest is how far ahead an order is put whose date is past.
const soonest = 10 * time.Minute

// Cancel cancels a contract.
func (e *End) Cancel(ctx context.Context, _ shop.Shop, line shop.Line, number int64) error {
	is, err := e.status(ctx, line, number)
	if err == nil && is != contract.Cancelled && is != contract.Expired {
		path := fmt.Sprintf("/subscription-contracts/%d", number)
		_, err = e.send(ctx, call{method: http.MethodDelete, path: path, line: line, query: url.Values{"cancellationFeedback": {"Moved to another service"}}}, nil)
	}
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return about(err, "cancel contract %d", number)
}

// Discard cancels what was created of a contract under a key. Where the answer to that was lost, the creation is repeated:
// once it has an answer, the service knows which contract the key has, and cancels another one that the platform
// creates late.
func (e *End) Discard(ctx context.Context, of shop.Shop, c moving.Contract, number int64, key string) error {
	if number == 0 {
		made, err := e.arrived(ctx, c)
		if err == nil && made == 0 {
			made, err = e.create(ctx, c, key)
		}
		if fault.Is(err, fault.FailedPrecondition) && !lacks(err) { // it is refused, and was not created
			return nil
		}
		if err != nil {
			return about(err, "look for contract %s at the other service", c.ImportedID)
		}
		number = made
	}
	return e.Cancel(ctx, of, c.Line, number)
}

// Open activates a contract that was created paused, and makes its orders to come what they were.
func (e *End) Open(ctx context.Context, store shop.Shop, c moving.Contract, number int64) error {
	if c.Status == contract.Paused && !c.PausedTo.IsZero() { // it was created paused, without an end
		ends := of(number, "status", string(contract.Paused), "pauseTillDate", c.PausedTo.UTC().Format(time.RFC3339))
		_, err := e.send(ctx, call{method: http.MethodPut, path: "/subscription-contracts-update-status", line: c.Line, query: ends}, nil)
		return about(err, "set the end of the pause of contract %d", number)
	}
	if c.Status != contract.Active {
		return nil
	}
	return about(e.activate(ctx, store, c, number, nil), "activate contract %d", number)
}

// Adjust does nothing: services list no orders of a contract that is paused. Open adjusts them.
func (e *End) Adjust(context.Context, shop.Shop, shop.Line, int64, []moving.Edit) error { return nil }
