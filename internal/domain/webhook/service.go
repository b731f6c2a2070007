package webhook

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Tx is one transaction on one shop's endpoints and deliveries.
type Tx interface {
	EndpointTx
	PublishTx
	UpcomingTx
	DeliveryTx
	OrderTx
	ReplayTx
	ResendTx
	FeedTx
	notify.NoticeTx
	activity.Recorder
}

// EndpointTx reads and writes endpoints.
type EndpointTx interface {
	// LockEndpoints serializes transactions that add an endpoint.
	LockEndpoints(ctx context.Context) error
	CountEndpoints(ctx context.Context) (int, error)
	// Endpoint returns an endpoint and locks it, or NotFound. Every transaction that
	// changes the endpoint's deliveries holds this lock.
	Endpoint(ctx context.Context, id EndpointID) (Endpoint, error)
	// PutEndpoint inserts an endpoint whose ID is 0 and sets its ID. Otherwise it updates
	// the endpoint under the version rule.
	PutEndpoint(ctx context.Context, e *Endpoint) error
	// DeleteEndpoint deletes an endpoint and its deliveries.
	DeleteEndpoint(ctx context.Context, id EndpointID) error
}

// PublishTx stores messages.
type PublishTx interface {
	// Recipients returns the ids, shop and types of the enabled endpoints. The shop's events are
	// one more recipient, ToEvents, while they are read.
	Recipients(ctx context.Context, at time.Time) ([]Endpoint, error)
	// Subjects returns the records that entries are about, as they are in this
	// transaction.
	Subjects(ctx context.Context, entries []activity.Entry) (map[Record]Subject, error)
	// AddMessages stores messages with a delivery to each endpoint, due at the message's
	// instant, and enqueues Work. It numbers those about one contract or customer in the order
	// of the list, after all that committed before. It deletes some messages older than
	// Retention.
	AddMessages(ctx context.Context, list ...Addressed) error
	// SetBody sets the body of a message that has none.
	SetBody(ctx context.Context, id MessageID, text []byte) error
}

// UpcomingTx reads and writes which upcoming orders were published.
type UpcomingTx interface {
	shop.Reader
	// UpcomingOrders returns at most limit contracts whose next order is due to be
	// published, and locks its attempts. MarkPublished makes it not due for that date.
	UpcomingOrders(ctx context.Context, now time.Time, limit int) ([]Upcoming, error)
	MarkPublished(ctx context.Context, list []Upcoming) error
}

// DeliveryTx reads and writes deliveries.
type DeliveryTx interface {
	// Delivery returns a delivery, or NotFound.
	Delivery(ctx context.Context, id DeliveryID) (Delivery, error)
	// DueDeliveries returns at most limit deliveries to an endpoint whose Due is not after
	// now and whose message has a body, in the order of their events.
	DueDeliveries(ctx context.Context, to EndpointID, now time.Time, limit int) ([]Delivery, error)
	// InFlight returns how many deliveries to an endpoint are being sent.
	InFlight(ctx context.Context, to EndpointID, now time.Time) (int, error)
	// Deliveries returns those of deliveries that exist.
	Deliveries(ctx context.Context, ids []DeliveryID) ([]Delivery, error)
	// PutDeliveries updates deliveries under the version rule.
	PutDeliveries(ctx context.Context, list ...Delivery) error
	// FailDeliveries fails the pending deliveries to an endpoint or, when the endpoint is 0,
	// those of a message.
	FailDeliveries(ctx context.Context, to EndpointID, of MessageID, why string) error
	// PostponeDeliveries makes the pending deliveries of a message due at an instant.
	PostponeDeliveries(ctx context.Context, of MessageID, until time.Time, why string) error
}

// OrderTx keeps deliveries about one contract or customer in their order.
type OrderTx interface {
	// PrecedingDue returns, for each of deliveries to one endpoint, when the earliest one is due
	// that precedes it: about the same contract or customer. Those without are left out.
	PrecedingDue(ctx context.Context, list []Delivery) (map[DeliveryID]time.Time, error)
	// ReleaseNext makes the deliveries that follow those of a list, all to one endpoint, due at an
	// instant, if they are due later.
	ReleaseNext(ctx context.Context, list []Delivery, at time.Time) error
}

// Addressed is a message with its recipients.
type Addressed struct {
	Message
	To []EndpointID
}

// Address returns messages with the endpoints that want them. Messages without an endpoint
// are left out.
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

// DeliveryFilter selects deliveries. Zero fields match all.
type DeliveryFilter struct {
	Endpoint EndpointID
	Status   Status
}

