package webhook

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tx is one transaction on one shop's endpoints and deliveries.
type Tx interface {
	// LockEndpoints keeps other transactions that would add an endpoint waiting.
	LockEndpoints(ctx context.Context) error
	CountEndpoints(ctx context.Context) (int, error)
	// Endpoint returns an endpoint under lock, or NotFound. Whoever changes its
	// deliveries holds it.
	Endpoint(ctx context.Context, id EndpointID) (Endpoint, error)
	// PutEndpoint inserts an endpoint whose ID is 0, giving it one, or replaces it
	// under the version rule.
	PutEndpoint(ctx context.Context, e *Endpoint) error
	// DropEndpoint removes an endpoint and all that is on its way to it.
	DropEndpoint(ctx context.Context, id EndpointID) error

	// EnabledEndpoints returns the endpoints that are enabled, with what they are told of.
	EnabledEndpoints(ctx context.Context) ([]Endpoint, error)
	// Shop is not locked.
	Shop(ctx context.Context) (shop.Shop, error)
	// UpcomingOrders returns at most limit contracts whose next order is due to be
	// announced, with its attempts locked. They are due no more, for that date, when
	// they are given to PutAnnounced.
	UpcomingOrders(ctx context.Context, now time.Time, limit int) ([]Upcoming, error)
	MarkPublished(ctx context.Context, list []Upcoming) error

	// AddMessages keeps messages with a delivery to each of their endpoints, due at the
	// messages' instants, and has them sent. It forgets some that are older than Keep.
	AddMessages(ctx context.Context, list ...Addressed) error
	// SetBody gives a message its body, if it has none.
	SetBody(ctx context.Context, id MessageID, text []byte) error

	// Delivery returns a delivery, or NotFound.
	Delivery(ctx context.Context, id DeliveryID) (Delivery, error)
	// DueDeliveries returns at most limit deliveries to an endpoint whose Due is not
	// after now, in the order in which what they tell of happened.
	DueDeliveries(ctx context.Context, to EndpointID, now time.Time, limit int) ([]Delivery, error)
	// InFlight returns how many deliveries to an endpoint are being sent.
	InFlight(ctx context.Context, to EndpointID, now time.Time) (int, error)
	// PrecedingDue returns when the earliest delivery is due that goes to the same
	// endpoint, about the same contract or customer, before this one; zero when none
	// waits.
	PrecedingDue(ctx context.Context, d Delivery) (time.Time, error)
	// ReleaseNext makes the next one after it due at an instant, if it is due later.
	ReleaseNext(ctx context.Context, d Delivery, at time.Time) error
	// PutDeliveries replaces deliveries under the version rule.
	PutDeliveries(ctx context.Context, list ...Delivery) error
	// FailDeliveries ends all deliveries of an endpoint that wait, or of a message when the
	// endpoint is 0.
	FailDeliveries(ctx context.Context, to EndpointID, of MessageID, why string) error
	// PostponeDeliveries lets the deliveries of a message wait.
	PostponeDeliveries(ctx context.Context, of MessageID, until time.Time, why string) error

	Record(ctx context.Context, entries ...activity.Entry) error
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Address is a message and whom it is owed to.
type Addressed struct {
	Message
	To []EndpointID
}

// Address returns messages with those of some endpoints that are told of their types.
// What none is told of is left out.
func Address(endpoints []Endpoint, messages []Message) []Addressed {
	var list []Addressed
	for _, m := range messages {
		o := Addressed{Message: m}
		for _, e := range endpoints {
			if e.Wants(m.Type) {
				o.To = append(o.To, e.ID)
			}
		}
		if len(o.To) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// DeliveryFilter selects deliveries. What is not set is not asked for.
type DeliveryFilter struct {
	Endpoint EndpointID
	Status   Status
}

// Store runs transactions and answers what is asked outside of one.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	// Endpoints returns a shop's endpoints, oldest first.
	Endpoints(ctx context.Context, of shop.ID) ([]Endpoint, error)
	// Deliveries returns a page of a shop's deliveries, newest first, and how many
	// there are.
	Deliveries(ctx context.Context, of shop.ID, q DeliveryFilter, p page.Request) ([]Delivery, int, error)
	// Message returns a message, or NotFound.
	Message(ctx context.Context, of shop.ID, id MessageID) (Message, error)
	// MessagesWithoutBody returns at most limit messages without a body that are due, in the
	// order in which what they tell of happened.
	MessagesWithoutBody(ctx context.Context, of shop.ID, now time.Time, limit int) ([]Message, error)
	// DueEndpoints returns the endpoints to which something is due.
	DueEndpoints(ctx context.Context, of shop.ID, now time.Time) ([]EndpointID, error)
}

// Renderer writes what messages tell of.
type Renderer interface {
	// Data returns what a message is about, as JSON: the contract, the attempt or what
	// happened to a member, in the shape in which the interface answers it; NotFound.
	Data(ctx context.Context, m Message) ([]byte, error)
}

// Call is one try.
type Call struct {
	URL     string
	Secrets []string // each signs it
	ID      MessageID
	At      time.Time
	Body    []byte
}

// CallTimeout is how long an endpoint may take to answer.
const CallTimeout = 15 * time.Second

// Answer is how a try ended.
type Answer struct {
	Code       int           // 0: nobody answered
	Failed     string        // why it did not arrive, in words for the merchant; empty when it did
	Head       string        // the first bytes of what was answered
	RetryAfter time.Duration // what the endpoint asked for
	Took       time.Duration
}

// Gone reports whether the endpoint wants to be told no more.
func (a Answer) Gone() bool { return a.Code == gone }

const gone = 410

// Sender sends signed messages.
type Sender interface {
	// Send makes one try. Anything but a 2xx within CallTime has failed.
	Send(ctx context.Context, c Call) Answer
}

// Service keeps endpoints and sends what they are owed.
type Service struct {
	Store    Store
	Renderer Renderer
	Sender   Sender
	Clock    clock.Clock
	Log      *slog.Logger
	// PlainHTTP permits addresses without TLS.
	PlainHTTP bool
	// MaxTasks is how many tasks send in this process at once: whoever waits for
	// slow servers leaves workers for what must not wait.
	MaxTasks int

	working atomic.Int64
}

// Work is the task of announcing orders and of sending what endpoints are owed.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "webhook_work" }

// Endpoints returns a shop's endpoints, oldest first.
func (s *Service) Endpoints(ctx context.Context, of shop.ID) ([]Endpoint, error) {
	return s.Store.Endpoints(ctx, of)
}

// Endpoint returns an endpoint, or NotFound.
func (s *Service) Endpoint(ctx context.Context, of shop.ID, id EndpointID) (Endpoint, error) {
	list, err := s.Store.Endpoints(ctx, of)
	if err != nil {
		return Endpoint{}, err
	}
	for _, e := range list {
		if e.ID == id {
			return e, nil
		}
	}
	return Endpoint{}, NoEndpoint(id)
}

// NoEndpoint is the failure that an endpoint is not there.
func NoEndpoint(id EndpointID) error {
	return fault.New(fault.NotFound, "webhook endpoint %d does not exist", id).Entity(entity).Code("webhookEndpointNotFound")
}

// NewEndpoint is an endpoint that a merchant wants.
type NewEndpoint struct {
	URL    string
	Types  []Type
	Secret string // empty: one is made
	Actor  activity.Actor
}

// Add makes an endpoint, which is told of everything from now on.
func (s *Service) Add(ctx context.Context, of shop.ID, n NewEndpoint) (Endpoint, error) {
	if err := checkURL(n.URL, s.PlainHTTP); err != nil {
		return Endpoint{}, err
	}
	if n.Secret == "" {
		n.Secret = newSecret()
	} else if err := checkSecret(n.Secret); err != nil {
		return Endpoint{}, err
	}
	var made Endpoint
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockEndpoints(ctx); err != nil {
			return err
		}
		has, err := tx.CountEndpoints(ctx)
		if err != nil {
			return err
		}
		if has >= MaxEndpoints {
			return fault.New(fault.FailedPrecondition, "a store has at most %d webhook endpoints: remove one first", MaxEndpoints).Entity(entity).Code("tooManyWebhookEndpoints")
		}
		now := s.Clock.Now()
		made = Endpoint{Shop: of, URL: n.URL, Types: n.Types, Secret: n.Secret, Enabled: true, Created: now, Updated: now}
		if err := tx.PutEndpoint(ctx, &made); err != nil {
			return err
		}
		return tx.Record(ctx, made.entry(endpointAdded, n.Actor, now))
	})
	return made, err
}

