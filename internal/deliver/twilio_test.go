package deliver

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

const (
	account = "AC00000000000000000000000000000001"
	token   = "a-token-that-is-never-shown"
)

// provider answers requests as a function says, and keeps them.
type provider struct {
	*Twilio

	mu   sync.Mutex
	kept []string
}

// requests returns what was asked for: method, path and query, and the form.
func (p *provider) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.kept)
}

func newProvider(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if user, password, _ := r.BasicAuth(); user != account || password != token {
			t.Errorf("authenticated as %q with %q", user, password)
		}
		p.mu.Lock()
		p.kept = append(p.kept, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		p.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	p.Twilio = NewTwilio(TwilioOptions{BaseURL: server.URL + "/", Account: account, Token: token, From: "+15550001111", StatusURL: "https://subs.example.com/hooks/sms/twilio/status", Timeout: 5 * time.Second})
	t.Cleanup(p.CloseIdleConnections)
	return p
}

func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func TestTwilioSendsOneRequestForAnSMS(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says(201, `{"sid":"SM1","status":"queued"}`))
	got := p.SendSMS(t.Context(), []notify.SMS{{Shop: 7, Message: 12, Kind: notify.UpcomingOrder, To: "+4915123456789", Text: "Tee & mehr: 5 €"}})
	if len(got) != 1 || got[0] != (notify.Receipt{ID: "SM1"}) {
		t.Errorf("receipts %v", got)
	}
	want := "POST /2010-04-01/Accounts/" + account + "/Messages.json Body=Tee+%26+mehr%3A+5+%E2%82%AC&From=%2B15550001111&StatusCallback=https%3A%2F%2Fsubs.example.com%2Fhooks%2Fsms%2Ftwilio%2Fstatus%2F7%2F12%3Fkind%3Dupcoming_order&To=%2B4915123456789"
	if len(p.requests()) != 1 || p.requests()[0] != want {
		t.Errorf("requests\n%s\nwant\n%s", strings.Join(p.requests(), "\n"), want)
	}
}

func TestTwilioSendsByMessagingService(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says(201, `{"sid":"SM1"}`))
	p.From, p.StatusURL = "MG0123", ""
	p.SendSMS(t.Context(), []notify.SMS{{To: "+4915123456789", Text: "a"}})
	if len(p.requests()) != 1 || !strings.HasSuffix(p.requests()[0], " Body=a&MessagingServiceSid=MG0123&To=%2B4915123456789") {
		t.Errorf("requests %q", p.requests())
	}
}

func TestTwilioTellsFinalFailuresFromOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status         int
		text           string
		final, stopped bool
	}{
		"an invalid number is never taken":                {400, `{"code":21211,"message":"+491 is invalid"}`, true, false},
		"a landline is not":                               {400, `{"code":21614}`, true, false},
		"an unknown reason is not":                        {400, `{"code":29999}`, true, false},
		"nor a response without one":                      {400, `no JSON`, true, false},
		"a number that answered STOP is not":              {400, `{"code":21610}`, true, true},
		"the wrong sender is the operator's to correct":   {400, `{"code":21606}`, false, false},
		"a full queue empties":                            {400, `{"code":21611}`, false, false},
		"wrong credentials are the operator's, too":       {401, `{"code":20003}`, false, false},
		"a closed account is":                             {403, `{"code":20005}`, false, false},
		"an unknown account is":                           {404, `{"code":20404}`, false, false},
		"too many requests pass":                          {429, `{"code":20429}`, false, false},
		"a failure of the provider passes":                {500, `{"code":20500}`, false, false},
		"a proxy without the provider passes":             {502, `<html>`, false, false},
		"a redirect is not followed":                      {307, ``, false, false},
		"success without an object is unknown":            {201, `<html>`, false, false},
		"success that is too large to be read is unknown": {201, `{"sid":"` + strings.Repeat("x", maxResponse) + `"}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/")
				says(test.status, test.text)(w, r)
			})
			got := p.SendSMS(t.Context(), []notify.SMS{{To: "+4915123456789", Text: "secret words"}})[0]
			if got.Failure == nil || errors.Is(got.Failure, notify.ErrRejected) != test.final || errors.Is(got.Failure, notify.ErrStopped) != test.stopped {
				t.Fatalf("failure %v", got.Failure)
			}
			for _, never := range []string{token, account, "4915123456789", "secret words", "+491"} {
				if strings.Contains(got.Failure.Error(), never) {
					t.Errorf("the error shows %q: %v", never, got.Failure)
				}
			}
		})
	}
}

// One SMS that is refused concerns no other. A provider that does not answer is asked once, so that a
// batch takes one timeout and not twenty.
func TestTwilioGivesABatchUpWhenTheProviderHangs(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	calls := 0
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		switch calls++; calls {
		case 1:
			says(400, `{"code":21211}`)(w, r)
		case 2:
			says(201, `{"sid":"SM2"}`)(w, r)
		default:
			<-hang
		}
	})
	defer close(hang)
	p.client.Timeout = 50 * time.Millisecond
	list := make([]notify.SMS, 5)
	for i := range list {
		list[i] = notify.SMS{To: fmt.Sprintf("+491512345678%d", i), Text: "a"}
	}
	got := p.SendSMS(t.Context(), list)
	if !errors.Is(got[0].Failure, notify.ErrRejected) || got[1] != (notify.Receipt{ID: "SM2"}) {
		t.Errorf("receipts %v", got)
	}
	for _, r := range got[2:] {
		if r.Failure == nil || errors.Is(r.Failure, notify.ErrRejected) || strings.Contains(r.Failure.Error(), account) {
			t.Errorf("a provider that hangs: %v", r.Failure)
		}
	}
	if len(p.requests()) != 3 {
		t.Errorf("%d requests, want 3", len(p.requests()))
	}
}

func TestTwilioLooksForAnSMSBeforeItIsRepeated(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		found string
		want  notify.Receipt
		posts int
	}{
		"one that is there is not sent again": {`{"messages":[{"sid":"SM0","body":"other words"},{"sid":"SM1","body":"words"}]}`, notify.Receipt{ID: "SM1"}, 0},
		"one that is not there is sent":       {`{"messages":[{"sid":"SM0","body":"other words"}]}`, notify.Receipt{ID: "SM2"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					says(200, test.found)(w, r)
					return
				}
				says(201, `{"sid":"SM2"}`)(w, r)
			})
			got := p.SendSMS(t.Context(), []notify.SMS{{To: "+4915123456789", Text: "words", Since: since}})[0]
			if got != test.want || len(p.requests()) != 1+test.posts {
				t.Errorf("receipt %v after %q", got, p.requests())
			}
			if want := "GET /2010-04-01/Accounts/" + account + "/Messages.json?DateSent%3E=2026-12-31&PageSize=50&To=%2B4915123456789"; p.requests()[0] != want {
				t.Errorf("asked\n%s\nwant\n%s", p.requests()[0], want)
			}
		})
	}
}

func TestTwilioCheck(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{`{"status":"active"}`: true, `{"status":"suspended"}`: false} {
		p := newProvider(t, says(200, text))
		if err := p.Check(t.Context()); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if p.requests()[0] != "GET /2010-04-01/Accounts/"+account+".json" {
			t.Errorf("asked %s", p.requests()[0])
		}
	}
}

// The values are those of the provider's documentation and of its libraries' tests.
func TestTwilioSignature(t *testing.T) {
	t.Parallel()
	address := "https://mycompany.com/myapp.php?foo=1&bar=2"
	form := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"}}
	const signature = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
	if got := base64.StdEncoding.EncodeToString(TwilioSignature("12345", address, form)); got != signature {
		t.Fatalf("signature %s", got)
	}
	at := NewTwilio(TwilioOptions{Token: "12345"})
	if !at.Genuine(address, form, signature) {
		t.Error("a genuine request is refused")
	}
	other := url.Values{"Digits": {"12345"}}
	for name, is := range map[string]bool{
		"another address":   at.Genuine(address+"3", form, signature),
		"another form":      at.Genuine(address, other, signature),
		"no signature":      at.Genuine(address, form, ""),
		"part of one":       at.Genuine(address, form, signature[:8]),
		"no base64":         at.Genuine(address, form, "%"),
		"another signature": at.Genuine(address, form, "RSOYDt4T1cUTdK1PDd93/VVr8C8="),
		"another token":     NewTwilio(TwilioOptions{Token: "12346"}).Genuine(address, form, signature),
	} {
		if is {
			t.Errorf("%s is taken for genuine", name)
		}
	}
}
