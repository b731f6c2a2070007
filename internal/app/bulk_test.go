package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// errDied ends a worker.
var errDied = errors.New("the worker died")

// dying are the services that change contracts, whose worker dies once a change is made.
type dying struct {
	bulk.Edits
	bulk.Orders
	bulk.Statuses
	died bool
}

func (d *dying) die() {
	if !d.died {
		d.died = true
		panic(errDied)
	}
}

func (d *dying) Skip(ctx context.Context, of shop.ID, cmd command.Skip) (billing.Record, error) {
	r, err := d.Orders.Skip(ctx, of, cmd)
	d.die()
	return r, err
}

func (d *dying) ChangeLine(ctx context.Context, of shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error) {
	c, err := d.Edits.ChangeLine(ctx, of, cmd, l)
	d.die()
	return c, err
}

func (d *dying) SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error) {
	c, err := d.Statuses.SetStatus(ctx, of, cmd, w)
	d.die()
	return c, err
}

// A worker that dies between a change and the note of it leaves a contract that is marked as
// changed, and another one does not change it again.
func TestBulkActionChangesContractOnceThoughItsWorkerDies(t *testing.T) {
	t.Parallel()
	for kind, event := range map[bulk.Kind]activity.EventType{bulk.SkipNext: activity.BillingAttemptSkipped, bulk.SetQuantity: activity.ProductQuantityChange, bulk.Pause: activity.ContractPaused} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := live(t)
			ctx, jobs := t.Context(), l.app.Bulk
			worker := &dying{Edits: jobs.Edits, Orders: jobs.Orders, Statuses: jobs.Statuses}
			jobs.Edits, jobs.Orders, jobs.Statuses = worker, worker, worker
			d, err := l.app.Edits.Show(ctx, l.of.ID, l.command())
			l.must(err)
			action := bulk.Action{Kind: kind}
			if kind == bulk.SetQuantity {
				action.Variant, action.Quantity = d.Lines[0].VariantID, 5
			}
			sel, by := bulk.Selection{IDs: []contract.ID{l.id}}, activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example"}
			p, err := jobs.Preview(ctx, l.of.ID, sel, action, by)
			l.must(err)
			if p.Possible != 1 {
				t.Fatalf("preview %+v", p)
			}
			j, err := jobs.Start(ctx, l.of.ID, bulk.Request{Action: action, Selection: sel, Previewed: p.Fingerprint, Key: "key", By: by})
			l.must(err)
			func() {
				defer func() {
					if p := recover(); p != errDied { //nolint:errorlint // the very one that was thrown
						panic(p)
					}
				}()
				l.settle()
			}()
			l.pass(5 * time.Minute)
			j, err = jobs.Job(ctx, l.of.ID, j.ID)
			l.must(err)
			if j.Status != bulk.Finished || j.Succeeded != 1 || j.Failed != 0 {
				t.Errorf("job %+v", j)
			}
			list, _, err := l.app.Store.Entries(ctx, l.of.ID, []page.Criterion{{Field: "eventType", Op: page.Equals, Texts: []string{string(event)}}}, page.Request{Size: 10})
			l.must(err)
			if len(list) != 1 || list[0].Actor.Source != activity.MerchantPortalBulkAutomation || list[0].Actor.By != by.By {
				t.Errorf("entries %+v", list)
			}
		})
	}
}

func TestChangesOfBulkActionsAreMarkedInTheirCommit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "perennial.db")
	storetest.SQLiteFile(t, path)
	db, err := store.Open(t.Context(), store.Options{URL: path, SecretKey: storetest.SecretKey, Subscribers: Subscribers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	of := shop.Shop{Domain: "demo.myshopify.com", Token: "shpat_demo", TimeZone: "UTC", Currency: "USD"}
	if err := db.Shops().AddShop(t.Context(), &of); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	err = db.Update(t.Context(), of.ID, func(tx *store.Tx) error {
		if _, err := tx.AddBulkItems(t.Context(), 5, now, []contract.ID{1}); err != nil {
			return err
		}
		return tx.Record(t.Context(), activity.Entry{EntityID: 1, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.Updated, Status: activity.Success, Actor: activity.Actor{Job: 5}, At: now})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), of.ID, func(tx *store.Tx) error {
		list, err := tx.BulkItems(t.Context(), 5, bulk.Waiting, 0, 10)
		if err == nil && (len(list) != 1 || !list[0].Changed) {
			err = fmt.Errorf("items %+v", list)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
