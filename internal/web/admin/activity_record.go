package admin

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/web"
)

// activityLog is an entry of the activity log on the wire.
type activityLog struct {
	ID             int64        `json:"id" doc:"Number of the entry." example:"1001"`
	Shop           string       `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	EntityID       int64        `json:"entityId" doc:"Number of what the event is about; entityType says of what kind it is." example:"9001"`
	EntityType     entityType   `json:"entityType" doc:"What kind of thing the event is about."`
	EventSource    eventSource  `json:"eventSource" doc:"From where the change came."`
	EventType      eventType    `json:"eventType" doc:"What happened."`
	Status         entryStatus  `json:"status" doc:"How it went. INFO: something to know and not a result."`
	CreateAt       *web.Instant `json:"createAt" format:"date-time" doc:"When it happened, in UTC." example:"2026-01-31T08:00:00Z"` // sic
	AdditionalInfo string       `json:"additionalInfo" doc:"JSON text about the event." example:"{\"orderName\":\"#1004\"}"`
	ActivityBy     *string      `json:"activityBy" doc:"Who did it; null for the service itself." example:"API key Warehouse"`
	ClientIP       *string      `json:"clientIp" doc:"From where; null for the service itself." example:"203.0.113.7"`
}

type (
	entityType  string
	eventSource string
	eventType   string
	entryStatus string
)

// Schema describes the values.
func (entityType) Schema(r huma.Registry) *huma.Schema {
	return web.EnumSchema(r, "EntityType", activity.EntityTypes)
}

// Schema describes the values.
func (eventSource) Schema(r huma.Registry) *huma.Schema {
	return web.EnumSchema(r, "EventSource", activity.Sources)
}

// Schema describes the values.
func (eventType) Schema(r huma.Registry) *huma.Schema {
	return web.EnumSchema(r, "EventType", activity.EventTypes)
}

// Schema describes the values.
func (entryStatus) Schema(r huma.Registry) *huma.Schema {
	return web.EnumSchema(r, "ActivityStatus", activity.Statuses)
}

func newActivityLog(domain string, e activity.Entry) activityLog {
	info := e.Info
	if info == "" {
		info = "{}" // clients parse it
	}
	return activityLog{
		ID: e.ID, Shop: domain, EntityID: e.EntityID, EntityType: entityType(e.EntityType), EventSource: eventSource(e.Actor.Source),
		EventType: eventType(e.Event), Status: entryStatus(e.Status), CreateAt: web.At(e.At), AdditionalInfo: info,
		ActivityBy: web.Some(e.Actor.By), ClientIP: web.Some(e.Actor.ClientIP),
	}
}
