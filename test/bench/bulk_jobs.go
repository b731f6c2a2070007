package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// bulkActor is who changes contracts here.
var bulkActor = activity.Actor{Source: activity.MerchantPortal, By: "bench@shop.example"}

// bulkJobs changes one half of a store's contracts one after the other by the services, and the
// other half by a job that does the same, and compares the rates.
func bulkJobs(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.bulkOn(ctx, kind); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
	}
	return nil
}

func (s settings) bulkOn(ctx context.Context, kind string) error {
	n := s.bulk
	st, err := s.stage(ctx, kind, stockOptions{Shops: 1, Still: 2 * n, Due: clock.System{}.Now().Truncate(time.Minute)})
	if err != nil {
		return err
	}
	defer st.end()
	a, err := app.New(ctx, app.Options{Settings: st.set, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production})
	if err != nil {
		return err
	}
	defer a.Close()
	of, err := a.Store.Shops().ShopByDomain(ctx, shopDomain(0))
	if err != nil {
		return err
	}
	ids, err := a.Store.MatchingContracts(ctx, of.ID, contract.Filter{Line: shop.Subscriptions}, 0, 2*n)
	if err != nil {
		return err
	}
	if len(ids) != 2*n {
		return fmt.Errorf("the store has %d contracts, want %d", len(ids), 2*n)
	}
	day := clock.System{}.Now().AddDate(0, 0, 20)
	for _, row := range []struct {
		action bulk.Action
		alone  func(id contract.ID) error
	}{
		{bulk.Action{Kind: bulk.MoveNext, Date: day}, func(id contract.ID) error {
			_, err := a.Command.Reschedule(ctx, of.ID, command.Reschedule{Line: shop.Subscriptions, Contract: id, BillingDate: day, Actor: bulkActor})
			return err
		}},
		{bulk.Action{Kind: bulk.SetQuantity, Quantity: 3}, func(id contract.ID) error {
			d, err := a.Edits.Show(ctx, of.ID, amend.Command{Line: shop.Subscriptions, Contract: id, Actor: bulkActor})
			if err != nil {
				return err
			}
			_, err = a.Edits.ChangeLine(ctx, of.ID, amend.Command{Line: shop.Subscriptions, Contract: id, Actor: bulkActor}, contractedit.LineChange{OldVariant: d.Lines[0].VariantID, Quantity: new(3)})
			return err
		}},
	} {
		begun := clock.System{}.Now()
		for _, id := range ids[:n] {
			if err := row.alone(id); err != nil {
				return fmt.Errorf("%s of contract %d: %w", row.action.Kind, id, err)
			}
		}
		alone := float64(n) / clock.System{}.Now().Sub(begun).Seconds()
		if row.action.Kind == bulk.SetQuantity {
			c, err := a.Edits.Show(ctx, of.ID, amend.Command{Line: shop.Subscriptions, Contract: ids[0], Actor: bulkActor})
			if err != nil {
				return err
			}
			row.action.Variant = c.Lines[0].VariantID
		}
		rate, err := workJob(ctx, a, of.ID, bulk.Selection{IDs: ids[n:]}, row.action)
		if err != nil {
			return err
		}
		s.print("bulk db=%s n=%d action=%s per_second=%.0f one_by_one_per_second=%.0f ratio=%.2f preview_ms=%.0f", kind, n, row.action.Kind, rate.perSecond, alone, rate.perSecond/alone, ms(rate.preview))
	}
	return nil
}

// bulkRate is how fast an action went.
type bulkRate struct {
	perSecond float64 // contracts, from the start on
	preview   time.Duration
}

// workJob previews and starts an action, works it here and returns how fast that went.
func workJob(ctx context.Context, a *app.App, of shop.ID, sel bulk.Selection, action bulk.Action) (bulkRate, error) {
	asked := clock.System{}.Now()
	p, err := a.Bulk.Preview(ctx, of, sel, action, bulkActor)
	if err != nil {
		return bulkRate{}, err
	}
	begun := clock.System{}.Now()
	j, err := a.Bulk.Start(ctx, of, bulk.Request{Action: action, Selection: sel, Previewed: p.Fingerprint, Key: string(action.Kind), By: bulkActor})
	if err != nil {
		return bulkRate{}, err
	}
	for j.Status.Open() {
		if err := a.Bulk.Work(ctx, of); err != nil {
			return bulkRate{}, err
		}
		if j, err = a.Bulk.Job(ctx, of, j.ID); err != nil {
			return bulkRate{}, err
		}
		if time.Since(begun) > patience(j.Total) {
			return bulkRate{}, fmt.Errorf("%s: %d of %d contracts are done", action.Kind, j.Done(), j.Total)
		}
	}
	if j.Succeeded != j.Total || j.Total != len(sel.IDs) {
		return bulkRate{}, fmt.Errorf("%s: %d of %d contracts were changed", action.Kind, j.Succeeded, j.Total)
	}
	return bulkRate{float64(j.Total) / j.EndedAt.Sub(begun).Seconds(), begun.Sub(asked)}, nil
}
