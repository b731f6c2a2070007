// Package admin is the interface for servers: what a merchant's integrations
// ask and change with an API key.
package admin

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

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
	Mails      record.Mails

	Keys        Keys
	Connections Connections
	Webhooks    Webhooks
	Events      Events

	Notifications Notifications
	Resender      Resender
	Preferences   Preferences
	Consents      Consents
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

// newAPI composes the handlers. Their order is that of the reference.
func newAPI(o Options) *web.API {
	o.Gate.Line = o.Line
	one := contractHandlers{o.Line, o.Edits}
	search := contractSearch{o.Search, record.Rows{Line: o.Line, Sold: o.Sold, OneOffs: o.OneOffBook, Mails: o.Mails}}
	customers := customerHandlers{customerView{o.Line, o.Customers, o.Shown}, search, o.Edits, o.Syncer}
	return web.NewAPI(web.Info{Title: "Perennial admin interface", Version: interfaceVersion, Description: about}, o.Gate, &documents, func(api *web.API) {
		activityHandlers{o.Line, o.Trail}.register(api)
		searchHandlers{search}.register(api)
		lineHandlers{one, o.OneOffBook}.register(api)
		discountHandlers{one}.register(api)
		termHandlers{one}.register(api)
		scheduleHandlers{one}.register(api)
		deliveryHandlers{one}.register(api)
		paymentHandlers{one}.register(api)
		statusHandlers{one, o.Lifecycle}.register(api)
		pendingHandlers{one}.register(api)
		readHandlers{one}.register(api)
		creationHandlers{one, o.Creations, o.Splits}.register(api)
		groupHandlers{o.Line, o.Plans, o.PlanBook}.register(api)
		attemptHandlers{o.Line, o.Book, o.Billing}.register(api)
		explanationHandlers{o.Line, o.Explainer}.register(api)
		fulfillmentHandlers{one}.register(api)
		bundleHandlers{o.Line, o.Bundles, o.Shelf}.register(api)
		profileHandlers{o.Delivery}.register(api)
		upcomingHandlers{o.Line, o.Upcoming}.register(api)
		reportHandlers{o.Line, o.Reports}.register(api)
		customers.register(api)
		swapHandlers{o.Line, o.Swaps, o.SwapBook}.register(api)
		previewHandlers{o.Line, o.Preview}.register(api)
		oneOffHandlers{one, o.OneOffs, o.OneOffBook}.register(api)
		linkHandlers{o.Line, o.Links}.register(api)
		keyHandlers{o.Keys, o.Gate.Clock}.register(api)
		connectionHandlers{o.Connections, o.Gate.Clock}.register(api)
		endpointHandlers{o.Webhooks, o.Gate.Clock}.register(api)
		webhookDeliveryHandlers{o.Webhooks}.register(api)
		eventHandlers{o.Events}.register(api)
		notificationHandlers{o.Line, o.Notifications, o.Resender}.register(api)
		preferenceHandlers{o.Line, o.Preferences, o.Consents}.register(api)
		describeWebhooks(api)
	})
}
