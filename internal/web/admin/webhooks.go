package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web"
)

// Webhooks manages a shop's webhook endpoints. Failures are faults.
type Webhooks interface {
	Endpoints(ctx context.Context, of shop.ID) ([]webhook.Endpoint, error)
	Endpoint(ctx context.Context, of shop.ID, id webhook.EndpointID) (webhook.Endpoint, error)
	Add(ctx context.Context, of shop.ID, n webhook.NewEndpoint) (webhook.Endpoint, error)
	Change(ctx context.Context, of shop.ID, id webhook.EndpointID, edit webhook.Edit) (webhook.Endpoint, error)
	Rotate(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) (webhook.Endpoint, error)
	Remove(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) error
	SendTest(ctx context.Context, of shop.ID, id webhook.EndpointID) (webhook.MessageID, error)
	Deliveries(ctx context.Context, of shop.ID, q webhook.DeliveryFilter, p page.Request) ([]webhook.Delivery, int, error)
	Replay(ctx context.Context, of shop.ID, id webhook.DeliveryID) (webhook.Delivery, error)
}

const (
	endpointsPath  = base + "/webhook-endpoints"
	deliveriesPath = base + "/webhook-deliveries"
)

// webhookHandlers show and change webhook endpoints and their deliveries.
type webhookHandlers struct {
	webhooks Webhooks
	clock    clock.Clock
}

func (h webhookHandlers) register(api *web.API) {
	op := web.Operation{Tag: "Webhooks", Scope: access.WebhooksManage, Errors: []int{http.StatusNotFound}}

	list := op
	list.ID, list.Method, list.Path, list.Summary = "listWebhookEndpoints", http.MethodGet, endpointsPath, "Webhook endpoints"
	list.Description, list.List, list.Errors = "The store's webhook endpoints, oldest first. Secrets are not included.", &keyList, nil
	web.Register(api, list, h.listEndpoints)

	add := op
	add.ID, add.Method, add.Path, add.Summary = "createWebhookEndpoint", http.MethodPost, endpointsPath, "Add a webhook endpoint"
	add.Description = "From now on the endpoint receives every event of the named types, signed by the Standard Webhooks specification. A store has at most 20 endpoints. The secret is in this answer and in no other: a repetition of the request under its Idempotency-Key gets null in its place."
	add.Body, add.Errors, add.Secret = newEndpoint{}, []int{http.StatusRequestEntityTooLarge}, "secret"
	web.Register(api, add, h.addEndpoint)

	show := op
	show.ID, show.Method, show.Path, show.Summary = "getWebhookEndpoint", http.MethodGet, endpointsPath+"/{id}", "A webhook endpoint"
	show.Description = "An endpoint, without its secret."
	web.Register(api, show, h.showEndpoint)

	change := op
	change.ID, change.Method, change.Path, change.Summary = "changeWebhookEndpoint", http.MethodPatch, endpointsPath+"/{id}", "Change a webhook endpoint"
	change.Description = "Changes what the body names. What waits for an endpoint that is disabled is given up and can be replayed once it is enabled again."
	change.Body, change.Errors = endpointEdit{}, []int{http.StatusNotFound, http.StatusRequestEntityTooLarge}
	web.Register(api, change, h.changeEndpoint)

	remove := op
	remove.ID, remove.Method, remove.Path, remove.Summary = "deleteWebhookEndpoint", http.MethodDelete, endpointsPath+"/{id}", "Remove a webhook endpoint"
	remove.Description = "Nothing is sent to the endpoint from now on. Its deliveries are forgotten with it."
	web.Register(api, remove, h.removeEndpoint)

	rotate := op
	rotate.ID, rotate.Method, rotate.Path, rotate.Summary = "rotateWebhookSecret", http.MethodPost, endpointsPath+"/{id}/rotate-secret", "Replace a webhook endpoint's secret"
	rotate.Description = "For 24 hours messages carry two signatures, by the new secret and by the one before. The new one is in this answer and in no other: a repetition of the request under its Idempotency-Key gets null in its place."
	rotate.Secret = "secret"
	web.Register(api, rotate, h.rotateEndpoint)

	try := op
	try.ID, try.Method, try.Path, try.Summary = "testWebhookEndpoint", http.MethodPost, endpointsPath+"/{id}/test", "Try a webhook endpoint"
	try.Description = "Sends the endpoint a message of the type webhook.test, whatever types it subscribes to. How it fared is among its deliveries."
	web.Register(api, try, h.tryEndpoint)

	deliveries := op
	deliveries.ID, deliveries.Method, deliveries.Path, deliveries.Summary = "listWebhookDeliveries", http.MethodGet, deliveriesPath, "Webhook deliveries"
	deliveries.Description, deliveries.List, deliveries.Errors = "Messages and how they fared, newest first, for 30 days.", &keyList, []int{http.StatusNotFound}
	web.Register(api, deliveries, h.listDeliveries)

	replay := op
	replay.ID, replay.Method, replay.Path, replay.Summary = "replayWebhookDelivery", http.MethodPost, deliveriesPath+"/{id}/replay", "Send a webhook again"
	replay.Description = "Sends the message again, with the same id and the same bytes, and restarts its tries. A message that waits for its next try is sent now."
	web.Register(api, replay, h.replayDelivery)
}

