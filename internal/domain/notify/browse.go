package notify

import (
	"context"
	"crypto/rand"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Show is which messages a list has.
type Show string

// What lists show.
const (
	ShowAll     Show = ""
	ShowWaiting Show = "waiting" // or are being sent
	ShowFailed  Show = "failed"
)

// Filter says which messages a list has, newest first.
type Filter struct {
	Show     Show
	To       string      // the whole address; empty: any
	Contract contract.ID // 0: any
	Before   MessageID   // the last one of the page before; 0: none
}

// Statuses lists the statuses of a message.
var Statuses = []Status{Queued, Sending, Sent, Failed, Suppressed}

// Query says which messages integrations are shown, newest first. Messages to users of the dashboard
// are not among them, nor are those about contracts of the other line.
type Query struct {
	Line     shop.Line   // always set
	Contract contract.ID // 0: any
	Kind     Kind        // empty: any
	Status   Status      // empty: any
}

// NoMessage is the failure that a store has no such message.
func NoMessage(id MessageID) error {
	return fault.New(fault.NotFound, "message %d does not exist", id).Entity("notification").Code("notificationNotFound")
}

// Resend sends a message again that has failed, as a new one, which it returns: what it reports is
// checked and written again. One that opened something is not sent again, and neither is one that has
// not failed.
func (s *Service) Resend(ctx context.Context, of shop.ID, id MessageID, by activity.Actor) (again Message, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		list, err := tx.Messages(ctx, []MessageID{id})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return NoMessage(id)
		}
		m := list[0]
		switch {
		case m.Status != Failed:
			return fault.New(fault.FailedPrecondition, "only a message that has failed can be sent again: this one is %s", m.Status).Entity("notification").Code("notificationNotFailed")
		case traits[m.Kind].secret:
			return fault.New(fault.FailedPrecondition, "a link that signs in is not sent again: ask for a new one").Entity("notification").Code("notificationNotFailed")
		case m.To == "":
			return fault.New(fault.FailedPrecondition, "its recipient was erased").Entity("notification").Code("notificationNotFailed")
		}
		again, err = New(Message{
			Kind: m.Kind, Channel: m.Channel, To: m.To, FromName: m.FromName, Facts: m.Facts, Contract: m.Contract, Attempt: m.Attempt, Customer: m.Customer, Actor: by, DedupeKey: m.DedupeKey + ":again:" + rand.Text(),
		}, s.Clock.Now())
		if err != nil {
			return err
		}
		if m.Facts.empty() {
			again.Content = m.Content
		}
		made := []Message{again}
		if err := Queue(ctx, tx, of, made...); err != nil {
			return err
		}
		again = made[0]
		return nil
	})
	return again, err
}
