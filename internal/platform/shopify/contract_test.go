package shopify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// script answers requests in turn and keeps their variables.
type script struct {
	t         *testing.T
	bodies    []string
	variables []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent struct {
		Variables json.RawMessage `json:"variables"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		s.t.Errorf("the body is not JSON: %v", err)
	}
	if len(s.variables) >= len(s.bodies) {
		s.t.Fatalf("an unexpected request with variables %s", sent.Variables)
	}
	s.variables = append(s.variables, string(sent.Variables))
	return answers(200, s.bodies[len(s.variables)-1])(r)
}

func scripted(t *testing.T, bodies ...string) (*Client, *script) {
	s := &script{t: t, bodies: bodies}
	return New(Options{HTTP: &http.Client{Transport: s}}), s
}

func at(s string) time.Time {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return v
}

func TestContractIsReadWhole(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("testdata/contracts.json")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := scripted(t, string(recorded))
	got, err := c.Contracts(t.Context(), demo, []int64{9001, 1, 9002})
	if err != nil {
		t.Fatal(err)
	}
	want := []platform.Contract{{
		ID: 9001, Revision: 1<<64 - 1, Status: "ACTIVE",
		CreatedAt: at("2026-01-31T11:00:00Z"), UpdatedAt: at("2026-02-01T11:00:00Z"), NextBillingDate: at("2026-02-28T12:00:00Z"),
		Currency:      "JPY",
		Billing:       platform.Policy{Interval: "MONTH", Count: 3, MinCycles: 2, Anchors: []platform.Anchor{{Type: "MONTHDAY", Day: 15, CutoffDay: 5}}},
		Delivery:      platform.Policy{Interval: "MONTH", Count: 1, Anchors: []platform.Anchor{{Type: "YEARDAY", Day: 29, Month: 2}}},
		Customer:      platform.Customer{ID: 7001, Email: "aiko@example.com", FirstName: "Aiko", LastName: "Mori", DisplayName: "Aiko Mori", Phone: "+81312345678"},
		PaymentMethod: platform.PaymentMethod{ID: "gid://shopify/CustomerPaymentMethod/abc", Revoked: true, BillingCountry: "JP", Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", ExpiryMonth: 12, ExpiryYear: 2030},
		OriginOrder:   platform.OriginOrder{OrderRef: platform.OrderRef{ID: 501, Name: "#1001"}, Pieces: 3, Total: money.Amount{Minor: 2740, Currency: "JPY"}},
		DeliveryPrice: money.Amount{Minor: 500, Currency: "JPY"}, DeliveryCountry: "JP",
		Note:       "ring twice",
		Attributes: []platform.Attribute{{Key: "gift", Value: "yes"}, {Key: "empty"}},
		Lines: []platform.Line{{
			ID: "gid://shopify/SubscriptionLine/1", ProductID: 11, VariantID: 21, SKU: "TEA", Title: "Tea", VariantTitle: "Green", Image: "https://cdn.example/tea.png",
			Quantity: 2, Price: money.Amount{Minor: 1200, Currency: "JPY"}, SellingPlanID: 31, SellingPlanName: "Monthly", Taxable: true,
		}},
		LastPayment: "SUCCEEDED",
	}, {
		ID: 9002, Revision: 7, Status: "PAUSED",
		CreatedAt: at("2026-01-31T11:00:00Z"), UpdatedAt: at("2026-02-01T11:00:00Z"),
		Currency:      "USD",
		Billing:       platform.Policy{Interval: "WEEK", Count: 1, MaxCycles: 6},
		Delivery:      platform.Policy{Interval: "WEEK", Count: 1},
		DeliveryPrice: money.Amount{Currency: "USD"},
		Lines:         []platform.Line{{ID: "gid://shopify/SubscriptionLine/2", Title: "Gone", Quantity: 1, Price: money.Amount{Minor: 999, Currency: "USD"}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("contracts differ (- want, + got):\n%s", d)
	}
}

// contractJSON is a contract with one line, which stands for a page of lines.
func contractJSON(revision, line int, more bool) string {
	return fmt.Sprintf(`{"id":"gid://shopify/SubscriptionContract/9001","revisionId":"%d","currencyCode":"USD","deliveryPrice":{"amount":"0.0","currencyCode":"USD"},
		"lines":{"nodes":[{"id":"line %d","currentPrice":{"amount":"1.0","currencyCode":"USD"}}],"pageInfo":{"hasNextPage":%t,"endCursor":"after %d"}}}`, revision, line, more, line)
}

func nodesJSON(nodes ...string) string {
	return `{"data":{"nodes":[` + strings.Join(nodes, ",") + `]}}`
}

func pageJSON(contract string) string { return `{"data":{"subscriptionContract":` + contract + `}}` }

func TestContractLinesAreReadToLastPage(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		answers []string
		want    string // lines, or the error
	}{
		{"all pages are put together",
			[]string{nodesJSON(contractJSON(1, 1, true)), pageJSON(contractJSON(1, 2, true)), pageJSON(contractJSON(1, 3, false))}, "line 1 line 2 line 3"},
		{"a contract that changes between two pages is read again",
			[]string{nodesJSON(contractJSON(1, 1, true)), pageJSON(contractJSON(2, 2, false)), pageJSON(contractJSON(2, 4, true)), pageJSON(contractJSON(2, 5, false))}, "line 4 line 5"},
		{"a contract that goes away between two pages is left out",
			[]string{nodesJSON(contractJSON(1, 1, true)), pageJSON(`null`)}, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, s := scripted(t, row.answers...)
			got, err := c.Contracts(t.Context(), demo, []int64{9001})
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, k := range got {
				for _, l := range k.Lines {
					lines = append(lines, l.ID)
				}
			}
			if strings.Join(lines, " ") != row.want {
				t.Errorf("lines %q, want %q", lines, row.want)
			}
			if len(s.variables) != len(row.answers) {
				t.Errorf("%d requests, want %d", len(s.variables), len(row.answers))
			}
			if want := `{"id":"gid://shopify/SubscriptionContract/9001","after":"after 1"}`; s.variables[1] != want {
				t.Errorf("variables of the second page %s, want %s", s.variables[1], want)
			}
		})
	}
}

func TestFiftyContractsAreReadWithinCost(t *testing.T) {
	t.Parallel()
	var answers []string
	for left := platform.MaxIDs; left > 0; left -= contractsAtOnce {
		answers = append(answers, nodesJSON(slices.Repeat([]string{"null"}, min(left, contractsAtOnce))...))
	}
	c, s := scripted(t, answers...)
	ids := make([]int64, platform.MaxIDs)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	if _, err := c.Contracts(t.Context(), demo, ids); err != nil {
		t.Fatal(err)
	}
	left := platform.MaxIDs
	for i, v := range s.variables {
		if n := strings.Count(v, "SubscriptionContract/"); n != min(left, contractsAtOnce) {
			t.Errorf("document %d asks for %d contracts, want %d", i, n, min(left, contractsAtOnce))
		}
		left -= contractsAtOnce
	}
	if _, err := c.Contracts(t.Context(), demo, append(ids, 51)); err == nil {
		t.Error("51 contracts were no error")
	}
}

func TestShortNodeListIsAnError(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, nodesJSON(), `{"data":{"nodes":[null]}}`)
	if got, err := c.Contracts(t.Context(), demo, []int64{9001}); !errors.Is(err, platform.ErrUnknown) {
		t.Errorf("contracts: got %v, %v; want ErrUnknown", got, err)
	}
	ids := []string{"gid://shopify/SubscriptionBillingAttempt/1", "gid://shopify/SubscriptionBillingAttempt/2"}
	if got, err := c.Attempts(t.Context(), demo, ids); !errors.Is(err, platform.ErrUnknown) {
		t.Errorf("attempts: got %v, %v; want ErrUnknown", got, err)
	}
}

func TestInvalidAmountIsAnError(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, nodesJSON(strings.Replace(contractJSON(1, 1, false), `"1.0"`, `"one"`, 1)))
	if _, err := c.Contracts(t.Context(), demo, []int64{9001}); !errors.Is(err, platform.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestMissingScopeIsNotMissingPaymentMethod(t *testing.T) {
	t.Parallel()
	body := strings.TrimSuffix(nodesJSON(contractJSON(1, 1, false)), "}") +
		`,"errors":[{"message":"Access denied","path":["nodes",0,"customerPaymentMethod"],"extensions":{"code":"ACCESS_DENIED"}}]}`
	c, _ := scripted(t, body)
	if _, err := c.Contracts(t.Context(), demo, []int64{9001}); !isRefusal(err, "ACCESS_DENIED") {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestContractsUpdatedSinceAsksForWholeSecondsAndPages(t *testing.T) {
	t.Parallel()
	page := `{"data":{"subscriptionContracts":{"nodes":[{"id":"gid://shopify/SubscriptionContract/1"},{"id":"gid://shopify/SubscriptionContract/2"}],"pageInfo":{"hasNextPage":%t,"endCursor":"c"}}}}`
	c, s := scripted(t, fmt.Sprintf(page, true), fmt.Sprintf(page, false))
	ids, next, err := c.ContractsUpdatedSince(t.Context(), demo, at("2026-01-31T13:00:00+01:00").Add(700*time.Millisecond), "")
	if err != nil || !cmp.Equal(ids, []int64{1, 2}) || next != "c" {
		t.Errorf("first page: %v %q %v", ids, next, err)
	}
	if _, next, err = c.ContractsUpdatedSince(t.Context(), demo, at("2026-01-31T12:00:00Z"), next); err != nil || next != "" {
		t.Errorf("last page: next %q, %v", next, err)
	}
	query := `{"query":"updated_at:\u003e='2026-01-31T12:00:00Z'"`
	if s.variables[0] != query+`}` || s.variables[1] != query+`,"after":"c"}` {
		t.Errorf("variables %s", s.variables)
	}
}

func TestListsAreReadToTheirLastPage(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		page string // one page, with an id and a page's end to fill in
		read func(*Client) (int, error)
	}{
		{"the contracts of a payment method", `{"data":{"customerPaymentMethod":{"subscriptionContracts":{"nodes":[{"id":"gid://shopify/SubscriptionContract/%d"}],"pageInfo":{"hasNextPage":%t,"endCursor":"c"}}}}}`,
			func(c *Client) (int, error) {
				ids, err := c.ContractsPaidWith(t.Context(), demo, "gid://shopify/CustomerPaymentMethod/a")
				return len(ids), err
			}},
		{"cycles", `{"data":{"subscriptionBillingCycles":{"nodes":[{"cycleIndex":%d}],"pageInfo":{"hasNextPage":%t,"endCursor":"c"}}}}`,
			func(c *Client) (int, error) {
				cycles, err := c.Cycles(t.Context(), demo, 9001, 1, 500)
				return len(cycles), err
			}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c, s := scripted(t, fmt.Sprintf(row.page, 1, true), fmt.Sprintf(row.page, 2, true), fmt.Sprintf(row.page, 3, false))
			if n, err := row.read(c); n != 3 || err != nil {
				t.Errorf("%d, %v; want 3", n, err)
			}
			if strings.Contains(s.variables[0], "after") || !strings.Contains(s.variables[1], `"after":"c"`) {
				t.Errorf("variables %s", s.variables)
			}
		})
	}
}

func TestUnknownIDIsLeftOut(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t, `{"data":{"nodes":[null,`+contractJSON(1, 1, false)+`]},"errors":[{"message":"Invalid id","path":["nodes",0],"extensions":{"code":"RESOURCE_NOT_FOUND"}}]}`)
	if got, err := c.Contracts(t.Context(), demo, []int64{1, 9001}); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v; want one contract", got, err)
	}
}

func TestEmptyCycleListSendsNoRequest(t *testing.T) {
	t.Parallel()
	c, _ := scripted(t)
	if got, err := c.Cycles(t.Context(), demo, 9001, 3, 2); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
