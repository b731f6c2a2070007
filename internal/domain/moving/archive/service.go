package archive

import (
	"archive/zip"
	"context"
	"io"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Step is a part of an import: a type, or the import itself.
type Step struct {
	Digest  string    // of the archive
	Of      string    // type; empty: the whole import
	Records int       // that were imported
	Began   time.Time // of the import, zero for a type
	Ended   time.Time // zero: it has not
}

// state is how far an import into a store has come. The zero value is none.
type state struct {
	Step
	done []string // types that are imported
}

func stateOf(ctx context.Context, tx ReadTx) (state, error) {
	steps, err := tx.ImportSteps(ctx)
	var s state
	for _, step := range steps {
		if step.Of == "" {
			s.Step = step
		} else {
			s.done = append(s.done, step.Of)
		}
	}
	return s, err
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	Snapshot
	// ImportSteps returns the steps of the store's import; none: nothing was imported.
	ImportSteps(ctx context.Context) ([]Step, error)
	// ArchiveCount returns how many records of a type the store has, up to limit.
	ArchiveCount(ctx context.Context, t Type, limit int) (int, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	Shop(ctx context.Context) (shop.Shop, error)
	PutShop(ctx context.Context, s shop.Shop) error
	Record(ctx context.Context, entries ...activity.Entry) error
	// AddImportStep notes a step. One that is noted, and the import of a second archive, are
	// Conflicts. EndImport notes the end of the import.
	AddImportStep(ctx context.Context, s Step) error
	EndImport(ctx context.Context, s Step) error
	// AddArchiveRecords inserts records, with all by which they are found, and has nothing follow
	// from them: no webhook, no e-mail, no points. Records that break a rule of the store are
	// Invalid.
	AddArchiveRecords(ctx context.Context, t Type, list []Record) error
}

// Store runs transactions.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	// ShopByDomain returns a shop, or NotFound. AddShop inserts one and gives it its ID.
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	AddShop(ctx context.Context, added *shop.Shop) error
	// CheckArchiveRecords fails with Invalid when the service could not read records that were
	// inserted. It asks no database.
	CheckArchiveRecords(t Type, list []Record) error
	// ReserveNumbers makes all numbers that the installation gives from now on greater than one,
	// and returns the number below which some were given, or are in the hands of processes.
	ReserveNumbers(ctx context.Context, highest int64) (given int64, err error)
}

// Service writes and reads archives.
type Service struct {
	Store Store
	Clock clock.Clock
	// Version is the version of the service, for manifests.
	Version string
	// Figures computes the figures of a store again from its history.
	Figures func(ctx context.Context, of shop.ID) error
}

// Export writes everything that a store has to a stream, as it is at one instant, and returns
// the manifest. What was written before an error is no archive.
func (s *Service) Export(ctx context.Context, of shop.Shop, to io.Writer, progress Progress) (Manifest, error) {
	m := Manifest{
		Format: Format, Version: Version, Service: s.Version, CreatedAt: s.Clock.Now().UTC().Truncate(time.Millisecond),
		Shop: Origin{Domain: of.Domain, TimeZone: of.TimeZone, Currency: string(of.Currency)},
	}
	began := false
	err := s.Store.View(ctx, of.ID, func(tx ReadTx) error {
		if began {
			return fault.New(fault.Unavailable, "the database ended the snapshot: begin again").Entity("archive")
		}
		began = true
		w := writer{zip: zip.NewWriter(to), source: tx, manifest: &m, progress: progress}
		return w.write(ctx)
	})
	return m, err
}

// Find returns a store by its domain, or NotFound.
func (s *Service) Find(ctx context.Context, domain string) (shop.Shop, error) {
	return s.Store.ShopByDomain(ctx, domain)
}
