package split

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// createTimeout is how long a new contract is looked for when its creation was not
// confirmed.
const createTimeout = 10 * time.Minute

// newContract creates the new contract, paused, or finds the one that was created.
func (s *Service) newContract(ctx context.Context, store shop.Shop, old *contract.Contract, first bool) (platform.Detail, error) {
	if old.Split.New != 0 {
		made, err := s.Platform.Detail(ctx, store.At(), int64(old.Split.New))
		if err != nil {
			err = amend.PlatformError(err)
		}
		return made, err
	}
	made, err := s.createPaused(ctx, store, *old, first)
	if err != nil {
		if amend.Permanent(err) {
			err = errors.Join(err, s.updateIfCurrent(ctx, store.ID, old, EndSplit))
		}
		return platform.Detail{}, err
	}
	origin := contract.Split
	if old.Split.Once {
		origin = contract.SplitAttempt
	}
	from, earlier, priced, lifelong := old.ID, old.NextOrder()-1, old.Priced, old.Lifelong
	_, err = s.Adopt(ctx, store, amend.Command{Contract: contract.ID(made.ID), Actor: old.Split.Actor}, made, amend.Change{
		Entries: []amend.Note{{Event: activity.ContractCreated, Details: splitDetails{From: int64(from), Lines: old.Split.Lines}}},
		Update: func(c *contract.Contract) {
			c.Origin, c.SplitFrom, c.EarlierOrders, c.Priced, c.Lifelong = origin, from, earlier, priced, lifelong
		},
	})
	if err != nil {
		return platform.Detail{}, err
	}
	return made, s.updateIfCurrent(ctx, store.ID, old, func(c *contract.Contract) { c.Split.New = contract.ID(made.ID) })
}

// createPaused creates the new contract, or looks for one that an earlier process may
// have created.
func (s *Service) createPaused(ctx context.Context, store shop.Shop, old contract.Contract, first bool) (platform.Detail, error) {
	if first {
		is, err := s.Platform.Detail(ctx, store.At(), int64(old.ID))
		if err != nil {
			return platform.Detail{}, amend.PlatformError(err)
		}
		prices, err := s.RemainingPrices(ctx, store, old, is, *old.Split)
		if err != nil {
			return platform.Detail{}, err
		}
		n, err := newContractOf(old, is, *old.Split, prices)
		if err != nil {
			return platform.Detail{}, err
		}
		made, err := s.Platform.CreateContract(ctx, store.At(), n)
		if err == nil {
			return made, nil
		}
		if !errors.Is(err, platform.ErrUnknown) {
			return platform.Detail{}, amend.PlatformError(err)
		}
	}
	marked := func(d platform.Detail) bool { return slices.Contains(d.Attributes, splitAttribute(*old.Split)) }
	made, err := s.FindCreated(ctx, store, old.Customer.ID, time.Time{}, marked)
	if fault.Is(err, fault.NotFound) && s.Clock.Now().Before(old.Split.At.Add(createTimeout)) {
		err = fault.New(fault.Unavailable, "the platform has not confirmed whether the new contract was created: the split is finished as soon as it does").
			Entity(amend.Entity).Code(fault.InDoubt)
	}
	return made, err
}

// splitAttribute returns the attribute that identifies the new contract of a split.
func splitAttribute(i contract.SplitIntent) platform.Attribute {
	return platform.Attribute{Key: contract.SplitAttribute, Value: i.Token}
}

// newContractOf returns the contract that the lines become, with their remaining prices
// by cycle.
func newContractOf(known contract.Contract, is platform.Detail, w contract.SplitIntent, prices map[string]terms.LinePrice) (platform.NewContract, error) {
	if known.Status != contract.Active && known.Status != contract.Paused {
		return platform.NewContract{}, fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot be split", known.ID, known.Status).
			Entity(amend.Entity).Code("contractNotActive")
	}
	billed := remainingLimits(is.Billing, known, w.Cycle)
	if w.Once {
		billed.MinCycles, billed.MaxCycles = 0, 1
	}
	n := terms.NewContractLike(is, billed)
	n.NextBillingDate, n.Status = known.NextBillingDate, string(contract.Paused)
	n.Attributes = new(append(slices.Clone(is.Attributes), splitAttribute(w)))
	if n.NextBillingDate.IsZero() {
		n.NextBillingDate = is.NextBillingDate
	}
	if is.PaymentMethod.ID != "" {
		n.PaymentMethod = &is.PaymentMethod.ID
	}
	for at, l := range is.Lines {
		if slices.Contains(w.Lines, l.ID) {
			n.Lines = append(n.Lines, terms.NewLineLike(is, at, prices))
		}
	}
	switch {
	case len(n.Lines) < len(w.Lines):
		return platform.NewContract{}, terms.LineNotFound()
	case len(n.Lines) == len(is.Lines):
		return platform.NewContract{}, terms.LastLine()
	}
	return n, nil
}

// activate removes the split attribute of the new contract and sets its status. Both can
// be repeated.
func (s *Service) activate(ctx context.Context, store shop.Shop, made platform.Detail, status contract.Status) (platform.Detail, error) {
	kept := slices.DeleteFunc(slices.Clone(made.Attributes), func(a platform.Attribute) bool { return a.Key == contract.SplitAttribute })
	if len(kept) < len(made.Attributes) {
		if _, err := s.Platform.EditContract(ctx, store.At(), made.ID, platform.Edit{Attributes: &kept}); err != nil {
			return platform.Detail{}, err
		}
	}
	return s.Platform.SetStatus(ctx, store.At(), made.ID, string(status))
}
