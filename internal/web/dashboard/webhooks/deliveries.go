package webhooks

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// perPage is how many deliveries a page shows.
const perPage = 50

// deliveryRow is a delivery in a list.
type deliveryRow struct {
	ID     webhook.DeliveryID
	Event  string
	Type   webhook.Type
	At     string
	URL    string
	Badge  dashboard.Badge
	Tries  int
	Answer string // the code of the last one, or why there was none
	Took   string
}

func deliveryRowOf(v dashboard.Visit, d webhook.Delivery, urls map[webhook.EndpointID]string) deliveryRow {
	one := deliveryRow{
		ID: d.ID, Event: typeName(d.Type), Type: d.Type, At: d.At.In(v.Zone).Format("2 Jan, 15:04:05"), URL: urls[d.Endpoint], Badge: badges[d.Status], Tries: d.Tries, Answer: "–", Took: "–",
	}
	if d.Code != 0 {
		one.Answer = strconv.Itoa(d.Code)
	}
	if !d.TriedAt.IsZero() {
		one.Took = fmt.Sprintf("%d ms", d.Took.Milliseconds())
	}
	return one
}

// deliveriesPage is what the list of deliveries shows.
type deliveriesPage struct {
	Path      string
	Endpoints []dashboard.Choice
	Statuses  []dashboard.Choice
	Rows      []deliveryRow
	Empty     dashboard.Empty
	Looked    string // until when the list was looked through, when nothing was found so far
	Newest    string
	Older     string
}

// asked reads the filter.
func asked(q url.Values) (webhook.DeliveryFilter, error) {
	var f webhook.DeliveryFilter
	if text := q.Get("endpoint"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return f, fault.New(fault.NotFound, "the store does not have this endpoint").Code("webhookEndpointNotFound")
		}
		f.Endpoint = webhook.EndpointID(id)
	}
	if text := q.Get("status"); text != "" {
		if f.Status = webhook.Status(text); !slices.Contains(webhook.Statuses, f.Status) {
			return f, fault.New(fault.Invalid, "the list cannot be filtered like this")
		}
	}
	return f, nil
}

// address returns the path of the list with the filter of a query, at a place.
func address(query url.Values, at page.Cursor) string {
	q := url.Values{}
	for _, name := range []string{"endpoint", "status"} {
		if query.Get(name) != "" {
			q.Set(name, query.Get(name))
		}
	}
	if !at.At.IsZero() {
		q.Set("after", at.String())
	}
	if len(q) == 0 {
		return "/webhook-deliveries"
	}
	return "/webhook-deliveries?" + q.Encode()
}

func (m *room) deliveries(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	query := r.URL.Query()
	filter, err := asked(query)
	if err != nil {
		return err
	}
	after, err := page.ParseCursor(query.Get("after"))
	if err != nil {
		return err
	}
	endpoints, err := m.Endpoints.Endpoints(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	list, next, err := m.Deliveries.Browse(r.Context(), v.Shop.ID, filter, after, perPage)
	if err != nil {
		return err
	}
	p := deliveriesPage{
		Path: v.At("/webhook-deliveries"), Endpoints: []dashboard.Choice{{Name: "All endpoints"}}, Statuses: []dashboard.Choice{{Name: "All results"}},
		Empty: dashboard.Empty{Icon: "hook", Title: "No delivery", Text: "Nothing was sent that fits. Deliveries are kept for 30 days.", Action: "Go to the endpoints", Path: v.At("/webhooks")},
	}
	urls := map[webhook.EndpointID]string{}
	for _, e := range endpoints {
		urls[e.ID] = e.URL
		p.Endpoints = append(p.Endpoints, dashboard.Choice{Value: strconv.FormatInt(int64(e.ID), 10), Name: e.URL, Selected: e.ID == filter.Endpoint})
	}
	for _, s := range webhook.Statuses {
		p.Statuses = append(p.Statuses, dashboard.Choice{Value: string(s), Name: badges[s].Text, Selected: s == filter.Status})
	}
	for _, d := range list {
		p.Rows = append(p.Rows, deliveryRowOf(v, d, urls))
	}
	if !next.At.IsZero() {
		p.Older = v.At(address(query, next))
		if len(list) == 0 {
			p.Looked = v.Instant(next.At)
		}
	}
	if !after.At.IsZero() {
		p.Newest = v.At(address(query, page.Cursor{}))
	}
	return v.Answer(w, dashboard.Page{Name: "webhook-deliveries", Title: "Webhook deliveries", Lead: "What was sent in the last 30 days, and what your servers answered.", Content: p})
}

// header is one of a request.
type header struct{ Name, Value string }

// deliveryPage is what the page of a delivery shows.
type deliveryPage struct {
	deliveryRow

	Endpoint webhook.EndpointID
	Contract int64 // 0: about none
	Tried    string
	Next     string // when it is tried next; empty: it is not
	Error    string
	Headers  []header
	Body     string
	Response string
	Path     string
}

func (m *room) found(r *http.Request, v dashboard.Visit) (webhook.Delivery, webhook.Message, error) {
	id, err := strconv.ParseInt(r.PathValue("delivery"), 10, 64)
	if err != nil || id < 1 {
		return webhook.Delivery{}, webhook.Message{}, fault.New(fault.NotFound, "the store does not have this delivery").Code("webhookDeliveryNotFound")
	}
	return m.Deliveries.Delivery(r.Context(), v.Shop.ID, webhook.DeliveryID(id))
}

func (m *room) delivery(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	d, message, err := m.found(r, v)
	if err != nil {
		return err
	}
	e, err := m.Endpoints.Endpoint(r.Context(), v.Shop.ID, d.Endpoint)
	if err != nil {
		return err
	}
	p := deliveryPage{
		deliveryRow: deliveryRowOf(v, d, map[webhook.EndpointID]string{e.ID: e.URL}), Endpoint: e.ID, Contract: int64(d.Contract), Tried: v.Instant(d.TriedAt), Error: d.Error,
		Body: string(message.Body), Response: d.Answer, Path: fmt.Sprintf("/webhook-deliveries/%d", d.ID),
	}
	if !d.Due.IsZero() {
		p.Next = v.Instant(d.Due)
	}
	stamp := "the second of the try"
	if !d.TriedAt.IsZero() {
		stamp = strconv.FormatInt(d.TriedAt.Unix(), 10)
	}
	p.Headers = []header{
		{"Content-Type", "application/json"}, {"User-Agent", "Perennial/1"}, {"webhook-id", string(d.Message)}, {"webhook-timestamp", stamp},
		{"webhook-signature", "made at each try with the secret of the endpoint"},
	}
	return v.Answer(w, dashboard.Page{Name: "webhook-delivery", Title: p.Event, Crumb: &dashboard.Crumb{Name: "Webhook deliveries", Path: "/webhook-deliveries"}, Content: p})
}

func (m *room) replay(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	d, _, err := m.found(r, v)
	if err != nil {
		return err
	}
	if _, err := m.Deliveries.Replay(r.Context(), v.Shop.ID, d.ID); err != nil {
		return err
	}
	return v.Go(w, fmt.Sprintf("/webhook-deliveries/%d", d.ID), "webhook-replayed")
}
