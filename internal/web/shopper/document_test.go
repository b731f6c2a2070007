package shopper

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestCommittedDocumentMatchesCode(t *testing.T) {
	t.Parallel()
	webtest.Committed(t, "portal.yaml", "shopper", newAPI(options(&fakes{}, shop.Subscriptions)))
}

func TestDocumentDescribesEveryField(t *testing.T) {
	t.Parallel()
	webtest.Described(t, newAPI(options(&fakes{}, shop.Subscriptions)).Document())
}

var holes = regexp.MustCompile(`\{[^}]+\}`)

// Every operation of the interface is there, and answers only requests that the platform
// has signed.
func TestDocumentListsExactlyTheRoutes(t *testing.T) {
	t.Parallel()
	want := []string{
		"DELETE /contracts/{contractId}/discount", "DELETE /contracts/{contractId}/lines/{lineId}", "DELETE /subscription-contract-one-offs-by-contractId-and-billing-attempt-id", "DELETE /subscription-contracts/{contractId}",
		"GET /cancel-flow", "GET /cancel-flow/{id}", "GET /contracts", "GET /contracts/{contractId}", "GET /contracts/{contractId}/box", "GET /contracts/{contractId}/frequencies", "GET /contracts/{contractId}/one-time-products", "GET /contracts/{contractId}/products", "GET /customer-portal-settings/{id}",
		"GET /data/variant-contextual-pricing", "GET /logged-in-customer", "GET /loyalty", "GET /membership/status", "GET /preferences", "GET /shop-infos-by-current-login",
		"GET /subscription-billing-attempts/past-orders", "GET /subscription-billing-attempts/top-orders",
		"GET /subscription-contract-details/shopify/customer/payment-methods", "GET /subscription-customers-detail/valid/{id}", "GET /subscriptions-contracts-freeze-status-detail",
		"GET /upcoming-subscription-contract-one-offs-by-contractId",
		"POST /cancel-flow", "POST /cancel-flow/{id}/accept", "POST /cancel-flow/{id}/back", "POST /cancel-flow/{id}/comment", "POST /cancel-flow/{id}/confirm",
		"POST /cancel-flow/{id}/decline", "POST /cancel-flow/{id}/keep", "POST /cancel-flow/{id}/reason",
		"POST /contracts/{contractId}/discount", "POST /contracts/{contractId}/lines", "POST /contracts/{contractId}/payment-method/send-update-link", "POST /contracts/{contractId}/restart", "POST /contracts/{contractId}/shipping-address/preview",
		"POST /customer-retention-activities", "POST /loyalty/join", "POST /loyalty/redeem", "POST /magic-link", "POST /subscription-contract-details/replace-variants-v2",
		"PUT /contracts/{contractId}/box", "PUT /contracts/{contractId}/frequency", "PUT /contracts/{contractId}/lines/{lineId}", "PUT /contracts/{contractId}/payment-method", "PUT /contracts/{contractId}/shipping-address", "PUT /preferences",
		"PUT /subscription-billing-attempts", "PUT /subscription-billing-attempts/attempt-billing/{id}", "PUT /subscription-billing-attempts/keep-products/{id}", "PUT /subscription-billing-attempts/reschedule/{id}", "PUT /subscription-billing-attempts/retry-payment/{id}",
		"PUT /subscription-billing-attempts/skip-order/{id}", "PUT /subscription-billing-attempts/skip-upcoming-order", "PUT /subscription-billing-attempts/unskip-order/{id}",
		"PUT /subscription-contract-one-offs-by-contractId-and-billing-attempt-id", "PUT /subscription-contract-one-offs-update-quantity", "PUT /subscription-contracts-update-status",
	}
	s := serve(t, &fakes{})
	doc := webtest.Valid(t, s.send("GET", Docs+"/openapi.json", "").Body.Bytes())
	var got []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			got = append(got, method+" "+strings.TrimPrefix(path, "/apps/memberships/cp/api"))
			if op.Summary == "" || op.Description == "" {
				t.Errorf("%s %s is not described", method, path)
			}
			changes := method != http.MethodGet
			repeats := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
			if op.Responses.Value("401") == nil || (op.Responses.Value("403") != nil) != changes || repeats != (changes && !strings.HasSuffix(path, "/magic-link")) {
				t.Errorf("%s %s names what it does not have", method, path)
			}
			w := s.send(method, holes.ReplaceAllString(path, "1"), "{}")
			if p := webtest.Problem(t, w); w.Code != http.StatusUnauthorized || p.ErrorKey != "signedOut" || p.Title != "Sign in to the store" || s.command != nil {
				t.Errorf("%s %s without a signature answered %d %s", method, path, w.Code, w.Body)
			}
			if takes := op.Parameters.GetByInAndName("query", "shop") != nil; s.named != takes || takes != strings.Contains(path, "attempt-billing") {
				t.Errorf("%s %s lets the shopper name the store: %t", method, path, s.named)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestReferenceShowsOperationsWithoutKey(t *testing.T) {
	t.Parallel()
	o := options(&fakes{}, shop.Subscriptions)
	api := newAPI(o)
	pages := webtest.Reference(t, api.Handler(o.Frame), Docs, api.Document())
	for _, want := range []string{"/apps/subscriptions/cp/api/customer-retention-activities", "retentionAction", "curl -sS -b"} {
		if !strings.Contains(pages, want) {
			t.Errorf("the reference does not show %q", want)
		}
	}
	if strings.Contains(pages, `-H &#34;X-API-Key`) || strings.Contains(pages, `id="key"`) {
		t.Error("the reference asks shoppers for a key")
	}
}
