package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Import says what is imported, and how.
type Import struct {
	Archive *Reader
	Domain  string // of the store, as in the archive
	DryRun  bool   // it is checked, and nothing is changed
	// Restarted says that every process of the service was stopped, or started again after an
	// import was refused with restartNeeded.
	Restarted bool
	By        activity.Actor
	Progress  Progress
}

// Imported is what an import did.
type Imported struct {
	Shop    shop.ID // 0: the store is not known here, and a dry run does not add it
	Records int
	Resumed bool // an import that had begun was completed
	Already bool // the archive was imported before: nothing was done
}

// margin is how many numbers a process may have given to what is no record, such as the source of
// points, before its first record.
const margin = 1000

// Import checks an archive and then imports its types one after the other, each in a
// transaction. One that is interrupted is completed when it is called again. The store waits for the
// merchant's confirmation before it is charged. It fails with FailedPrecondition (storeNotEmpty)
// when the store has records, and with FailedPrecondition (restartNeeded) while processes of the service
// could give numbers of the archive to new records.
func (s *Service) Import(ctx context.Context, in Import) (Imported, error) {
	m := in.Archive.Manifest
	if m.Shop.Domain != in.Domain {
		return Imported{}, fault.New(fault.Invalid, "the archive is of %.80s, not of %s", m.Shop.Domain, in.Domain).Entity("archive").Code("otherStore")
	}
	if err := in.Archive.Verify(ctx, s.Store.CheckArchiveRecords, in.Progress); err != nil {
		return Imported{}, err
	}
	calendar, err := in.Archive.calendar(ctx)
	if err != nil {
		return Imported{}, err
	}
	store, err := s.Store.ShopByDomain(ctx, in.Domain)
	known := !fault.Is(err, fault.NotFound)
	if err != nil && known {
		return Imported{}, err
	}
	done := Imported{Shop: store.ID, Records: m.Total()}
	var was state
	if known {
		if was, err = s.target(ctx, store, in.Archive); err != nil {
			return Imported{}, err
		}
	}
	done.Already, done.Resumed = !was.Ended.IsZero(), was.Digest != "" && was.Ended.IsZero()
	if in.DryRun || done.Already {
		return done, nil
	}
	if m.Highest > 0 && was.Digest == "" {
		given, err := s.Store.ReserveNumbers(ctx, m.Highest)
		if err != nil {
			return Imported{}, err
		}
		if m.Lowest-margin < given && !in.Restarted {
			return Imported{}, fault.New(fault.FailedPrecondition, "processes of the service may hold numbers from %d to %d, which records of the archive have: they will take others when they start again. "+
				"Stop the service, or restart all of its processes now, and then say so (--restarted)", m.Lowest, m.Highest).Entity("archive").Code("restartNeeded")
		}
	}
	if !known {
		store = calendar
		store.Domain, store.CreatedAt, store.Guard.AwaitsSince = in.Domain, s.Clock.Now(), s.Clock.Now()
		if err := s.Store.AddShop(ctx, &store); err != nil {
			return Imported{}, err
		}
		done.Shop = store.ID
	}
	return done, s.work(ctx, store.ID, in, calendar)
}

// target checks that a store can take the archive.
func (s *Service) target(ctx context.Context, store shop.Shop, a *Reader) (state, error) {
	var is state
	err := s.Store.View(ctx, store.ID, func(tx ReadTx) (err error) {
		if is, err = stateOf(ctx, tx); err != nil || is.Digest == a.Digest {
			return err
		}
		if is.Digest != "" {
			return fault.New(fault.FailedPrecondition, "another archive was imported into the store, or its import has begun: an import needs an empty store").Entity("archive").Code("storeNotEmpty")
		}
		return empty(ctx, tx)
	})
	if err == nil && is.Digest == "" && string(store.Currency) != a.Manifest.Shop.Currency {
		err = fault.New(fault.FailedPrecondition, "the store sells in %s here, and in %.10s in the archive", store.Currency, a.Manifest.Shop.Currency).Entity("archive").Code("otherCurrency")
	}
	return is, err
}

