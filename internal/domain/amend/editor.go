// Package amend changes contracts: at the platform first, through a draft that it
// commits as a whole or not at all, and then in the store. Its rooms say which changes
// there are: contractedit, create, split and lifecycle.
package amend

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Entity is the entity that errors about contracts name.
const Entity = "subscriptionContract"

// Platform is the part of the commerce platform that changes of contracts need.
type Platform interface {
	platform.Editor
	platform.Catalogue
	Cycles(ctx context.Context, shop platform.Shop, contract int64, from, to int) ([]platform.Cycle, error)
	CustomerContracts(ctx context.Context, shop platform.Shop, customer int64) ([]int64, error)
}

// Adopter stores a contract as the platform returned it after a change.
type Adopter interface {
	Adopt(ctx context.Context, store shop.Shop, fresh platform.Contract, by intake.AuthoredChange) (contract.Contract, error)
}

// Publisher writes the edits of single billing cycles to the platform.
type Publisher interface {
	// Republish schedules the dates, skips and one-offs of the contract's upcoming
	// attempts to be written to the platform again at an instant.
	Republish(ctx context.Context, of shop.ID, c contract.ID, at time.Time) error
}

// Store runs transactions. View is for what only reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(intake.ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(intake.Tx) error) error
}

// Editor carries out one change of a contract: it reads the contract at the platform,
// edits it there and stores the result.
type Editor struct {
	Store    Store
	Platform Platform
	Adopter  Adopter
	Publish  Publisher
	Bundles  Bundles
	Trail    activity.Trail
	Clock    clock.Clock
	Log      *slog.Logger
}

// Command names the contract to change and the actor who changes it.
type Command struct {
	Line     shop.Line
	Contract contract.ID
	Actor    activity.Actor
	Permit   Permit // nil: the actor may
}

// Permit says whether an actor may change a contract, as it is when the change is decided.
type Permit interface {
	// Contract returns why the contract may not be changed, or nil.
	Contract(ctx context.Context, tx intake.ReadTx, of shop.Shop, c contract.Contract) error
}

// Check asks the command's permit, if it has one.
func (cmd Command) Check(ctx context.Context, tx intake.ReadTx, of shop.Shop, c contract.Contract) error {
	if cmd.Permit == nil {
		return nil
	}
	return cmd.Permit.Contract(ctx, tx, of, c)
}

// Bundles finds the box of a contract.
type Bundles interface {
	BundleOf(ctx context.Context, of shop.ID, c contract.Contract) (bundle.Settings, bool, error)
}
