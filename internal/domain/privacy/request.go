// Package privacy answers for the personal data of customers: it collects what is stored
// about one, keeps the platform's requests until they are done, and reminds the merchant
// of those that are not. What is erased, and how, is known to intake and store.
package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Times of a request.
const (
	// Deadline is how long a request may take.
	Deadline = 30 * 24 * time.Hour
	// RemindAfter is when the merchant is reminded of a request that is open.
	RemindAfter = 20 * 24 * time.Hour
	// KeepExport is how long an export that was downloaded can be downloaded again.
	KeepExport = 30 * 24 * time.Hour
)

// ID identifies a request within a shop.
type ID int64

// Kind says what is requested.
type Kind string

// The kinds of request.
const (
	Export        Kind = "DATA_REQUEST"    // a copy of a customer's data
	EraseCustomer Kind = "CUSTOMER_REDACT" // nothing that names a customer is left
	EraseStore    Kind = "SHOP_REDACT"     // nothing that names any customer of a store is left
)

// Request is a request for personal data. An Export is open until the merchant has
// downloaded it; an erasure until it is done.
type Request struct {
	ID           ID
	Kind         Kind
	Customer     int64 // 0: all of the store
	ReceivedAt   time.Time
	DueBy        time.Time
	DueAt        time.Time // when the service does something about it next; zero: never
	ReadyAt      time.Time // when an export was collected for the first time
	DownloadedAt time.Time
	RemindedAt   time.Time
	ClosedAt     time.Time
	Records      int // of an export, when it was collected
	Version      int64
}

// Open reports whether the merchant or the service has something left to do.
func (r Request) Open() bool { return r.ClosedAt.IsZero() && r.DownloadedAt.IsZero() }

// Overdue reports whether a request is open after its deadline.
func (r Request) Overdue(now time.Time) bool { return r.Open() && !now.Before(r.DueBy) }

// Available reports whether an export can be downloaded.
func (r Request) Available() bool {
	return r.Kind == Export && !r.ReadyAt.IsZero() && r.ClosedAt.IsZero()
}

// next returns when there is something to do about a request.
func (r Request) next(now time.Time) time.Time {
	switch {
	case !r.ClosedAt.IsZero():
		return time.Time{}
	case r.Kind == Export && r.ReadyAt.IsZero():
		return now
	case !r.DownloadedAt.IsZero():
		return r.ReadyAt.Add(KeepExport)
	case r.RemindedAt.IsZero():
		return r.ReceivedAt.Add(RemindAfter)
	}
	return time.Time{}
}

// what describes a request in an entry.
func (r Request) what() string {
	switch r.Kind {
	case Export:
		return fmt.Sprintf("customer %d requests their data", r.Customer)
	case EraseCustomer:
		return fmt.Sprintf("customer %d must be erased", r.Customer)
	}
	return "the customers of the store must be erased"
}

// Tx is one transaction on one shop's requests.
type Tx interface {
	// PutPrivacyRequests inserts requests whose ID is 0, giving them one, and writes the
	// others if their Version is still what was read; otherwise it fails with a Conflict.
	PutPrivacyRequests(ctx context.Context, list []Request) error
	// OpenPrivacyRequests returns, locked, the requests of a kind and a customer that are
	// not closed, oldest first.
	OpenPrivacyRequests(ctx context.Context, k Kind, customer int64) ([]Request, error)
	Record(ctx context.Context, entries ...activity.Entry) error
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Work is the task of doing what is due about the requests of a shop.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "privacy_work" }

// note is the additional information of an entry.
type note struct {
	Reason   string `json:"reason"`
	Customer int64  `json:"customerId,omitempty"`
}

// entry is an entry about a request.
func (r Request) entry(of shop.ID, status activity.Status, by activity.Actor, now time.Time, reason string) activity.Entry {
	return activity.Entry{
		EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: status, Actor: by, At: now,
		Info: activity.Details(note{Reason: reason, Customer: r.Customer}),
	}
}

// Receive stores a request that the platform has sent at an instant, and its entry.
func Receive(ctx context.Context, tx Tx, of shop.ID, k Kind, customer int64, received, now time.Time) error {
	r := Request{Kind: k, Customer: customer, ReceivedAt: received, DueBy: received.Add(Deadline)}
	r.DueAt = r.next(now)
	if err := tx.PutPrivacyRequests(ctx, []Request{r}); err != nil {
		return err
	}
	if err := tx.Record(ctx, r.entry(of, activity.Info, activity.Platform, now, r.what())); err != nil || k != Export {
		return err
	}
	return tx.Enqueue(ctx, Work{Shop: of})
}

// ReceiveOnce does the same unless such a request is open.
func ReceiveOnce(ctx context.Context, tx Tx, of shop.ID, k Kind, customer int64, received, now time.Time) error {
	open, err := tx.OpenPrivacyRequests(ctx, k, customer)
	if err != nil || len(open) > 0 {
		return err
	}
	return Receive(ctx, tx, of, k, customer, received, now)
}

// Close closes the erasures of a customer, or of all, because they are done. The exports
// of an erased customer are closed with them: there is nothing left to export.
func Close(ctx context.Context, tx Tx, of shop.ID, k Kind, customer int64, now time.Time) error {
	list, err := tx.OpenPrivacyRequests(ctx, k, customer)
	if err != nil || len(list) == 0 {
		return err
	}
	reason := "the customers of the store were erased"
	if k == EraseCustomer {
		reason = fmt.Sprintf("customer %d was erased", customer)
		exports, err := tx.OpenPrivacyRequests(ctx, Export, customer)
		if err != nil {
			return err
		}
		list = append(list, exports...)
	}
	for i := range list {
		list[i].ClosedAt, list[i].DueAt = now, time.Time{}
	}
	if err := tx.PutPrivacyRequests(ctx, list); err != nil {
		return err
	}
	return tx.Record(ctx, list[0].entry(of, activity.Success, activity.System, now, reason))
}

// notAvailable refuses a download.
func notAvailable(r Request) error {
	return fault.New(fault.FailedPrecondition, "request %d has no export that can be downloaded", r.ID).Entity("privacyRequest").Code("exportNotAvailable")
}
