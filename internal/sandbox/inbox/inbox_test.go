package inbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An e-mail is shown as it is, and cannot do anything on the sandbox's control port.
func TestLettersAreFenced(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	Routes(mux, func(h http.HandlerFunc) http.HandlerFunc { return h }, func(*http.Request) ([]Item, error) {
		return []Item{
			{To: "ana@shopper.example", Kind: "paused", Subject: `<script>alert("subject")</script>`, Text: "<b>", HTML: "<html><head></head><body><script>alert(1)</script></body></html>", At: time.Unix(0, 0)},
			{To: "+15550001", Kind: "upcoming_order", Text: "Soon", Segments: 1, At: time.Unix(0, 0)},
		}, nil
	})
	ask := func(path string, status int) *httptest.ResponseRecorder {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != status {
			t.Errorf("%s answered %d: %s", path, w.Code, w.Body)
		}
		return w
	}
	letter := ask("/inbox/1/letter", http.StatusOK)
	policy := letter.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "sandbox ") || strings.Contains(policy, "allow-scripts") || strings.Contains(policy, "allow-same-origin") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the e-mail's policy is %q", policy)
	}
	if !strings.Contains(letter.Body.String(), `<base target="_blank">`) {
		t.Errorf("links stay in the frame: %s", letter.Body)
	}
	for _, page := range []string{"/inbox", "/inbox/1", "/inbox/1?as=phone", "/inbox/1?as=nothing", "/inbox/2"} {
		if text := ask(page, http.StatusOK).Body.String(); strings.Contains(text, "<script>") {
			t.Errorf("%s has a script:\n%s", page, text)
		}
	}
	if text := ask("/inbox/2", http.StatusOK).Body.String(); strings.Contains(text, "<iframe") || !strings.Contains(text, "Soon") {
		t.Errorf("an SMS is shown as\n%s", text)
	}
	for _, path := range []string{"/inbox/0", "/inbox/3", "/inbox/x", "/inbox/2/letter", "/inbox/99999999999999999999"} {
		ask(path, http.StatusNotFound)
	}
}