// empty fails when the store has records. Its log may have entries, such as that it was connected.
func empty(ctx context.Context, tx ReadTx) error {
	for _, t := range Types {
		if t.Name == shopType || t.Name == logType {
			continue
		}
		n, err := tx.ArchiveCount(ctx, t, 1)
		if err != nil {
			return err
		}
		if n > 0 {
			return fault.New(fault.FailedPrecondition, "the store has %s: an import needs an empty store", t.Name).Entity("archive").Code("storeNotEmpty")
		}
	}
	return nil
}

// Types that a store has records of before an import.
const (
	shopType = "shop"
	logType  = "activity"
)

// imported is the additional information of the entry.
type imported struct {
	Reason  string `json:"reason"`
	Records int    `json:"records"`
	Written string `json:"exportedAt"`
	Digest  string `json:"archive"`
}

func (s *Service) work(ctx context.Context, of shop.ID, in Import, calendar shop.Shop) error {
	a := in.Archive
	if err := s.begin(ctx, of, in, calendar); err != nil {
		return err
	}
	for _, t := range Types {
		if t.Name == shopType {
			continue
		}
		if err := s.importType(ctx, of, in, t); err != nil {
			return fmt.Errorf("import %s: %w", t.Name, err)
		}
	}
	if err := s.Figures(ctx, of); err != nil {
		return fmt.Errorf("compute the figures: %w", err)
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		if err := tx.EndImport(ctx, Step{Digest: a.Digest, Records: a.Manifest.Total(), Ended: now}); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: in.By, At: now,
			Info: activity.Details(imported{
				"the store was imported from an archive: nothing is charged until the merchant confirms it", a.Manifest.Total(), a.Manifest.CreatedAt.Format(instant), a.Digest,
			}),
		})
	})
}

// begin has the store wait for the merchant's confirmation and takes over its settings, in the
// commit that begins the import.
func (s *Service) begin(ctx context.Context, of shop.ID, in Import, calendar shop.Shop) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		is, err := stateOf(ctx, tx)
		if err != nil || is.Digest == in.Archive.Digest {
			return err
		}
		if err := empty(ctx, tx); err != nil {
			return err
		}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		store.Guard.Await(now)
		store.Settings, store.OrderHour, store.OrderMinute = calendar.Settings, calendar.OrderHour, calendar.OrderMinute
		if store.OwnerEmail == "" {
			store.OwnerEmail = calendar.OwnerEmail
		}
		if err := tx.PutShop(ctx, store); err != nil {
			return err
		}
		return tx.AddImportStep(ctx, Step{Digest: in.Archive.Digest, Began: now})
	})
}

// importType imports the records of a type in one transaction.
func (s *Service) importType(ctx context.Context, of shop.ID, in Import, t Type) error {
	a := in.Archive
	return s.Store.Update(ctx, of, func(tx Tx) error {
		is, err := stateOf(ctx, tx)
		if err != nil || slices.Contains(is.done, t.Name) {
			return err
		}
		var list []Record
		n := 0
		flush := func() error {
			err := tx.AddArchiveRecords(ctx, t, list)
			n += len(list)
			list = list[:0]
			in.Progress(t.Name, n)
			return err
		}
		err = a.each(ctx, t, func(r Record) error {
			if list = append(list, r); len(list) < page {
				return nil
			}
			return flush()
		})
		if err == nil && len(list) > 0 {
			err = flush()
		}
		if err != nil {
			return err
		}
		return tx.AddImportStep(ctx, Step{Digest: a.Digest, Of: t.Name, Records: n, Ended: s.Clock.Now()})
	})
}

// calendar returns the store of the archive, with what is taken over of it.
func (a *Reader) calendar(ctx context.Context) (shop.Shop, error) {
	var store shop.Shop
	t, _ := typeNamed(shopType)
	if n := a.Manifest.Records(shopType); n != 1 {
		return store, damaged("%s has %d records, not 1", t.File(), n)
	}
	err := a.each(ctx, t, func(r Record) error {
		store.Domain, store.TimeZone = textOf(r[0]), textOf(r[1])
		store.Currency = money.Currency(textOf(r[2]))
		store.OrderHour, store.OrderMinute, store.OwnerEmail = numberOf(r[3]), numberOf(r[4]), textOf(r[6])
		return readDocument(r[5], &store.Settings)
	})
	if err != nil {
		return store, err
	}
	return store, checkStore(store)
}
