package create

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// RestartParams is when the restarted contract is first charged.
type RestartParams struct {
	NextBillingDate time.Time
	RequestKey      string // as in Params
}

// Restart creates an ACTIVE contract with the lines, policies, delivery, note,
// attributes and payment method of a cancelled or expired one, which stays as it is.
// Cycle limits start again. Prices by cycle continue, so that no introductory price is
// given twice. Discounts are not copied.
func (s *Service) Restart(ctx context.Context, of shop.ID, cmd amend.Command, w RestartParams) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	begun, err := s.recorded(ctx, of, w.RequestKey)
	if err != nil {
		return contract.Detail{}, err
	}
	store, old, err := s.Load(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if begun.Contract != 0 {
		return s.showCreated(ctx, store, amend.Command{Line: cmd.Line, Contract: begun.Contract, Actor: cmd.Actor})
	}
	now := s.Clock.Now()
	if at := begun.At; !at.IsZero() {
		now = at
	}
	if err := w.check(old, now); err != nil {
		return contract.Detail{}, err
	}
	n, err := s.continuation(ctx, store, old, w)
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
			Entity(amend.Entity).Code("datePast").Field("nextBillingDate")
	}
	if err := amend.CheckTooFar(w.NextBillingDate, now, "nextBillingDate"); err != nil {
		return err
	}
	switch {
	case !old.Terminated():
		return fault.New(fault.FailedPrecondition, "subscription contract %d is %s: only a CANCELLED or EXPIRED contract can be restarted", old.ID, old.Status).
			Entity(amend.Entity).Code("contractNotTerminated").Field("contractId")
	case old.Lifelong:
		return fault.New(fault.FailedPrecondition, "contract %d was paid for life and has no renewals to restart", old.ID).
			Entity(amend.Entity).Code("lifetimeMembership").Field("contractId")
	}
	return nil
}

// continuation returns the contract that restarts a terminated one.
func (s *Service) continuation(ctx context.Context, store shop.Shop, old contract.Contract, w RestartParams) (creation, error) {
	is, err := s.Platform.Detail(ctx, store.At(), int64(old.ID))
	if err != nil {
		return creation{}, amend.PlatformError(err)
	}
	lines := contract.SplitIntent{Lines: make([]string, len(is.Lines))}
	for i, l := range is.Lines {
		if l.VariantID == 0 {
			return creation{}, fault.New(fault.FailedPrecondition, "the store no longer has the product variant of line %s: create a contract with other lines instead", l.ID).
				Entity(amend.Entity).Code("variantNotFound").Field("contractId")
		}
		lines.Lines[i] = l.ID
	}
	err = s.Store.View(ctx, store.ID, func(tx intake.ReadTx) error {
		attempts, err := tx.AttemptsOf(ctx, []contract.ID{old.ID})
		lines.Cycle = amend.NextCycle(old, attempts, s.Clock.Now())
		return err
	})
	if err != nil {
		return creation{}, err
	}
	prices, err := s.RemainingPrices(ctx, store, old, is, lines)
	if err != nil {
		return creation{}, err
	}
	method, err := s.chargeablePaymentMethod(ctx, store, is.Customer.ID, is.PaymentMethod.ID)
	if err != nil {
		return creation{}, err
	}
	cal, err := store.Calendar()
	if err != nil {
		return creation{}, err
	}
	n := terms.NewContractLike(is, is.Billing)
	n.NextBillingDate, n.Status, n.PaymentMethod = billing.OrderAt(w.NextBillingDate, s.Clock.Now(), cal), string(contract.Active), &method
	for at := range is.Lines {
		n.Lines = append(n.Lines, terms.NewLineLike(is, at, prices))
	}
	return creation{NewContract: n, restarts: &old}, nil
}

// chargeablePaymentMethod returns the preferred payment method if it is not revoked,
// else the customer's newest.
func (s *Service) chargeablePaymentMethod(ctx context.Context, store shop.Shop, customer int64, preferred string) (string, error) {
	methods, err := s.Platform.PaymentMethods(ctx, store.At(), customer)
	if err != nil {
		return "", amend.PlatformError(err)
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
