// Package orders is the screens of the orders of a subscription: those to come, with what can be
// done about one of them, and those that have passed.
package orders

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Orders reads what the screens show. What is not the caller's is NotFound.
type Orders interface {
	Sheet(ctx context.Context, who do.Caller, id contract.ID, past int) (overview.Sheet, error)
	Order(ctx context.Context, who do.Caller, id contract.ID, attempt billing.AttemptID) (overview.Sheet, overview.Order, error)
	Past(ctx context.Context, who do.Caller, id contract.ID, before int) (overview.Sheet, error)
}

// Changes carries out what subscribers want. Failures are faults.
type Changes interface {
	Skip(ctx context.Context, who do.Caller, ref do.OrderRef) (billing.Record, error)
	Unskip(ctx context.Context, who do.Caller, ref do.OrderRef) (billing.Record, error)
	DeclineSwap(ctx context.Context, who do.Caller, ref do.OrderRef) (billing.Record, error)
	OrderNow(ctx context.Context, who do.Caller, ref do.OrderRef) error
	RetryPayment(ctx context.Context, who do.Caller, ref do.OrderRef) error
	EditOrder(ctx context.Context, who do.Caller, ref do.OrderRef, want do.OrderEdit) (billing.Record, error)
	OneTimeProducts(ctx context.Context, who do.Caller, id contract.ID, q do.ProductQuery) (do.ProductList, error)
	OneTimeProduct(ctx context.Context, who do.Caller, id contract.ID, variant int64) (do.Product, error)
	AddOneTime(ctx context.Context, who do.Caller, p do.OneTime) error
	UpdateOneTime(ctx context.Context, who do.Caller, p do.OneTime) (billing.OneOffRecord, error)
	RemoveOneTime(ctx context.Context, who do.Caller, p do.OneTime) error
}

// Options are what the room needs.
type Options struct {
	Orders  Orders
	Changes Changes
}

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/upcoming", Show: r.upcoming},
			{Pattern: "GET /s/{contract}/orders", Show: r.past},
			{Pattern: "GET /s/{contract}/orders/{attempt}", Show: r.edit},
			{Pattern: "GET /s/{contract}/orders/{attempt}/add", Show: r.askAdd},
			{Pattern: "POST /s/{contract}/orders/{attempt}/add", Show: r.add},
			{Pattern: "POST /s/{contract}/orders/{attempt}/quantity", Show: r.quantity},
			{Pattern: "POST /s/{contract}/orders/{attempt}/remove", Show: r.remove},
			{Pattern: "POST /s/{contract}/orders/{attempt}/keep", Show: r.keep},
			{Pattern: "GET /s/{contract}/orders/{attempt}/note", Show: r.askNote},
			{Pattern: "POST /s/{contract}/orders/{attempt}/note", Show: r.note},
			{Pattern: "GET /s/{contract}/orders/{attempt}/skip", Show: r.askSkip},
			{Pattern: "POST /s/{contract}/orders/{attempt}/skip", Show: r.skip},
			{Pattern: "POST /s/{contract}/orders/{attempt}/unskip", Show: r.unskip},
			{Pattern: "GET /s/{contract}/orders/{attempt}/now", Show: r.askNow},
			{Pattern: "POST /s/{contract}/orders/{attempt}/now", Show: r.now},
			{Pattern: "GET /s/{contract}/orders/{attempt}/placed", Show: r.placed},
			{Pattern: "GET /s/{contract}/orders/{attempt}/confirm", Show: r.confirm},
		},
		Pages: pages,
		Said:  map[string]string{"once": "done.once", "once-changed": "done.onceChanged", "once-removed": "done.onceRemoved", "note": "done.note", "kept-product": "done.keptProduct"},
	}
}

type room struct{ Options }

// target is an order that a path names.
type target struct {
	contract contract.ID
	attempt  billing.AttemptID
}

func targetOf(r *http.Request) (target, error) {
	c, err := portal.ContractOf(r)
	if err != nil {
		return target{}, err
	}
	a, err := portal.NumberOf(r, "attempt")
	return target{c, billing.AttemptID(a)}, err
}

// ref names the order for a change.
func (t target) ref(r *http.Request, v portal.Visit) do.OrderRef {
	return do.OrderRef{Attempt: t.attempt, Contract: t.contract, Version: v.Version(r)}
}

// order reads the order that a path names.
func (m room) order(r *http.Request, v portal.Visit) (overview.Sheet, overview.Order, error) {
	t, err := targetOf(r)
	if err != nil {
		return overview.Sheet{}, overview.Order{}, err
	}
	return m.Orders.Order(r.Context(), v.Caller(r), t.contract, t.attempt)
}