// webhookEndpoint is an endpoint as it is listed.
type webhookEndpoint struct {
	ID             int64          `json:"id" doc:"Number of the endpoint." example:"1401"`
	URL            string         `json:"url" format:"uri" maxLength:"500" doc:"Where messages are sent." example:"https://erp.example.com/perennial"`
	Types          []webhook.Type `json:"types" doc:"The events that the endpoint receives." example:"[\"subscription.billing-success\"]"`
	Enabled        bool           `json:"enabled" doc:"Whether messages are sent." example:"true"`
	DisabledReason *string        `json:"disabledReason" doc:"Why the service disabled the endpoint: it answered 410, or nothing had arrived for 5 days. Null when it did not." example:"nothing arrived for 5 days"`
	FailingSince   *web.Instant   `json:"failingSince" doc:"Since when nothing has arrived, in UTC; null while messages arrive." format:"date-time" example:"2026-01-31T08:00:00Z"`
	OldSecretUntil *web.Instant   `json:"oldSecretUntil" doc:"Until when messages are signed by the secret before too, in UTC; null when there is none." format:"date-time" example:"2026-02-01T08:00:00Z"`
	CreatedAt      *web.Instant   `json:"createdAt" doc:"When it was added, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
	UpdatedAt      *web.Instant   `json:"updatedAt" doc:"When it was changed last, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
}

func (h webhookHandlers) webhookEndpoint(e webhook.Endpoint) webhookEndpoint {
	v := webhookEndpoint{
		ID: int64(e.ID), URL: e.URL, Types: e.Types, Enabled: e.Enabled, DisabledReason: web.Some(e.Reason), FailingSince: web.At(e.FailingSince),
		CreatedAt: web.At(e.Created), UpdatedAt: web.At(e.Updated),
	}
	if h.clock.Now().Before(e.OldSecretUntil) {
		v.OldSecretUntil = web.At(e.OldSecretUntil)
	}
	return v
}

// madeEndpoint is an endpoint together with its secret.
type madeEndpoint struct {
	webhookEndpoint
	Secret *string `json:"secret" doc:"Signs the messages, shown only this once; null when the request is a repetition." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
}

type madeEndpointOut struct{ Body madeEndpoint }

func (h webhookHandlers) madeEndpoint(e webhook.Endpoint, err error) (*madeEndpointOut, error) {
	if err != nil {
		return nil, err
	}
	return &madeEndpointOut{madeEndpoint{h.webhookEndpoint(e), &e.Secret}}, nil
}

type endpointOut struct{ Body webhookEndpoint }

func (h webhookHandlers) endpointOut(e webhook.Endpoint, err error) (*endpointOut, error) {
	if err != nil {
		return nil, err
	}
	return &endpointOut{h.webhookEndpoint(e)}, nil
}

type endpointPage struct {
	web.ListHeaders
	Body []webhookEndpoint
}

func (h webhookHandlers) listEndpoints(ctx context.Context, in *struct{ web.Paging }) (*endpointPage, error) {
	p, err := in.Request(keyList)
	if err != nil {
		return nil, err
	}
	all, err := h.webhooks.Endpoints(ctx, web.CallerOf(ctx).Shop.ID)
	if err != nil {
		return nil, err
	}
	out := &endpointPage{ListHeaders: web.Paged(ctx, p, len(all)), Body: []webhookEndpoint{}}
	from := min(p.Offset(), len(all))
	for _, e := range all[from:min(from+p.Size, len(all))] {
		out.Body = append(out.Body, h.webhookEndpoint(e))
	}
	return out, nil
}

// newEndpoint is the body of a request for an endpoint.
type newEndpoint struct {
	Shop   string   `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	URL    string   `json:"url" required:"true" maxLength:"500" doc:"Where messages are sent: https, at an address that the public can reach." example:"https://erp.example.com/perennial"`
	Types  []string `json:"types" required:"true" minItems:"1" doc:"The events that the endpoint receives: SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS, SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE, and subscription. or membership. with created, updated, activated, paused, cancelled, expired, next-order-date-changed, billing-interval-changed, billing-success, billing-failure, billing-skipped or upcoming-order-notification, and loyalty. with sign-up, earned, redeemed or credits-earned." example:"[\"subscription.billing-success\"]"`
	Secret string   `json:"secret,omitempty" doc:"The secret that signs, where the receiver has one already: whsec_ and the base64 of 24 to 64 bytes. Absent: one is made." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`
}

