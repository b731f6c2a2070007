package admin

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// holes are the names in a path.
var holes = regexp.MustCompile(`\{[^}]+\}`)

const documentPath = "../../../api/openapi.yaml"

func TestDocumentMatchesCommittedFile(t *testing.T) {
	t.Parallel()
	api := newAPI(options(&fakes{}, shop.Subscriptions, &bytes.Buffer{}, clock.System{}))
	got, err := api.Document().YAML()
	if err != nil {
		t.Fatal(err)
	}
	webtest.SameAs(t, documentPath, append([]byte("# Generated from the code: go test ./internal/web/admin -run Document -update. Do not edit.\n"), got...))
}

// A process that assembles many services, as the tests do, computes the schemas once.
func TestDocumentSchemasAreSharedInProcess(t *testing.T) {
	t.Parallel()
	assemble := func() *web.API { return newAPI(options(&fakes{}, shop.Subscriptions, &bytes.Buffer{}, clock.System{})) }
	first, second := assemble(), assemble()
	if first.Schemas() != second.Schemas() {
		t.Error("the second service has schemas of its own")
	}
	one, err := first.Document().YAML()
	if err != nil {
		t.Fatal(err)
	}
	if other, err := second.Document().YAML(); err != nil || !bytes.Equal(one, other) {
		t.Errorf("the second service's document differs from the first's (%v)", err)
	}
}

func TestDocumentDescribesEverything(t *testing.T) {
	t.Parallel()
	webtest.Described(t, newAPI(options(&fakes{}, shop.Subscriptions, &bytes.Buffer{}, clock.System{})).Document())
}

func TestDocumentIsSameOnBothLines(t *testing.T) {
	t.Parallel()
	a := serveLine(t, &fakes{}, shop.Subscriptions).ask("GET", "/openapi.json", "")
	b := serveLine(t, &fakes{}, shop.Memberships).ask("GET", "/openapi.json", "")
	if a.Body.String() != b.Body.String() {
		t.Error("the documents differ")
	}
}

func TestDocumentIsValid(t *testing.T) {
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

// Clients that are generated from the document refuse what it does not list.
func TestNullableFieldListsNullAmongItsValues(t *testing.T) {
	t.Parallel()
	text := serve(t, &fakes{}).ask("GET", "/openapi.json", "").Body.Bytes()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Type any   `json:"type"`
					Enum []any `json:"enum"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	some := false
	for name, schema := range doc.Components.Schemas {
		for field, p := range schema.Properties {
			kinds, several := p.Type.([]any)
			if !several || !slices.Contains(kinds, any("null")) || len(p.Enum) == 0 {
				continue
			}
			some = true
			if !slices.Contains(p.Enum, nil) {
				t.Errorf("%s.%s can be null, and its values are %v", name, field, p.Enum)
			}
		}
	}
	if !some {
		t.Error("no such field: the test looks at the wrong place")
	}
}

func TestEveryResponseInDocumentNamesItsHeaders(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(serve(t, &fakes{}).ask("GET", "/openapi.json", "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, answer := range op.Responses.Map() {
				names := []string{"X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
				switch {
				case status == "429" || status == "503":
					names = append(names, "Retry-After")
				case strings.HasPrefix(status, "2") && op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil:
					names = append(names, "Idempotent-Replayed")
				}
				for _, name := range names {
					if answer.Value.Headers[name] == nil {
						t.Errorf("%s of %s %s does not name %s", status, method, path, name)
					}
				}
			}
		}
	}
}

// Every operation in the document answers something other than "no such path",
// names what it needs, and says in words what it and its parameters are for. That
// every operation of the interface is there, the stories prove (docs/generated/interface.md).
func TestEveryOperationInDocumentIsServedAndDescribed(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	doc, err := openapi3.NewLoader().LoadFromData(s.ask("GET", "/openapi.json", "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || op.Description == "" {
				t.Errorf("%s %s is not described", method, path)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" && p.Value.In != "header" && !strings.HasPrefix(p.Value.Name, "pageable.") {
					t.Errorf("parameter %s of %s %s is not described", p.Value.Name, method, path)
				}
			}
			if op.Extensions["x-scope"] == nil || op.Security == nil {
				t.Errorf("%s %s names no scope or no key", method, path)
			}
			w := s.ask(method, holes.ReplaceAllString(path, "1"), "", "X-API-Key", "")
			discard(t, w.Body)
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s without a key answered %d", method, path, w.Code)
			}
		}
	}
}

func TestReferenceShowsInterface(t *testing.T) {
	t.Parallel()
	o := options(&fakes{}, shop.Subscriptions, &bytes.Buffer{}, clock.System{})
	api := newAPI(o)
	pages := webtest.Reference(t, api.Handler(o.Frame), "", api.Document())
	for _, want := range []string{
		"/api/external/v2/subscription-billing-attempts/skip-order/{id}", "isPrepaid", "billing:charge", "404 Not Found",
		`curl -sS -X PUT -H &#34;X-API-Key: $API_KEY&#34;`, "NEXT_BILLING_DATE_CHANGE", "contractDetailsJson", "id=\"idempotency-key\"",
	} {
		if !strings.Contains(pages, want) {
			t.Errorf("the reference does not show %q", want)
		}
	}
}

// A page that is not there is one for browsers, and a problem for programs.
func TestUnknownReferencePageIsNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	for _, path := range []string{"/docs/nothing", "/docs/shapes/nothing", "/docs/webhooks/more"} {
		if w := s.ask("GET", path, "", "Accept", "text/html"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "<h1>Page not found</h1>") {
			t.Errorf("a browser is answered %d %.200s at %s", w.Code, w.Body, path)
		}
		if w := s.ask("GET", path, ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `"errorKey":"pathNotFound"`) {
			t.Errorf("a program is answered %d %.200s at %s", w.Code, w.Body, path)
		}
	}
	if w := s.ask("GET", "/docs/", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<html") {
		t.Errorf("with a slash the index answers %d", w.Code)
	}
}
