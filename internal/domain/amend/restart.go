package amend

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RestartParams says when the first order is charged of a new contract that continues one
// that is terminated.
type RestartParams struct {
	NextBillingDate time.Time
	RequestKey      string // as in New
}

// RestartParams makes an ACTIVE contract with the lines, policies, delivery, note, attributes
// and payment method of one that is cancelled or expired, which stays as it is. The
// limits begin again; prices that change with the orders go on where they were, so that
// no introductory price is given twice. Discounts do not come along.
func (s *Service) Restart(ctx context.Context, of shop.ID, cmd Command, w RestartParams) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	begun, err := s.begun(ctx, of, w.RequestKey)
	if err != nil {
		return contract.Detail{}, err
	}
	store, old, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if begun.Contract != 0 {
		return s.noted(ctx, store, Command{Line: cmd.Line, Contract: begun.Contract, Actor: cmd.Actor})
	}
	now := s.Clock.Now()
	if at := begun.At; !at.IsZero() {
		now = at
	}
	if err := w.check(old, now); err != nil {
		return contract.Detail{}, err
	}
	n, err := s.again(ctx, store, old, w)
	if err != nil {
		return contract.Detail{}, err
	}
	if w.RequestKey == "" {
		return s.create(ctx, store, cmd.Actor, n)
	}
	return s.createOnce(ctx, store, cmd.Line, cmd.Actor, n, begun)
}

func (w RestartParams) check(old contract.Contract, now time.Time) error {
	if w.NextBillingDate.Before(now.Add(-billing.PastTolerance)) {
		return fault.New(fault.Invalid, "nextBillingDate %s is in the past", w.NextBillingDate.UTC().Format(time.RFC3339)).
			Entity(entity).Code("datePast").Field("nextBillingDate")
	}
	if err := notTooFar(w.NextBillingDate, now, "nextBillingDate"); err != nil {
		return err
	}
	switch {
	case !old.Terminated():
		return fault.New(fault.FailedPrecondition, "subscription contract %d is %s: only a CANCELLED or EXPIRED contract can be restarted", old.ID, old.Status).
			Entity(entity).Code("contractNotTerminated").Field("contractId")
	case old.Lifelong:
		return fault.New(fault.FailedPrecondition, "contract %d was paid for life and has no renewals to restart", old.ID).
			Entity(entity).Code("lifetimeMembership").Field("contractId")
	}
	return nil
}

// again is the contract by which a terminated one is restarted.
func (s *Service) again(ctx context.Context, store shop.Shop, old contract.Contract, w RestartParams) (creation, error) {
	is, err := s.Platform.Detail(ctx, store.At(), int64(old.ID))
	if err != nil {
		return creation{}, unanswered(err)
	}
	lines := contract.SplitIntent{Lines: make([]string, len(is.Lines))}
	for i, l := range is.Lines {
		if l.VariantID == 0 {
			return creation{}, fault.New(fault.FailedPrecondition, "the store no longer has the product variant of line %s: create a contract with other lines instead", l.ID).
				Entity(entity).Code("variantNotFound").Field("contractId")
		}
		lines.Lines[i] = l.ID
	}
	err = s.Store.Update(ctx, store.ID, func(tx intake.Tx) error {
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{old.ID})
		lines.Cycle = nextCycle(old, attempts, s.Clock.Now())
		return err
	})
	if err != nil {
		return creation{}, err
	}
	prices, err := s.pricesLeft(ctx, store, old, is, lines)
	if err != nil {
		return creation{}, err
	}
	method, err := s.usable(ctx, store, is.Customer.ID, is.PaymentMethod.ID)
	if err != nil {
		return creation{}, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return creation{}, err
	}
	n := like(is, is.Billing)
	n.NextBillingDate, n.Status, n.PaymentMethod = billing.OrderAt(w.NextBillingDate, s.Clock.Now(), cal), string(contract.Active), &method
	for at := range is.Lines {
		n.Lines = append(n.Lines, lineLike(is, at, prices))
	}
	return creation{NewContract: n, of: &old}, nil
}

// usable returns a payment method of the customer that can be charged: the preferred one
// if it is not revoked, else the newest.
func (s *Service) usable(ctx context.Context, store shop.Shop, customer int64, preferred string) (string, error) {
	methods, err := s.Platform.PaymentMethods(ctx, store.At(), customer)
	if err != nil {
		return "", unanswered(err)
	}
	methods = slices.DeleteFunc(methods, func(m platform.PaymentMethod) bool { return m.Revoked })
	if len(methods) == 0 {
		return "", fault.New(fault.FailedPrecondition, "customer %d has no payment method that can be charged: the customer must add one first", customer).
			Entity("customerPaymentMethod").Code("paymentMethodMissing").Field("contractId")
	}
	if slices.ContainsFunc(methods, func(m platform.PaymentMethod) bool { return m.ID == preferred }) {
		return preferred, nil
	}
	return methods[len(methods)-1].ID, nil
}