func (h webhookHandlers) addEndpoint(ctx context.Context, in *struct{ web.JSONBody }) (*madeEndpointOut, error) {
	caller := web.CallerOf(ctx)
	var body newEndpoint
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	types, err := webhook.ParseTypes(body.Types)
	if err != nil {
		return nil, err
	}
	return h.madeEndpoint(h.webhooks.Add(ctx, caller.Shop.ID, webhook.NewEndpoint{URL: body.URL, Types: types, Secret: body.Secret, Actor: caller.Actor}))
}

type endpointQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The endpoint."`
}

func (h webhookHandlers) showEndpoint(ctx context.Context, in *endpointQuery) (*endpointOut, error) {
	return h.endpointOut(h.webhooks.Endpoint(ctx, web.CallerOf(ctx).Shop.ID, webhook.EndpointID(in.ID)))
}

// endpointEdit is the body of a change of an endpoint.
type endpointEdit struct {
	Shop    string   `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	URL     *string  `json:"url,omitempty" maxLength:"500" doc:"Where messages are sent; absent: as before." example:"https://erp.example.com/perennial"`
	Types   []string `json:"types,omitempty" minItems:"1" doc:"The events that the endpoint receives; absent: unchanged." example:"[\"subscription.billing-success\",\"subscription.billing-failure\"]"`
	Enabled *bool    `json:"enabled,omitempty" doc:"Whether messages are sent; absent: as before." example:"true"`
}

type changeEndpointIn struct {
	web.JSONBody
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The endpoint."`
}

func (h webhookHandlers) changeEndpoint(ctx context.Context, in *changeEndpointIn) (*endpointOut, error) {
	caller := web.CallerOf(ctx)
	var body endpointEdit
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	edit := webhook.Edit{URL: body.URL, Enabled: body.Enabled, Actor: caller.Actor}
	if body.Types != nil {
		var err error
		if edit.Types, err = webhook.ParseTypes(body.Types); err != nil {
			return nil, err
		}
	}
	return h.endpointOut(h.webhooks.Change(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), edit))
}

func (h webhookHandlers) removeEndpoint(ctx context.Context, in *endpointQuery) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, h.webhooks.Remove(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), caller.Actor)
}

func (h webhookHandlers) rotateEndpoint(ctx context.Context, in *endpointQuery) (*madeEndpointOut, error) {
	caller := web.CallerOf(ctx)
	return h.madeEndpoint(h.webhooks.Rotate(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), caller.Actor))
}

// triedEndpoint names the message that tries an endpoint.
type triedEndpoint struct {
	MessageID webhook.MessageID `json:"messageId" doc:"Id of the message." example:"msg_0zWlVbq2uJt6oE9cZr1NwYxA"`
}

type triedEndpointOut struct{ Body triedEndpoint }

func (h webhookHandlers) tryEndpoint(ctx context.Context, in *endpointQuery) (*triedEndpointOut, error) {
	id, err := h.webhooks.SendTest(ctx, web.CallerOf(ctx).Shop.ID, webhook.EndpointID(in.ID))
	if err != nil {
		return nil, err
	}
	return &triedEndpointOut{triedEndpoint{id}}, nil
}

