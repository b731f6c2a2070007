// Package shopper is the portal's interface for programs: what the pages of a store
// ask and change for the shopper who is signed in there, through the platform's app
// proxy and at the store's own domain.
package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Path is what the paths of all operations begin with. The line's own name follows.
const Path = "/apps/"

// Docs is where the document and its page are, on the service's own domain.
const Docs = "/portal"

// Base returns the path under which a line's operations live.
func Base(l shop.Line) string { return Path + prefixes[l] + "/cp/api" }

// prefixes are the names of the lines at the stores' domains.
var prefixes = map[shop.Line]string{shop.Subscriptions: "subscriptions", shop.Memberships: "memberships"}

// Orders asks and changes billing attempts, of the actor's own contracts where the
// actor is a subscriber. Failures are faults.
type Orders interface {
	Skip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Unskip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Edit(ctx context.Context, of shop.ID, c command.Edit) (billing.Record, error)
	Trigger(ctx context.Context, of shop.ID, c command.Trigger) error
	UpdateOneOff(ctx context.Context, of shop.Shop, c command.OneOff) (billing.OneOffRecord, error)
}

// Contracts asks and changes contracts likewise.
type Contracts interface {
	Replace(ctx context.Context, of shop.ID, cmd amend.Command, w contractedit.Swap, once contractedit.NextOrderSwap) (contract.Detail, error)
	VariantPrice(ctx context.Context, of shop.ID, cmd amend.Command, variant int64) (contractedit.VariantPrice, error)
	PaymentMethods(ctx context.Context, of shop.ID, customer int64) ([]contract.PaymentMethod, error)
}

// Book reads attempts and contracts of one customer.
type Book interface {
	billing.Book
	Search(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) ([]contract.Contract, int, error)
	ContractsOf(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.Contract, error)
}

// Retention keeps what shoppers did about leaving. Failures are faults.
type Retention interface {
	Record(ctx context.Context, of shop.ID, cmd retention.Command) (retention.Activity, error)
}

// Options are what the interface needs. Each line is served by a handler of its own.
type Options struct {
	Line  shop.Line
	Frame web.Frame
	Gate  web.Gate

	Orders     Orders
	Contracts  Contracts
	Book       Book
	Sold       record.Catalogues
	OneOffBook record.OneOffs
	Retention  Retention
}

// interfaceVersion is the version of the reference that the interface follows.
const interfaceVersion = "0.0.1"

const about = "What a shopper who is signed in at a store can ask and change of their own subscriptions. The paths are those at the store's domain: the platform's app proxy signs each request and hands it on, " +
	"and the signature alone says which store and which customer it is. 401 when no customer is signed in, and for a signature that is missing, wrong or older than 90 seconds; " +
	"what belongs to another customer is answered 404, as what does not exist. Memberships have the same operations under /apps/memberships. A store may have chosen another prefix: links in answers have it. " +
	"Answers carry no permission for pages of other sites, and a body that is posted must have the Content-Type application/json. " +
	"Lists are bare arrays with X-Total-Count and Link headers. Unknown parameters and fields are ignored. Enum values are read in any letter case. " +
	"Dates are ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone. Every answer carries X-Request-Id and the RateLimit headers, which count the requests of one customer."

// documents are what the services of a process say of the lines.
var documents web.Documents

// New returns the handler of one line.
func New(o Options) http.Handler { return newAPI(o).Handler(o.Frame) }

// newAPI lists the operations in the order of the reference.
func newAPI(o Options) *web.API {
	o.Gate.Line = o.Line
	return web.NewAPI(web.Info{Title: "Perennial portal interface", Version: interfaceVersion, Description: about, Root: Docs}, o.Gate, &documents, func(api *web.API) {
		o.retention(api)
		o.variants(api)
		o.orders(api)
		o.customer(api)
		o.contracts(api)
	})
}

// operation describes an operation of the line.
func (o Options) operation(id, method, path, tag, summary, description string) web.Operation {
	op := web.Operation{ID: id, Method: method, Path: Base(o.Line) + path, Tag: tag, Summary: summary, Description: description}
	if method != http.MethodGet {
		op.Errors = []int{http.StatusNotFound, http.StatusConflict}
	}
	return op
}
