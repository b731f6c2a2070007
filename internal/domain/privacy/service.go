package privacy

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// dueAtOnce is how many requests one transaction takes up.
const dueAtOnce = 20

// ReadTx is a read-only transaction on one shop's requests.
type ReadTx interface {
	// PrivacyRequests returns at most limit requests, newest first.
	PrivacyRequests(ctx context.Context, limit int) ([]Request, error)
}

// StoreTx is a transaction of the service.
type StoreTx interface {
	Tx
	ReadTx
	PutMessages(ctx context.Context, messages []notify.Message) error
	Shop(ctx context.Context) (shop.Shop, error)
	// DuePrivacyRequests returns at most limit requests whose DueAt is at or before now,
	// locked, passing over those that another transaction holds.
	DuePrivacyRequests(ctx context.Context, now time.Time, limit int) ([]Request, error)
	// PrivacyRequest returns a request, locked, or NotFound.
	PrivacyRequest(ctx context.Context, id ID) (Request, error)
	// PersonalData returns all that is stored about a customer.
	PersonalData(ctx context.Context, customer int64) ([]Section, error)
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(StoreTx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service answers requests for personal data.
type Service struct {
	Store Store
	Clock clock.Clock
	Log   *slog.Logger
	// Remind tells the merchant of open requests, in the transaction of the reminder's
	// entry. It may be nil.
	Remind func(ctx context.Context, tx StoreTx, of shop.Shop, open []Request) error
}

// List returns the requests of a store, newest first, at most 200.
func (s *Service) List(ctx context.Context, of shop.ID) ([]Request, error) {
	const limit = 200
	var list []Request
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		list, err = tx.PrivacyRequests(ctx, limit)
		return err
	})
	return list, err
}

// Work collects exports that were requested, reminds the merchant of what is open, and
// closes exports that were downloaded and are not kept any longer.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		found := 0
		err := s.Store.Update(ctx, of, func(tx StoreTx) error {
			now := s.Clock.Now()
			list, err := tx.DuePrivacyRequests(ctx, now, dueAtOnce)
			if err != nil || len(list) == 0 {
				return err
			}
			found = len(list)
			var reminded []Request
			for i := range list {
				reminds, err := s.act(ctx, tx, of, &list[i], now)
				if err != nil {
					return err
				}
				if reminds {
					reminded = append(reminded, list[i])
				}
			}
			if err := tx.PutPrivacyRequests(ctx, list); err != nil {
				return err
			}
			if len(reminded) == 0 || s.Remind == nil {
				return nil
			}
			store, err := tx.Shop(ctx)
			if err != nil {
				return err
			}
			return s.Remind(ctx, tx, store, reminded)
		})
		if err != nil {
			return fmt.Errorf("work on requests for personal data: %w", err)
		}
		if found < dueAtOnce {
			return nil
		}
	}
	return ctx.Err()
}

// act does what is due about a request, and reports whether the merchant is reminded.
func (s *Service) act(ctx context.Context, tx StoreTx, of shop.ID, r *Request, now time.Time) (bool, error) {
	defer func() { r.DueAt = r.next(now) }()
	switch {
	case !r.ClosedAt.IsZero():
		return false, nil
	case r.Kind == Export && r.ReadyAt.IsZero():
		data, err := tx.PersonalData(ctx, r.Customer)
		if err != nil {
			return false, err
		}
		r.ReadyAt, r.Records = now, records(data)
		return false, tx.Record(ctx, r.entry(of, activity.Success, activity.System, now,
			fmt.Sprintf("the data of customer %d can be downloaded: pass it on to them by %s", r.Customer, r.DueBy.Format(time.DateOnly))))
	case !r.DownloadedAt.IsZero() && !now.Before(r.ReadyAt.Add(KeepExport)):
		r.ClosedAt = now
		return false, nil
	case r.Open() && r.RemindedAt.IsZero() && !now.Before(r.ReceivedAt.Add(RemindAfter)):
		r.RemindedAt = now
		return true, tx.Record(ctx, r.entry(of, activity.Failure, activity.System, now,
			fmt.Sprintf("%s, which is still open and has to be done by %s", r.what(), r.DueBy.Format(time.DateOnly))))
	}
	return false, nil
}

// Download returns the export of a request, collected now, as a zip file, and notes that
// the merchant has it. A request of another store is NotFound.
func (s *Service) Download(ctx context.Context, of shop.ID, id ID, by activity.Actor) (Archive, error) {
	var a Archive
	err := s.Store.Update(ctx, of, func(tx StoreTx) error {
		now := s.Clock.Now()
		r, err := tx.PrivacyRequest(ctx, id)
		if err != nil {
			return err
		}
		if !r.Available() {
			return notAvailable(r)
		}
		if a, err = s.collect(ctx, tx, r.Customer, now); err != nil {
			return err
		}
		if r.DownloadedAt.IsZero() {
			r.DownloadedAt = now
		}
		r.DueAt = r.next(now)
		if err := tx.PutPrivacyRequests(ctx, []Request{r}); err != nil {
			return err
		}
		return tx.Record(ctx, r.entry(of, activity.Success, by, now, fmt.Sprintf("the data of customer %d was downloaded", r.Customer)))
	})
	return a, err
}

// ExportCustomer returns the data of a customer without a request of the platform, for
// one that the customer has sent to the merchant.
func (s *Service) ExportCustomer(ctx context.Context, of shop.ID, customer int64, by activity.Actor) (Archive, error) {
	var a Archive
	err := s.Store.Update(ctx, of, func(tx StoreTx) (err error) {
		now := s.Clock.Now()
		if a, err = s.collect(ctx, tx, customer, now); err != nil {
			return err
		}
		return tx.Record(ctx, Request{Customer: customer}.entry(of, activity.Success, by, now, fmt.Sprintf("the data of customer %d was downloaded", customer)))
	})
	return a, err
}

func (s *Service) collect(ctx context.Context, tx StoreTx, customer int64, now time.Time) (Archive, error) {
	store, err := tx.Shop(ctx)
	if err != nil {
		return Archive{}, err
	}
	data, err := tx.PersonalData(ctx, customer)
	if err != nil {
		return Archive{}, err
	}
	return pack(Copy{Store: store.Domain, Customer: customer, At: now, Sections: data})
}

// Open returns the requests among some that are open, the first due first.
func Open(list []Request) []Request {
	open := slices.DeleteFunc(slices.Clone(list), func(r Request) bool { return !r.Open() })
	slices.SortStableFunc(open, func(a, b Request) int { return a.DueBy.Compare(b.DueBy) })
	return open
}