// webhookDelivery is a message on its way to an endpoint.
type webhookDelivery struct {
	ID         int64             `json:"id" doc:"Number of the delivery." example:"1501"`
	EndpointID int64             `json:"endpointId" doc:"Where the message goes." example:"1401"`
	MessageID  webhook.MessageID `json:"messageId" doc:"Id of the message: the same in every try, and at every endpoint." example:"msg_0zWlVbq2uJt6oE9cZr1NwYxA"`
	Type       webhook.Type      `json:"type" doc:"Event type." example:"subscription.billing-success"`
	ContractID *int64            `json:"contractId" doc:"The contract that it is about; null when it is about none." example:"9001"`
	CustomerID *int64            `json:"customerId" doc:"The customer whose loyalty it is about; null when it is about none's." example:"7001"`
	At         *web.Instant      `json:"at" doc:"When that happened, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
	Status     webhook.Status    `json:"status" enum:"PENDING,SENDING,DELIVERED,FAILED" doc:"How far it is. PENDING: a try is to come. FAILED: it is not retried automatically."`
	Tries      int               `json:"tries" doc:"Tries so far." example:"1"`
	NextTryAt  *web.Instant      `json:"nextTryAt" doc:"When the next try is made at the earliest, in UTC; null when none is. Messages about one contract, or about one customer's loyalty, reach an endpoint one after the other." format:"date-time" example:"2026-01-31T08:05:00Z"`
	TriedAt    *web.Instant      `json:"triedAt" doc:"When it was tried last, in UTC; null before the first try." format:"date-time" example:"2026-01-31T08:00:00Z"`
	Code       *int              `json:"responseCode" doc:"Status of the last answer; null when there was none." example:"500"`
	Error      *string           `json:"error" doc:"Why the last try did not arrive; null when it did." example:"it answered 500"`
	Took       *int64            `json:"responseMillis" doc:"How long the last answer took, in milliseconds; null before the first try." example:"120"`
	Answer     *string           `json:"responseBody" doc:"First bytes of the last answer." example:"not now"`
}

func newWebhookDelivery(d webhook.Delivery) webhookDelivery {
	v := webhookDelivery{
		ID: int64(d.ID), EndpointID: int64(d.Endpoint), MessageID: d.Message, Type: d.Type, ContractID: web.Some(int64(d.Contract)), CustomerID: web.Some(d.Customer), At: web.At(d.At), Status: d.Status,
		Tries: d.Tries, NextTryAt: web.At(d.Due), TriedAt: web.At(d.TriedAt), Code: web.Some(d.Code), Error: web.Some(d.Error), Answer: web.Some(d.Answer),
	}
	if !d.TriedAt.IsZero() {
		v.Took = new(d.Took.Milliseconds())
	}
	return v
}

type deliveriesQuery struct {
	web.Paging
	Endpoint web.Opt[int64] `query:"endpointId" minimum:"1" maximum:"9007199254740991" doc:"Only deliveries to this endpoint; 404 when the store does not have it."`
	Status   string         `query:"status" doc:"Only deliveries in this state: PENDING, SENDING, DELIVERED or FAILED."`
}

type deliveryPage struct {
	web.ListHeaders
	Body []webhookDelivery
}

func (h webhookHandlers) listDeliveries(ctx context.Context, in *deliveriesQuery) (*deliveryPage, error) {
	p, err := in.Request(keyList)
	if err != nil {
		return nil, err
	}
	q := webhook.DeliveryFilter{Endpoint: webhook.EndpointID(in.Endpoint.Value)}
	if in.Status != "" {
		if q.Status, err = web.ParseEnum("status", in.Status, webhook.Statuses); err != nil {
			return nil, err
		}
	}
	list, total, err := h.webhooks.Deliveries(ctx, web.CallerOf(ctx).Shop.ID, q, p)
	if err != nil {
		return nil, err
	}
	out := &deliveryPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]webhookDelivery, len(list))}
	for i, d := range list {
		out.Body[i] = newWebhookDelivery(d)
	}
	return out, nil
}

type deliveryQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The delivery."`
}

type deliveryOut struct{ Body webhookDelivery }

func (h webhookHandlers) replayDelivery(ctx context.Context, in *deliveryQuery) (*deliveryOut, error) {
	d, err := h.webhooks.Replay(ctx, web.CallerOf(ctx).Shop.ID, webhook.DeliveryID(in.ID))
	if err != nil {
		return nil, err
	}
	return &deliveryOut{newWebhookDelivery(d)}, nil
}
