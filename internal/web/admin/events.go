package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web"
)

// Events shows a shop's events after a cursor. Failures are faults.
type Events interface {
	Events(ctx context.Context, of shop.ID, q webhook.EventQuery) (webhook.EventPage, error)
}

// eventHandlers show what webhooks report to those who ask for it.
type eventHandlers struct{ events Events }

func (h eventHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "listEvents", Method: http.MethodGet, Path: base + "/events", Tag: "Webhooks", Scope: access.WebhooksManage, Errors: []int{http.StatusGone},
		Summary: "Events after a cursor",
		Description: "What webhooks report, for integrations that ask for it: the same messages, whichever types endpoints subscribe to, in the order in which the changes were made, and none left out. " +
			"Send the next of an answer as after, and again when there is nothing new. Events are kept from the first call on: that one answers none, and the cursor to go on with. " +
			"They are kept for 30 days, and no longer kept after 30 days without a call. 410: events after the cursor are no longer kept. Read the records that you need, and begin without after.",
	}, h.list)
}

type eventQuery struct {
	After string         `query:"after" maxLength:"200" doc:"The next of the answer before. Absent: from the oldest event that is kept." example:"MS40Mi5INjRtNGFfdA"`
	Limit web.Opt[int32] `query:"limit" minimum:"1" maximum:"250" doc:"At most so many events; 100 when absent."`
	Types string         `query:"types" maxLength:"2000" doc:"Only events of these types, separated by commas. Absent: all." example:"subscription.billing-success,subscription.paused"`
}

// eventPage is an answer with events.
type eventPage struct {
	Events []event `json:"events" doc:"The events, in their order."`
	Next   string  `json:"next" doc:"What to send as after next. It is there when there are no events too." example:"MS40Mi5INjRtNGFfdA"`
	More   bool    `json:"more" doc:"Whether there may be more already. A page may have no events of the types that were asked for, and more follow." example:"false"`
}

// event is a message as it is read.
type event struct {
	ID        webhook.MessageID `json:"id" doc:"Names what happened: the webhook-id of the message." example:"msg_0zWlVbq2uJt6oE9cZr1NwYxA"`
	Type      webhook.Type      `json:"type" doc:"Event type." example:"subscription.paused"`
	Timestamp *web.Instant      `json:"timestamp" doc:"When it happened, in UTC." format:"date-time" example:"2026-01-31T08:00:00.123Z"`
	messageNumbers
	Data eventData `json:"data" doc:"What the message of the type has as data: the webhooks of this document describe it. Null when the record no longer exists, or was erased."`
}

// messageNumbers are what every message says beside its type and its time.
type messageNumbers struct {
	Sequence *int64        `json:"sequence" doc:"Counts the messages about the contract, or about the customer's loyalty, from 1, in the order of the changes; null when it is about neither." example:"7"`
	Cause    *messageCause `json:"cause" doc:"Who made it happen; null for a message from before causes were kept."`
}

// messageCause is who made it happen that a message reports.
type messageCause struct {
	Source eventSource `json:"source" doc:"From where the change came, as in the activity log."`
	By     *string     `json:"by" doc:"Who did it, as in the activity log; null for the service itself." example:"API key Warehouse"`
}

// eventData is the JSON of a contract, an attempt or what happened to a member; or null.
type eventData []byte

// MarshalJSON returns the text as it is.
func (d eventData) MarshalJSON() ([]byte, error) { return d, nil }

// Schema describes any object.
func (eventData) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, AdditionalProperties: true}
}

func newMessageNumbers(m webhook.Message) messageNumbers {
	n := messageNumbers{Sequence: web.Some(m.Sequence)}
	if m.Cause.Source != "" {
		n.Cause = &messageCause{eventSource(m.Cause.Source), web.Some(m.Cause.By)}
	}
	return n
}

type eventsOut struct{ Body eventPage }

func (h eventHandlers) list(ctx context.Context, in *eventQuery) (*eventsOut, error) {
	q := webhook.EventQuery{After: in.After, Limit: webhook.DefaultEvents}
	if in.Limit.Set {
		q.Limit = int(in.Limit.Value)
	}
	if in.Types != "" {
		var err error
		if q.Types, err = webhook.ParseTypes(strings.Split(in.Types, ",")); err != nil {
			return nil, err
		}
	}
	p, err := h.events.Events(ctx, web.CallerOf(ctx).Shop.ID, q)
	if err != nil {
		return nil, err
	}
	out := &eventsOut{eventPage{Events: make([]event, len(p.Events)), Next: p.Next, More: p.More}}
	for i, m := range p.Events {
		data, err := m.Data()
		if err != nil {
			return nil, err
		}
		out.Body.Events[i] = event{m.ID, m.Type, web.At(m.At), newMessageNumbers(m), eventData(data)}
	}
	return out, nil
}
