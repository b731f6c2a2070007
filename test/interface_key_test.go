package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// Integrations of old send their key in the query. Every operation that takes it
// there does what it does for a key in the header, and says that this will end.
func TestKeyInQueryEqualsKeyInHeader(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 8})
	m.hurry()
	m.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	text := func(v any) []byte {
		if v == nil {
			return nil
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	c := m.someContract("ACTIVE")
	var lines object
	m.do("GET", fmt.Sprintf("/subscription-contracts/%d", c.ID), nil, &lines)
	line := lines.Lines.Nodes[0]
	var sold []struct{ VariantID, ProductID int64 }
	m.call("GET", "/platform/variants", nil, &sold)
	var queue []attempt
	m.do("GET", fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", c.ID), nil, &queue)
	var bundles []struct{ ID int64 }
	m.do("GET", "/subscription-bundle-settings", nil, &bundles)
	var group soldGroup
	body := monthlyGroup("Coffee")
	body["productIds"] = fmt.Sprintf("%d,%d", sold[0].ProductID, sold[len(sold)-1].ProductID)
	m.do("POST", "/subscription-groups", body, &group)

	ask := func(t *testing.T, method, path string, header http.Header, body any) (int, http.Header, []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, m.urls.Subscriptions+api+path, bytes.NewReader(text(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		answer, err := (witness{t}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		out, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header, out
	}
	with := func(path, key string) string {
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		return path + sign + "api_key=" + url.QueryEscape(key)
	}
	of := fmt.Sprintf("contractId=%d&", c.ID)
	for _, test := range []struct {
		name, method, path string
		body               any
		want               int
		says               string // in the answer
	}{
		{"entries", "GET", "/activity-logs?entityType.equals=SUBSCRIPTION_CONTRACT_DETAILS&eventType.equals=CONTRACT_CREATED", nil, 200, `"CONTRACT_CREATED"`},
		{"contracts", "GET", "/subscription-contract-details?subscriptionContractId=" + itoa(c.ID), nil, 200, `"subscriptionContractId":` + itoa(c.ID)},
		{"plans", "GET", "/subscription-contract-details/billing-interval?sellingPlanIds=6003", nil, 200, `"idNew":"6003"`},
		{"a bundle", "GET", fmt.Sprintf("/subscription-bundle-settings/%d", bundles[0].ID), nil, 200, `"volumeDiscountTiers"`},
		{"a variant", "PUT", "/subscription-contract-update-variant?" + of + fmt.Sprintf("oldLineId=%s&newVariantId=%d&prorateDowngrade=true", url.QueryEscape(line.ID), sold[1].VariantID), nil, 200, fmt.Sprintf("ProductVariant/%d", sold[1].VariantID)},
		{"a line", "PUT", "/subscription-contracts-update-line-item?" + of + fmt.Sprintf("lineId=%s&variantId=%d&quantity=7", url.QueryEscape(line.ID), sold[1].VariantID), nil, 200, `"quantity":7`},
		{"attributes", "PUT", "/subscription-contracts-update-custom-note-attributes", map[string]any{
			"subscriptionContractId": c.ID, "customAttributesList": []any{map[string]any{"key": "door", "value": "blue"}},
		}, 200, ""},
		{"a skip", "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", queue[1].ID), nil, 200, `"SKIPPED"`},
		{"products of a group", "PUT", fmt.Sprintf("/subscription-groups/%d/remove-products?productIds=%d", group.ID, sold[0].ProductID), nil, 200, `"productCount":1`},
		{"a link", "GET", "/subscription-contracts-email-magic-link?email=" + url.QueryEscape(c.CustomerEmail), nil, 200, "Email triggered"},
		{"a charge", "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", queue[0].ID), nil, 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, key := range map[string]string{"an unknown key": "prn_" + strings.Repeat("0", 40), "an empty key": ""} {
				if status, _, out := ask(t, test.method, with(test.path, key), http.Header{}, test.body); status != http.StatusUnauthorized {
					t.Errorf("%s in the query answered %d %.300s", name, status, out)
				}
			}
			status, header, out := ask(t, test.method, with(test.path, m.key), http.Header{}, test.body)
			if status != test.want || !bytes.Contains(out, []byte(test.says)) {
				t.Errorf("the key in the query answered %d %.500s, want %d with %s", status, out, test.want, test.says)
			}
			if header.Get("Deprecation") == "" {
				t.Errorf("the answer does not say that the key in the query is of the past: %v", header)
			}
			if test.method == http.MethodGet {
				status, header, same := ask(t, test.method, test.path, http.Header{"X-Api-Key": {m.key}}, test.body)
				if status != test.want || !bytes.Equal(out, same) || header.Get("Deprecation") != "" {
					t.Errorf("the key in the header answered %d, Deprecation %q, %.300s, and that in the query %.300s", status, header.Get("Deprecation"), same, out)
				}
			}
		})
	}
	var after object
	m.do("GET", fmt.Sprintf("/subscription-contracts/%d", c.ID), nil, &after)
	found := false
	for _, a := range after.CustomAttributes {
		found = found || a.Key == "door" && a.Value == "blue"
	}
	if !found {
		t.Errorf("the contract has the attributes %v, want that which was set", after.CustomAttributes)
	}
	m.pass("PT1M")
	orders := 0
	for _, o := range m.orders() {
		if o.Contract == c.ID {
			orders++
		}
	}
	if orders != 1 {
		t.Errorf("the contract was charged %d times, want the once that was asked for", orders)
	}
}
