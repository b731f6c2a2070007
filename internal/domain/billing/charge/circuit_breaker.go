package charge

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// gatewayFaults are the platform's codes (SubscriptionBillingAttemptErrorCode) for declines
// that neither the customer nor their bank caused.
var gatewayFaults = map[string]bool{
	"MERCHANT_ACCOUNT_ERROR": true, "PAYMENT_PROVIDER_ERROR": true, "PAYMENT_PROVIDER_IS_NOT_ENABLED": true,
	"PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG": true, "PROCESSING_ERROR": true, "TRANSIENT_ERROR": true, "UNEXPECTED_ERROR": true,
	"GENERIC_ERROR": true, "INVALID_REQUEST": true, "TEST_MODE": true, "NON_TEST_ORDER_LIMIT_REACHED": true, "PAYPAL_ERROR_GENERAL": true,
}

// noGateway are codes that say nothing about the gateway: there was no payment, or the
// customer did not act.
var noGateway = map[string]bool{
	"INSUFFICIENT_INVENTORY": true, "INVENTORY_ALLOCATIONS_NOT_FOUND": true, "INVALID_SHIPPING_ADDRESS": true,
	dunning.ChallengeExpired: true, dunning.EarlierChargeOpen: true,
}

// count adds the end of an attempt's charge to the statistics.
func (l *settling) count(a billing.Attempt) {
	l.stats.Ended++
	switch gateway := gatewayFaults[a.ErrorCode]; {
	case a.Status == billing.Success:
		l.stats.Paid++
	case gateway:
		l.stats.Declined++
		l.stats.Gateway++
	case a.Try <= 1 && !noGateway[a.ErrorCode]:
		l.stats.Declined++
	}
}

// pace counts charges that are about to be sent. If some were refused, it holds the store for
// a moment; charges that end before then release it.
func (s *Service) pace(ctx context.Context, tx billing.Tx, b *batch, refused bool, now time.Time) error {
	if n := b.sends(); n > 0 {
		if err := tx.AddChargeStats(ctx, s.Policy.Slot(now), billing.ChargeStats{Sent: n}); err != nil {
			return err
		}
	}
	if !refused {
		return nil
	}
	b.shop.Guard.Hold.Until = now.Add(s.Policy.Pace)
	return tx.PutShop(ctx, b.shop)
}

// sends is how many charges the batch sends.
func (b *batch) sends() (n int) {
	for _, e := range b.charges {
		if e.send {
			n++
		}
	}
	return n
}

// updateBreaker writes how many charges ended, and the hold that follows for the store.
func (l *settling) updateBreaker(ctx context.Context, tx billing.Tx) error {
	if l.stats == (billing.ChargeStats{}) {
		return nil
	}
	if err := tx.AddChargeStats(ctx, l.Policy.Slot(l.Now), l.stats); err != nil {
		return err
	}
	hold := l.Shop.Guard.Hold
	run, err := tx.ChargeStatsSince(ctx, l.Policy.Slot(decide.StatsSince(hold, l.Policy, l.Now)))
	if err != nil {
		return err
	}
	next, change := decide.NextHold(hold, run, l.Policy, l.Now)
	if next == hold {
		return nil
	}
	l.Shop.Guard.Hold, l.ShopChanged = next, true
	if change != "" {
		status := activity.Info
		if !next.Since.IsZero() {
			status = activity.Failure
		}
		l.Entries = append(l.Entries, activity.Entry{
			EntityID: int64(l.Shop.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: status,
			Actor: activity.System, At: l.Now, Info: activity.Details(billing.EntryInfo{Reason: change}),
		})
	}
	if next.Until.IsZero() {
		return tx.Enqueue(ctx, billing.Task{Shop: l.Shop.ID})
	}
	return nil
}

// due returns the due attempts and sets how many charges may be sent. Of a store that is not
// charged now it returns only those in flight.
func (b *batch) due(ctx context.Context, tx billing.Tx, now time.Time) ([]billing.Attempt, error) {
	var err error
	if b.shop, err = tx.ShopToCharge(ctx); err != nil {
		return nil, err
	}
	hold := b.shop.Guard.Hold
	if b.shop.Connected && !b.shop.Guard.ChargesAutomatically(now) {
		b.allowance = batchSize // charges in flight were sent before, or by a person
		return tx.DueInFlight(ctx, now, batchSize)
	}
	run, err := tx.ChargeStatsSince(ctx, b.policy.Slot(decide.StatsSince(hold, b.policy, now)))
	if err != nil {
		return nil, err
	}
	b.allowance = decide.Allowance(run, !hold.Since.IsZero())
	return tx.DueAttempts(ctx, now, batchSize)
}
