package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// answered is Answers in memory. It forgets nothing: how long answers
// are kept is a test of the store.
type answered struct {
	mu      sync.Mutex
	records map[idempotency.Hash]idempotency.Record
	err     error // of Keep and Release
	claims  int
	until   time.Time // the end of the last claim whose answer was kept
}

func (f *answered) Claim(_ context.Context, of shop.ID, c idempotency.Claim) (idempotency.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims++
	if of != 7 {
		return idempotency.Record{}, fmt.Errorf("a claim of shop %d", of)
	}
	known, ok := f.records[c.Name]
	if !ok {
		known = idempotency.Record{Fingerprint: c.Fingerprint, Token: c.Token}
		f.records[c.Name] = known
	}
	return known, nil
}

func (f *answered) Keep(ctx context.Context, _ shop.ID, c idempotency.Claim, a idempotency.Answer) error {
	return f.settle(ctx, c, func() {
		f.records[c.Name] = idempotency.Record{Fingerprint: c.Fingerprint, Token: c.Token, Answer: &a}
		f.until = c.AnswerExpiresAt()
	})
}

func (f *answered) Release(ctx context.Context, _ shop.ID, c idempotency.Claim) error {
	return f.settle(ctx, c, func() { delete(f.records, c.Name) })
}

func (f *answered) settle(ctx context.Context, c idempotency.Claim, do func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil || f.err != nil {
		return errors.Join(ctx.Err(), f.err)
	}
	if f.records[c.Name].Token == c.Token {
		do()
	}
	return nil
}

// callers knows two keys of one shop.
type callers struct{}

func (callers) Authenticate(_ context.Context, value, _ string) (access.Caller, error) {
	keys := map[string]access.Key{
		"full": {ID: 3, Scopes: []access.Scope{access.All}}, "other": {ID: 4, Scopes: []access.Scope{access.All}}, "none": {ID: 5},
	}
	key, ok := keys[value]
	if !ok {
		return access.Caller{}, fault.New(fault.Unauthenticated, "who?")
	}
	return access.Caller{Key: key, Shop: shop.Shop{ID: 7}}, nil
}

type changeIn struct {
	JSONBody
	ID   int64 `path:"id"`
	Size int   `query:"size"`
}

type changeOut struct {
	Location string `header:"Location"`
	Body     struct {
		Run int `json:"run"`
	}
}

// repeating is an interface with one operation, whose answers tell how often it
// was carried out.
type repeating struct {
	handler http.Handler
	store   *answered
	log     bytes.Buffer
	runs    int
	do      func(context.Context) error
	burst   int
	once    bool // the operation is carried out at most once
}

const changePath = "/things/1"

func newRepeating(t *testing.T, change ...func(*repeating)) *repeating {
	t.Helper()
	s := &repeating{store: &answered{records: map[idempotency.Hash]idempotency.Record{}}, burst: 100}
	for _, c := range change {
		c(s)
	}
	s.handler = s.on(shop.Subscriptions)
	return s
}

func (s *repeating) on(line shop.Line) http.Handler {
	at := clock.NewManual(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC))
	handle := func(ctx context.Context, _ *changeIn) (*changeOut, error) {
		s.runs++
		if s.do != nil {
			if err := s.do(ctx); err != nil {
				return nil, err
			}
		}
		out := &changeOut{Location: "/things/1"}
		out.Body.Run = s.runs
		return out, nil
	}
	api := NewAPI(Info{Title: "Test", Version: "1"}, Gate{
		Keys: callers{}, Limits: &Buckets{Rate: Rate{PerSecond: 1, Burst: s.burst}, Clock: at}, Answers: s.store, Line: line, Clock: at,
	}, &Documents{}, func(api *API) {
		for _, method := range []string{http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodGet} {
			Register(api, Operation{ID: "change" + method, Method: method, Path: "/things/{id}", Scope: access.BillingWrite, Once: s.once}, handle)
		}
	})
	return api.Handler(Frame{Log: slog.New(slog.NewTextHandler(&s.log, nil)), Clock: at})
}

// request returns a request with a body, the full key and an Idempotency-Key.
// Headers are given as name, value; an empty value removes one.
func request(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "full")
	r.Header.Set(repeatHeader, "k")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return r
}

func (s *repeating) ask(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// put sends the ordinary request.
func (s *repeating) put(headers ...string) *httptest.ResponseRecorder {
	return s.ask(request("PUT", changePath, `{"a":1}`, headers...))
}
