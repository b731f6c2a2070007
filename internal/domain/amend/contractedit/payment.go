package contractedit

import (
	"context"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// PaymentMethods returns a customer's payment methods, revoked ones included; none when
// the customer does not exist.
func (s *Service) PaymentMethods(ctx context.Context, of shop.ID, customer int64) ([]contract.PaymentMethod, error) {
	store, err := s.ConnectedShop(ctx, of)
	if err != nil {
		return nil, err
	}
	methods, err := s.Platform.PaymentMethods(platform.Interactive(ctx), store.At(), customer)
	if errors.Is(err, platform.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, amend.PlatformError(err)
	}
	return methods, nil
}

// SetPaymentMethod changes the contract's payment method to another one of the customer.
func (s *Service) SetPaymentMethod(ctx context.Context, of shop.ID, cmd amend.Command, id string) (contract.Detail, error) {
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil || d.PaymentMethod == id {
			return amend.Change{}, err
		}
		methods, err := s.Platform.PaymentMethods(ctx, store.At(), d.Customer.ID)
		if err != nil {
			return amend.Change{}, amend.PlatformError(err)
		}
		i := slices.IndexFunc(methods, func(m platform.PaymentMethod) bool { return m.ID == id })
		if i < 0 {
			return amend.Change{}, fault.New(fault.NotFound, "the customer has no payment method %s", id).Entity("customerPaymentMethod").Code("paymentMethodNotFound").Field("paymentMethodId")
		}
		if methods[i].Revoked {
			return amend.Change{}, fault.New(fault.FailedPrecondition, "payment method %s was revoked", id).Entity("customerPaymentMethod").Code("paymentMethodRevoked").Field("paymentMethodId")
		}
		return amend.Change{Edit: platform.Edit{PaymentMethod: &id}, Entries: []amend.Note{{Event: activity.SwitchPaymentMethods, Details: termsDetails{From: d.PaymentMethod, To: id}}}}, nil
	})
}

// SendPaymentUpdate has the platform send the customer a link to update the payment
// method.
func (s *Service) SendPaymentUpdate(ctx context.Context, of shop.ID, cmd amend.Command) error {
	ctx = platform.Interactive(ctx)
	store, c, err := s.Load(ctx, of, cmd)
	if err != nil {
		return err
	}
	if c.PaymentMethod == "" {
		return fault.New(fault.FailedPrecondition, "subscription contract %d has no payment method that could be updated", c.ID).Entity(amend.Entity).Code("paymentMethodMissing")
	}
	if err := s.Platform.SendPaymentUpdate(ctx, store.At(), c.PaymentMethod); err != nil {
		return amend.PlatformError(err)
	}
	return s.Store.Update(ctx, of, func(tx intake.Tx) error {
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(c.ID), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: activity.Success,
			Actor: cmd.Actor, At: s.Clock.Now(), Info: activity.Details(termsDetails{Field: "paymentMethod", To: "the platform was asked to send the customer a link"}),
		})
	})
}

// PaymentMethodID returns the graph id of a payment method; callers may omit the type.
func PaymentMethodID(s string) string {
	if len(s) > 0 && gid.Number(s) == 0 && !slices.Contains([]byte(s), '/') {
		return "gid://shopify/CustomerPaymentMethod/" + s
	}
	return s
}
