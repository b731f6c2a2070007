// Package shopper is the portal's interface for programs: what the pages of a store
// ask and change for the shopper who is signed in there, through the platform's app
// proxy and at the store's own domain.
package shopper

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/web"
)

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
		o.boxes(api)
		o.products(api)
		o.terms(api)
		o.payment(api)
		o.points(api)
	})
}
