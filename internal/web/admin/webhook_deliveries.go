package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web"
)

// webhookDeliveryHandlers show and repeat deliveries.
type webhookDeliveryHandlers struct{ webhooks Webhooks }

func (h webhookDeliveryHandlers) register(api *web.API) {
	op := web.Operation{Tag: "Webhooks", Scope: access.WebhooksManage, Errors: []int{http.StatusNotFound}}

	deliveries := op
	deliveries.ID, deliveries.Method, deliveries.Path, deliveries.Summary = "listWebhookDeliveries", http.MethodGet, deliveriesPath, "Webhook deliveries"
	deliveries.Description, deliveries.List, deliveries.Errors = "Messages and how they fared, newest first, for 30 days.", &keyList, []int{http.StatusNotFound}
	web.Register(api, deliveries, h.listDeliveries)

	replay := op
	replay.ID, replay.Method, replay.Path, replay.Summary = "replayWebhookDelivery", http.MethodPost, deliveriesPath+"/{id}/replay", "Send a webhook again"
	replay.Description = "Sends the message again, with the same id and the same bytes, and restarts its tries. A message that waits for its next try is sent now."
	web.Register(api, replay, h.replayDelivery)
}

const deliveriesPath = base + "/webhook-deliveries"

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

func (h webhookDeliveryHandlers) listDeliveries(ctx context.Context, in *deliveriesQuery) (*deliveryPage, error) {
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

func (h webhookDeliveryHandlers) replayDelivery(ctx context.Context, in *deliveryQuery) (*deliveryOut, error) {
	d, err := h.webhooks.Replay(ctx, web.CallerOf(ctx).Shop.ID, webhook.DeliveryID(in.ID))
	if err != nil {
		return nil, err
	}
	return &deliveryOut{newWebhookDelivery(d)}, nil
}
