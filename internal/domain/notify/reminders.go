package notify

import (
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Reminder is a contract whose customer must be reminded of its next order, or of a card that expires
// before one.
type Reminder struct {
	Recipient

	Card    bool            // of the card
	Attempt int64           // the next order's; 0: there is none in the queue
	Cycle   int             // of the order
	Date    time.Time       // of the order, or from which on the card is expired
	Before  []time.Duration // how long before the date each message falls due, the longest first
}

// UpcomingKey is the key of a message about the order of a cycle that comes on a date, by how many
// more come before it.
func UpcomingKey(c contract.ID, cycle int, date time.Time, more int) string {
	return fmt.Sprintf("%s:%d:%d:%d:%d", UpcomingOrder, c, cycle, date.Unix(), more)
}

func (r Reminder) key(more int) string {
	if r.Card {
		return fmt.Sprintf("%s:%d:%d:%d", ExpiringCard, r.Contract, r.Date.Unix(), more)
	}
	return UpcomingKey(r.Contract, r.Cycle, r.Date, more)
}

// messages returns what a reminder sends.
func (r Reminder) messages(of shop.Shop, now time.Time) ([]Message, error) {
	kind := UpcomingOrder
	if r.Card {
		kind = ExpiringCard
	}
	if !now.Before(r.Date) || !r.Card && r.Attempt == 0 {
		return nil, nil
	}
	var list []Message
	for i, before := range r.Before {
		at := r.Date.Add(-before)
		if i+1 < len(r.Before) && !now.Before(r.Date.Add(-r.Before[i+1])) {
			continue // the next one is due as well
		}
		m := Message{
			Kind: kind, To: r.Email, Contract: r.Contract, Customer: r.Customer, Attempt: r.Attempt, Facts: Facts{Date: r.Date}, Actor: activity.System,
			DedupeKey: r.key(len(r.Before) - 1 - i), ExpiresAt: r.Date,
		}
		if at.After(now) {
			m.DueAt = at
		}
		messages, err := ForCustomer(m, of, now)
		if err != nil {
			return nil, err
		}
		list = append(list, messages...)
	}
	return list, nil
}

// scheduled is the additional information of an entry that messages are scheduled.
type scheduled struct {
	Kind Kind        `json:"kind"`
	At   []time.Time `json:"at"` // when they are sent, unless the card changes
}

// entry says that messages about a card that expires are scheduled.
func (r Reminder) entry(messages []Message, now time.Time) activity.Entry {
	info := scheduled{Kind: ExpiringCard}
	for _, m := range messages {
		info.At = append(info.At, m.DueAt.UTC())
	}
	return activity.Entry{
		EntityID: int64(r.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ScheduleExpiringCreditCardEmail, Status: activity.Success,
		Actor: activity.System, At: now, Info: activity.Details(info),
	}
}
