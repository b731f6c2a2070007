package deliver

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the provider's scheme
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

var _ notify.SMSTransport = (*Twilio)(nil)

// TwilioURL is where the provider's API is.
const TwilioURL = "https://api.twilio.com"

// TwilioOptions are an account at the provider and who its SMS come from.
type TwilioOptions struct {
	BaseURL string // empty: TwilioURL
	Account string // its SID, AC…
	Token   string // its auth token
	From    string // phone number in E.164, or the SID of a messaging service, MG…
	// StatusURL is where the provider reports what became of an SMS; the shop and the message follow, and
	// its kind, which the provider's console shows. Empty: nowhere.
	StatusURL string
	Timeout   time.Duration // of one request
}

// Twilio sends SMS by the Messages API of Twilio.
type Twilio struct {
	TwilioOptions
	client *http.Client
}

// NewTwilio returns the provider. Nothing is connected yet.
func NewTwilio(o TwilioOptions) *Twilio {
	o.BaseURL = strings.TrimSuffix(cmp.Or(o.BaseURL, TwilioURL), "/")
	return &Twilio{o, &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: o.Timeout, //nolint:forcetypeassert // of the standard library
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // credentials go nowhere else
	}}
}

// CloseIdleConnections closes the connections that are not in use.
func (t *Twilio) CloseIdleConnections() { t.client.CloseIdleConnections() }

// Check asks for the account and for nothing else.
func (t *Twilio) Check(ctx context.Context) error {
	var account struct {
		Status string `json:"status"`
	}
	if err := t.call(ctx, http.MethodGet, ".json", nil, &account); err != nil {
		return err
	}
	if account.Status != "active" {
		return fmt.Errorf("the account is %s", account.Status)
	}
	return nil
}

// messageLeft is what the API says of a message.
type messageLeft struct {
	SID  string `json:"sid"`
	Body string `json:"body"`
}

// SendSMS sends SMS one after another. When the provider does not answer, or takes nothing, those after
// that fail too.
func (t *Twilio) SendSMS(ctx context.Context, list []notify.SMS) []notify.Receipt {
	receipts := make([]notify.Receipt, len(list))
	for i, s := range list {
		receipts[i] = t.sendOne(ctx, s)
		if failure := receipts[i].Failure; failure != nil && !errors.Is(failure, notify.ErrRejected) {
			for j := range list[i:] {
				receipts[i+j].Failure = failure
			}
			break
		}
	}
	return receipts
}

// sendOne sends an SMS. The API has no key that makes a repetition harmless, so that after a try
// without an answer the SMS is looked for first.
func (t *Twilio) sendOne(ctx context.Context, s notify.SMS) notify.Receipt {
	if !s.Since.IsZero() {
		if sid, err := t.find(ctx, s); err != nil || sid != "" {
			return notify.Receipt{ID: sid, Failure: err}
		}
	}
	form := url.Values{"To": {s.To}, "Body": {s.Text}}
	if strings.HasPrefix(t.From, "MG") {
		form.Set("MessagingServiceSid", t.From)
	} else {
		form.Set("From", t.From)
	}
	if t.StatusURL != "" {
		form.Set("StatusCallback", fmt.Sprintf("%s/%d/%d?kind=%s", t.StatusURL, s.Shop, s.Message, s.Kind))
	}
	var made messageLeft
	err := t.call(ctx, http.MethodPost, "/Messages.json", form, &made)
	return notify.Receipt{ID: made.SID, Failure: err}
}

// find returns the SID of an SMS with the same words to the same number since an instant; "" when the
// provider knows none.
func (t *Twilio) find(ctx context.Context, s notify.SMS) (string, error) {
	query := url.Values{"To": {s.To}, "DateSent>": {s.Since.UTC().Format(time.DateOnly)}, "PageSize": {"50"}}
	var page struct {
		Messages []messageLeft `json:"messages"`
	}
	if err := t.call(ctx, http.MethodGet, "/Messages.json?"+query.Encode(), nil, &page); err != nil {
		return "", err
	}
	for _, m := range page.Messages {
		if m.Body == s.Text {
			return m.SID, nil
		}
	}
	return "", nil
}

// maxResponse is the largest response that is read, in bytes: a page of 50 messages has some 60 KB.
const maxResponse = 256 << 10

// call sends a request below the account and reads the response into an object.
func (t *Twilio) call(ctx context.Context, method, path string, form url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, t.BaseURL+"/2010-04-01/Accounts/"+t.Account+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.SetBasicAuth(t.Account, t.Token)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return fmt.Errorf("ask the provider of SMS: %w", cause(err))
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse))
	if err != nil {
		return fmt.Errorf("read the response of the provider of SMS: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return refusal(answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the response of the provider of SMS: %w", err)
	}
	return nil
}

// cause returns an error of a request without its URL, which has the number of the account and, in a
// search, that of a customer.
func cause(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// stoppedCode is the code of a number that has answered STOP.
const stoppedCode = 21610

// ours are codes of status 400 that blame the account or the sender's number, so that the SMS may be
// taken when the operator has corrected the settings.
var ours = []int{
	21212, // the sender's number is invalid
	21603, // no sender
	21606, // the sender's number cannot send SMS
	21609, // invalid StatusCallback
	21611, // the queue of the sender's number is full
	21659, // the sender's number is not one of the provider's
	21660, // nor one of the account's
	21661, // nor one for SMS
	21701, // the messaging service does not exist
	21703, // it has no number
}

// refusal returns the error of a response that is none of success. The provider's message is left out:
// it repeats the customer's number.
func refusal(status int, text []byte) error {
	var said struct {
		Code int `json:"code"`
	}
	_ = json.Unmarshal(text, &said) // a proxy may have answered in between
	switch {
	case said.Code == stoppedCode:
		return notify.ErrStopped
	case status == http.StatusBadRequest && !slices.Contains(ours, said.Code):
		return fmt.Errorf("%w: error %d", notify.ErrSMSRejected, said.Code)
	}
	return fmt.Errorf("the provider of SMS answers %d, error %d", status, said.Code)
}

// Genuine reports whether a request that the provider makes is its own, by the header
// X-Twilio-Signature: address is the whole URL that it called, and form what it posted.
func (t *Twilio) Genuine(address string, form url.Values, signature string) bool {
	given, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(given, TwilioSignature(t.Token, address, form))
}

// TwilioSignature returns the signature of a request of the provider: the URL and each field, by name,
// under the account's token.
func TwilioSignature(token, address string, form url.Values) []byte {
	h := hmac.New(sha1.New, []byte(token))
	_, _ = io.WriteString(h, address)
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			_, _ = io.WriteString(h, name+value)
		}
	}
	return h.Sum(nil)
}
