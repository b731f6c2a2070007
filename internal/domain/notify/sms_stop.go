package notify

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/domain/optin"
)

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
