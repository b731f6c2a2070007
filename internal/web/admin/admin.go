// Package admin is the interface for servers: what a merchant's integrations
// ask and change with an API key.
package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// base is the path under which the operations live.
const base = "/api/external/v2"

// Billing changes billing attempts. Failures are faults.
type Billing interface {
	Skip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Unskip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Edit(ctx context.Context, of shop.ID, c command.Edit) (billing.Record, error)
	Trigger(ctx context.Context, of shop.ID, c command.Trigger) error
}

// Upcoming changes orders that still wait. Failures are faults.
type Upcoming interface {
	SkipNext(ctx context.Context, of shop.ID, c command.SkipNext) (billing.Record, error)
	Reschedule(ctx context.Context, of shop.ID, c command.Reschedule) (billing.Record, error)
	SetNote(ctx context.Context, of shop.ID, c command.Note) (billing.Record, error)
}

// Shown knows what the platform shows of a customer.
type Shown interface {
	Tags(ctx context.Context, of shop.ID, customer int64) ([]string, error)
	// Details returns the contracts with all that is shown of them; without what the
	// platform knows while it does not answer.
	Details(ctx context.Context, of shop.ID, known []contract.Contract) ([]contract.Detail, error)
}

// Options are what the interface needs. A process serves each line with a
// handler of its own, and the request's host chooses between them.
type Options struct {
	Line      shop.Line
	Frame     web.Frame
	Gate      web.Gate
	Trail     activity.LineTrail
	Search    contract.Directory
	Book      billing.Book
	Billing   Billing
	Delivery  Delivery
	Bundles   Bundles
	Shelf     bundle.Shelf
	Edits     *contractedit.Service
	Creations *create.Service
	Splits    *split.Service
	Lifecycle *lifecycle.Service
	Plans     Plans
	PlanBook  plan.Book
	Sold      record.Catalogues

	Explainer Explainer
	Upcoming  Upcoming
	Reports   billing.Reports
	Customers contract.Customers
	Shown     Shown
	Syncer    Syncer
	Links     Links

	Swaps      Swaps
	SwapBook   swap.Book
	Preview    Preview
	OneOffs    OneOffs
	OneOffBook billing.OneOffBook

	Keys        Keys
	Connections Connections
	Webhooks    Webhooks
}

// interfaceVersion is the version of the reference that the interface follows.
const interfaceVersion = "0.0.1"

const about = "Bills subscriptions of a store: each due cycle exactly once. Every request carries a key of the store in the X-API-Key header. " +
	"Subscriptions and memberships are served by two hosts with the same paths; a key opens both. An operation needs the scope that it names; on the memberships host it also needs memberships:read, or memberships:write when it changes something, " +
	"and these take the place of contracts:read and contracts:write. " +
	"Lists are bare arrays with X-Total-Count and Link headers. Unknown parameters and fields are ignored. Enum values are read in any letter case. " +
	"Dates are ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone. Every answer carries X-Request-Id and the RateLimit headers. " +
	"Every operation that changes something takes an Idempotency-Key, which makes it safe to send the request again."

// documents are what the services of a process say of the lines.
var documents web.Documents

// New returns the handler of one line.
func New(o Options) http.Handler { return newAPI(o).Handler(o.Frame) }

// newAPI lists the operations in the order of the reference.
func newAPI(o Options) *web.API {
	o.Gate.Line = o.Line
	return web.NewAPI(web.Info{Title: "Perennial admin interface", Version: interfaceVersion, Description: about}, o.Gate, &documents, func(api *web.API) {
		o.activityLogs(api)
		o.contracts(api)
		o.amendments(api)
		o.plans(api)
		o.attempts(api)
		o.explanations(api)
		o.fulfillments(api)
		o.bundles(api)
		o.delivery(api)
		o.upcoming(api)
		o.reports(api)
		o.customers(api)
		o.swaps(api)
		o.oneOffs(api)
		o.links(api)
		o.keys(api)
		o.connections(api)
		o.webhooks(api)
	})
}
