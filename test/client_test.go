package test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"testing"

	"github.com/perennialhq/perennial/client"
	"github.com/perennialhq/perennial/client/partner"
	"github.com/perennialhq/perennial/client/portal"
)

// witness takes down what the typed client proves of the interface.
type witness struct{ t *testing.T }

func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	var in []byte
	if r.Body != nil {
		var err error
		if in, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(in))
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(out))
	if answer.StatusCode < 300 {
		proofs.note(w.t.Name(), r.Method, r.URL, in, out)
	}
	return answer, nil
}

// watched lets a typed client send its requests past a witness.
func watched(t *testing.T) client.Option {
	return client.WithHTTPClient(&http.Client{Transport: witness{t}})
}

// must returns a value that came without an error.
func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// An integration that is written with the typed client sees a subscription from
// its first search to its third order.
func TestTypedClientServesAnIntegration(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c, ctx, id, sold := client.New(s.urls.Subscriptions, s.key, watched(t)), t.Context(), fmt.Sprint(s.id), s.variants()

	var header http.Header
	found, err := c.SearchContracts(client.WithHeader(ctx, &header), &client.SearchContractsParams{CustomerEmail: new("ana@shopper.example")})
	if rows := must(t, found, err); len(rows) != 1 || rows[0].SubscriptionContractID != s.id || rows[0].Status != "active" || header.Get("X-Total-Count") != "1" {
		t.Fatalf("found %+v, %v", rows, header)
	}
	object, err := c.GetContract(ctx, id)
	if must(t, object, err); object.Customer.Email == nil || *object.Customer.Email != "ana@shopper.example" || len(object.Lines.Nodes) != 1 {
		t.Fatalf("the contract is %+v", object)
	}
	changed, err := c.UpdateLineItem(ctx, &client.UpdateLineItemParams{
		ContractID: id, LineID: object.Lines.Nodes[0].ID, VariantID: new(fmt.Sprint(sold[0])), Quantity: new(int32(3)), Price: new(10.5),
	})
	if must(t, changed, err); changed.Lines.Nodes[0].Quantity != 3 || changed.Lines.Nodes[0].CurrentPrice.Amount != "10.50" {
		t.Errorf("the line is %+v", changed.Lines.Nodes[0])
	}
	queue, err := c.ListUpcomingOrders(ctx, &client.ListUpcomingOrdersParams{ContractID: &id})
	if must(t, queue, err); len(queue) != 6 || queue[0].Status != "QUEUED" {
		t.Fatalf("upcoming %+v", queue)
	}
	extra, err := c.AddOneOff(ctx, &client.AddOneOffParams{ContractID: id, BillingAttemptID: queue[0].ID, VariantID: fmt.Sprint(sold[1]), Quantity: new(int64(2))})
	if must(t, extra, err); len(extra) != 1 || extra[0].Quantity != 2 {
		t.Errorf("one-offs %+v", extra)
	}
	if noted, err := c.UpdateAttemptOrderNote(ctx, queue[0].ID, &client.UpdateAttemptOrderNoteParams{OrderNote: new("ring twice")}); !must(t, noted, err) {
		t.Error("the note was not taken")
	}
	once := client.WithIdempotencyKey(ctx, "skip-the-second")
	skipped, err := c.SkipOrder(once, queue[1].ID, &client.SkipOrderParams{SubscriptionContractID: &id})
	if must(t, skipped, err); skipped.Status != "SKIPPED" {
		t.Errorf("skipping left %s", skipped.Status)
	}
	repeated, err := c.SkipOrder(once, queue[1].ID, &client.SkipOrderParams{SubscriptionContractID: &id})
	if must(t, repeated, err); repeated.Status != "SKIPPED" {
		t.Errorf("skipping under the same key left %s", repeated.Status)
	}
	_, err = c.SkipOrder(ctx, queue[1].ID, nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusBadRequest || e.Key != "billingAttemptStatus" || e.RequestID == "" {
		t.Errorf("skipping twice failed with %v", err)
	}

	if unknown, err := c.GetCustomer(ctx, "4242", nil); must(t, unknown, err) != nil {
		t.Errorf("the unknown customer is %+v", unknown)
	}

	s.pass("P75D")
	past, err := c.ListPastOrders(ctx, &client.ListPastOrdersParams{ContractID: &id})
	var states []string
	for _, a := range must(t, past, err) {
		states = append(states, string(a.Status))
	}
	if fmt.Sprint(states) != "[SUCCESS SKIPPED SUCCESS]" {
		t.Errorf("past orders %v", states)
	}
	orders := s.orders()
	if len(orders) != 2 || orders[1].Amount != "31.50" {
		t.Errorf("orders %+v, want two, the second over 31.50", orders)
	}
}

// The other interfaces are called the same way: loyalty with the store's key, the portal with the
// session of a shopper, the partners' with an application's secret.
func TestTypedClientsOfOtherInterfaces(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ctx, who := t.Context(), s.ana().CustomerID

	points := client.New(s.urls.Loyalty, s.key, watched(t))
	member, err := points.EnrollCustomer(ctx, client.EnrolBody{CustomerID: new(client.ID(fmt.Sprint(who)))})
	if must(t, member, err); member.CustomerID != who {
		t.Errorf("enrolled %+v", member)
	}

	_, err = portal.New(s.urls.Storefront).GetShopInfo(ctx)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusUnauthorized {
		t.Errorf("without a session: %v", err)
	}
	jar, err := cookiejar.New(nil)
	browser := &http.Client{Jar: must(t, jar, err)}
	in, err := browser.Post(fmt.Sprintf("%s/account/login?customer_id=%d", s.urls.Storefront, who), "", nil)
	must(t, in, err).Body.Close()
	shopper := portal.New(s.urls.Storefront, client.WithHTTPClient(browser))
	if seen, err := shopper.GetLoggedInCustomer(ctx); must(t, seen, err) != who {
		t.Errorf("signed in is %d, want %d", seen, who)
	}
	queue, err := shopper.ListUpcomingOrders(ctx, &portal.ListUpcomingOrdersParams{ContractID: new(fmt.Sprint(s.id))})
	if must(t, queue, err); len(queue) != 6 {
		t.Errorf("the shopper sees %d orders, want 6", len(queue))
	}

	a := register(s.store, "reports", "contracts:read")
	app := partner.New(s.urls.Subscriptions, a.id, a.secrets.Secret)
	connection, err := app.Connect(ctx, a.id, partner.ConnectBody{ShopDomain: "demo.myshopify.com", CallbackNonce: "0123456789abcdef", Scopes: []string{"contracts:read"}, State: new("mine")})
	if must(t, connection, err); connection.Status != partner.PendingMerchantApproval {
		t.Errorf("connecting answered %+v", connection)
	}
}
