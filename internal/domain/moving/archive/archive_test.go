package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// neighbour has rows in every table.
const neighbour = "before.myshopify.com"

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
		file := export(t, serviceOn(storetest.Open(t, options)))
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
				if again, err := importing(t, s, file); err != nil || !again.Already {
					t.Errorf("a second import: %+v, %v", again, err)
				}
			})
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
