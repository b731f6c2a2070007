package webhooks

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// row is an endpoint in the list.
type row struct {
	ID      webhook.EndpointID
	URL     string
	Badge   dashboard.Badge
	Reason  string // why it does not receive events; empty: it does
	Events  string
	Success string // of the last 24 hours
	Enabled bool
}

// listPage is what the list shows.
type listPage struct {
	Rows  []row
	Empty dashboard.Empty
	Full  bool
	Max   int
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	endpoints, err := m.Endpoints.Endpoints(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	results, err := m.Deliveries.Day(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := listPage{
		Max: webhook.MaxEndpoints, Full: len(endpoints) >= webhook.MaxEndpoints,
		Empty: dashboard.Empty{
			Icon: "hook", Title: "No endpoint yet", Text: "An endpoint is a server of yours that is notified at once when something happens in this store.", Action: "Add endpoint", Path: v.At("/webhooks/new"),
		},
	}
	for _, e := range endpoints {
		p.Rows = append(p.Rows, rowOf(v, e, results[e.ID]))
	}
	return v.Answer(w, dashboard.Page{Name: "webhooks", Title: "Webhooks", Lead: "Servers of yours that are notified when something happens. Each message is signed, and tried for three days.", Content: p})
}

func rowOf(v dashboard.Visit, e webhook.Endpoint, of webhook.Results) row {
	one := row{ID: e.ID, URL: e.URL, Badge: badgeOf(e), Events: dashboard.Count(len(e.Types), "event", "events"), Success: "–", Enabled: e.Enabled}
	switch {
	case e.Reason != "":
		one.Reason = "The service disabled it: " + e.Reason + "."
	case e.Enabled && !e.FailingSince.IsZero():
		one.Reason = "Nothing arrived since " + v.Instant(e.FailingSince) + "."
	}
	if n := of.Delivered + of.Failed; n > 0 {
		one.Success = fmt.Sprintf("%d %% of %d", of.Delivered*100/n, n)
	}
	return one
}

// endpoint returns the endpoint that the path names.
func (m *room) endpoint(r *http.Request, v dashboard.Visit) (webhook.Endpoint, error) {
	id, err := strconv.ParseInt(r.PathValue("endpoint"), 10, 64)
	if err != nil || id < 1 {
		return webhook.Endpoint{}, fault.New(fault.NotFound, "the store does not have this endpoint").Code("webhookEndpointNotFound")
	}
	return m.Endpoints.Endpoint(r.Context(), v.Shop.ID, webhook.EndpointID(id))
}

// path returns that of an endpoint's page or of an action on it.
func path(e webhook.Endpoint, action string) string {
	p := "/webhooks/" + strconv.FormatInt(int64(e.ID), 10)
	if action != "" {
		p += "/" + action
	}
	return p
}

// event is a type of message in words.
type event struct {
	Type webhook.Type
	Name string
}

// onePage is what the page of an endpoint shows.
type onePage struct {
	row

	Path    string
	Types   []event
	Created string
	Overlap string // until when the secret before signs, too; empty: it does not
	Recent  []deliveryRow
}

// recentRows is how many deliveries the page of an endpoint shows.
const recentRows = 10

func (m *room) one(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	results, err := m.Deliveries.Day(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	recent, _, err := m.Deliveries.Browse(r.Context(), v.Shop.ID, webhook.DeliveryFilter{Endpoint: e.ID}, page.Cursor{}, recentRows)
	if err != nil {
		return err
	}
	p := onePage{row: rowOf(v, e, results[e.ID]), Path: path(e, ""), Created: v.Instant(e.Created)}
	for _, t := range e.Types {
		p.Types = append(p.Types, event{t, groupName(t) + ": " + typeName(t)})
	}
	if e.OldSecret != "" && m.Clock.Now().Before(e.OldSecretUntil) {
		p.Overlap = v.Instant(e.OldSecretUntil)
	}
	for _, d := range recent {
		p.Recent = append(p.Recent, deliveryRowOf(v, d, nil))
	}
	return v.Answer(w, dashboard.Page{Name: "webhook", Title: "Endpoint", Crumb: &dashboard.Crumb{Name: "Webhooks", Path: "/webhooks"}, Content: p})
}

// secretPage is what the page with a secret shows.
type secretPage struct{ URL, Secret, Path string }

// secret shows the secret. It is asked for with a form, so that no link or history leads to it.
func (m *room) secret(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return v.Answer(w, dashboard.Page{
		Name: "webhook-secret", Title: "Signing secret", Crumb: &dashboard.Crumb{Name: "Endpoint", Path: path(e, "")}, Content: secretPage{e.URL, e.Secret, path(e, "")},
	})
}
