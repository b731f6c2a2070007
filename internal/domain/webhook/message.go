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
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MessageID names what happened: every try and every replay carries the same.
type MessageID string

// idBytes is how much of a hash an id has.
const idBytes = 18

// NewMessageID returns the id of what an entry of the log tells of. A database
// that was put back gives its numbers again, at other instants.
func NewMessageID(of shop.ID, entry int64, t Type, at time.Time) MessageID {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%s/%d", of, entry, t, at.UnixMilli()))
	return messageID(hash[:])
}

// newTestID returns the id of a message that nothing but its sending brought about.
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

// Message is what endpoints are told. Its body is made once, when it is first
// worked, and kept.
type Message struct {
	ID       MessageID
	Shop     shop.ID
	Type     Type
	Line     shop.Line
	Contract contract.ID // 0: about none
	Attempt  int64       // 0: about none
	Customer int64       // whose membership it is about; 0: about none's
	Record   int64       // of the member's: which it is depends on the type
	At       time.Time   // when it happened
	Body     []byte      // JSON; empty until it is made
}

// body is what is sent.
type body struct {
	Type      Type            `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

func (m Message) bodyOf(data []byte) ([]byte, error) {
	text, err := json.Marshal(body{m.Type, m.At.UTC(), data})
	if err != nil {
		return nil, fmt.Errorf("write the body of message %s: %w", m.ID, err)
	}
	return text, nil
}

// DeliveryID is the number of a delivery.
type DeliveryID int64

// Status says how far a delivery is.
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

// next holds every move. A process that died leaves a delivery in Sending, from
// where it is taken up again.
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
	Contract contract.ID // 0: about none
	Customer int64       // 0: about none
	At       time.Time   // when what it tells of happened
	Status   Status
	Tries    int
	Due      time.Time // of the next try; zero when none is to come
	TriedAt  time.Time // zero before the first try
	Code     int       // of the last answer; 0: there was none
	Error    string    // of the last try; empty when it arrived
	Took     time.Duration
	Answer   string // its first bytes
	Version  int64
}

// MaxAnswer is how much of an answer is kept, in bytes.
const MaxAnswer = 500

// follows reports whether the delivery waits for others: those to its endpoint about
// the same contract or the same customer arrive one after the other.
func (d Delivery) follows() bool { return d.Contract != 0 || d.Customer != 0 }

func (d *Delivery) move(to Status) error {
	if !slices.Contains(next[d.Status], to) {
		return fault.New(fault.Internal, "delivery %d is %s and cannot become %s", d.ID, d.Status, to)
	}
	d.Status = to
	return nil
}

// RetryDelays are the waits before each try: the first is made at once.
var RetryDelays = []time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// jitter is the part of a wait by which it is drawn out at most.
const jitter = 10

// longestWait bounds what an endpoint may ask for with Retry-After.
const longestWait = 24 * time.Hour

// wait returns how long the next try waits after tries that failed, and false
// when there is no other. It depends on the delivery and on nothing else, so that
// it is the same wherever it is worked out.
func (d Delivery) wait(asked time.Duration) (time.Duration, bool) {
	if d.Tries >= len(RetryDelays) {
		return 0, false
	}
	w := RetryDelays[d.Tries]
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%d", d.Message, d.Endpoint, d.Tries)
	w += time.Duration(int64(w) / jitter * int64(h.Sum32()%1000) / 1000)
	return max(w, min(asked, longestWait)).Truncate(time.Millisecond), true
}

// settle notes how a try ended.
func (d *Delivery) settle(a Answer, now time.Time) error {
	d.Tries++
	d.TriedAt, d.Code, d.Error, d.Took, d.Answer = now, a.Code, a.Failed, a.Took, a.Head
	if a.Failed == "" {
		d.Due = time.Time{}
		return d.move(Delivered)
	}
	wait, more := d.wait(a.RetryAfter)
	if !more {
		d.Due = time.Time{}
		return d.move(Failed)
	}
	d.Due = now.Add(wait)
	return d.move(Pending)
}

// again begins the delivery anew.
func (d *Delivery) again(now time.Time) error {
	d.Tries, d.Due = 0, now
	return d.move(Pending)
}
