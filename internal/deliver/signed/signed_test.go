package signed

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/network"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

func app(url string) partner.App {
	return partner.App{ID: "reports", BaseURL: url, Signing: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
}

// The vector is the one that implementations of the standard check themselves by.
func TestSignaturesFollowStandardWebhooks(t *testing.T) {
	t.Parallel()
	got, err := Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", partner.Message{
		ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", At: time.Unix(1614265330, 0), Body: []byte(`{"test": 2432232314}`),
	})
	if err != nil || got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := Sign("", partner.Message{}); err == nil {
		t.Error("without a secret something was signed")
	}
}

func TestMessageArrivesUnchanged(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte(`{"ok":true}`))
	}))
	t.Cleanup(server.Close)
	m := partner.Message{ID: "msg_1", At: time.Unix(1614265330, 0), Body: []byte(`{"a":1}`)}
	answer, err := New(true).Post(t.Context(), app(server.URL+"/base"), "verify", m)
	if err != nil || string(answer) != `{"ok":true}` {
		t.Fatalf("answer %q, %v", answer, err)
	}
	signature, _ := Sign(app("").Signing, m)
	if got.Method != http.MethodPost || got.URL.Path != "/base/verify" || string(body) != `{"a":1}` || got.Header.Get("webhook-id") != "msg_1" ||
		got.Header.Get("webhook-timestamp") != "1614265330" || got.Header.Get("webhook-signature") != signature {
		t.Errorf("got %s %s %s %v", got.Method, got.URL, body, got.Header)
	}
}

func TestInvalidAnswersFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"an error":                 {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "418"},
		"a redirect":               {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "302"},
		"an answer without end":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxAnswer+1)) }, "longer"},
		"a connection that is cut": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			t.Cleanup(server.Close)
			if _, err := New(true).Post(t.Context(), app(server.URL), "verify", partner.Message{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := New(true).Post(late, app("http://127.0.0.1:1"), "verify", partner.Message{}); err == nil || !strings.Contains(err.Error(), "within 10s") {
		t.Errorf("too late: %v", err)
	}
}

func TestPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	if _, err := New(false).Post(t.Context(), app(server.URL), "verify", partner.Message{}); err == nil || !strings.Contains(err.Error(), "not public") {
		t.Errorf("a server on this machine: %v", err)
	}
	for _, address := range []string{
		"127.0.0.1:80", "10.1.2.3:443", "172.16.0.1:443", "192.168.1.1:443", "169.254.169.254:80", "100.64.0.1:443", "0.0.0.0:80", "255.255.255.255:80", "224.0.0.1:80",
		"[::1]:443", "[::]:443", "[fe80::1]:443", "[fd00::1]:443", "[::ffff:127.0.0.1]:443", "[64:ff9b::7f00:1]:443", "[2002:7f00:1::]:443", "[ff02::1]:443", "nonsense",
	} {
		if network.CheckPublic(address) == nil {
			t.Errorf("%s is taken for public", address)
		}
	}
	for _, address := range []string{"8.8.8.8:443", "[2606:4700::1111]:443", "1.1.1.1:80"} {
		if err := network.CheckPublic(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWebhookIsSignedByEachSecretInBothHeaders(t *testing.T) {
	t.Parallel()
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = w.Write([]byte("thanks" + strings.Repeat(".", webhook.MaxAnswer)))
	}))
	t.Cleanup(server.Close)
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret of 24 b.."))
	a := New(true).Send(t.Context(), webhook.Call{
		URL: server.URL, Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", other}, ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", At: time.Unix(1614265330, 0), Body: []byte(`{"test": 2432232314}`),
	})
	if a.Code != 200 || a.Failed != "" || len(a.Head) != webhook.MaxAnswer || !strings.HasPrefix(a.Head, "thanks") {
		t.Errorf("answered %+v", a)
	}
	for _, prefix := range []string{"Webhook", "Svix"} {
		list := strings.Fields(got.Get(prefix + "-Signature"))
		if len(list) != 2 || list[0] != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || list[1] == list[0] || got.Get(prefix+"-Id") != "msg_p5jXN8AQM9LWM0D4loKWxJek" || got.Get(prefix+"-Timestamp") != "1614265330" {
			t.Errorf("%s: %v", prefix, got)
		}
	}
}

func TestAnswersToWebhooks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   webhook.Answer
	}{
		"gone": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, webhook.Answer{Code: 410, Failed: "it answered 410"}},
		"busy, for some seconds": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, webhook.Answer{Code: 503, Failed: "it answered 503", RetryAfter: 2 * time.Minute}},
		"busy, until a date": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Sat, 31 Jan 2026 12:00:00 GMT")
			w.Header().Set("Retry-After", "Sat, 31 Jan 2026 13:00:00 GMT")
			w.WriteHeader(http.StatusTooManyRequests)
		}, webhook.Answer{Code: 429, Failed: "it answered 429", RetryAfter: time.Hour}},
		"busy, for no time that is one": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "-5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, webhook.Answer{Code: 503, Failed: "it answered 503"}},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
		}, webhook.Answer{Code: 308, Failed: "it answered 308"}},
		"cut": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, webhook.Answer{Failed: "there was no answer"}},
		"taken, and never finished": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(http.StatusAccepted)
		}, webhook.Answer{Code: 202}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			t.Cleanup(server.Close)
			got := New(true).Send(t.Context(), webhook.Call{URL: server.URL, Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}})
			if got.Took, got.Head = 0, ""; got != test.want {
				t.Errorf("got %+v", got)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	call := webhook.Call{URL: server.URL, Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}
	for _, private := range []string{
		server.URL, "http://127.0.0.1:1", "https://localhost", "http://10.1.2.3", "http://169.254.169.254/latest/meta-data", "http://100.64.0.1", "http://0.0.0.0", "https://[::1]:8443", "http://[fd00::1]", "http://[::ffff:10.0.0.1]",
	} {
		call.URL = private
		got := New(false).Send(t.Context(), call)
		if got.Took = 0; got != (webhook.Answer{Failed: "the address is not public"}) {
			t.Errorf("%s: %+v, want the same for every address that is not public", private, got)
		}
	}
	call.URL = server.URL
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if got := New(true).Send(late, call); !strings.Contains(got.Failed, "within 15s") {
		t.Errorf("too late: %+v", got)
	}
}