// Store runs transactions and reads outside of them.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	FeedStore
	// Endpoints returns a shop's endpoints, oldest first.
	Endpoints(ctx context.Context, of shop.ID) ([]Endpoint, error)
	// Deliveries returns a page of a shop's deliveries, newest first, and their total
	// number.
	Deliveries(ctx context.Context, of shop.ID, q DeliveryFilter, p page.Request) ([]Delivery, int, error)
	// Message returns a message, or NotFound.
	Message(ctx context.Context, of shop.ID, id MessageID) (Message, error)
	// MessagesWithoutBody returns at most limit messages that have no body and whose deliveries
	// are due, or which wait for a position, in the order of their events.
	MessagesWithoutBody(ctx context.Context, of shop.ID, now time.Time, limit int) ([]Message, error)
	// DueEndpoints returns the endpoints with deliveries that are due and have a body.
	DueEndpoints(ctx context.Context, of shop.ID, now time.Time) ([]EndpointID, error)
	Browser
}

// Service keeps endpoints and delivers messages.
type Service struct {
	Store  Store
	Sender Sender
	Clock  clock.Clock
	Log    *slog.Logger
	// PlainHTTP permits http URLs and private addresses.
	PlainHTTP bool
	// MaxTasks is how many tasks of this process send at the same time. It leaves workers
	// for tasks that must not wait for slow endpoints.
	MaxTasks int

	working atomic.Int64
}

// Work is the task of publishing upcoming orders, rendering bodies and sending messages.
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

// NoEndpoint is the failure that an endpoint does not exist.
func NoEndpoint(id EndpointID) error {
	return fault.New(fault.NotFound, "webhook endpoint %d does not exist", id).Entity(entity).Code("webhookEndpointNotFound")
}

// NewEndpoint is the endpoint to add.
type NewEndpoint struct {
	URL    string
	Types  []Type
	Secret string // empty: generated
	Actor  activity.Actor
}

// Add adds an endpoint, which receives messages from now on.
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

// Edit changes an endpoint. Nil fields stay.
type Edit struct {
	URL     *string
	Types   []Type
	Enabled *bool
	Actor   activity.Actor
}

// Change changes an endpoint. Disabling it fails its pending deliveries.
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
				e.Resend = Resend{}
				if err := tx.FailDeliveries(ctx, id, "", "the endpoint was disabled"); err != nil {
					return err
				}
			}
		}
		e.Updated = now
		return tx.Record(ctx, e.entry(endpointChanged, edit.Actor, now))
	})
}

// Rotate replaces the secret of an endpoint. Both secrets sign for 24 hours.
func (s *Service) Rotate(ctx context.Context, of shop.ID, id EndpointID, by activity.Actor) (Endpoint, error) {
	return s.change(ctx, of, id, func(tx Tx, e *Endpoint, now time.Time) error {
		e.rotate(now)
		return tx.Record(ctx, e.entry(endpointRotated, by, now))
	})
}

// change loads an endpoint, changes it with fn and writes it.
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

// Remove deletes an endpoint and its deliveries.
func (s *Service) Remove(ctx context.Context, of shop.ID, id EndpointID, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		e, err := tx.Endpoint(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteEndpoint(ctx, id); err != nil {
			return err
		}
		return tx.Record(ctx, e.entry(endpointRemoved, by, s.Clock.Now()))
	})
}

// SendTest sends an endpoint a test message.
func (s *Service) SendTest(ctx context.Context, of shop.ID, id EndpointID, by activity.Actor) (MessageID, error) {
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
		m = Message{ID: newTestID(), Shop: of, Type: Test, At: now, Cause: causedBy(by)}
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

// Deliveries returns a page of a shop's deliveries, newest first, and their total number. An
// unknown endpoint is NotFound.
func (s *Service) Deliveries(ctx context.Context, of shop.ID, q DeliveryFilter, p page.Request) ([]Delivery, int, error) {
	if q.Endpoint != 0 {
		if _, err := s.Endpoint(ctx, of, q.Endpoint); err != nil {
			return nil, 0, err
		}
	}
	return s.Store.Deliveries(ctx, of, q, p)
}

// NoDelivery is the failure that a delivery does not exist.
func NoDelivery(id DeliveryID) error {
	return fault.New(fault.NotFound, "webhook delivery %d does not exist", id).Entity("webhookDelivery").Code("webhookDeliveryNotFound")
}

// Replay sends a message to an endpoint again, with the same id and body, and with all its
// tries. A delivery that waits for a retry is sent now.
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
		if d, err = tx.Delivery(ctx, id); err != nil { // again, now that the endpoint is locked
			return err
		}
		if !e.Enabled {
			return disabled()
		}
		now := s.Clock.Now()
		if d.Status == Sending && now.Before(d.Due) {
			return fault.New(fault.FailedPrecondition, "the message is being sent").Entity("webhookDelivery").Code("webhookDeliveryBusy")
		}
		if err := d.restart(now); err != nil {
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
