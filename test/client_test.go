package test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/client"
)

// witness takes down what the typed client proves of the interface.
type witness struct{ t *testing.T }

func (w witness) Do(r *http.Request) (*http.Response, error) {
	var in []byte
	if r.Body != nil {
		var err error
		if in, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(in))
	}
	answer, err := http.DefaultClient.Do(r)
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

// typed returns the typed client of the store's interface.
func (s *subscription) typed() *client.ClientWithResponses {
	s.t.Helper()
	c, err := client.New(s.urls.Subscriptions, s.key, client.WithHTTPClient(witness{s.t}))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// ok returns what the client was answered, which must be a success.
func ok[T any](t *testing.T, value *T, failed *client.Failure, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if value == nil {
		t.Fatalf("refused: %+v", failed)
	}
	return *value
}

// An integration that is written with the typed client sees a subscription from
// its first search to its third order.
func TestAnIntegrationWithTheTypedClient(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c, ctx, id, sold := s.typed(), t.Context(), fmt.Sprint(s.id), s.variants()

	found, err := c.SearchContractsWithResponse(ctx, &client.SearchContractsParams{CustomerEmail: new("ana@shopper.example")})
	if rows := ok(t, found.JSON200, found.JSONDefault, err); len(rows) != 1 || rows[0].SubscriptionContractId != s.id || rows[0].Status != "active" {
		t.Fatalf("found %+v", rows)
	}
	one, err := c.GetContractWithResponse(ctx, id)
	object := ok(t, one.JSON200, one.JSONDefault, err)
	if object.Customer.Email == nil || *object.Customer.Email != "ana@shopper.example" || len(object.Lines.Nodes) != 1 {
		t.Fatalf("the contract is %+v", object)
	}
	line, err := c.UpdateLineItemWithResponse(ctx, &client.UpdateLineItemParams{
		ContractId: id, LineId: object.Lines.Nodes[0].Id, VariantId: new(fmt.Sprint(sold[0])), Quantity: new(int32(3)), Price: new(10.5),
	})
	if changed := ok(t, line.JSON200, line.JSONDefault, err); changed.Lines.Nodes[0].Quantity != 3 || changed.Lines.Nodes[0].CurrentPrice.Amount != "10.50" {
		t.Errorf("the line is %+v", changed.Lines.Nodes[0])
	}
	listed, err := c.ListUpcomingOrdersWithResponse(ctx, &client.ListUpcomingOrdersParams{ContractId: &id})
	queue := ok(t, listed.JSON200, listed.JSONDefault, err)
	if len(queue) != 6 || string(queue[0].Status) != "QUEUED" {
		t.Fatalf("upcoming %+v", queue)
	}
	extra, err := c.AddOneOffWithResponse(ctx, &client.AddOneOffParams{ContractId: id, BillingAttemptId: queue[0].Id, VariantId: fmt.Sprint(sold[1]), Quantity: new(int64(2))})
	if list := ok(t, extra.JSON200, extra.JSONDefault, err); len(list) != 1 || list[0].Quantity != 2 {
		t.Errorf("one-offs %+v", list)
	}
	note, err := c.UpdateAttemptOrderNoteWithResponse(ctx, queue[0].Id, &client.UpdateAttemptOrderNoteParams{OrderNote: new("ring twice")})
	if !ok(t, note.JSON200, note.JSONDefault, err) {
		t.Error("the note was not taken")
	}
	skipped, err := c.SkipOrderWithResponse(ctx, queue[1].Id, &client.SkipOrderParams{SubscriptionContractId: &id})
	if a := ok(t, skipped.JSON200, skipped.JSONDefault, err); string(a.Status) != "SKIPPED" {
		t.Errorf("skipping left %s", a.Status)
	}
	again, err := c.SkipOrderWithResponse(ctx, queue[1].Id, nil)
	if err != nil || again.StatusCode() != http.StatusBadRequest || again.JSONDefault == nil || again.JSONDefault.ErrorKey != "billingAttemptStatus" {
		t.Errorf("skipping twice answered %d %+v, %v", again.StatusCode(), again.JSONDefault, err)
	}

	nobody, err := c.GetCustomerWithResponse(ctx, "4242", nil)
	if err != nil || nobody.StatusCode() != http.StatusOK || nobody.JSON200 != nil || nobody.JSONDefault != nil {
		t.Errorf("nobody is %+v, %v", nobody, err)
	}

	s.pass("P75D")
	past, err := c.ListPastOrdersWithResponse(ctx, &client.ListPastOrdersParams{ContractId: &id})
	var states []string
	for _, a := range ok(t, past.JSON200, past.JSONDefault, err) {
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
