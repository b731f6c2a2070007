package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver/signed"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/here"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/moving/parts"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/peer"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/store"
)

// moveParallel is how many contracts of one store are moved at once.
const moveParallel = 8

// moveContracts assembles the service that moves contracts from another service to this one, and back.
func (a *App) moveContracts(client *shopify.Client, editor *amend.Editor) {
	o := peer.Options{Transport: signed.Transport(a.options.Settings.PrivatePartners), Timeout: a.options.Settings.CallTimeout, Clock: a.options.Clock}
	parallel := moveParallel
	if s := a.options.Simulated; s != nil {
		o.Transport, o.Timeout, o.Wait, parallel = s.Peers, 0, s.Wait, 1
	}
	others := peer.New(o)
	a.callers = append(a.callers, others)
	own := &here.Service{Editor: editor, Directory: a.Store, Orders: a.Command, Statuses: a.Lifecycle, Creations: a.Creations, Notices: a.addNotices}
	a.Moves = &mover.Service{
		Store: a.Store.Moves(), Platform: client, Imports: a.Store,
		Here: func(m moving.Move) mover.End { return own.Of(m) },
		Peer: func(p moving.Peer) mover.End { return others.End(p) },
		Parts: &parts.Service{
			Store: a.Store.Moves(), Other: func(p moving.Peer) parts.Other { return others.End(p) }, Platform: client,
			Plans: a.Plans, PlanBook: a.Store, Swaps: a.Swaps, SwapBook: a.Store, Bundles: a.Bundles, Shelf: a.Store, Points: a.Loyalty, Portal: a.Portal,
			Clock: a.options.Clock, Log: a.options.Log,
		},
		Clock: a.options.Clock, Log: a.options.Log, Parallel: parallel,
	}
}

// addNotices records notices of prices.
func (a *App) addNotices(ctx context.Context, of shop.ID, list []billing.Notice) error {
	return a.Store.Update(ctx, of, func(tx *store.Tx) error { return tx.AddSwapNotices(ctx, list) })
}

// WithMoves opens a database and lets fn start and steer the moves of a store. The service carries
// them out.
func WithMoves(ctx context.Context, d config.Database, c clock.Clock, domain string, fn func(*mover.Service, ShopRef) error) error {
	return withService(ctx, d, domain, func(db *store.DB) *mover.Service { return &mover.Service{Store: db.Moves(), Clock: c} }, fn)
}
