// Package web is what every HTTP audience shares: decoding, errors, limits,
// documents and logging. What an operation does is left to the domain, and which
// operations there are to the audiences.
package web

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// API is one audience's operations and the document that describes them.
type API struct {
	huma huma.API
	mux  *router
	gate Gate
}

// Info heads an audience's document.
type Info struct {
	Title       string
	Version     string
	Description string
	Root        string // path below which the document and its pages are; empty: the host's
}

// NewAPI returns an interface with the operations that register adds. What they say is
// computed once for each line of d, which a process has one of for each audience.
func NewAPI(info Info, gate Gate, d *Documents, register func(*API)) *API {
	speakProblems()
	shared := d.of(gate.Line)
	shared.mutex.Lock()
	defer shared.mutex.Unlock()
	mux := &router{}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: info.Title, Version: info.Version, Description: info.Description,
				License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
			},
			Servers: []*huma.Server{{URL: "/"}},
			Components: &huma.Components{
				Schemas: shared.schemas, Responses: map[string]*huma.Response{},
				SecuritySchemes: gate.schemes(),
			},
		},
		Formats:       map[string]huma.Format{mediaJSON: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: mediaJSON,
	}
	config.AllowAdditionalPropertiesByDefault = true // unknown fields are ignored
	api := humago.New(mux, config)
	a := &API{huma: api, mux: mux, gate: gate}
	api.UseMiddleware(gate.authenticate, gate.limit)
	serveDocument(mux, shared, api.OpenAPI(), gate.keyed(), info.Root)
	register(a)
	shared.complete()
	describeHeaders(api.OpenAPI())
	return a
}

// Document returns the description of the interface. It must not be changed.
func (a *API) Document() *huma.OpenAPI { return a.huma.OpenAPI() }

// DescribeWebhook adds a message that the service sends to the document.
func (a *API) DescribeWebhook(name string, op *huma.Operation) {
	doc := a.huma.OpenAPI()
	if doc.Webhooks == nil {
		doc.Webhooks = map[string]*huma.PathItem{}
	}
	doc.Webhooks[name] = &huma.PathItem{Post: op}
}

// Schemas is where the document keeps its named shapes.
func (a *API) Schemas() huma.Registry { return a.huma.OpenAPI().Components.Schemas }

// Handler returns the interface inside the frame that every request passes.
func (a *API) Handler(f Frame) http.Handler {
	return f.Around(a.gate.withRateHeaders(Routes(a.mux)))
}
