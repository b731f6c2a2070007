package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/store"
)

// writing are the GET operations that write, and what.
var writing = map[string]string{
	"/api/external/v2/customer-portal-token":                   "a token",
	"/api/external/v2/manage-subscription-link":                "a sign-in link",
	"/api/external/v2/manage-subscription-link/{customerId}":   "a sign-in link",
	"/api/external/v2/subscription-contracts-email-magic-link": "a sign-in link and an e-mail",
}

// readDeadline is how long a read may take that has nothing to wait for.
const readDeadline = 10 * time.Second

// nothing are the operations that find nothing in the life, and what they answer.
var nothing = map[string]int{
	"/api/external/v2/subscription-contract-details/{contractId}/pending-downgrade": http.StatusNotFound,
	"/apps/subscriptions/cp/api/contracts/{contractId}/box":                         http.StatusNotFound, // the contract is no box
}

// Reads must not queue behind writes: SQLite has one writer. The operations come from the
// documents of the interfaces, so that a new one is covered.
func TestReadsDoNotWaitForWriteTransaction(t *testing.T) {
	t.Parallel()
	r := newReads(t)
	operations := r.operations()
	if len(operations) < 50 {
		t.Fatalf("the documents have only %d GET operations", len(operations))
	}
	for _, o := range operations {
		if status, text := r.send(o); !answers(o, status) {
			t.Errorf("GET %s answered %d: give its parameters values that exist, in values: %s", o.path, status, text)
		}
	}
	for path := range writing {
		if !slices.ContainsFunc(operations, func(o operation) bool { return o.path == path }) {
			t.Errorf("%s is in writing and is no GET operation", path)
		}
	}
	r.app.Access.Wait() // what notes the use of keys writes
	r.app.Partner.Wait()
	enough := errors.New("enough")
	err := r.app.Store.Update(t.Context(), r.of.ID, func(*store.Tx) error {
		for _, o := range operations {
			if writing[o.path] != "" {
				continue
			}
			if status, text := r.send(o); !answers(o, status) {
				t.Errorf("GET %s answered %d within %s beside a write transaction: read in Store.View: %s", o.path, status, readDeadline, text)
			}
		}
		for name, read := range r.services() {
			ctx, cancel := context.WithTimeout(t.Context(), readDeadline)
			if err := read(ctx); err != nil {
				t.Errorf("%s within %s beside a write transaction: %v", name, readDeadline, err)
			}
			cancel()
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

// answers reports whether a status is that of an operation that found what it looked for.
func answers(o operation, status int) bool {
	return status >= 200 && status < 300 || status == nothing[o.path]
}

// reads is a life whose interfaces are served, with a row of each kind.
type reads struct {
	*life
	key, appSecret string
	customer       int64
	values         map[string]string // of parameters, by a part of the path and the name
}

func newReads(t *testing.T) *reads {
	t.Helper()
	r := &reads{life: live(t)}
	r.app.options.Settings.RatePerSecond, r.app.options.Settings.RateBurst = 1000, 10000
	r.app.options.Simulated = nil // the services keep the simulated platform
	r.must(r.app.route())
	ctx := t.Context()
	var err error
	r.key, _, err = r.app.Access.Create(ctx, r.of.ID, access.NewKey{Name: "reader", Actor: merchant()})
	r.must(err)
	c := r.contract()
	r.customer = c.Customer.ID
	r.must(r.app.Loyalty.Enable(ctx, r.of.ID, r.clock.Now(), loyalty.Terms{Enrol: loyalty.Auto, Expiry: loyalty.ExpiryPolicy{Mode: loyalty.NoExpiry}}))
	_, err = r.app.Loyalty.Enrol(ctx, r.of.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: r.customer}})
	r.must(err)
	app, secrets, err := r.app.Partner.Add(ctx, partner.App{ID: "reports", Name: "Reports", BaseURL: "https://reports.example", Contact: "ops@reports.example", Scopes: []access.Scope{access.ContractsRead}})
	r.must(err)
	r.appSecret = secrets.Secret
	view, err := r.app.Partner.Request(ctx, r.of.ID, app.ID, nil, merchant())
	r.must(err)
	cancelling, err := r.app.Cancelling.Start(ctx, r.of.ID, session.Command{Contract: r.id, Actor: activity.Actor{Source: activity.CustomerPortal, Customer: r.customer}})
	r.must(err)
	variant := c.Lines[0].VariantID
	some := func(quantity int) string { return fmt.Sprintf(`[{"id": %d, "quantity": %d}]`, variant, quantity) }
	const api = "/api/external/v2"
	r.values = map[string]string{
		"contractId": fmt.Sprint(r.id), "customerId": fmt.Sprint(r.customer), "email": c.Customer.Email, "status": "FAILURE", "variantId": fmt.Sprint(variant), "sellingPlanIds": "1",
		"subscription-customers id": fmt.Sprint(r.customer), "subscription-customers-detail id": fmt.Sprint(r.customer), "point-transaction-history id": fmt.Sprint(r.customer),
		"subscription-billing-attempts id": fmt.Sprint(r.upcoming(1)),
		"cancel-flow id":                   fmt.Sprint(cancelling.Session.ID), "customer-portal-settings id": "1",
		"partner-connections id": fmt.Sprint(view.ID), "connection": fmt.Sprint(view.ID), "partner id": string(app.ID),
		"product-swaps id":                r.post(api+"/product-swaps", map[string]any{"shop": r.of.Domain, "name": "rule", "sourceVariants": some(1), "destinationVariants": some(2)}),
		"subscription-bundle-settings id": r.post(api+"/subscription-bundle-settings", map[string]any{"title": "Box"}),
		"webhook-endpoints id":            r.post(api+"/webhook-endpoints", map[string]any{"url": "https://merchant.example/hooks", "types": []string{"subscription.created"}}),
		"subscription-groups id": r.post(api+"/subscription-groups", map[string]any{"groupName": "Tea", "subscriptionPlans": []any{
			map[string]any{"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH"},
		}}),
	}
	r.settle()
	return r
}

// post adds a row over HTTP and returns its number.
func (r *reads) post(path string, body any) string {
	r.t.Helper()
	text, err := json.Marshal(body)
	r.must(err)
	q := httptest.NewRequestWithContext(r.t.Context(), http.MethodPost, path, strings.NewReader(string(text)))
	q.Header.Set("X-API-Key", r.key)
	q.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	r.app.Subscriptions.ServeHTTP(w, q)
	var made struct {
		ID json.Number `json:"id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || made.ID == "" {
		r.t.Fatalf("POST %s answered %d %s", path, w.Code, w.Body)
	}
	return made.ID.String()
}

// operation is a GET operation of a document.
type operation struct {
	path       string
	parameters []parameter
}

type parameter struct {
	Name, In string
	Required bool
}

// operations returns the GET operations of every document.
func (r *reads) operations() (list []operation) {
	r.t.Helper()
	for _, document := range []string{"/openapi.json", "/loyalty/openapi.json", "/portal/openapi.json", "/api/partner/openapi.json"} {
		w := httptest.NewRecorder()
		r.app.Subscriptions.ServeHTTP(w, httptest.NewRequestWithContext(r.t.Context(), http.MethodGet, document, nil))
		var doc struct {
			Paths map[string]struct {
				Get *struct{ Parameters []parameter }
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			r.t.Fatalf("%s answered %d %s", document, w.Code, w.Body)
		}
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			if get := doc.Paths[path].Get; get != nil {
				list = append(list, operation{path, get.Parameters})
			}
		}
	}
	return list
}

// value returns the value of an operation's parameter.
func (r *reads) value(path, name string) string {
	for part := range strings.SplitSeq(path, "/") {
		if v := r.values[part+" "+name]; v != "" {
			return v
		}
	}
	return r.values[name]
}

// request returns the request of an operation, by a caller who may make it.
func (r *reads) request(ctx context.Context, o operation) *http.Request {
	path, query := o.path, url.Values{}
	for _, p := range o.parameters {
		switch v := r.value(o.path, p.Name); {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", v)
		case p.In == "query" && p.Required:
			query.Set(p.Name, v)
		}
	}
	switch {
	case strings.HasPrefix(path, "/apps/"):
		query.Set("shop", r.of.Domain)
		query.Set("logged_in_customer_id", fmt.Sprint(r.customer))
		query.Set("path_prefix", "/apps/subscriptions")
		query.Set("timestamp", fmt.Sprint(r.clock.Now().Unix()))
		query.Set("signature", storefront.Sign(lifeSecret, query))
	case strings.HasPrefix(path, "/api/external/") && query.Get("customerId") == "":
		query.Set("customerId", fmt.Sprint(r.customer)) // where it is needed, one of several parameters names the customer
	}
	q := httptest.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
	q.Header.Set("X-API-Key", r.key)
	if strings.HasPrefix(path, "/api/partner/") {
		q.SetBasicAuth(r.value(o.path, "id"), r.appSecret)
	}
	return q
}

// send sends the request of an operation with the deadline and returns the status and the
// body.
func (r *reads) send(o operation) (status int, text string) {
	ctx, cancel := context.WithTimeout(r.t.Context(), readDeadline)
	defer cancel()
	w := httptest.NewRecorder()
	r.app.Subscriptions.ServeHTTP(w, r.request(ctx, o))
	return w.Code, w.Body.String()
}

// services are the reads of services that no operation makes.
func (r *reads) services() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Repair.Stuck": func(ctx context.Context) error { _, err := r.app.Repair.Stuck(ctx, r.of.ID); return err },
		"Loyalty.Audit": func(ctx context.Context) error {
			_, err := r.app.Loyalty.Audit(ctx, r.of.ID, loyalty.CustomerRef{Customer: r.customer}, false)
			return err
		},
		"Prepare.Preview": func(ctx context.Context) error {
			_, err := r.app.Charge.Prepare.Preview(ctx, r.of, shop.Subscriptions, r.id)
			return err
		},
		"Edits.Load": func(ctx context.Context) error { _, _, err := r.app.Edits.Load(ctx, r.of.ID, r.command()); return err },
	}
}
