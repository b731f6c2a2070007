package command

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// MaxOneOffQuantity is how many of a one-time product may be asked for. An order has
// more where those of an order that is not made come to it.
const MaxOneOffQuantity = 999

// maxOneOffs is how many one-time products an order can carry.
const maxOneOffs = 50

// oneOffEntity is what failures about one-time products are about.
const oneOffEntity = "subscriptionContractOneOff"

// OneOff changes a one-time product of an upcoming order.
type OneOff struct {
	Line     shop.Line
	Contract contract.ID
	Attempt  billing.AttemptID
	OrNext   bool // an attempt that the contract does not have, or that is not QUEUED, stands for the next one
	Variant  int64
	Handle   string
	Quantity int           // at least 1
	Price    *money.Amount // of one, in the contract's currency; nil: the product's
	Actor    activity.Actor
	Permit   Permit // nil: the actor may
}

// AddOneOff lets an upcoming order carry a product in the given quantity. One
// that the order carries already gets the quantity; saying the same twice changes
// nothing.
func (s *Service) AddOneOff(ctx context.Context, of shop.Shop, cmd OneOff) error {
	if err := checkQuantity(cmd.Quantity); err != nil {
		return err
	}
	err := s.Store.View(ctx, of.ID, func(tx billing.ReadTx) error {
		_, err := cmd.find(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	v, err := s.soldOnce(ctx, of, cmd)
	if err != nil {
		return err
	}
	return s.changeOneOffs(ctx, of.ID, cmd, func(r draft, has []billing.OneOff, now time.Time) (put []billing.OneOff, drop []billing.OneOffID, event activity.EventType, err error) {
		if v.Price.Currency != r.Of.Currency {
			return nil, nil, "", fault.New(fault.FailedPrecondition, "the store sells in %s and contract %d is in %s: a one-time product cannot be priced",
				v.Price.Currency, r.Of.ID, r.Of.Currency).Entity(oneOffEntity).Code("currencyMismatch")
		}
		if old, ok := carried(has, cmd.Variant); ok {
			same := old.Quantity == cmd.Quantity
			old.Quantity = cmd.Quantity
			if cmd.Price != nil {
				same = same && old.Variant.Price == *cmd.Price
				old.Variant.Price = *cmd.Price
			}
			if same {
				return nil, nil, "", nil
			}
			return []billing.OneOff{old}, nil, activity.OneTimePurchaseProductUpdate, nil
		}
		if len(has) >= maxOneOffs {
			return nil, nil, "", fault.New(fault.FailedPrecondition, "billing attempt %d carries %d one-time products: no more are allowed", r.ID, len(has)).
				Entity(oneOffEntity).Code("tooManyOneOffs")
		}
		return []billing.OneOff{{
			Contract: r.Of.ID, Cycle: r.Cycle, Variant: v, Handle: cmd.Handle, Quantity: cmd.Quantity, CreatedAt: now,
		}}, nil, activity.OneTimePurchaseProductAdded, nil
	})
}

// PreviewOneOff returns an order of the command's contract as AddOneOff would make it. It changes nothing.
func (s *Service) PreviewOneOff(ctx context.Context, of shop.Shop, r billing.Record, cmd OneOff) (billing.Record, error) {
	if err := checkQuantity(cmd.Quantity); err != nil {
		return r, err
	}
	v, err := s.soldOnce(ctx, of, cmd)
	if err != nil {
		return r, err
	}
	return r.Carrying(billing.OneOff{Contract: r.Contract, Cycle: r.Cycle, Variant: v, Quantity: cmd.Quantity}, cmd.Price), nil
}

// soldOnce returns the product of a command at its price, if it can be a one-time product.
func (s *Service) soldOnce(ctx context.Context, of shop.Shop, cmd OneOff) (v platform.Variant, err error) {
	found, err := s.Platform.Variants(platform.Interactive(ctx), of.At(), []int64{cmd.Variant})
	if err != nil {
		return v, fault.Because(fault.Unavailable, err, "the platform could not be asked for variant %d", cmd.Variant)
	}
	if len(found) == 0 {
		return v, fault.New(fault.NotFound, "variant %d does not exist in this store", cmd.Variant).Entity(oneOffEntity).Code("variantNotFound").Field("variantId")
	}
	if v = found[0]; v.OnlyOnPlans {
		return v, fault.New(fault.FailedPrecondition, "%s is sold on selling plans only, as memberships are: it cannot be a one-time product", v.ProductTitle).
			Entity(oneOffEntity).Code("sellingPlanRequired").Field("variantId")
	}
	if cmd.Price != nil {
		v.Price = *cmd.Price
	}
	return v, nil
}

// UpdateOneOff changes the quantity of a product that an upcoming order carries,
// and returns it.
func (s *Service) UpdateOneOff(ctx context.Context, of shop.Shop, cmd OneOff) (billing.OneOffRecord, error) {
	if err := checkQuantity(cmd.Quantity); err != nil {
		return billing.OneOffRecord{}, err
	}
	var record billing.OneOffRecord
	err := s.changeOneOffs(ctx, of.ID, cmd, func(r draft, has []billing.OneOff, _ time.Time) ([]billing.OneOff, []billing.OneOffID, activity.EventType, error) {
		old, ok := carried(has, cmd.Variant)
		if !ok {
			return nil, nil, "", fault.New(fault.NotFound, "billing attempt %d does not carry variant %d as a one-time product", r.ID, cmd.Variant).
				Entity(oneOffEntity).Code("oneOffNotFound").Field("variantId")
		}
		same := old.Quantity == cmd.Quantity
		old.Quantity = cmd.Quantity
		if record = (billing.OneOffRecord{OneOff: old, Attempt: r.ID}); same {
			return nil, nil, "", nil
		}
		return []billing.OneOff{old}, nil, activity.OneTimePurchaseProductUpdate, nil
	})
	return record, err
}

// RemoveOneOff takes a product out of an upcoming order again. One that the order
// does not carry is gone already.
func (s *Service) RemoveOneOff(ctx context.Context, of shop.Shop, cmd OneOff) error {
	return s.changeOneOffs(ctx, of.ID, cmd, func(_ draft, has []billing.OneOff, _ time.Time) ([]billing.OneOff, []billing.OneOffID, activity.EventType, error) {
		old, ok := carried(has, cmd.Variant)
		if !ok {
			return nil, nil, "", nil
		}
		return nil, []billing.OneOffID{old.ID}, activity.OneTimePurchaseProductRemoved, nil
	})
}

// RemoveOneOffLine takes a product out of the upcoming order of a contract that carries
// it. One that no upcoming order carries is NotFound.
func (s *Service) RemoveOneOffLine(ctx context.Context, of shop.Shop, cmd OneOff, id billing.OneOffID) error {
	missing := fault.New(fault.NotFound, "contract %d has no one-time product %d in an upcoming order", cmd.Contract, id).Entity(oneOffEntity).Code("oneOffNotFound")
	err := s.Store.View(ctx, of.ID, func(tx billing.ReadTx) error {
		waiting, err := tx.OneOffs(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		queued, err := tx.AttemptsOf(ctx, []contract.ID{cmd.Contract}, billing.Queued)
		if err != nil {
			return err
		}
		for _, o := range waiting {
			for _, a := range queued {
				if o.ID == id && a.Cycle == o.Cycle {
					cmd.Attempt, cmd.Variant = a.ID, o.Variant.ID
					return nil
				}
			}
		}
		return missing
	})
	if err != nil {
		return err
	}
	return s.RemoveOneOff(ctx, of, cmd)
}

// changeOneOffs changes what one upcoming order carries, with its entry and the
// work of telling the platform, in one commit.
func (s *Service) changeOneOffs(ctx context.Context, of shop.ID, cmd OneOff, do func(r draft, has []billing.OneOff, now time.Time) ([]billing.OneOff, []billing.OneOffID, activity.EventType, error)) error {
	return s.Store.Update(ctx, of, func(tx billing.Tx) error {
		now := s.Clock.Now()
		r, err := cmd.find(ctx, tx)
		if err != nil {
			return err
		}
		all, err := tx.OneOffs(ctx, []contract.ID{r.Of.ID})
		if err != nil {
			return err
		}
		var has []billing.OneOff
		for _, o := range all {
			if o.Cycle == r.Cycle {
				has = append(has, o)
			}
		}
		put, drop, event, err := do(r, has, now)
		if err != nil || event == "" {
			return err
		}
		for i := range put {
			put[i].UpdatedAt = now
		}
		if err := tx.PutOneOffs(ctx, put); err != nil {
			return err
		}
		if err := tx.DeleteOneOffs(ctx, drop); err != nil {
			return err
		}
		r.Of.OneOffs = len(all) - len(drop)
		if event == activity.OneTimePurchaseProductAdded {
			r.Of.OneOffs++
		}
		r.PublishOneOffs(now)
		r.UpdatedAt = now
		if err := tx.PutAttempts(ctx, []billing.Attempt{r.Attempt}); err != nil {
			return err
		}
		if err := queue.Refill(ctx, tx, r.shop, []contract.Contract{r.Of}, now); err != nil {
			return err
		}
		quantity := cmd.Quantity
		if len(drop) > 0 {
			quantity = 0
		}
		if err := tx.Record(ctx, billing.NewEntry(r.Attempt, event, activity.Success, cmd.Actor, now, billing.EntryInfo{Cycle: r.Cycle, Variant: cmd.Variant, Quantity: quantity})); err != nil {
			return err
		}
		return tx.Enqueue(ctx, billing.Task{Shop: of})
	})
}

// find reads the attempt, which must wait for its date and be the contract's.
func (c OneOff) find(ctx context.Context, tx billing.ReadTx) (draft, error) {
	r, err := find(ctx, tx, target{by: c.Actor, line: c.Line, attempt: c.Attempt, permit: c.Permit})
	if fault.Is(err, fault.NotFound) || err == nil && (r.Of.ID != c.Contract || r.Status != billing.Queued) {
		if c.OrNext {
			return findNext(ctx, tx, target{by: c.Actor, line: c.Line, next: c.Contract, permit: c.Permit})
		}
	}
	switch {
	case err != nil:
		return draft{}, err
	case r.Of.ID != c.Contract:
		return draft{}, fault.New(fault.NotFound, "contract %d has no billing attempt %d", c.Contract, c.Attempt).Entity(billing.AttemptEntity).Code("billingAttemptNotFound")
	case r.Status.InFlight():
		return draft{}, billing.Busy(r.Attempt)
	case r.Status != billing.Queued:
		return draft{}, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only a QUEUED attempt takes one-time products", r.ID, r.Status).
			Entity(billing.AttemptEntity).Code("billingAttemptStatus")
	}
	return r, nil
}

func checkQuantity(n int) error {
	if n < 1 || n > MaxOneOffQuantity {
		return fault.New(fault.Invalid, "quantity is %d and must be from 1 to %d", n, MaxOneOffQuantity).Entity(oneOffEntity).Code("quantityRange").Field("quantity")
	}
	return nil
}

func carried(list []billing.OneOff, variant int64) (billing.OneOff, bool) {
	for _, o := range list {
		if o.Variant.ID == variant {
			return o, true
		}
	}
	return billing.OneOff{}, false
}
