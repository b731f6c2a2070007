// Package web is what every HTTP audience shares: decoding, errors, limits,
// documents and logging. What an operation does is left to the domain, and which
// operations there are to the audiences.
package web

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// API is one audience's operations and the document that describes them.
type API struct {
	huma huma.API
	mux  *router
	gate Gate
}

// Gate is what a request passes before its operation sees it.
type Gate struct {
	Keys     Keys
	Partners Partners // nil: no application is known
	Apps     bool     // the callers are applications with their own secrets, not holders of keys
	Shoppers Shoppers // nil: callers are not shoppers; otherwise all of them are
	Limits   Limiter
	Answers  Answers
	Line     shop.Line   // keeps the answers of two hosts with the same paths apart
	Clock    clock.Clock // how long an answer is kept
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
	a.serveDocument(shared, info.Root)
	register(a)
	shared.complete()
	a.describeHeaders()
	return a
}

// Names of the security schemes in the document.
const (
	headerScheme = "apiKey"
	queryScheme  = "apiKeyQuery"
	appScheme    = "application"
	proxyScheme  = "appProxy"
)

// schemes describes how callers say who they are.
func (g Gate) schemes() map[string]*huma.SecurityScheme {
	if g.Shoppers != nil {
		return map[string]*huma.SecurityScheme{
			proxyScheme: {Type: "apiKey", In: "query", Name: "signature", Description: "The signature that the platform's app proxy adds to a request at the store's domain. The shopper's session there identifies them: send nothing."},
		}
	}
	if g.Apps {
		return map[string]*huma.SecurityScheme{
			appScheme: {Type: "http", Scheme: "basic", Description: "The application's id and its secret."},
		}
	}
	return map[string]*huma.SecurityScheme{
		headerScheme: {Type: "apiKey", In: "header", Name: keyHeader, Description: "A key of the store, or the token of a partner's connection. A partner's application that was given a key names itself in " + appKeyHeader + "."},
		queryScheme:  {Type: "apiKey", In: "query", Name: keyParam, Description: "Deprecated: send the header instead."},
	}
}

func (g Gate) security() []map[string][]string {
	if g.Shoppers != nil {
		return []map[string][]string{{proxyScheme: {}}}
	}
	if g.Apps {
		return []map[string][]string{{appScheme: {}}}
	}
	return []map[string][]string{{headerScheme: {}}, {queryScheme: {}}}
}

// Operation describes one operation of an audience.
type Operation struct {
	ID          string
	Method      string
	Path        string
	Summary     string
	Description string
	Tag         string
	Scope       access.Scope // a key needs it
	Body        any          // a value of the type of the JSON body; nil: none
	Once        bool         // to do it again would add to what it did: a line more, another rule
	Secret      string       // field of the answer that is shown once: a repeated request is given null in its place
	Status      int          // of success; 0: 200
	Parameters  []*huma.Param
	List        *List // what its list allows to be asked for; nil: it answers no list
	Errors      []int // in addition to those that every operation can answer
}

// everyError lists what any operation can answer in addition to its own errors.
var everyError = [...]int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
	http.StatusInternalServerError, http.StatusServiceUnavailable,
}

// Register adds an operation. Success answers the operation's status, with no body
// when O has none.
func Register[I, O any](a *API, op Operation, handle func(context.Context, *I) (*O, error)) {
	described := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Tags: []string{op.Tag}, Parameters: op.Parameters, DefaultStatus: cmp.Or(op.Status, http.StatusOK),
		SkipValidateParams: true, SkipValidateBody: true,
		Security:    a.gate.security(),
		Middlewares: huma.Middlewares{a.require(op), limitBody},
		Responses:   a.errorResponses(op, readsBody[I]()),
		Extensions:  a.extensions(op.Scope),
	}
	if op.Method != http.MethodGet {
		described.Middlewares = append(described.Middlewares, toItsEnd)
	}
	if a.repeatable(op) {
		described.Parameters = append(slices.Clip(described.Parameters), repeatParam(op))
		described.Middlewares = append(described.Middlewares, a.once(op))
		handle = noted(handle)
	}
	described.Middlewares = append(described.Middlewares, a.checkParameters, typed(op))
	if a.gate.Shoppers != nil && op.Method == http.MethodPost { // no other one can be sent by a page of another site
		described.Middlewares = append(described.Middlewares, requireJSON)
	}
	huma.Register(a.huma, described, handle)
	if op.List != nil {
		op.List.describe(a.operation(op.Method, op.Path).Parameters)
	}
	if op.Body != nil {
		// Only now: the operation reads its body itself, so that it can tell an
		// absent field from one that is null.
		a.operation(op.Method, op.Path).RequestBody = &huma.RequestBody{
			Required: true,
			Content: map[string]*huma.MediaType{
				mediaJSON: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(op.Body), true, op.ID+"Body")},
			},
		}
	}
}

// typed says of an answer without a body too that it is JSON: integrations rely on the
// header and read what is not there as nothing. A 204 has no content to be of a type.
func typed(op Operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if op.Status != http.StatusNoContent {
			ctx.SetHeader("Content-Type", mediaJSON)
		}
		next(ctx)
	}
}

// readsBody reports whether an operation's input has a body, which it may require or not.
func readsBody[I any]() bool {
	_, reads := any(new(I)).(interface{ Into(v any) error })
	return reads
}

// errorResponses names what an operation, which may read a body, can answer in addition to
// success. The document says once what each is.
func (a *API) errorResponses(op Operation, reads bool) map[string]*huma.Response {
	components := a.huma.OpenAPI().Components
	schema := components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	responses := map[string]*huma.Response{}
	statuses := slices.Concat(everyError[:], op.Errors)
	if a.gate.Shoppers != nil {
		statuses = slices.DeleteFunc(statuses, func(s int) bool { return s == http.StatusForbidden }) // there are no scopes
	}
	if reads || a.gate.Shoppers != nil && op.Method == http.MethodPost {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	if a.repeatable(op) {
		statuses = append(statuses, repeatErrors[:]...)
	}
	for _, status := range statuses {
		name := strings.ReplaceAll(http.StatusText(status), " ", "")
		components.Responses[name] = &huma.Response{
			Description: answerNote(status),
			Content:     map[string]*huma.MediaType{mediaJSON: {Schema: schema}, mediaProblem: {Schema: schema}},
		}
		responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	return responses
}

func (a *API) operation(method, path string) *huma.Operation {
	item := a.huma.OpenAPI().Paths[path]
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	default:
		return item.Put
	}
}

// Document returns the description of the interface. It must not be changed.
func (a *API) Document() *huma.OpenAPI { return a.huma.OpenAPI() }

// Schemas is where the document keeps its named shapes.
func (a *API) Schemas() huma.Registry { return a.huma.OpenAPI().Components.Schemas }

// Handler returns the interface inside the frame that every request passes.
func (a *API) Handler(f Frame) http.Handler {
	return f.Around(a.gate.announce(Routes(a.mux)))
}

// extensions names the scope that an operation asks of a key.
func (a *API) extensions(scope access.Scope) map[string]any {
	if !a.gate.keyed() {
		return nil
	}
	return map[string]any{"x-scope": scope}
}
