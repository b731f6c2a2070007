package deliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

// Mailgun reads what Mailgun's webhooks report of e-mails that it has taken. Each is signed with the
// account's webhook signing key: HMAC-SHA256 over its timestamp and token.
type Mailgun struct {
	Key   string // the webhook signing key
	Clock clock.Clock
}

// signatureAge is how old a signed report may be: Mailgun repeats one for 8 hours.
const signatureAge = 24 * time.Hour

// mailgunReport is the body of a webhook, as far as it is read.
type mailgunReport struct {
	Signature struct{ Timestamp, Token, Signature string }
	Event     struct {
		Event     string // failed or complained; others are not about addresses
		Severity  string // of a failure: permanent or temporary
		Recipient string
		Message   struct {
			Headers struct {
				ID string `json:"message-id"`
			}
		}
		Status struct {
			Code         int
			Enhanced     string `json:"enhanced-code"`
			Message      string
			Description  string
			BouncingType string `json:"bounce-type"` // hard or soft
		} `json:"delivery-status"`
	} `json:"event-data"`
}

// Read returns what a webhook reports; nil when that is nothing about an address. It fails with
// Unauthenticated when the signature is wrong, and with Invalid when the body cannot be read.
func (m Mailgun) Read(body []byte) (*notify.Return, error) {
	var r mailgunReport
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fault.Because(fault.Invalid, err, "the body is no report of Mailgun").Entity("mail").Code("body")
	}
	if err := m.verify(r.Signature.Timestamp, r.Signature.Token, r.Signature.Signature); err != nil {
		return nil, err
	}
	is := &notify.Return{Source: "Mailgun", To: r.Event.Recipient, Text: strings.TrimSpace(r.Event.Status.Message + " " + r.Event.Status.Description)}
	is.MailID, _, _ = strings.Cut(strings.Trim(r.Event.Message.Headers.ID, "<>"), "@")
	if is.MailID == "" || is.To == "" {
		return nil, fault.New(fault.Invalid, "the report names no message or no recipient").Entity("mail").Code("body")
	}
	switch s := r.Event.Status; {
	case r.Event.Event == "complained":
		is.Reason = notify.Complaint
	case r.Event.Event != "failed" || r.Event.Severity != "permanent":
		return nil, nil
	case s.BouncingType == "hard" || noMailbox(s.Enhanced) || s.Enhanced == "" && s.Code == 550:
		is.Reason = notify.HardBounce
	}
	if is.Text == "" {
		is.Text = fmt.Sprintf("%d %s", r.Event.Status.Code, r.Event.Status.Enhanced)
	}
	return is, nil
}

func (m Mailgun) verify(timestamp, token, signature string) error {
	mac := hmac.New(sha256.New, []byte(m.Key))
	mac.Write([]byte(timestamp + token))
	given, err := hex.DecodeString(signature)
	if err != nil || !hmac.Equal(mac.Sum(nil), given) {
		return fault.New(fault.Unauthenticated, "the signature is wrong").Entity("mail").Code("signature")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := m.Clock.Now().Sub(time.Unix(seconds, 0)); err != nil || age > signatureAge || age < -signatureAge {
		return fault.New(fault.Unauthenticated, "the signature is older than a day").Entity("mail").Code("signature")
	}
	return nil
}
