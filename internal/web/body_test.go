package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
)

func TestBodyWithTooLargeLengthIsRefusedUnread(t *testing.T) {
	t.Parallel()
	cut := errors.New("the client sends nothing")
	for name, test := range map[string]struct {
		length int64
		want   fault.Kind
	}{
		"a length over the limit is refused unread": {MaxBody + 1, fault.TooLarge},
		"a length at the limit is read":             {MaxBody, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("PUT", "/", io.NopCloser(iotest.ErrReader(cut)))
			r.ContentLength = test.length
			_, err := ReadBody(r)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != test.want {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func TestUnreadBodyIsRefusedWhenTooLarge(t *testing.T) {
	t.Parallel()
	api := NewAPI(Info{Title: "Test", Version: "1"}, Gate{Keys: callers{}, Limits: &Buckets{Rate: Rate{PerSecond: 100, Burst: 100}, Clock: clock.System{}}, Clock: clock.System{}}, &Documents{}, func(api *API) {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
			Register(api, Operation{ID: "bodiless" + method, Method: method, Path: "/things/{id}", Scope: access.BillingWrite}, func(context.Context, *struct {
				ID int64 `path:"id"`
			}) (*struct{}, error) {
				return nil, nil
			})
		}
	})
	handler := api.Handler(Frame{Log: slog.New(slog.DiscardHandler)})
	for name, test := range map[string]struct {
		size    int
		unknown bool // the length is not said
		target  string
		key     string
		want    int
	}{
		"none":                          {0, false, "/things/1", "full", 200},
		"none, of an unknown length":    {0, true, "/things/1", "full", 200},
		"at the limit":                  {MaxBody, false, "/things/1", "full", 200},
		"at the limit, unknown":         {MaxBody, true, "/things/1", "full", 200},
		"over the limit":                {MaxBody + 1, false, "/things/1", "full", 413},
		"over the limit, unknown":       {MaxBody + 1, true, "/things/1", "full", 413},
		"before what else is not valid": {MaxBody + 1, true, "/things/x", "full", 413},
		"after who may do it":           {MaxBody + 1, true, "/things/1", "none", 403},
		"after who it is":               {MaxBody + 1, true, "/things/1", "nobody", 401},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
			r := httptest.NewRequest(method, test.target, strings.NewReader(strings.Repeat(" ", test.size)))
			if test.unknown {
				r.ContentLength = -1
			}
			r.Header.Set("X-Api-Key", test.key)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("%s %s: answered %d %s, want %d", name, method, w.Code, w.Body, test.want)
			}
		}
	}
}

func TestEveryAnswerExcept204IsJSON(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, *struct {
		Size int `query:"size"`
	}) (*struct{}, error) {
		return nil, nil
	}
	api := NewAPI(Info{Title: "Test", Version: "1"}, Gate{
		Keys: callers{}, Limits: &Buckets{Rate: Rate{PerSecond: 100, Burst: 100}, Clock: clock.System{}}, Answers: &answered{records: map[idempotency.Hash]idempotency.Record{}}, Clock: clock.System{},
	}, &Documents{}, func(api *API) {
		for _, status := range []int{0, http.StatusNoContent} {
			for _, method := range []string{http.MethodGet, http.MethodPut} {
				Register(api, Operation{ID: fmt.Sprint("empty", method, status), Method: method, Path: fmt.Sprintf("/%d", status), Scope: access.BillingWrite, Status: status}, nothing)
			}
		}
	})
	handler := api.Handler(Frame{Log: slog.New(slog.DiscardHandler)})
	for name, test := range map[string]struct {
		method, target, repeat string
		want                   int
		media                  string
	}{
		"an empty answer":                {"GET", "/0", "", 200, mediaJSON},
		"an empty answer to a change":    {"PUT", "/0", "", 200, mediaJSON},
		"an empty answer that is kept":   {"PUT", "/0", "k", 200, mediaJSON},
		"no content":                     {"PUT", "/204", "", 204, ""},
		"no content that is kept":        {"PUT", "/204", "k", 204, ""},
		"an error":                       {"GET", "/0?size=x", "", 400, mediaJSON},
		"an error where there is no 200": {"PUT", "/204?size=x", "", 400, mediaJSON},
	} {
		for range 2 {
			r := httptest.NewRequest(test.method, test.target, nil)
			r.Header.Set("X-Api-Key", "full")
			if test.repeat != "" {
				r.Header.Set(repeatHeader, test.repeat)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != test.want || w.Header().Get("Content-Type") != test.media {
				t.Errorf("%s: answered %d of type %q, want %d of type %q", name, w.Code, w.Header().Get("Content-Type"), test.want, test.media)
			}
		}
	}
}
