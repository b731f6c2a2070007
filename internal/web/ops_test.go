package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProbesNameFailedChecks(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("up 1\n")) })
	good := Check{"database", func(context.Context) error { return nil }}
	lame := Check{"mail", func(context.Context) error { return fmt.Errorf("%w: no server", ErrDegraded) }}
	bad := Check{"queue", func(context.Context) error { return errors.New("away") }}
	for name, test := range map[string]struct {
		method, path string
		checks       []Check
		status       int
		body         string
	}{
		"the process lives":                  {"GET", "/healthz", []Check{bad}, 200, "{\"status\":\"ok\"}\n"},
		"the service is ready":               {"GET", "/readyz", []Check{good}, 200, "{\"status\":\"ok\"}\n"},
		"what is away is named":              {"GET", "/readyz", []Check{good, bad}, 503, "{\"status\":\"unavailable\",\"failed\":[\"queue\"]}\n"},
		"what works only in part is named":   {"GET", "/readyz", []Check{good, lame}, 200, "{\"status\":\"ok\",\"degraded\":[\"mail\"]}\n"},
		"metrics are the handler's":          {"GET", "/metrics", nil, 200, "up 1\n"},
		"a probe may ask for the head alone": {"HEAD", "/healthz", nil, 200, "{\"status\":\"ok\"}\n"},
		"another method is not possible":     {"POST", "/healthz", nil, 405, ""},
		"another path is unknown":            {"GET", "/debug", nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			Ops(metrics, test.checks...).ServeHTTP(w, httptest.NewRequest(test.method, test.path, nil))
			if w.Code != test.status || test.body != "" && w.Body.String() != test.body {
				t.Errorf("answered %d %q, want %d %q", w.Code, w.Body, test.status, test.body)
			}
		})
	}
}
