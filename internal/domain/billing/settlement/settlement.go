// Package settlement writes what a batch of work changed about attempts and their
// contracts in one transaction. What is changed, and why, is left to the other rooms.
package settlement

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Unit is the unit of work: attempts and their contracts as the transaction has read them,
// and the changes that Close writes.
type Unit struct {
	Now       time.Time
	Policy    billing.Policy
	Log       *slog.Logger
	Shop      shop.Shop
	Attempts  map[billing.AttemptID]*billing.Attempt
	Contracts map[contract.ID]*contract.Contract

	Changed  []billing.AttemptID // attempts to write
	Refill   []contract.ID       // contracts whose queue and next date must follow
	Redate   []contract.ID       // contracts whose series starts again
	Requeued []contract.ID       // contracts with an attempt that is back in the queue
	Entries  []activity.Entry
	Tries    []billing.CardTry
	Mails    []notify.Message

	AskedWith    platform.Token // the token of the calls to the platform
	Disconnected bool           // the platform no longer accepts that token
	ShopChanged  bool           // the shop's guard has changed
}

// Open reads the contracts of attempts that the transaction has read.
func Open(ctx context.Context, env *billing.Env, tx billing.Tx, rows []billing.Attempt) (*Unit, error) {
	u := &Unit{Now: env.Clock.Now(), Policy: env.Policy, Log: env.Log, Attempts: make(map[billing.AttemptID]*billing.Attempt, len(rows))}
	for i := range rows {
		u.Attempts[rows[i].ID] = &rows[i]
	}
	var err error
	if u.Shop, err = tx.Shop(ctx); err != nil {
		return nil, err
	}
	u.Contracts, err = billing.ContractsByID(tx.Contracts(ctx, billing.ContractIDs(rows)))
	return u, err
}

// Update runs do on the attempts as they are now. do closes the unit.
func Update(ctx context.Context, env *billing.Env, of shop.ID, ids []billing.AttemptID, do func(billing.Tx, *Unit) error) error {
	return env.Store.Update(ctx, of, func(tx billing.Tx) error {
		rows, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		u, err := Open(ctx, env, tx, rows)
		if err != nil {
			return err
		}
		return do(tx, u)
	})
}

// Note adds an entry about an attempt.
func (u *Unit) Note(a billing.Attempt, event activity.EventType, status activity.Status, info billing.EntryInfo) {
	u.Entries = append(u.Entries, billing.NewEntry(a, event, status, activity.System, u.Now, info))
}

// Close writes every change.
func (u *Unit) Close(ctx context.Context, tx billing.Tx) error {
	var written []billing.Attempt
	for _, id := range billing.Unique(u.Changed) {
		a := u.Attempts[id]
		a.UpdatedAt = u.Now
		written = append(written, *a)
	}
	if err := tx.PutAttempts(ctx, written); err != nil {
		return err
	}
	if err := queue.Redate(ctx, tx, u.Shop, billing.PickContracts(u.Contracts, u.Redate), u.Now); err != nil {
		return err
	}
	var stopped []*contract.Contract
	for _, id := range u.Requeued {
		if c := u.Contracts[id]; c.Status != contract.Active && !slices.Contains(stopped, c) {
			stopped = append(stopped, c)
		}
	}
	if err := queue.Replan(ctx, tx, u.Shop, stopped, u.Now); err != nil {
		return err
	}
	if err := queue.Refill(ctx, tx, u.Shop, billing.PickContracts(u.Contracts, u.Refill), u.Now); err != nil {
		return err
	}
	if err := tx.AddCardTries(ctx, u.Tries); err != nil {
		return err
	}
	if err := notify.Queue(ctx, tx, u.Shop.ID, u.Mails...); err != nil {
		return err
	}
	if err := u.putShop(ctx, tx); err != nil {
		return err
	}
	return tx.Record(ctx, u.Entries...)
}

// putShop writes the shop if its guard or its connection has changed. A shop that has
// connected again since the calls, with another token, stays connected.
func (u *Unit) putShop(ctx context.Context, tx billing.Tx) error {
	gone := u.Disconnected && u.Shop.Connected && u.Shop.Token == u.AskedWith
	if gone {
		u.Shop.Disconnect(u.Now)
		u.Entries = append(u.Entries, activity.ConnectionGone(int64(u.Shop.ID), u.Now))
		if err := notify.Disconnected(ctx, tx, u.Shop, u.Now); err != nil {
			return err
		}
	}
	if !gone && !u.ShopChanged {
		return nil
	}
	return tx.PutShop(ctx, u.Shop)
}
