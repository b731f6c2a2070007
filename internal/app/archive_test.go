package app

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/schema"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// counting takes e-mails, and counts them.
type counting struct{ sent int }

// Send takes every letter.
func (c *counting) Send(_ context.Context, list []notify.Email) []error {
	c.sent += len(list)
	return make([]error, len(list))
}

// moveTo exports the store of a life, imports it into another database, and has a service on that
// one go on. The first service has stopped.
func (l *life) moveTo(db *store.DB, mail *counting) {
	l.t.Helper()
	ctx, quiet := l.t.Context(), func(string, int) {}
	before := archiveOf(l, l.app.Store)
	db = db.Fork(l)
	l.must(db.Claim(ctx, Sandbox))
	opened, err := archive.Open(bytes.NewReader(before), int64(len(before)))
	l.must(err)
	_, err = archiveOn(db, l.clock, "test").Import(ctx, archive.Import{
		Archive: opened, Domain: l.of.Domain, Restarted: true, By: activity.Operator, Progress: quiet,
	})
	l.must(err)
	was, is := l.unzipped(before), l.unzipped(archiveOf(l, db))
	for _, t := range archive.Types {
		old, text := was[t.File()], is[t.File()]
		if same := text == old || t.Name == "activity" && strings.HasPrefix(text, old); !same {
			l.t.Errorf("%s is\n%s\nwas\n%s", t.File(), text, old)
		}
	}
	if len(l.tasks) > 0 {
		l.t.Errorf("the import has asked for %d tasks", len(l.tasks))
	}
	platformSide := l.sim.Handler()
	l.app, err = On(db, Options{
		Settings: config.Server{
			Platform:       config.Platform{PlatformURL: "https://{shop}", APIVersion: schema.Version, AppSecret: lifeSecret, PublicURL: "http://perennial.example.com", CallTimeout: time.Hour},
			ReconcileEvery: rareChecks,
		},
		Clock: l.clock, Log: slog.New(slog.DiscardHandler), Kind: Sandbox,
		Simulated: &Simulated{
			Platform: inProcess(func() http.Handler { return platformSide }), Wait: func(context.Context, time.Duration, time.Duration) error { return nil }, Mail: mail,
		},
	})
	l.must(err)
	place, err := l.app.place(ctx)
	l.must(err)
	l.must(l.app.Repair.SetPlace(ctx, place))
	l.of, err = db.Shops().ShopByDomain(ctx, l.of.Domain)
	l.must(err)
}

// archiveOf exports the store of a life.
func archiveOf(l *life, db *store.DB) []byte {
	l.t.Helper()
	of, err := db.Shops().ShopByDomain(l.t.Context(), l.of.Domain)
	l.must(err)
	var file bytes.Buffer
	_, err = archiveOn(db, l.clock, "test").Export(l.t.Context(), of, &file, func(string, int) {})
	l.must(err)
	return file.Bytes()
}

func (l *life) unzipped(file []byte) map[string]string {
	l.t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	l.must(err)
	files := make(map[string]string)
	for _, f := range z.File {
		in, err := f.Open()
		l.must(err)
		text, err := io.ReadAll(in)
		l.must(err)
		files[f.Name] = string(text)
	}
	return files
}

// A store that was imported sends and charges nothing until the merchant confirms it, and then
// goes on with the cycle at which the other installation stopped.
func TestImportedStoreGoesOnOnceItIsConfirmed(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": storetest.SQLite, "PostgreSQL": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := live(t)
			l.until("2026-12-20")
			l.skip(0)
			l.reschedule(0, "2027-02-15", true)
			l.until("2026-12-31")
			l.wantOrders("[11-11 12-11]")
			mail := &counting{}
			l.moveTo(open(t), mail)

			l.until("2027-01-20")
			at := platform.Shop{Domain: l.of.Domain, Token: "shpat_demo"}
			_, err := l.app.Intake.Connect(t.Context(), at, 9, 0, shop.Settings{})
			l.must(err)
			l.until("2027-02-17")
			l.wantOrders("[11-11 12-11]")
			if mail.sent > 0 {
				t.Errorf("%d e-mails were sent before the confirmation", mail.sent)
			}
			c := l.contract()
			if c.Orders != 2 {
				t.Errorf("the contract has %d orders, want 2", c.Orders)
			}
			if found, _, err := l.app.Store.Search(t.Context(), l.of.ID, contract.Filter{Line: shop.Subscriptions, OrderPart: c.LastOrder}, page.Request{Size: 2}); err != nil || len(found) != 1 {
				t.Errorf("the renewal %s finds %d contracts, %v", c.LastOrder, len(found), err)
			}

			of, err := l.app.Store.Shops().Shop(t.Context(), l.of.ID)
			l.must(err)
			if reason := of.Guard.ForeignReason(l.clock.Now()); !strings.Contains(reason, "frozen") {
				t.Errorf("the store is held because %q, want because of the other installation", reason)
			}
			l.must(l.app.Repair.Unfreeze(t.Context(), l.of.ID, "the other installation has stopped", activity.Operator))
			l.settle()
			l.wantOrders("[11-11 12-11]")
			confirmed, err := l.app.Confirm.ConfirmUnseen(t.Context(), l.of.ID, activity.Operator)
			if err != nil || !confirmed {
				t.Fatalf("confirmed %t, %v", confirmed, err)
			}
			l.until("2027-03-20")
			l.wantOrders("[11-11 12-11 02-17 03-15]")
			l.status(contract.Paused) // figures go on too
		})
	}
}
