package billing

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// OneOffID is the service's number of a one-time product, unique within a shop.
type OneOffID int64

// OneOff is a product that one upcoming order of a contract carries besides the
// contract's lines. An order has a variant at most once. It belongs to a cycle
// and not to an attempt, for a queue that is made anew has new attempts.
type OneOff struct {
	ID        OneOffID
	Contract  contract.ID
	Cycle     int
	Variant   platform.Variant // as it was when it was added; its price is what the order asks for it
	Handle    string           // as the caller named the product
	Quantity  int
	Done      bool // its order was made
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Line returns the product as a line of an order.
func (o OneOff) Line() contract.Line {
	return contract.Line{
		ProductID: o.Variant.ProductID, VariantID: o.Variant.ID, SKU: o.Variant.SKU, Title: o.Variant.ProductTitle, VariantTitle: o.Variant.Title,
		Image: o.Variant.Image, Quantity: o.Quantity, Price: o.Variant.Price, Taxable: o.Variant.Taxable,
	}
}

// oneOffLine is what the line ids of one-time products begin with. The platform has no
// such lines: it gives lines ids of its own.
const oneOffLine = "gid://shopify/SubscriptionLine/one-time-"

// LineID returns the id by which the product is named among the lines of its contract.
func (o OneOff) LineID() string { return oneOffLine + strconv.FormatInt(int64(o.ID), 10) }

// OneOffOfLine returns the one-time product that a line id names; false when it names a
// line of the contract.
func OneOffOfLine(line string) (OneOffID, bool) {
	number, found := strings.CutPrefix(line, oneOffLine)
	if !found {
		return 0, false
	}
	id, err := strconv.ParseInt(number, 10, 64)
	return OneOffID(id), err == nil
}

// OneOffRecord is a one-time product and the attempt that orders it; 0 while the
// contract has no attempt for the cycle.
type OneOffRecord struct {
	OneOff
	Attempt AttemptID
}

// MaxOneOffQuantity is how many of a one-time product may be asked for. An order has
// more where those of an order that is not made come to it.
const MaxOneOffQuantity = 999

// maxOneOffs is how many one-time products an order can carry.
const maxOneOffs = 50

// oneOffEntity is what failures about one-time products are about.
const oneOffEntity = "subscriptionContractOneOff"

// OneOffCommand changes what an upcoming order carries besides its lines.
type OneOffCommand struct {
	Line     shop.Line
	Contract contract.ID
	Attempt  AttemptID
	OrNext   bool // an attempt that the contract does not have, or that is not QUEUED, stands for the next one
	Variant  int64
	Handle   string
	Quantity int           // at least 1
	Price    *money.Amount // of one, in the contract's currency; nil: the product's
	Actor    activity.Actor
}

// AddOneOff lets an upcoming order carry a product in the given quantity. One
// that the order carries already gets the quantity; saying the same twice changes
// nothing.
func (s *Service) AddOneOff(ctx context.Context, of shop.Shop, cmd OneOffCommand) error {
	if err := checkQuantity(cmd.Quantity); err != nil {
		return err
	}
	err := s.Store.Update(ctx, of.ID, func(tx Tx) error {
		_, err := cmd.find(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	found, err := s.Platform.Variants(platform.Interactive(ctx), of.At(), []int64{cmd.Variant})
	if err != nil {
		return unavailable(err, "the platform could not be asked for variant %d", cmd.Variant)
	}
	if len(found) == 0 {
		return fault.New(fault.NotFound, "variant %d does not exist in this store", cmd.Variant).Entity(oneOffEntity).Code("variantNotFound").Field("variantId")
	}
	if found[0].OnlyOnPlans {
		return fault.New(fault.FailedPrecondition, "%s is sold on selling plans only, as memberships are: it cannot be a one-time product", found[0].ProductTitle).
			Entity(oneOffEntity).Code("sellingPlanRequired").Field("variantId")
	}
	return s.changeOneOffs(ctx, of.ID, cmd, func(r Record, has []OneOff, now time.Time) (put []OneOff, drop []OneOffID, event activity.EventType, err error) {
		v := found[0]
		if cmd.Price != nil {
			v.Price = *cmd.Price
		}
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
			return []OneOff{old}, nil, activity.OneTimePurchaseProductUpdate, nil
		}
		if len(has) >= maxOneOffs {
			return nil, nil, "", fault.New(fault.FailedPrecondition, "billing attempt %d carries %d one-time products: no more are allowed", r.ID, len(has)).
				Entity(oneOffEntity).Code("tooManyOneOffs")
		}
		return []OneOff{{
			Contract: r.Of.ID, Cycle: r.Cycle, Variant: v, Handle: cmd.Handle, Quantity: cmd.Quantity, CreatedAt: now,
		}}, nil, activity.OneTimePurchaseProductAdded, nil
	})
}

// UpdateOneOff changes the quantity of a product that an upcoming order carries,
// and returns it.
func (s *Service) UpdateOneOff(ctx context.Context, of shop.Shop, cmd OneOffCommand) (OneOffRecord, error) {
	if err := checkQuantity(cmd.Quantity); err != nil {
		return OneOffRecord{}, err
	}
	var record OneOffRecord
	err := s.changeOneOffs(ctx, of.ID, cmd, func(r Record, has []OneOff, _ time.Time) ([]OneOff, []OneOffID, activity.EventType, error) {
		old, ok := carried(has, cmd.Variant)
		if !ok {
			return nil, nil, "", fault.New(fault.NotFound, "billing attempt %d does not carry variant %d as a one-time product", r.ID, cmd.Variant).
				Entity(oneOffEntity).Code("oneOffNotFound").Field("variantId")
		}
		same := old.Quantity == cmd.Quantity
		old.Quantity = cmd.Quantity
		if record = (OneOffRecord{old, r.ID}); same {
			return nil, nil, "", nil
		}
		return []OneOff{old}, nil, activity.OneTimePurchaseProductUpdate, nil
	})
	return record, err
}

// RemoveOneOff takes a product out of an upcoming order again. One that the order
// does not carry is gone already.
func (s *Service) RemoveOneOff(ctx context.Context, of shop.Shop, cmd OneOffCommand) error {
	return s.changeOneOffs(ctx, of.ID, cmd, func(_ Record, has []OneOff, _ time.Time) ([]OneOff, []OneOffID, activity.EventType, error) {
		old, ok := carried(has, cmd.Variant)
		if !ok {
			return nil, nil, "", nil
		}
		return nil, []OneOffID{old.ID}, activity.OneTimePurchaseProductRemoved, nil
	})
}

// RemoveOneOffLine takes a product out of the upcoming order of a contract that carries
// it. One that no upcoming order carries is NotFound.
func (s *Service) RemoveOneOffLine(ctx context.Context, of shop.Shop, cmd OneOffCommand, id OneOffID) error {
	missing := fault.New(fault.NotFound, "contract %d has no one-time product %d in an upcoming order", cmd.Contract, id).Entity(oneOffEntity).Code("oneOffNotFound")
	err := s.Store.Update(ctx, of.ID, func(tx Tx) error {
		waiting, err := tx.OneOffs(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		queued, err := tx.AttemptsOf(ctx, []contract.ID{cmd.Contract}, Queued)
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
func (s *Service) changeOneOffs(ctx context.Context, of shop.ID, cmd OneOffCommand, do func(r Record, has []OneOff, now time.Time) ([]OneOff, []OneOffID, activity.EventType, error)) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		r, err := cmd.find(ctx, tx)
		if err != nil {
			return err
		}
		all, err := tx.OneOffs(ctx, []contract.ID{r.Of.ID})
		if err != nil {
			return err
		}
		var has []OneOff
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
		r.tellOneOffs(now)
		r.UpdatedAt = now
		if err := tx.PutAttempts(ctx, []Attempt{r.Attempt}); err != nil {
			return err
		}
		if err := Refill(ctx, tx, r.shop, []contract.Contract{r.Of}, now); err != nil {
			return err
		}
		quantity := cmd.Quantity
		if len(drop) > 0 {
			quantity = 0
		}
		if err := tx.Record(ctx, entryOf(r.Attempt, event, activity.Success, cmd.Actor, now, outcome{Cycle: r.Cycle, Variant: cmd.Variant, Quantity: quantity})); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{Shop: of})
	})
}

// find reads the attempt, which must wait for its date and be the contract's.
func (c OneOffCommand) find(ctx context.Context, tx Tx) (Record, error) {
	r, err := find(ctx, tx, target{by: c.Actor, line: c.Line, attempt: c.Attempt})
	if fault.Is(err, fault.NotFound) || err == nil && (r.Of.ID != c.Contract || r.Status != Queued) {
		if c.OrNext {
			return findNext(ctx, tx, target{by: c.Actor, line: c.Line, next: c.Contract})
		}
	}
	switch {
	case err != nil:
		return Record{}, err
	case r.Of.ID != c.Contract:
		return Record{}, fault.New(fault.NotFound, "contract %d has no billing attempt %d", c.Contract, c.Attempt).Entity(entity).Code("billingAttemptNotFound")
	case r.Status.InFlight():
		return Record{}, busy(r.Attempt)
	case r.Status != Queued:
		return Record{}, fault.New(fault.FailedPrecondition, "billing attempt %d is %s: only a QUEUED attempt takes one-time products", r.ID, r.Status).
			Entity(entity).Code("billingAttemptStatus")
	}
	return r, nil
}

// tellOneOffs notes that the attempt's order is not yet what it should be, and
// that the platform is to hear of it.
func (a *Attempt) tellOneOffs(now time.Time) {
	a.unready()
	a.Prep.Edited = true
	a.PublishAt = now
}

// unready lets an order be prepared from the beginning. What a try was sent with, and
// what a skipped order would have held, stays noted.
func (a *Attempt) unready() {
	a.Prep = a.Prep.at(Fresh, a.Prep.Edited, a.Prep.Revision)
	if a.Status != Failure && a.Status != Skipped {
		a.Lines = nil
	}
}

func checkQuantity(n int) error {
	if n < 1 || n > MaxOneOffQuantity {
		return fault.New(fault.Invalid, "quantity is %d and must be from 1 to %d", n, MaxOneOffQuantity).Entity(oneOffEntity).Code("quantityRange").Field("quantity")
	}
	return nil
}

func carried(list []OneOff, variant int64) (OneOff, bool) {
	for _, o := range list {
		if o.Variant.ID == variant {
			return o, true
		}
	}
	return OneOff{}, false
}

// unavailable is the failure of a question that the platform did not answer.
func unavailable(cause error, format string, args ...any) error {
	return fault.Because(fault.Unavailable, cause, format, args...)
}

// OneOffBook reads one-time products without a transaction.
type OneOffBook interface {
	// OneOffsOf returns a page of the one-time products of a contract, in the
	// order of their cycles, and how many there are. A contract that the line
	// does not have is NotFound.
	OneOffsOf(ctx context.Context, of shop.ID, q OneOffQuestion, p page.Request) ([]OneOffRecord, int, error)
	// WaitingOneOffs returns the one-time products of the upcoming orders of
	// contracts, by contract, cycle and ID.
	WaitingOneOffs(ctx context.Context, of shop.ID, contracts []contract.ID) ([]OneOff, error)
}

// OneOffQuestion selects one-time products.
type OneOffQuestion struct {
	Line     shop.Line
	Contract contract.ID
	Upcoming bool // only those of orders that wait for their date
}
