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
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/portal"
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

// Prices knows what variants cost. Failures are faults.
type Prices interface {
	VariantPrice(ctx context.Context, of shop.ID, cmd amend.Command, variant int64) (contractedit.VariantPrice, error)
}

// Links sends links with which to sign in. Failures are faults.
type Links interface {
	RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error
}

// Points keeps the points of the loyalty programme. Failures are faults.
type Points interface {
	Member(ctx context.Context, of shop.Shop, who loyalty.CustomerRef, rewards loyalty.RewardStatus) (loyalty.Member, error)
	Redeem(ctx context.Context, of shop.ID, cmd loyalty.RedeemCommand) (loyalty.Member, error)
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

	Portal     Portal
	Prices     Prices
	Links      Links
	Points     Points
	Book       Book
	Sold       record.Catalogues
	OneOffBook billing.OneOffBook
	Retention  Retention
	Cancelling Cancelling
}

// interfaceVersion is the version of the reference that the interface follows.
const interfaceVersion = "0.0.1"

const about = "What a shopper can ask and change of their own subscriptions. The paths are those at the store's domain: the platform's app proxy signs each request and hands it on, " +
	"and the signature alone says which store and which customer it is. 401 when no customer is signed in, and for a signature that is missing, wrong or older than 90 seconds. " +
	"On the service's own address the same operations are under /p/{store}/api, and those of memberships under /p/{store}/memberships/api, for the session of a customer who signed in with a link and for a portal token. " +
	"What belongs to another customer is answered 404, as what does not exist. Memberships have the same operations under /apps/memberships. A store may have chosen another prefix: links in answers have it. " +
	"An action that the merchant has switched off is answered 403 portalActionDisabled; GET contracts/{contractId} says what can be done now, and why the rest cannot. " +
	"Every change takes the contract's version, and is answered 409 changedMeanwhile when the contract has changed since. " +
	"Answers carry no permission for pages of other sites, and a body that is sent must have the Content-Type application/json; a request without a body needs none. " +
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
		o.oneTime(api)
		o.customer(api)
		o.preferences(api)
		o.contracts(api)
		o.cancelling(api)
		o.status(api)
		o.lines(api)
		o.terms(api)
		o.payment(api)
		o.points(api)
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

// who returns the caller as the domain knows it.
func (o Options) who(ctx context.Context) portal.Caller {
	caller := web.CallerOf(ctx)
	return portal.Caller{Shop: caller.Shop, Line: o.Line, Actor: caller.Actor}
}

// OfContract names a contract by its path.
type OfContract struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	Versioned
}

// Versioned is a change of a contract as its caller has seen it.
type Versioned struct {
	Version web.Opt[int64] `query:"version" minimum:"1" doc:"Version of the contract that the shopper has seen. 409 changedMeanwhile when it has another one now. Absent: not compared."`
}

// ref names the contract and its version.
func (in OfContract) ref() (portal.ContractRef, error) {
	return in.Versioned.ref("contractId", in.Contract)
}

func (in Versioned) ref(param, id string) (portal.ContractRef, error) {
	of, err := web.ParseID(record.ContractTypename, param, id)
	return portal.ContractRef{ID: contract.ID(of), Version: in.Version.Value}, err
}
