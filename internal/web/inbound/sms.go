package inbound

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Where the provider of SMS delivers answers, and below it what became of an SMS: the shop's number and
// the message's follow.
const (
	SMSPath   = "/hooks/sms/twilio"
	SMSStatus = "/status"
)

// SMSOptions are what the paths of the provider of SMS need. Their failures are faults.
type SMSOptions struct {
	Frame     web.Frame
	PublicURL string // under which the provider calls the service, without a slash at its end
	// Genuine reports whether the provider signed a request to an address with a form.
	Genuine func(address string, form url.Values, signature string) bool
	// Answered carries out what a phone number answered, and returns the customers with that number.
	Answered func(ctx context.Context, phone string, word optin.Word) ([]optin.Owner, error)
	// Reply returns the reply to a customer who wrote a word.
	Reply func(ctx context.Context, word optin.Word, to optin.Owner) (string, error)
	// Reported takes over what became of an SMS, or fails with NotFound.
	Reported func(ctx context.Context, of shop.ID, r notify.Report) error
}

// NewSMS returns the handler of SMSPath and everything below it.
func NewSMS(o SMSOptions) http.Handler {
	h := smsHooks{o}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+SMSPath, h.answer)
	mux.HandleFunc("POST "+SMSPath+SMSStatus+"/{shop}/{message}", h.status)
	return o.Frame.Around(web.Routes(mux))
}

type smsHooks struct{ SMSOptions }

// signed returns the form of a request of the provider. Fields are those of its documentation.
func (h smsHooks) signed(r *http.Request) (url.Values, error) {
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the body is not a form: send application/x-www-form-urlencoded").Code("bodyForm")
	}
	if !h.Genuine(h.PublicURL+r.URL.RequestURI(), form, r.Header.Get("X-Twilio-Signature")) {
		return nil, fault.New(fault.Unauthenticated, "the signature in X-Twilio-Signature is wrong").Code("signatureInvalid")
	}
	return form, nil
}

// twiml is a document that tells the provider what to reply; without Message nothing.
type twiml struct {
	XMLName xml.Name `xml:"Response"`
	Message string   `xml:"Message,omitempty"`
}

// answer takes an SMS that a person wrote to the sender's number.
func (h smsHooks) answer(w http.ResponseWriter, r *http.Request) {
	reply, err := h.replyTo(r)
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	text, err := xml.Marshal(twiml{Message: reply})
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	_, _ = w.Write(append([]byte(xml.Header), text...)) // the provider is gone
}

// replyTo carries out an answer and returns the reply; "" for none: people without a consent get none,
// and the provider has replied itself when it says that it knows the word.
func (h smsHooks) replyTo(r *http.Request) (string, error) {
	form, err := h.signed(r)
	if err != nil {
		return "", err
	}
	phone, err := optin.ParsePhone("From", form.Get("From"))
	if err != nil {
		return "", err
	}
	known := optin.Word(form.Get("OptOutType"))
	word := known
	if word == "" {
		word = optin.WordOf(form.Get("Body"))
	}
	if word == "" {
		return "", nil
	}
	owners, err := h.Answered(r.Context(), phone, word)
	if err != nil || len(owners) == 0 || known != "" {
		return "", err
	}
	return h.Reply(r.Context(), word, owners[0])
}

// reports are the provider's words for what became of an SMS in the end. Others are on the way to it.
var reports = map[string]notify.Delivery{"delivered": notify.Delivered, "undelivered": notify.Undelivered, "failed": notify.Undelivered}

// status takes what became of an SMS.
func (h smsHooks) status(w http.ResponseWriter, r *http.Request) {
	if err := h.report(r); err != nil {
		web.WriteError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h smsHooks) report(r *http.Request) error {
	form, err := h.signed(r)
	if err != nil {
		return err
	}
	of, err := strconv.ParseInt(r.PathValue("shop"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "there is no shop %.40q", r.PathValue("shop"))
	}
	message, err := strconv.ParseInt(r.PathValue("message"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "there is no message %.40q", r.PathValue("message"))
	}
	became, final := reports[form.Get("MessageStatus")]
	if !final {
		return nil
	}
	report := notify.Report{Message: notify.MessageID(message), ProviderID: form.Get("MessageSid"), Delivery: became}
	if became == notify.Undelivered {
		report.Error = "not delivered, error " + code(form.Get("ErrorCode"))
	}
	err = h.Reported(r.Context(), shop.ID(of), report)
	if fault.Is(err, fault.NotFound) {
		web.Note(r.Context(), err) // erased since: the provider can do nothing about it
		return nil
	}
	return err
}

// code returns the provider's code of an error, which is a number.
func code(given string) string {
	if n, err := strconv.ParseUint(given, 10, 32); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return "unknown"
}
