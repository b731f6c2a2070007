package inbound

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// hooks are the paths of a provider whose signature is the address that it calls.
type hooks struct {
	owners   []optin.Owner
	answered []string
	reports  []notify.Report
	err      error
}

// post sends a form to a path over HTTP, and returns the status, the content type and the body.
func (h *hooks) post(t *testing.T, path, signature string, form url.Values) (int, string, string) {
	t.Helper()
	const public = "https://subs.example.com"
	handler := NewSMS(SMSOptions{
		Frame: web.Frame{Log: slog.New(slog.DiscardHandler)}, PublicURL: public,
		Genuine: func(address string, form url.Values, signature string) bool {
			return signature == address+"#"+form.Get("From")
		},
		Answered: func(_ context.Context, phone string, word optin.Word) ([]optin.Owner, error) {
			h.answered = append(h.answered, phone+" "+string(word))
			return h.owners, h.err
		},
		Reply: func(_ context.Context, word optin.Word, to optin.Owner) (string, error) {
			return "Tea & Tin <" + string(word) + ">", nil
		},
		Reported: func(_ context.Context, of shop.ID, r notify.Report) error {
			if of != 7 {
				t.Errorf("reported to shop %d", of)
			}
			h.reports = append(h.reports, r)
			return h.err
		},
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if signature == "" {
		signature = public + path + "#" + form.Get("From")
	}
	r.Header.Set("X-Twilio-Signature", signature)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(body)
}

func TestAnswersToSMS(t *testing.T) {
	t.Parallel()
	const none = `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Response></Response>"
	says := func(text string) string {
		return strings.Replace(none, "></", "><Message>"+text+"</Message></", 1)
	}
	someone := []optin.Owner{{Shop: 7, Customer: 901}}
	for name, test := range map[string]struct {
		form      url.Values
		owners    []optin.Owner
		signature string
		err       error
		status    int
		body      string
		answered  []string
	}{
		"STOP is carried out and answered":         {form: url.Values{"From": {"+4915123456789"}, "Body": {" stop.\n"}}, owners: someone, status: 200, body: says("Tea &amp; Tin &lt;STOP&gt;"), answered: []string{"+4915123456789 STOP"}},
		"HELP too":                                 {form: url.Values{"From": {"+4915123456789"}, "Body": {"Help"}}, owners: someone, status: 200, body: says("Tea &amp; Tin &lt;HELP&gt;"), answered: []string{"+4915123456789 HELP"}},
		"another text is not":                      {form: url.Values{"From": {"+4915123456789"}, "Body": {"please stop"}}, owners: someone, status: 200, body: none},
		"a number without a consent gets no reply": {form: url.Values{"From": {"+4915123456789"}, "Body": {"STOP"}}, status: 200, body: none, answered: []string{"+4915123456789 STOP"}},
		"the provider has replied":                 {form: url.Values{"From": {"+4915123456789"}, "Body": {"genug"}, "OptOutType": {"STOP"}}, owners: someone, status: 200, body: none, answered: []string{"+4915123456789 STOP"}},
		"another signature is refused":             {form: url.Values{"From": {"+4915123456789"}, "Body": {"STOP"}}, owners: someone, signature: "x", status: 401},
		"what is no number is refused":             {form: url.Values{"From": {"Tea"}, "Body": {"STOP"}}, owners: someone, status: 400},
		"a database that is away asks for another": {form: url.Values{"From": {"+4915123456789"}, "Body": {"STOP"}}, err: fault.New(fault.Unavailable, "away"), status: 503, answered: []string{"+4915123456789 STOP"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{owners: test.owners, err: test.err}
			status, media, body := h.post(t, SMSPath, test.signature, test.form)
			if status != test.status || !reflect.DeepEqual(h.answered, test.answered) {
				t.Errorf("%d after %q: %s", status, h.answered, body)
			}
			if status == 200 && (body != test.body || media != "text/xml; charset=utf-8") {
				t.Errorf("%s\n%s\nwant\n%s", media, body, test.body)
			}
		})
	}
}

func TestReportsOfSMS(t *testing.T) {
	t.Parallel()
	report := func(d notify.Delivery, why string) []notify.Report {
		return []notify.Report{{Message: 12, ProviderID: "SM1", Delivery: d, Error: why}}
	}
	for name, test := range map[string]struct {
		path, state, code, signature string
		err                          error
		status                       int
		want                         []notify.Report
	}{
		"delivered":                       {path: "/7/12", state: "delivered", status: 204, want: report(notify.Delivered, "")},
		"undelivered":                     {path: "/7/12", state: "undelivered", code: "30003", status: 204, want: report(notify.Undelivered, "not delivered, error 30003")},
		"failed, with what is no code":    {path: "/7/12", state: "failed", code: "<b>", status: 204, want: report(notify.Undelivered, "not delivered, error unknown")},
		"on its way":                      {path: "/7/12", state: "sent", status: 204},
		"of a message that is gone":       {path: "/7/12", state: "delivered", err: fault.New(fault.NotFound, "gone"), status: 204, want: report(notify.Delivered, "")},
		"of no message":                   {path: "/7/x", state: "delivered", status: 404},
		"of no shop":                      {path: "/x/12", state: "delivered", status: 404},
		"signed for another message":      {path: "/7/12", state: "delivered", signature: "https://subs.example.com" + SMSPath + SMSStatus + "/7/13#", status: 401},
		"while the database is not there": {path: "/7/12", state: "delivered", err: fault.New(fault.Unavailable, "away"), status: 503, want: report(notify.Delivered, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{err: test.err}
			status, _, body := h.post(t, SMSPath+SMSStatus+test.path, test.signature, url.Values{"MessageSid": {"SM1"}, "MessageStatus": {test.state}, "ErrorCode": {test.code}})
			if status != test.status || !reflect.DeepEqual(h.reports, test.want) {
				t.Errorf("%d, %v: %s", status, h.reports, body)
			}
		})
	}
}
