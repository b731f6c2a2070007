package notify

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Report is what a provider says of an SMS that it accepted.
type Report struct {
	Message    MessageID
	ProviderID string
	Delivery   Delivery
	Error      string // why it was not delivered
}

// Reported takes over what a provider says of an SMS. A report that is repeated, and one of another
// SMS than the one that the message became, changes nothing. It fails with NotFound for a message
// that does not exist.
func (s *Service) Reported(ctx context.Context, of shop.ID, r Report) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		found, err := tx.Messages(ctx, []MessageID{r.Message})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Channel != BySMS {
			return fault.New(fault.NotFound, "SMS %d does not exist", r.Message).Entity("message").Code("messageNotFound")
		}
		m := found[0]
		if m.Delivery != "" || m.ProviderID != "" && m.ProviderID != r.ProviderID {
			return nil
		}
		m.Delivery, m.DeliveryError = r.Delivery, r.Error
		if err := tx.PutDelivery(ctx, m); err != nil || r.Delivery == Delivered {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(m.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: traits[m.Kind].event, Status: activity.Failure,
			Actor: m.Actor, At: s.Clock.Now(), Info: activity.Details(outcome{Kind: m.Kind, Channel: m.Channel, Reason: r.Error}),
		})
	})
}
