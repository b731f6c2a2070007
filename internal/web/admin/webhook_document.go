package admin

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/loyalty"
	"github.com/perennialhq/perennial/internal/web/record"
)

// webhookReports says when a message of a type is sent. Types of both lines are named by what
// follows the line's prefix.
var webhookReports = map[string]string{
	string(webhook.ImmediateSuccess): "An order that a merchant or subscriber asked to be charged at once was charged.",
	string(webhook.ImmediateFailure): "An order that a merchant or subscriber asked to be charged at once was declined, or ended without a charge.",
	string(webhook.Test):             "The endpoint is tried.",

	"created":                     "A contract was made.",
	"updated":                     "Something about a contract was changed that has no type of its own: products, prices, discounts, delivery, payment method, note.",
	"activated":                   "A contract became active.",
	"paused":                      "A contract was paused.",
	"cancelled":                   "A contract was cancelled.",
	"expired":                     "A contract has had its last order.",
	"next-order-date-changed":     "The next order of a contract comes on another date.",
	"billing-interval-changed":    "The orders of a contract come at another interval.",
	"billing-success":             "An order was charged.",
	"billing-failure":             "A charge was declined: sent for each try.",
	"billing-skipped":             "An order is left out: it was skipped or missed, or stayed unpaid.",
	"upcoming-order-notification": "An order comes in 3 days (72 hours), or tomorrow (24 hours) where the interval is at most a week.",

	string(webhook.SignUp):         "A customer became a member.",
	string(webhook.Earned):         "A transaction gave a member points.",
	string(webhook.Redeemed):       "A reward that a member took can be used.",
	string(webhook.CreditsEarned):  "A member was given store credit.",
	string(webhook.TierAchieved):   "A transaction brought a member to a higher tier.",
	string(webhook.ReferralReward): "A transaction gave a member points for a friend who was referred.",
	string(webhook.Birthday):       "A transaction gave a member points for a birthday.",
	string(webhook.ReferredReward): "Not sent yet: no programme gives something to the friend.",
}

// reports returns when a message of a type is sent.
func reports(t webhook.Type) string {
	if text := webhookReports[string(t)]; text != "" {
		return text
	}
	_, topic, _ := strings.Cut(string(t), ".")
	return webhookReports[topic]
}

// describeWebhooks adds the messages that endpoints receive to the document.
func describeWebhooks(api *web.API) {
	schemas := api.Schemas()
	ref := func(t reflect.Type, name string) *huma.Schema { return schemas.Schema(t, true, name) }
	contract, attempt, member := ref(reflect.TypeFor[record.ContractObject](), ""), ref(reflect.TypeFor[record.BillingAttempt](), ""), ref(loyalty.MessageData, "")
	numbers := huma.SchemaFromType(schemas, reflect.TypeFor[messageNumbers]()).Properties
	cause := &huma.Schema{OneOf: []*huma.Schema{ref(reflect.TypeFor[messageCause](), ""), {Type: "null"}}, Description: numbers["cause"].Description}
	headers := webhookHeaders(api.Document().Components)
	for _, t := range append([]webhook.Type{webhook.Test}, webhook.Types...) {
		data := attempt
		switch {
		case t == webhook.Test:
			data = &huma.Schema{Type: huma.TypeObject, Description: "An empty object."}
		case t.AboutMember():
			data = member
		case t.AboutContract():
			data = contract
		}
		api.DescribeWebhook(string(t), &huma.Operation{
			Method: http.MethodPost, Summary: string(t), Description: reports(t), Tags: []string{"Webhooks"}, Parameters: headers,
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{"type", "timestamp", "sequence", "cause", "data"},
				Properties: map[string]*huma.Schema{
					"type":      {Type: huma.TypeString, Enum: []any{string(t)}, Description: "Event type."},
					"timestamp": {Type: huma.TypeString, Format: "date-time", Description: "When it happened, in UTC."},
					"sequence":  numbers["sequence"], "cause": cause, "data": data,
				},
			}}}},
			Responses: map[string]*huma.Response{"2XX": {Description: "The message has arrived. Anything else, or no answer within 15 seconds, and it is sent again later; 410 disables the endpoint."}},
		})
	}
}

// webhookHeaders describes the headers of a message in the components, and returns what refers to
// them.
func webhookHeaders(components *huma.Components) []*huma.Param {
	if components.Parameters == nil {
		components.Parameters = map[string]*huma.Param{}
	}
	header := func(name, about, example string) *huma.Param {
		components.Parameters[name] = &huma.Param{Name: name, In: "header", Required: true, Description: about, Schema: &huma.Schema{Type: huma.TypeString}, Example: example}
		return &huma.Param{Ref: "#/components/parameters/" + name}
	}
	return []*huma.Param{
		header("webhook-id", "Names what happened. Messages arrive at least once: remember the id, and do nothing when it comes again.", "msg_0zWlVbq2uJt6oE9cZr1NwYxA"),
		header("webhook-timestamp", "When it was sent, in seconds. Refuse what is older than some minutes.", "1769846400"),
		header("webhook-signature", "v1, and the base64 of HMAC-SHA256 over id.timestamp.body; with a space between, one for each secret that is valid.", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
	}
}
