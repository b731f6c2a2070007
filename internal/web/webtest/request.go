package webtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Send sends a request to a handler and returns the response. Headers are given as name,
// value; the last value of a name counts, and an empty one leaves the header out.
func Send(t *testing.T, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Problem returns the problem in the body of a response.
func Problem(t *testing.T, w *httptest.ResponseRecorder) web.Problem {
	t.Helper()
	var p web.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("the body is not a problem: %v\n%s", err, w.Body)
	}
	return p
}

// Keys are the API keys of a store, each with a scope.
type Keys struct {
	Store  shop.Shop
	Scopes map[string]access.Scope
}

// Authenticate returns the caller with a key, which has the number 3 and the name ERP.
func (k Keys) Authenticate(_ context.Context, value, _ string) (access.Caller, error) {
	scope, ok := k.Scopes[value]
	if !ok {
		return access.Caller{}, fault.New(fault.Unauthenticated, "the API key is not valid").Entity("apiKey").Code("apiKeyInvalid")
	}
	return access.Caller{Key: access.Key{ID: 3, Shop: k.Store.ID, Name: "ERP", Scopes: []access.Scope{scope}}, Shop: k.Store}, nil
}

// Unlimited is a rate limit that allows every request. It records the bucket of the last
// one, if it is given where to.
type Unlimited struct{ Last *access.Bucket }

// Full returns an allowance that is not used up.
func (Unlimited) Full() web.Allowance { return web.Allowance{Granted: true} }

// Take grants the request.
func (u Unlimited) Take(_ context.Context, b access.Bucket) (web.Allowance, error) {
	if u.Last != nil {
		*u.Last = b
	}
	return web.Allowance{Granted: true}, nil
}
