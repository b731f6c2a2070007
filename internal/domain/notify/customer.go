package notify

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ForCustomer returns what a customer is sent of a message, as New does: an e-mail if the
// address is valid, and an SMS if the store sends those of its kind. The phone number of the SMS is looked up
// when it is sent, for a consent may end until then.
func ForCustomer(m Message, of shop.Shop, now time.Time) ([]Message, error) {
	var list []Message
	if CheckAddress("", m.To) == nil {
		mail, err := New(m, now)
		if err != nil {
			return nil, err
		}
		list = append(list, mail)
	}
	if of.SendsSMS(m.Kind) && m.Customer != 0 {
		m.Channel, m.To, m.DedupeKey = BySMS, "", SMSKey(m.DedupeKey)
		text, err := New(m, now)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
