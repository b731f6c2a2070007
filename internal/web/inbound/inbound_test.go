package inbound

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

type receiver struct {
	err    error
	topic  string
	body   string
	called int
}

func (r *receiver) Receive(_ context.Context, header func(string) string, body []byte) error {
	r.called++
	r.topic, r.body = header("x-shopify-topic"), string(body)
	return r.err
}

func deliver(t *testing.T, to *receiver, method, path, body string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Shopify-Topic", "app/uninstalled")
	w := httptest.NewRecorder()
	New(to, web.Frame{Log: slog.New(slog.NewTextHandler(&log, nil))}).ServeHTTP(w, r)
	return w, log.String()
}

func TestAnswersTellThePlatformWhetherToRepeat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"what was taken in is done":                           {nil, http.StatusOK},
		"a wrong signature is refused":                        {fault.New(fault.Unauthenticated, "signature"), http.StatusUnauthorized},
		"a delivery that cannot be read is refused":           {fault.New(fault.Invalid, "json"), http.StatusBadRequest},
		"a shop that is not served is nothing to repeat":      {fault.New(fault.NotFound, "shop"), http.StatusOK},
		"a database that is away asks for a repetition":       {fault.New(fault.Unavailable, "database"), http.StatusServiceUnavailable},
		"a bug asks for a repetition":                         {errors.New("bug"), http.StatusInternalServerError},
		"a delivery in the way of another is asked for again": {fault.New(fault.Conflict, "busy"), http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &receiver{err: test.err}
			w, log := deliver(t, to, "POST", "/webhooks/", `{"id":1}`)
			if w.Code != test.want || to.called != 1 {
				t.Errorf("answered %d after %d calls, want %d", w.Code, to.called, test.want)
			}
			if w.Code == http.StatusOK && w.Body.Len() != 0 {
				t.Errorf("body %q, want none", w.Body)
			}
			if to.topic != "app/uninstalled" || to.body != `{"id":1}` {
				t.Errorf("received %q %q", to.topic, to.body)
			}
			if test.err != nil && !strings.Contains(log, "error=") {
				t.Errorf("the log says nothing of the error: %s", log)
			}
		})
	}
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, path, body string
		want, calls        int
	}{
		"the path itself is served":          {"POST", "/webhooks", "{}", 200, 1},
		"a path below it is served":          {"POST", "/webhooks/contracts/create", "{}", 200, 1},
		"another method is not possible":     {"GET", "/webhooks", "", 405, 0},
		"another path is unknown":            {"POST", "/webhook", "{}", 404, 0},
		"a body over the limit is too large": {"POST", "/webhooks", strings.Repeat("x", web.MaxBody+1), 413, 0},
		"a body at the limit is taken":       {"POST", "/webhooks", strings.Repeat("x", web.MaxBody), 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &receiver{}
			w, _ := deliver(t, to, test.method, test.path, test.body)
			if w.Code != test.want || to.called != test.calls {
				t.Errorf("answered %d after %d calls, want %d after %d", w.Code, to.called, test.want, test.calls)
			}
		})
	}
}
