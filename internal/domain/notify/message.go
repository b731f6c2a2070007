// Package notify sends e-mails to subscribers. Each waits in a row of its own until a mail
// server accepts it or it is no longer needed. Failed messages are sent again after the
// retry delays of Policy.
package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// MessageID is the service's number of a message, unique within a shop.
type MessageID int64

// Status is where a message stands.
type Status string

// The statuses of a message.
const (
	Queued     Status = "QUEUED"     // waits for DueAt
	Sending    Status = "SENDING"    // being sent; DueAt is when the worker's lease ends
	Sent       Status = "SENT"       // accepted by a mail server
	Failed     Status = "FAILED"     // rejected by the mail server
	Suppressed Status = "SUPPRESSED" // no longer needed
)

// next is every move that a message can make.
var next = map[Status][]Status{
	Queued:  {Sending, Suppressed},
	Sending: {Sending, Queued, Sent, Failed, Suppressed},
	Sent:    {Failed}, // it came back
}

// Result is what became of a message.
type Result struct {
	Status Status
	Reason string // why it was suppressed
}

// Message is an e-mail or an SMS to one person.
type Message struct {
	ID       MessageID
	Kind     Kind
	Channel  Channel
	To       string // an address without a name, or a phone number; empty: the SMS is not sent yet
	FromName string // whose name the sender's address carries
	Content
	Facts     Facts          // that its words are written from; empty: it has its words
	Contract  contract.ID    // what it is about; 0: no contract
	Attempt   int64          // the order of the contract; 0: none in particular
	Customer  int64          // the platform's number of the recipient; 0: not a customer
	Actor     activity.Actor // who caused it
	DedupeKey string         // of two messages with one key the second is dropped
	Status    Status
	DueAt     time.Time // when there is something to do; zero: never
	ExpiresAt time.Time // afterwards it is of no use; zero: it always is
	Tries     int       // that failed
	LastError string
	CreatedAt time.Time
	SentAt    time.Time // zero when it was not
	MailID    string    // local part of the Message-ID under which it was sent; empty: it was not
	Version   int64

	ProviderID    string // of an SMS that the provider accepted
	Delivery      Delivery
	DeliveryError string
}

// maxAddress is the longest address that mail servers take.
const maxAddress = 254

// CheckAddress refuses what is not one bare e-mail address. param is the
// parameter at fault.
func CheckAddress(param, address string) error {
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || len(address) > maxAddress || strings.ContainsFunc(address, unicode.IsControl) {
		return fault.New(fault.Invalid, "%q is not an e-mail address", address).Code("emailInvalid").Field(param)
	}
	return nil
}

// New returns a message that is due at once if it has no other instant.
func New(m Message, now time.Time) (Message, error) {
	if _, known := traits[m.Kind]; !known {
		return Message{}, fault.New(fault.Internal, "%q is not a kind of message", m.Kind)
	}
	if m.DedupeKey == "" {
		return Message{}, fault.New(fault.Internal, "a message of kind %s has no key", m.Kind)
	}
	if m.Channel == ByMail {
		if err := CheckAddress("", m.To); err != nil {
			return Message{}, err
		}
	}
	m.Subject, m.FromName = oneLine(m.Subject), oneLine(m.FromName)
	m.Status, m.CreatedAt = Queued, now
	if m.DueAt.IsZero() {
		m.DueAt = now
	}
	return m, nil
}

// oneLine makes a text fit for a header: a line break would begin another one.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// group returns what the message is reported with. One that has its words is reported alone.
func (m Message) group() grouping {
	if m.Facts.empty() {
		return alone
	}
	return traits[m.Kind].group
}

func (m *Message) move(to Status) error {
	if !slices.Contains(next[m.Status], to) {
		return fault.New(fault.Internal, "message %d cannot become %s from %s", m.ID, to, m.Status)
	}
	m.Status = to
	return nil
}

// suppress ends a message that is no longer needed.
func (m *Message) suppress(reason string) error {
	m.DueAt, m.LastError = time.Time{}, reason
	m.forget()
	return m.move(Suppressed)
}

// conclude takes over what became of the letter that reports a message.
func (m *Message) conclude(l Letter, mailID string, failure error, p Policy, now time.Time) error {
	if why := l.LeftOut[m.ID]; why != "" {
		return m.suppress(why)
	}
	if failure == nil || errors.Is(failure, ErrRejected) { // what the person reads, or would have
		m.Content, m.FromName = l.Content, l.FromName
	}
	if failure == nil {
		m.MailID = mailID
	}
	return m.settle(failure, p, now)
}

// settle takes over what became of sending a message.
func (m *Message) settle(failure error, p Policy, now time.Time) error {
	switch {
	case failure == nil:
		m.DueAt, m.SentAt, m.LastError = time.Time{}, now, ""
		m.forget()
		return m.move(Sent)
	case errors.Is(failure, ErrRejected) || m.Tries >= len(p.Retries):
		m.Tries++
		m.DueAt, m.LastError = time.Time{}, failure.Error()
		m.forget()
		return m.move(Failed)
	default:
		m.DueAt, m.LastError = now.Add(p.Retries[m.Tries]), failure.Error()
		m.Tries++
		return m.move(Queued)
	}
}

// forget drops a text that opens something.
func (m *Message) forget() {
	if traits[m.Kind].secret {
		m.Text, m.HTML, m.Facts = "", "", Facts{}
	}
}

// email returns the message as it is sent. Its id depends on nothing but what
// the message is, so that mail programs recognise one that comes twice.
func (m Message) email(domain string, l Letter, now time.Time) Email {
	sum := sha256.Sum256([]byte(domain + "\x00" + m.DedupeKey))
	return Email{ID: hex.EncodeToString(sum[:16]), Kind: m.Kind, To: m.To, FromName: l.FromName, Content: l.Content, ReplyTo: l.ReplyTo, Unsubscribe: l.Unsubscribe, At: now}
}

// outcome is the additional information of an entry about a message.
type outcome struct {
	Kind     Kind    `json:"kind"`
	Channel  Channel `json:"channel,omitempty"` // empty: e-mail
	Tries    int     `json:"tries,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Customer int64   `json:"customerId,omitempty"` // of a message about no contract
}

// entry says how a message ended; nil when it has not.
func (m Message) entry(of int64, now time.Time) *activity.Entry {
	status, ended := map[Status]activity.Status{Sent: activity.Success, Failed: activity.Failure, Suppressed: activity.Skipped}[m.Status]
	if !ended {
		return nil
	}
	info := outcome{Kind: m.Kind, Channel: m.Channel, Tries: m.Tries, Reason: m.LastError}
	e := activity.Entry{
		EntityID: int64(m.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: traits[m.Kind].event, Status: status, Actor: m.Actor, At: now,
	}
	if m.Contract == 0 {
		e.EntityID, e.EntityType, info.Customer = of, activity.EntityShopInfo, m.Customer
	}
	e.Info = activity.Details(info)
	return &e
}

// Channel is how a message travels.
type Channel string

// The channels.
const (
	ByMail Channel = ""
	BySMS  Channel = "sms"
)

// Delivery is what a provider reported of an SMS that it accepted; empty: nothing yet.
type Delivery string

// The reports.
const (
	Delivered   Delivery = "delivered"
	Undelivered Delivery = "failed"
)

// Result returns what became of a message.
func (m Message) Result() Result {
	if m.Status == Sent && m.Delivery == Undelivered {
		return Result{Failed, m.DeliveryError}
	}
	return Result{m.Status, m.LastError}
}
