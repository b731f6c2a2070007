package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// neighbour has rows in every table. Its own id is far from that of the first store of a database.
const neighbour = "behind.myshopify.com"

var now = time.Date(2026, time.November, 27, 9, 0, 0, 0, time.UTC)

// serviceOn returns a service that computes no figures: those of a neighbour do not follow from its
// history.
func serviceOn(db *store.DB) *archive.Service {
	return &archive.Service{Store: db.Archive(), Clock: clock.NewManual(now), Version: "test", Figures: func(context.Context, shop.ID) error { return nil }}
}

func silent(string, int) {}

// export writes an archive of the neighbour.
func export(t *testing.T, s *archive.Service) []byte {
	t.Helper()
	of, err := s.Find(t.Context(), neighbour)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := s.Export(t.Context(), of, &file, silent); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func openArchive(t *testing.T, file []byte) *archive.Reader {
	t.Helper()
	a, err := archive.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func importing(t *testing.T, s *archive.Service, file []byte) (archive.Imported, error) {
	t.Helper()
	return s.Import(t.Context(), archive.Import{Archive: openArchive(t, file), Domain: neighbour, Restarted: true, By: activity.Operator, Progress: silent})
}

// contents returns the files of an archive.
func contents(t *testing.T, file []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

func TestImportedStoreGivesSameArchive(t *testing.T) {
	t.Parallel()
	targets := map[string]func(testing.TB) *store.DB{"SQLite": storetest.SQLite, "PostgreSQL": storetest.Postgres}
	for from, options := range storetest.Inhabited(t) {
		source := storetest.Open(t, options)
		recordAboutStore(t, source)
		file := export(t, serviceOn(source))
		if of, err := serviceOn(source).Find(t.Context(), neighbour); err != nil || strings.Contains(contents(t, file)["activity.jsonl"], fmt.Sprintf(`"entityId":%d,"entityType":"SHOP_INFO"`, of.ID)) {
			t.Errorf("the archive has the id of the store in this installation, %d, %v", of.ID, err)
		}
		for to, open := range targets {
			t.Run(from+" to "+to, func(t *testing.T) {
				db := open(t)
				s := serviceOn(db)
				done, err := importing(t, s, file)
				if err != nil {
					t.Fatal(err)
				}
				of, err := s.Find(t.Context(), neighbour)
				if err != nil {
					t.Fatal(err)
				}
				if of.Guard.AwaitsSince.IsZero() || of.Connected {
					t.Errorf("the store is not charged before it is connected and confirmed: awaits since %v, connected %t", of.Guard.AwaitsSince, of.Connected)
				}
				sameArchive(t, file, export(t, s), done)
				sameSearches(t, source, db)
				if again, err := importing(t, s, file); err != nil || !again.Already {
					t.Errorf("a second import: %+v, %v", again, err)
				}
			})
		}
	}
}

// recordAboutStore adds an entry to the log that is about the store itself.
func recordAboutStore(t *testing.T, db *store.DB) {
	t.Helper()
	of, err := db.Shops().IDOf(t.Context(), neighbour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Shops().ReserveNumbers(t.Context(), 100_000); err != nil { // neighbours have numbers that were not given
		t.Fatal(err)
	}
	err = db.Update(t.Context(), of, func(tx *store.Tx) error {
		return tx.Record(t.Context(), activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: activity.Operator, At: now,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameSearches checks that the contracts of both stores are found by the same searches.
func sameSearches(t *testing.T, source, target *store.DB) {
	t.Helper()
	for name, f := range map[string]contract.Filter{
		"all": {}, "status": {Status: contract.Active}, "customer": {CustomerPart: "a"}, "number": {IDPart: "1"}, "order": {OrderPart: "10"},
		"failing": {Failing: true}, "e-mail": {CustomerEmail: "ADA@example.com"}, "product": {ProductID: 11},
	} {
		f.Line = shop.Subscriptions
		var found [2][]contract.ID
		for i, db := range []*store.DB{source, target} {
			of, err := db.Shops().IDOf(t.Context(), neighbour)
			if err != nil {
				t.Fatal(err)
			}
			list, n, err := db.Search(t.Context(), of, f, page.Request{Size: 50})
			if err != nil || n != len(list) {
				t.Errorf("%s: %d of %d contracts, %v", name, len(list), n, err)
			}
			for _, c := range list {
				found[i] = append(found[i], c.ID)
			}
		}
		if len(found[0]) == 0 || !slices.Equal(found[0], found[1]) {
			t.Errorf("%s: the search finds %v, and found %v", name, found[1], found[0])
		}
	}
}

// sameArchive compares the archive that was imported with one of the store that was made of it.
// The log has one entry more, that of the import.
func sameArchive(t *testing.T, before, after []byte, done archive.Imported) {
	t.Helper()
	was, is := contents(t, before), contents(t, after)
	for _, typ := range archive.Types {
		for _, name := range []string{typ.File(), typ.Sheet()} {
			old, text := was[name], is[name]
			if typ.Name == "activity" {
				rest, found := strings.CutPrefix(text, old)
				if !found || strings.Count(rest, "\n") != 1 || !strings.Contains(rest, fmt.Sprintf("%d", done.Records)) {
					t.Errorf("%s:\n%.3000s\nwas\n%.3000s", name, text, old)
				}
				continue
			}
			if strings.HasSuffix(name, ".jsonl") && old == "" {
				t.Errorf("%s is empty: the source shows nothing", name)
			}
			if text != old {
				t.Errorf("%s:\n%.3000s\nwas\n%.3000s", name, text, old)
			}
		}
	}
}

func TestImportNeedsEmptyStoreAndFreeNumbers(t *testing.T) {
	t.Parallel()
	source := storetest.Open(t, storetest.Inhabited(t)["SQLite"])
	file := export(t, serviceOn(source))
	if _, err := importing(t, serviceOn(source), file); !hasCode(err, "storeNotEmpty") {
		t.Errorf("into a store with contracts: %v", err)
	}

	db := storetest.SQLite(t)
	of := shop.Shop{Domain: neighbour, Token: "shpat", TimeZone: "Europe/Berlin", Currency: "EUR", CreatedAt: now}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	err := db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		return tx.PutPortalPreferences(t.Context(), &portal.Preferences{Customer: 901, Language: "de", UpdatedAt: now})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := importing(t, serviceOn(db), file); !hasCode(err, "storeNotEmpty") || !strings.Contains(err.Error(), "the store has portalPreferences") {
		t.Errorf("into a store with a record: %v", err)
	}

	s := serviceOn(storetest.SQLite(t))
	in := archive.Import{Archive: openArchive(t, file), Domain: neighbour, By: activity.Operator, Progress: silent}
	if _, err := s.Import(t.Context(), in); !hasCode(err, "restartNeeded") {
		t.Errorf("while processes may hold its numbers: %v", err)
	}
	in.DryRun = true
	if done, err := s.Import(t.Context(), in); err != nil || done.Records == 0 {
		t.Errorf("a dry run: %+v, %v", done, err)
	}
	if _, err := s.Find(t.Context(), neighbour); !fault.Is(err, fault.NotFound) {
		t.Errorf("a dry run has added the store: %v", err)
	}
	given, err := s.Store.ReserveNumbers(t.Context(), 0)
	if highest := in.Archive.Manifest.Highest; err != nil || given <= highest {
		t.Errorf("the next number is %d, %v, and the archive has %d", given, err, highest)
	}
	in.DryRun, in.Restarted = false, true
	if _, err := s.Import(t.Context(), in); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

func hasCode(err error, code string) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.ErrorKey == code
}

// An import that ends early, wherever it does, is completed when it is called again, and until then
// each type is there or not at all.
func TestInterruptedImportIsCompleted(t *testing.T) {
	t.Parallel()
	file := export(t, serviceOn(storetest.Open(t, storetest.Inhabited(t)["SQLite"])))
	db := storetest.SQLite(t)
	s := serviceOn(db)
	for i := 0; ; i++ {
		if i > 200 {
			t.Fatal("the import comes to no end")
		}
		broken := errors.New("the process died")
		stopping := *s
		stopping.Store = &dying{Store: s.Store, left: 2, err: broken}
		done, err := importing(t, &stopping, file)
		if err == nil {
			if i < 10 || !done.Resumed {
				t.Errorf("it was complete after %d runs, resumed %t", i, done.Resumed)
			}
			sameArchive(t, file, export(t, s), done)
			return
		}
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
}

// dying is a store whose second transaction fails after all was written.
type dying struct {
	archive.Store

	left int
	err  error
}

// Update runs fn in a transaction that may fail.
func (d *dying) Update(ctx context.Context, of shop.ID, fn func(archive.Tx) error) error {
	return d.Store.Update(ctx, of, func(tx archive.Tx) error {
		steps, err := tx.ImportSteps(ctx)
		if err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		after, err := tx.ImportSteps(ctx)
		if err == nil && len(after) > len(steps) {
			if d.left--; d.left == 0 {
				return d.err
			}
		}
		return err
	})
}