// Edit changes an endpoint. What is nil stays.
type Edit struct {
	URL     *string
	Types   []Type
	Enabled *bool
	Actor   activity.Actor
}

// Change changes an endpoint. What waits for one that is disabled is given up.
func (s *Service) Change(ctx context.Context, of shop.ID, id EndpointID, edit Edit) (Endpoint, error) {
	if edit.URL != nil {
		if err := checkURL(*edit.URL, s.PlainHTTP); err != nil {
			return Endpoint{}, err
		}
	}
	return s.change(ctx, of, id, func(tx Tx, e *Endpoint, now time.Time) error {
		if edit.URL != nil {
			e.URL = *edit.URL
		}
		if edit.Types != nil {
			e.Types = edit.Types
		}
		if edit.Enabled != nil && *edit.Enabled != e.Enabled {
			e.Enabled, e.Reason, e.FailingSince = *edit.Enabled, "", time.Time{}
			if !e.Enabled {
				if err := tx.FailDeliveries(ctx, id, "", "the endpoint was disabled"); err != nil {
					return err
				}
			}
		}
		e.Updated = now
		return tx.Record(ctx, e.entry(endpointChanged, edit.Actor, now))
	})
}

// Rotate gives an endpoint another secret. For 24 hours both sign.
func (s *Service) Rotate(ctx context.Context, of shop.ID, id EndpointID, by activity.Actor) (Endpoint, error) {
	return s.change(ctx, of, id, func(tx Tx, e *Endpoint, now time.Time) error {
		e.rotate(now)
		return tx.Record(ctx, e.entry(endpointRotated, by, now))
	})
}

