package web

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func framed(log *bytes.Buffer, handler http.HandlerFunc) http.Handler {
	return Frame{Log: slog.New(slog.NewTextHandler(log, nil))}.Around(handler)
}

func TestPanicAfterAnswerBeganCutsConnection(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := httptest.NewServer(framed(&log, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		panic("too late")
	}))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err == nil {
		_, err = bytes.NewBuffer(nil).ReadFrom(response.Body)
		_ = response.Body.Close()
	}
	if err == nil {
		t.Error("half an answer looks like a whole one")
	}
	server.Close()
	if !strings.Contains(log.String(), "too late") {
		t.Errorf("log %s", log.String())
	}
}

func TestAccessLogDescribesRequestWithoutSecrets(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := framed(&log, func(w http.ResponseWriter, r *http.Request) {
		Note(r.Context(), errors.New("odd"))
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("four"))
	})
	r := httptest.NewRequest("POST", "/a/?api_key=secret&email=ann@example.com", nil)
	r.Header.Set("X-Api-Key", "secret")
	r.Header.Set("X-Request-Id", "one")
	h.ServeHTTP(httptest.NewRecorder(), r)
	for _, want := range []string{"requestId=one", "method=POST", "path=/a ", "status=202", "bytes=4", "error=odd"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s: %s", want, log.String())
		}
	}
	for _, banned := range []string{"secret", "ann@example.com"} {
		if strings.Contains(log.String(), banned) {
			t.Errorf("the log tells %s: %s", banned, log.String())
		}
	}
}

func TestPageLinksUseAddressAsClientSentIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		host   string
		secure bool
		tls    *tls.ConnectionState
		want   string
	}{
		"as it was asked for":         {"shop.example:8080", false, nil, `<http://shop.example:8080/list?page=0>; rel="first", <http://shop.example:8080/list?page=0>; rel="last"`},
		"over TLS":                    {"shop.example", false, &tls.ConnectionState{}, `<https://shop.example/list?page=0>; rel="first", <https://shop.example/list?page=0>; rel="last"`},
		"over TLS that a proxy ended": {"shop.example", true, nil, `<https://shop.example/list?page=0>; rel="first", <https://shop.example/list?page=0>; rel="last"`},
		"of a client that says none":  {"", true, nil, `</list?page=0>; rel="first", </list?page=0>; rel="last"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/list?api_key=secret", http.NoBody)
		r.Host, r.TLS = test.host, test.tls
		w := httptest.NewRecorder()
		Frame{Log: slog.New(slog.DiscardHandler), Secure: test.secure}.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", Whole(r.Context(), 3).Link)
		})).ServeHTTP(w, r)
		if got := w.Header().Get("Link"); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestClientAddressIsNearestUntrustedHop(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, test := range map[string]struct {
		peer, forwarded, want string
		trusted               []netip.Prefix
	}{
		"the peer, when no proxy is trusted":            {"192.0.2.1:1", "198.51.100.1", "192.0.2.1", nil},
		"the peer, when it is no trusted proxy":         {"192.0.2.1:1", "198.51.100.1", "192.0.2.1", proxies},
		"what a trusted proxy says":                     {"10.1.2.3:1", "198.51.100.1", "198.51.100.1", proxies},
		"the nearest that is not trusted":               {"10.1.2.3:1", "203.0.113.9, 198.51.100.1, 10.9.9.9", "198.51.100.1", proxies},
		"the proxy, when it says nothing":               {"10.1.2.3:1", "", "10.1.2.3", proxies},
		"the proxy, when it says nonsense":              {"10.1.2.3:1", "unknown", "10.1.2.3", proxies},
		"an address of the sixth version":               {"[fd00::1]:1", "2001:db8::7", "2001:db8::7", proxies},
		"an address of the fourth written in the sixth": {"[::ffff:192.0.2.1]:1", "", "192.0.2.1", nil},
		"nothing, when there is no peer":                {"@", "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = test.peer
			if test.forwarded != "" {
				r.Header.Set("X-Forwarded-For", test.forwarded)
			}
			if got := clientIP(r, test.trusted); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestGraphIDIsOneSegmentOfPath(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /contracts/{id}/pending", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.PathValue("id"))) })
	mux.HandleFunc("GET /contracts/{id}", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.PathValue("id"))) })
	h := framed(&bytes.Buffer{}, Routes(mux).ServeHTTP)
	for path, want := range map[string]string{
		"/contracts/7": "7",
		"/contracts/gid%3A%2F%2Fshopify%2FOrder%2F7":               "gid://shopify/Order/7",
		"/contracts/gid:%2F%2Fshopify%2FOrder%2F7":                 "gid://shopify/Order/7",
		"/contracts/gid://shopify/Order/7":                         "gid://shopify/Order/7",
		"/contracts/gid://shopify/Order/7/":                        "gid://shopify/Order/7",
		"/contracts/gid:/shopify/Order/7":                          "gid://shopify/Order/7",
		"/contracts/gid://shopify/Order/7/pending":                 "gid://shopify/Order/7",
		"/contracts/gid://shopify/Order/7%20":                      "gid://shopify/Order/7 ",
		"/contracts/gid%3A%2F%2Fshopify%2FOrder%2F7/pending?a=b//": "gid://shopify/Order/7",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Body.String() != want {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
	for _, path := range []string{"/contracts//gid:/shopify/Order/7", "/contracts/gid://shopify/7", "/contracts/gid://shopify/Order/7/8/9"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "pathNotFound") {
			t.Errorf("%s: %d %s, want 404 pathNotFound", path, w.Code, w.Body)
		}
	}
}

func TestDatabaseErrorAnswersUnavailable(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	frame := Frame{Log: slog.New(slog.DiscardHandler), Unavailable: func(err error) bool { return errors.Is(err, away) }}
	for name, row := range map[string]struct {
		err  error
		want int
	}{
		"away":            {fmt.Errorf("read the key: %w", away), http.StatusServiceUnavailable},
		"away, as a bug":  {fault.Because(fault.Internal, away, "read the key"), http.StatusServiceUnavailable},
		"a bug":           {errors.New("nil"), http.StatusInternalServerError},
		"a rule":          {fault.Because(fault.FailedPrecondition, away, "no"), http.StatusBadRequest},
		"a thing unknown": {fault.New(fault.NotFound, "no"), http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		frame.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { WriteError(w, r, row.err) })).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if w.Code != row.want || (w.Header().Get("Retry-After") != "") != (row.want == http.StatusServiceUnavailable) || strings.Contains(w.Body.String(), "connection refused") {
			t.Errorf("%s: %d, Retry-After %q, %s", name, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
}

func TestStrictTransportSecurityIsSentOnlyOverTLS(t *testing.T) {
	t.Parallel()
	for secure, want := range map[bool]string{true: "max-age=31536000", false: ""} {
		w := httptest.NewRecorder()
		Frame{Log: slog.New(slog.DiscardHandler), Secure: secure}.Around(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("secure %t: %q", secure, got)
		}
	}
}

func TestProblemRepeatsPathAsSent(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	framed(new(bytes.Buffer), func(w http.ResponseWriter, r *http.Request) { WriteError(w, r, fault.New(fault.NotFound, "no")) }).
		ServeHTTP(w, httptest.NewRequest("GET", "/a%2Fb/%3Cscript%3E", nil))
	if !strings.Contains(w.Body.String(), `"path":"/a%2Fb/%3Cscript%3E"`) {
		t.Errorf("body %s", w.Body)
	}
}
