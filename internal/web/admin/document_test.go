package admin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const documentPath = "../../../api/openapi.yaml"

func TestTheCommittedDocumentIsTheCodes(t *testing.T) {
	t.Parallel()
	api := newAPI(options(&fakes{}, shop.Subscriptions, &bytes.Buffer{}, clock.System{}))
	got, err := api.Document().YAML()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, documentPath, append([]byte("# Generated from the code: go test ./internal/web/admin -run Document -update. Do not edit.\n"), got...))
}

func TestTheDocumentIsTheSameOnBothLines(t *testing.T) {
	t.Parallel()
	a := serveLine(t, &fakes{}, shop.Subscriptions).ask("GET", "/openapi.json", "")
	b := serveLine(t, &fakes{}, shop.Memberships).ask("GET", "/openapi.json", "")
	if a.Body.String() != b.Body.String() {
		t.Error("the documents differ")
	}
}

func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	w := serve(t, &fakes{}).ask("GET", "/openapi.json", "", "X-API-Key", "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("answered %d %s", w.Code, w.Header().Get("Content-Type"))
	}
	var head struct {
		OpenAPI string `json:"openapi"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &head); err != nil || !strings.HasPrefix(head.OpenAPI, "3.1.") {
		t.Fatalf("version %q, %v", head.OpenAPI, err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// Every operation in the document answers something other than "no such path",
// and the mux knows no path below the interface's base that is not in the document.
func TestEveryRouteIsInTheDocumentAndTheReverse(t *testing.T) {
	t.Parallel()
	want := []string{
		"GET /api/external/v2/activity-logs",
		"GET /api/external/v2/subscription-billing-attempts/past-orders",
		"GET /api/external/v2/subscription-billing-attempts/top-orders",
		"GET /api/external/v2/subscription-contract-details",
		"PUT /api/external/v2/subscription-billing-attempts",
		"PUT /api/external/v2/subscription-billing-attempts/attempt-billing/{id}",
		"PUT /api/external/v2/subscription-billing-attempts/skip-order/{id}",
		"PUT /api/external/v2/subscription-billing-attempts/unskip-order/{id}",
	}
	s := serve(t, &fakes{})
	doc, err := openapi3.NewLoader().LoadFromData(s.ask("GET", "/openapi.json", "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			documented[method+" "+path] = true
			if op.Extensions["x-scope"] == nil || op.Security == nil {
				t.Errorf("%s %s names no scope or no key", method, path)
			}
			w := s.ask(method, strings.ReplaceAll(path, "{id}", "1"), "", "X-API-Key", "")
			discard(t, w.Body)
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s without a key answered %d", method, path, w.Code)
			}
		}
	}
	for _, route := range want {
		if !documented[route] {
			t.Errorf("%s is not in the document", route)
		}
		delete(documented, route)
	}
	for route := range documented {
		t.Errorf("%s is in the document and not expected", route)
	}
}

func TestTheDocumentationPageNeedsNobodyElse(t *testing.T) {
	t.Parallel()
	w := serve(t, &fakes{}).ask("GET", "/docs/", "", "X-API-Key", "")
	page, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatalf("answered %d, %v", w.Code, err)
	}
	for _, want := range []string{
		"/api/external/v2/subscription-billing-attempts/skip-order/{id}", "isPrepaid", "billing:charge", "404 Not Found",
		`curl -sS -X PUT -H &#34;X-API-Key: $API_KEY&#34;`, "NEXT_BILLING_DATE_CHANGE", "contractDetailsJson",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not show %q", want)
		}
	}
	for _, banned := range []string{"http://", "https://", "<script"} {
		if bytes.Contains(page, []byte(banned)) {
			t.Errorf("the page reaches outside with %q", banned)
		}
	}
}