// change loads an endpoint, lets fn change it and writes it.
func (s *Service) change(ctx context.Context, of shop.ID, id EndpointID, fn func(tx Tx, e *Endpoint, now time.Time) error) (Endpoint, error) {
	var is Endpoint
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		var err error
		if is, err = tx.Endpoint(ctx, id); err != nil {
			return err
		}
		if err := fn(tx, &is, s.Clock.Now()); err != nil {
			return err
		}
		return tx.PutEndpoint(ctx, &is)
	})
	return is, err
}

// Remove forgets an endpoint and what is on its way to it.
func (s *Service) Remove(ctx context.Context, of shop.ID, id EndpointID, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		e, err := tx.Endpoint(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.DropEndpoint(ctx, id); err != nil {
			return err
		}
		return tx.Record(ctx, e.entry(endpointRemoved, by, s.Clock.Now()))
	})
}

// SendTest sends an endpoint a message that tells of nothing.
func (s *Service) SendTest(ctx context.Context, of shop.ID, id EndpointID) (MessageID, error) {
	var m Message
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		e, err := tx.Endpoint(ctx, id)
		if err != nil {
			return err
		}
		if !e.Enabled {
			return disabled()
		}
		now := s.Clock.Now()
		m = Message{ID: newTestID(), Shop: of, Type: Test, At: now}
		if m.Body, err = m.bodyOf([]byte("{}")); err != nil {
			return err
		}
		return tx.AddMessages(ctx, Addressed{m, []EndpointID{id}})
	})
	return m.ID, err
}

func disabled() error {
	return fault.New(fault.FailedPrecondition, "the endpoint is disabled: enable it first").Entity(entity).Code("webhookEndpointDisabled")
}

// Deliveries returns a page of a shop's deliveries, newest first, and how many
// there are. An endpoint that the shop does not have is NotFound.
func (s *Service) Deliveries(ctx context.Context, of shop.ID, q DeliveryFilter, p page.Request) ([]Delivery, int, error) {
	if q.Endpoint != 0 {
		if _, err := s.Endpoint(ctx, of, q.Endpoint); err != nil {
			return nil, 0, err
		}
	}
	return s.Store.Deliveries(ctx, of, q, p)
}

// NoDelivery is the failure that a delivery is not there.
func NoDelivery(id DeliveryID) error {
	return fault.New(fault.NotFound, "webhook delivery %d does not exist", id).Entity("webhookDelivery").Code("webhookDeliveryNotFound")
}

// Replay sends a message to an endpoint again, with the same id and the same
// bytes, and begins its tries anew. One that waits is sent now.
func (s *Service) Replay(ctx context.Context, of shop.ID, id DeliveryID) (Delivery, error) {
	var d Delivery
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		var err error
		if d, err = tx.Delivery(ctx, id); err != nil {
			return err
		}
		e, err := tx.Endpoint(ctx, d.Endpoint)
		if err != nil {
			return err
		}
		if d, err = tx.Delivery(ctx, id); err != nil { // as it stands now that nobody else changes it
			return err
		}
		if !e.Enabled {
			return disabled()
		}
		now := s.Clock.Now()
		if d.Status == Sending && now.Before(d.Due) {
			return fault.New(fault.FailedPrecondition, "the message is being sent").Entity("webhookDelivery").Code("webhookDeliveryBusy")
		}
		if err := d.again(now); err != nil {
			return err
		}
		if err := tx.PutDeliveries(ctx, d); err != nil {
			return err
		}
		d.Version++
		return tx.Enqueue(ctx, Work{of})
	})
	return d, err
}
