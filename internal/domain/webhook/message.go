package webhook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MessageID identifies a message. All tries and replays carry the same id.
type MessageID string

// idBytes is how many bytes of a hash an id has.
const idBytes = 18

// NewMessageID returns the id of the message about an entry. The instant distinguishes
// entries that got the same number before and after a backup was restored.
func NewMessageID(of shop.ID, entry int64, t Type, at time.Time) MessageID {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s/%d", of, entry, t, at.UnixMilli()))
	return messageID(hash[:])
}

// newTestID returns a random id for a test message.
func newTestID() MessageID {
	raw := make([]byte, idBytes)
	rand.Read(raw) //nolint:errcheck // it never fails
	return messageID(raw)
}

func messageID(raw []byte) MessageID {
	return MessageID("msg_" + base64.RawURLEncoding.EncodeToString(raw[:idBytes]))
}

// Retention is how long messages and deliveries are kept.
const Retention = 30 * 24 * time.Hour

// Message is an event that endpoints receive. Its body is rendered once and stored.
type Message struct {
	ID       MessageID
	Shop     shop.ID
	Type     Type
	Line     shop.Line
	Contract contract.ID // 0: none
	Attempt  int64       // 0: none
	Customer int64       // of the membership; 0: none
	Record   int64       // id of the account, entry, reward or store credit, by type
	At       time.Time   // when it happened
	Sequence int64       // among the messages about its contract or customer, from 1; 0: it is about none
	Cause    Cause
	Position int64  // among the shop's events, from 1; not positive while it has none
	Body     []byte // JSON; empty until it is rendered
}

// Cause says who made what a message reports happen.
type Cause struct {
	Source activity.Source // empty: not known
	By     string          // empty for automated events
}

func causedBy(a activity.Actor) Cause { return Cause{a.Source, a.By} }

// body is the JSON document that endpoints receive.
type body struct {
	Type      Type            `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Sequence  *int64          `json:"sequence"` // null: it is about no contract and no customer
	Cause     *cause          `json:"cause"`    // null: not known
	Data      json.RawMessage `json:"data"`
}

// cause is the cause in a body.
type cause struct {
	Source activity.Source `json:"source"`
	By     *string         `json:"by"` // null for automated events
}

func (m Message) bodyOf(data []byte) ([]byte, error) {
	b := body{Type: m.Type, Timestamp: m.At.UTC(), Data: data}
	if m.Sequence != 0 {
		b.Sequence = &m.Sequence
	}
	if m.Cause.Source != "" {
		b.Cause = &cause{Source: m.Cause.Source}
		if m.Cause.By != "" {
			b.Cause.By = &m.Cause.By
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write the body of message %s: %w", m.ID, err)
	}
	return text, nil
}

// Data returns what the body says of the contract, the attempt or the member, as JSON; null when
// there is no body.
func (m Message) Data() (json.RawMessage, error) {
	if len(m.Body) == 0 {
		return json.RawMessage("null"), nil
	}
	var b body
	if err := json.Unmarshal(m.Body, &b); err != nil {
		return nil, fmt.Errorf("read the body of message %s: %w", m.ID, err)
	}
	return b.Data, nil
}

// DeliveryID is the id of a delivery.
type DeliveryID int64

// Status is the status of a delivery.
type Status string

// The states of a delivery.
const (
	Pending   Status = "PENDING"
	Sending   Status = "SENDING"
	Delivered Status = "DELIVERED"
	Failed    Status = "FAILED"
)

// Statuses lists them in the order in which they are reached.
var Statuses = []Status{Pending, Sending, Delivered, Failed}

// next holds the allowed transitions. A delivery stays in Sending when its process dies, and
// is claimed again from there when the lease ends.
var next = map[Status][]Status{
	Pending:   {Pending, Sending, Failed},
	Sending:   {Sending, Pending, Delivered, Failed},
	Delivered: {Pending},
	Failed:    {Pending},
}

// Delivery is a message on its way to an endpoint.
type Delivery struct {
	ID       DeliveryID
	Shop     shop.ID
	Endpoint EndpointID
	Message  MessageID
	Type     Type
	Contract contract.ID // 0: none
	Customer int64       // 0: none
	At       time.Time   // when the reported event happened
	Status   Status
	Tries    int
	Due      time.Time // of the next try; zero: no more tries
	TriedAt  time.Time // zero before the first try
	Code     int       // HTTP status of the last response; 0: no response
	Error    string    // of the last try; empty when it succeeded
	Took     time.Duration
	Answer   string // the first bytes of the response
	Version  int64
}

// MaxAnswer is how many bytes of a response are kept.
const MaxAnswer = 500

// ordered reports whether the delivery waits for earlier ones: deliveries to one endpoint
// about the same contract or customer are sent in order.
func (d Delivery) ordered() bool { return d.Contract != 0 || d.Customer != 0 }

func (d *Delivery) move(to Status) error {
	if !slices.Contains(next[d.Status], to) {
		return fault.New(fault.Internal, "delivery %d is %s and cannot become %s", d.ID, d.Status, to)
	}
	d.Status = to
	return nil
}

// RetryDelays are the delays before each try; the first is immediate.
var RetryDelays = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// jitter is the divisor of a delay that bounds its random extension.
const jitter = 10

// maxRetryAfter limits the delay that an endpoint requests with Retry-After.
const maxRetryAfter = 24 * time.Hour

// retryDelay returns the delay before the next try, and false when the delivery has no more
// tries. It is a function of the delivery, so that every node computes the same.
func (d Delivery) retryDelay(asked time.Duration) (time.Duration, bool) {
	if d.Tries >= len(RetryDelays) {
		return 0, false
	}
	w := RetryDelays[d.Tries]
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", d.Message, d.Endpoint, d.Tries)
	w += time.Duration(int64(w) / jitter * int64(h.Sum32()%1000) / 1000)
	return max(w, min(asked, maxRetryAfter)).Truncate(time.Millisecond), true
}

// settle records the result of a try.
func (d *Delivery) settle(a Answer, now time.Time) error {
	d.Tries++
	d.TriedAt, d.Code, d.Error, d.Took, d.Answer = now, a.Code, a.Failed, a.Took, a.Head
	if a.Failed == "" {
		d.Due = time.Time{}
		return d.move(Delivered)
	}
	wait, more := d.retryDelay(a.RetryAfter)
	if !more {
		d.Due = time.Time{}
		return d.move(Failed)
	}
	d.Due = now.Add(wait)
	return d.move(Pending)
}

// restart makes the delivery due with all its tries.
func (d *Delivery) restart(now time.Time) error {
	d.Tries, d.Due = 0, now
	return d.move(Pending)
}
