// Package webhooks is the pages of the dashboard with the servers that webhooks are sent to, and
// with what was sent.
package webhooks

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Endpoints keeps the servers of stores.
type Endpoints interface {
	Endpoints(ctx context.Context, of shop.ID) ([]webhook.Endpoint, error)
	Endpoint(ctx context.Context, of shop.ID, id webhook.EndpointID) (webhook.Endpoint, error)
	Add(ctx context.Context, of shop.ID, n webhook.NewEndpoint) (webhook.Endpoint, error)
	Change(ctx context.Context, of shop.ID, id webhook.EndpointID, edit webhook.Edit) (webhook.Endpoint, error)
	Rotate(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) (webhook.Endpoint, error)
	Remove(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) error
	SendTest(ctx context.Context, of shop.ID, id webhook.EndpointID, by activity.Actor) (webhook.MessageID, error)
}

// Deliveries knows what was sent, and sends it again.
type Deliveries interface {
	Browse(ctx context.Context, of shop.ID, q webhook.DeliveryFilter, after page.Cursor, limit int) ([]webhook.Delivery, page.Cursor, error)
	Delivery(ctx context.Context, of shop.ID, id webhook.DeliveryID) (webhook.Delivery, webhook.Message, error)
	Day(ctx context.Context, of shop.ID) (map[webhook.EndpointID]webhook.Results, error)
	Replay(ctx context.Context, of shop.ID, id webhook.DeliveryID) (webhook.Delivery, error)
	ReplayFailed(ctx context.Context, of shop.ID, id webhook.EndpointID, since time.Time) (int, error)
	ReplaySince(ctx context.Context, of shop.ID, id webhook.EndpointID, since time.Time) (int, error)
}

// Options are what the pages need.
type Options struct {
	Endpoints  Endpoints
	Deliveries Deliveries
	Clock      clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	need := staff.ManageKeys
	return dashboard.Room{
		Pages: pages,
		Menu: []dashboard.Entry{
			{Section: dashboard.Developers, Name: "Webhooks", Path: "/webhooks", Need: need},
			{Section: dashboard.Developers, Name: "Webhook deliveries", Path: "/webhook-deliveries", Need: need},
		},
		Said: map[string]string{
			"webhook-added": "The endpoint was added. It receives events from now on.", "webhook-changed": "The endpoint was changed.",
			"webhook-disabled": "The endpoint is disabled. What waited for it was given up.", "webhook-enabled": "The endpoint is enabled. It receives events from now on.",
			"webhook-deleted": "The endpoint and its deliveries were deleted.", "webhook-tested": "A test event is on its way. Its result is among the deliveries.",
			"webhook-rotated": "The secret was replaced. Both sign for 24 hours.", "webhook-replayed": "The message is sent again.",
			"webhook-replayed-failed": "The failed messages are sent again, the oldest first.", "webhook-none-failed": "No message has failed since then. Nothing is sent again.",
			"webhook-replayed-all": "All messages since then are sent again, the oldest first.", "webhook-none": "There is no message since then. Nothing is sent again.",
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /webhooks", Need: need, Show: m.list},
			{Pattern: "POST /webhooks", Need: need, Show: m.add},
			{Pattern: "GET /webhooks/new", Need: need, Show: m.askNew},
			{Pattern: "GET /webhooks/{endpoint}", Need: need, Show: m.one},
			{Pattern: "GET /webhooks/{endpoint}/edit", Need: need, Show: m.askChange},
			{Pattern: "POST /webhooks/{endpoint}/edit", Need: need, Show: m.change},
			{Pattern: "POST /webhooks/{endpoint}/secret", Need: need, Show: m.secret},
			{Pattern: "POST /webhooks/{endpoint}/test", Need: need, Show: m.test},
			{Pattern: "POST /webhooks/{endpoint}/enable", Need: need, Show: m.enable},
			{Pattern: "GET /webhooks/{endpoint}/disable", Need: need, Show: m.ask(disabling)},
			{Pattern: "POST /webhooks/{endpoint}/disable", Need: need, Show: m.disable},
			{Pattern: "GET /webhooks/{endpoint}/rotate", Need: need, Show: m.ask(rotation)},
			{Pattern: "POST /webhooks/{endpoint}/rotate", Need: need, Show: m.rotate},
			{Pattern: "GET /webhooks/{endpoint}/delete", Need: need, Show: m.ask(deletion)},
			{Pattern: "POST /webhooks/{endpoint}/delete", Need: need, Show: m.remove},
			{Pattern: "GET /webhooks/{endpoint}/replay", Need: need, Show: m.ask(m.replaying)},
			{Pattern: "POST /webhooks/{endpoint}/replay", Need: need, Show: m.replayFailed},
			{Pattern: "GET /webhooks/{endpoint}/replay-all", Need: need, Show: m.ask(m.replayingAll)},
			{Pattern: "POST /webhooks/{endpoint}/replay-all", Need: need, Show: m.replayAll},
			{Pattern: "GET /webhook-deliveries", Need: need, Show: m.deliveries},
			{Pattern: "GET /webhook-deliveries/{delivery}", Need: need, Show: m.delivery},
			{Pattern: "POST /webhook-deliveries/{delivery}/replay", Need: need, Show: m.replay},
		},
	}
}
