package sandbox

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/inbound"
)

// smsFile keeps the SMS that were caught, one JSON object a line.
const smsFile = "sms.jsonl"

// textMessage is an SMS as it was sent.
type textMessage struct {
	ID       string       `json:"id"` // the provider's
	To       string       `json:"to"`
	From     string       `json:"from"`
	Text     string       `json:"text"`
	Segments int          `json:"segments"`
	Kind     string       `json:"kind,omitempty"` // empty: a reply to an SMS
	At       *web.Instant `json:"at"`
	Links    []string     `json:"links"`
}

// sms lists the SMS that the service has sent, those included that are due now.
func (s *Sandbox) sms(r *http.Request) ([]textMessage, error) {
	if err := s.steps.Settle(r.Context()); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	found := []textMessage{}
	for _, m := range s.texts.caught.all() {
		if (q.Get("to") == "" || m.To == q.Get("to")) && (q.Get("kind") == "" || strings.EqualFold(m.Kind, q.Get("kind"))) {
			found = append(found, m)
		}
	}
	return found, nil
}

// answerIn is an SMS of a person.
type answerIn struct {
	From string `json:"from"` // E.164
	To   string `json:"to"`   // empty: the number that SMS come from
	Text string `json:"text"`
}

// answerView is what the service replies; empty: nothing.
type answerView struct {
	Reply string `json:"reply"`
}

// maxReply is the largest document with a reply that is read, in bytes.
const maxReply = 64 << 10

// answerSMS delivers an SMS of a person to the service, as the provider does.
func (s *Sandbox) answerSMS(r *http.Request) (answerView, error) {
	var in answerIn
	if err := body(r, &in); err != nil {
		return answerView{}, err
	}
	from, ok := sms.ParsePhone(in.From)
	if !ok {
		return answerView{}, fault.New(fault.Invalid, "%.40q is not a phone number with its country code", in.From).Code("phoneInvalid").Field("from")
	}
	form := url.Values{"MessageSid": {s.texts.id()}, "AccountSid": {smsAccount}, "From": {from}, "To": {cmp.Or(in.To, smsFrom)}, "Body": {in.Text}}
	answer, err := s.texts.post(r.Context(), s.urls.Subscriptions+inbound.SMSPath, form)
	if err != nil {
		return answerView{}, fault.Because(fault.Unavailable, err, "the service could not be reached")
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxReply))
	if err != nil {
		return answerView{}, err
	}
	if answer.StatusCode != http.StatusOK {
		return answerView{}, fault.New(fault.FailedPrecondition, "the service answers %d: %s", answer.StatusCode, text)
	}
	var reply struct{ Message string }
	if err := xml.Unmarshal(text, &reply); err != nil {
		return answerView{}, err
	}
	if reply.Message != "" {
		err = s.texts.caught.add(s.texts.message(from, reply.Message, ""))
	}
	return answerView{reply.Message}, err
}

// smsFaults are what the provider does wrong.
type smsFaults struct {
	Hang int `json:"hang"` // so many further requests get no answer
}

// setSMSFaults scripts the provider.
func (s *Sandbox) setSMSFaults(r *http.Request) (smsFaults, error) {
	var in smsFaults
	if err := body(r, &in); err != nil {
		return in, err
	}
	if in.Hang < 0 || in.Hang > 1000 {
		return in, fault.New(fault.Invalid, "%d requests: use 0 to 1000", in.Hang).Field("hang")
	}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	s.texts.hang = in.Hang
	return in, nil
}

// textSide is the provider's work, as the stepper sees it: reports of what became of SMS. It comes with
// the work of another side.
type textSide struct {
	side

	texts *texts
}

// Work delivers the reports, after the other side's work.
func (t textSide) Work(ctx context.Context) error {
	if err := t.side.Work(ctx); err != nil {
		return err
	}
	t.texts.report(ctx)
	return nil
}

// NextDue returns the present while there are reports.
func (t textSide) NextDue(ctx context.Context) (time.Time, bool, error) {
	if t.texts.waits() {
		return t.texts.clock.Now(), true, nil
	}
	return t.side.NextDue(ctx)
}

// smsReport is what the provider has to report, and where.
type smsReport struct {
	address string
	form    url.Values
}

// report delivers what there is to report. As at the provider, a report that is not taken is lost.
func (t *texts) report(ctx context.Context) {
	t.mu.Lock()
	due := t.reports
	t.reports = nil
	t.mu.Unlock()
	for _, r := range due {
		answer, err := t.post(ctx, r.address, r.form)
		if err == nil {
			err = answer.Body.Close()
		}
		if err != nil {
			t.log.WarnContext(ctx, "a report of an SMS was lost", "error", err)
		}
	}
}

func (t *texts) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.reports) > 0
}

// post sends a signed form to the service.
func (t *texts) post(ctx context.Context, address string, form url.Values) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(deliver.TwilioSignature(t.token, address, form)))
	return t.client.Do(r)
}
