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
)

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
		Middlewares: huma.Middlewares{a.gate.require(op), limitBody},
		Responses:   a.errorResponses(op, readsBody[I]()),
		Extensions:  a.gate.extensions(op.Scope),
	}
	if op.Method != http.MethodGet {
		described.Middlewares = append(described.Middlewares, withoutCancel)
	}
	if a.gate.Shoppers != nil && op.Method != http.MethodGet {
		described.Middlewares = append(described.Middlewares, requireJSON)
	}
	if op.Public {
		described.Security = []map[string][]string{}
	}
	if a.gate.repeatable(op) {
		described.Parameters = append(slices.Clip(described.Parameters), repeatParam(op))
		described.Middlewares = append(described.Middlewares, a.gate.once(op))
		handle = markBegun(handle)
	}
	described.Middlewares = append(described.Middlewares, checkParameters, withContentType(op))
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

// withContentType says of an answer without a body too that it is JSON: integrations rely on the
// header and read what is not there as nothing. A 204 has no content to be of a type.
func withContentType(op Operation) func(huma.Context, func(huma.Context)) {
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
	if a.gate.Shoppers != nil && op.Method == http.MethodGet {
		statuses = slices.DeleteFunc(statuses, func(s int) bool { return s == http.StatusForbidden }) // there are no scopes
	}
	if reads || a.gate.Shoppers != nil && op.Method != http.MethodGet {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	if a.gate.repeatable(op) {
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
