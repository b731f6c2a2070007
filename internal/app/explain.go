package app

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/shopify"
)

// Explain opens a database and explains a billing attempt of a store, of whichever
// line it is. Nothing is changed.
func Explain(ctx context.Context, d config.Database, p config.Platform, c clock.Clock, domain string, id billing.AttemptID) (explain.Explanation, error) {
	db, err := open(ctx, d, opening{})
	if err != nil {
		return explain.Explanation{}, err
	}
	defer db.Close()
	of, err := db.Shops().IDOf(ctx, domain)
	if err != nil {
		return explain.Explanation{}, err
	}
	log := slog.New(slog.DiscardHandler)
	client := shopify.New(shopify.Options{BaseURL: p.PlatformURL, APIVersion: p.APIVersion, Timeout: p.CallTimeout, Log: log})
	env := &billing.Env{Store: db.Billing(), Platform: client, Plans: db, Clock: c, Log: log, Policy: billing.DefaultPolicy()}
	explainer := explain.New(env, db)
	e, err := explainer.Explain(ctx, of, shop.Subscriptions, id)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return explainer.Explain(ctx, of, shop.Memberships, id)
	}
	return e, err
}
