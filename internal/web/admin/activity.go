package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// names turns a domain's values into words.
func names[T ~string](values []T) []string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return words
}

// entryFields are the fields of an entry that criteria can be set on.
func entryFields() []web.Field {
	return []web.Field{
		{Name: activity.FieldID, Kind: web.Number},
		{Name: activity.FieldEntityID, Kind: web.Number},
		{Name: activity.FieldEntityType, Kind: web.Enum, Values: names(activity.EntityTypes), Shape: "EntityType"},
		{Name: activity.FieldSource, Kind: web.Enum, Values: names(activity.Sources), Shape: "EventSource"},
		{Name: activity.FieldEvent, Kind: web.Enum, Values: names(activity.EventTypes), Shape: "EventType"},
		{Name: activity.FieldStatus, Kind: web.Enum, Values: names(activity.Statuses), Shape: "ActivityStatus"},
		{Name: activity.FieldAt, Kind: web.Date},
		{Name: activity.FieldInfo, Kind: web.Text},
		{Name: activity.FieldBy, Kind: web.Text},
		{Name: activity.FieldClientIP, Kind: web.Text},
	}
}

// EntryCriteria reads a query string with the parameters of the activity log, which conditions
// it sets on entries. Days are taken in the given zone.
func EntryCriteria(query url.Values, zone *time.Location) ([]page.Criterion, error) {
	return web.ParseCriteria(query, entryFields(), zone)
}

// shopField is a field of an entry too, but the same in every entry of a key's
// shop: a criterion on it leaves everything or nothing.
func shopField() web.Field { return web.Field{Name: "shop", Kind: web.Text} }

// entryList is what the activity log allows to be asked for.
var entryList = web.List{Default: activity.DefaultPage, Max: activity.MaxPage, Fields: fieldNames(entryFields())}

func fieldNames(fields []web.Field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.Name
	}
	return list
}

// activityHandlers show the activity log.
type activityHandlers struct {
	line  shop.Line
	trail activity.LineTrail
}

func (h activityHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "listActivityLogs", Method: http.MethodGet, Path: base + "/activity-logs", Tag: "Activity log",
		Summary: "Activity log", Description: "What happened to the store's subscriptions, newest first. At most 100 entries in a page. What belongs to the contracts, plans, swaps and bundles of the other host is left out.",
		Scope: access.ActivityRead, List: &entryList, Parameters: web.CriteriaParameters(api.Schemas(), append(entryFields(), shopField())),
	}, h.listEntries)
}

// entryQuery is a question for entries. Its criteria have more names than a
// struct should have fields, so they are read out of the query itself.
type entryQuery struct {
	web.Paging
	query url.Values
}

// Resolve keeps the query.
func (q *entryQuery) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	q.query = u.Query()
	return nil
}

type entryPage struct {
	web.ListHeaders
	Body []activityLog
}

func (h activityHandlers) listEntries(ctx context.Context, in *entryQuery) (*entryPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(entryList)
	if err != nil {
		return nil, err
	}
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: activity.FieldAt, Desc: true}, {Field: activity.FieldID, Desc: true}}
	}
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	if err := ownShop(in.query.Get("shop.equals"), caller, "shop.equals"); err != nil {
		return nil, err
	}
	where, err := web.ParseCriteria(in.query, entryFields(), cal.Zone)
	if err != nil {
		return nil, err
	}
	named, err := web.ParseCriteria(in.query, []web.Field{shopField()}, cal.Zone)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(named, func(c page.Criterion) bool { return !holds(c, caller.Shop.Domain) }) {
		return &entryPage{ListHeaders: web.Paged(ctx, p, 0), Body: []activityLog{}}, nil
	}
	entries, total, err := h.trail.EntriesOf(ctx, caller.Shop.ID, h.line, where, p)
	if err != nil {
		return nil, err
	}
	out := &entryPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]activityLog, len(entries))}
	for i, e := range entries {
		out.Body[i] = newActivityLog(caller.Shop.Domain, e)
	}
	return out, nil
}

// holds reports whether a text meets a criterion.
func holds(c page.Criterion, text string) bool {
	partly := c.Op == page.Contains || c.Op == page.DoesNotContain
	meets := slices.ContainsFunc(c.Texts, func(s string) bool {
		return s == text || partly && strings.Contains(text, strings.ToLower(s))
	})
	switch c.Op {
	case page.Specified:
		return c.Present
	case page.NotEquals, page.NotIn, page.DoesNotContain:
		return !meets
	}
	return meets
}
