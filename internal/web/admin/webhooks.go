package admin

import (
	"context"
	"net/http"
	"time"

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
	SendTest(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) (webhook.MessageID, error)
	Deliveries(ctx context.Context, of shop.ID, q webhook.DeliveryFilter, p page.Request) ([]webhook.Delivery, int, error)
	Replay(ctx context.Context, of shop.ID, id webhook.DeliveryID) (webhook.Delivery, error)
	ReplaySince(ctx context.Context, of shop.ID, id webhook.EndpointID, since time.Time) (int, error)
}

const endpointsPath = base + "/webhook-endpoints"

// endpointHandlers show and change webhook endpoints.
type endpointHandlers struct {
	webhooks Webhooks
	clock    clock.Clock
}

func (h endpointHandlers) register(api *web.API) {
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

	replay := op
	replay.ID, replay.Method, replay.Path, replay.Summary = "replayWebhookEndpoint", http.MethodPost, endpointsPath+"/{id}/replay", "Send all webhooks since an instant again"
	replay.Description = "Sends the endpoint every message again whose event happened since then, at most 30 days ago, with the same ids and the same bytes and in the same order. Messages that wait are sent with them, and what happens from now on follows. The answer says how many there are; they are sent afterwards."
	replay.Body, replay.Status, replay.Errors = endpointReplay{}, http.StatusAccepted, []int{http.StatusNotFound, http.StatusRequestEntityTooLarge}
	web.Register(api, replay, h.replayEndpoint)
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

func (h endpointHandlers) webhookEndpoint(e webhook.Endpoint) webhookEndpoint {
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

func (h endpointHandlers) madeEndpoint(e webhook.Endpoint, err error) (*madeEndpointOut, error) {
	if err != nil {
		return nil, err
	}
	return &madeEndpointOut{madeEndpoint{h.webhookEndpoint(e), &e.Secret}}, nil
}

type endpointOut struct{ Body webhookEndpoint }

func (h endpointHandlers) endpointOut(e webhook.Endpoint, err error) (*endpointOut, error) {
	if err != nil {
		return nil, err
	}
	return &endpointOut{h.webhookEndpoint(e)}, nil
}

type endpointPage struct {
	web.ListHeaders
	Body []webhookEndpoint
}

func (h endpointHandlers) listEndpoints(ctx context.Context, in *struct{ web.Paging }) (*endpointPage, error) {
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

func (h endpointHandlers) addEndpoint(ctx context.Context, in *struct{ web.JSONBody }) (*madeEndpointOut, error) {
	caller := web.CallerOf(ctx)
	var body newEndpoint
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
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

func (h endpointHandlers) showEndpoint(ctx context.Context, in *endpointQuery) (*endpointOut, error) {
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

func (h endpointHandlers) changeEndpoint(ctx context.Context, in *changeEndpointIn) (*endpointOut, error) {
	caller := web.CallerOf(ctx)
	var body endpointEdit
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
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

func (h endpointHandlers) removeEndpoint(ctx context.Context, in *endpointQuery) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, h.webhooks.Remove(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), caller.Actor)
}

func (h endpointHandlers) rotateEndpoint(ctx context.Context, in *endpointQuery) (*madeEndpointOut, error) {
	caller := web.CallerOf(ctx)
	return h.madeEndpoint(h.webhooks.Rotate(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), caller.Actor))
}

// triedEndpoint names the message that tries an endpoint.
type triedEndpoint struct {
	MessageID webhook.MessageID `json:"messageId" doc:"Id of the message." example:"msg_0zWlVbq2uJt6oE9cZr1NwYxA"`
}

type triedEndpointOut struct{ Body triedEndpoint }

func (h endpointHandlers) tryEndpoint(ctx context.Context, in *endpointQuery) (*triedEndpointOut, error) {
	caller := web.CallerOf(ctx)
	id, err := h.webhooks.SendTest(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), caller.Actor)
	if err != nil {
		return nil, err
	}
	return &triedEndpointOut{triedEndpoint{id}}, nil
}

// endpointReplay is the body of a request to send messages again.
type endpointReplay struct {
	Shop  string `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	Since string `json:"since" required:"true" doc:"From when on: ISO 8601 with a zone, or YYYY-MM-DD for the start of a day in the store's zone." example:"2026-01-31T08:00:00Z"`
}

// replayed says how many messages are sent again.
type replayed struct {
	Messages int `json:"messages" minimum:"0" doc:"How many messages are sent again." example:"42"`
}

type replayedOut struct{ Body replayed }

type replayEndpointIn struct {
	web.JSONBody
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The endpoint."`
}

func (h endpointHandlers) replayEndpoint(ctx context.Context, in *replayEndpointIn) (*replayedOut, error) {
	caller := web.CallerOf(ctx)
	var body endpointReplay
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	since, err := web.ParseMoment("since", body.Since, cal.Zone)
	if err != nil {
		return nil, err
	}
	n, err := h.webhooks.ReplaySince(ctx, caller.Shop.ID, webhook.EndpointID(in.ID), since.From)
	return &replayedOut{replayed{n}}, err
}
