package notify

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/domain/optin"
)

// addressed sets to which phone numbers the SMS of a batch go, and returns the consents of their
// customers.
func addressed(ctx context.Context, tx Tx, messages []Message) (map[int64]optin.Consent, error) {
	var customers []int64
	for _, m := range messages {
		if m.Channel == BySMS {
			customers = append(customers, m.Customer)
		}
	}
	if len(customers) == 0 {
		return nil, nil
	}
	consents, err := tx.SMSConsents(ctx, customers)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		if m := &messages[i]; m.Channel == BySMS {
			m.To = ""
			if c := consents[m.Customer]; c.Holds() {
				m.To = c.Phone
			}
		}
	}
	return consents, nil
}

// smsVerdict is verdict for an SMS.
func (c checker) smsVerdict(m Message) (why string, later time.Time) {
	consent := c.consents[m.Customer]
	switch {
	case !c.shop.SendsSMS(m.Kind):
		return SMSDisabled, later
	case consent.Phone == "":
		return NoPhone, later
	case !consent.Holds():
		return SMSEnded, later
	case !c.smsOpensAt.IsZero():
		return "", c.smsOpensAt
	case c.received[m.To] >= mostLetters && !Required(m.Kind):
		return "", c.now.Add(capDelay)
	}
	return "", later
}

// stop ends the consents of customers whose numbers a provider refuses.
func stop(ctx context.Context, tx Tx, m Message, failure error, now time.Time) error {
	if !errors.Is(failure, ErrStopped) {
		return nil
	}
	consents, err := tx.SMSConsents(ctx, []int64{m.Customer})
	if err != nil || consents[m.Customer].Phone != m.To {
		return err
	}
	return tx.EndSMSConsent(ctx, m.Customer, now, optin.ByProvider)
}
