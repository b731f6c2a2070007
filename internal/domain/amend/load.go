package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Load reads the store and a contract. A contract of the other line of business, and for
// a subscriber another subscriber's, is NotFound. It asks the command's permit.
func (ed *Editor) Load(ctx context.Context, of shop.ID, cmd Command) (shop.Shop, contract.Contract, error) {
	var store shop.Shop
	var known contract.Contract
	err := ed.Store.View(ctx, of, func(tx intake.ReadTx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{cmd.Contract})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Line != cmd.Line || rows[0].HiddenFrom(cmd.Actor) {
			return ContractNotFound(cmd.Contract)
		}
		known = rows[0]
		if store, err = tx.Shop(ctx); err != nil {
			return err
		}
		return cmd.Check(ctx, tx, store, known)
	})
	if err == nil && !store.Connected {
		err = fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(Entity).Code("connectionGone")
	}
	return store, known, err
}

// ContractNotFound returns the NotFound of a contract.
func ContractNotFound(id contract.ID) error {
	return fault.New(fault.NotFound, "subscription contract %d does not exist", id).Entity(Entity).Code("contractNotFound")
}

// ConnectedShop reads the store. It fails when the store is disconnected.
func (ed *Editor) ConnectedShop(ctx context.Context, of shop.ID) (shop.Shop, error) {
	var store shop.Shop
	err := ed.Store.View(ctx, of, func(tx intake.ReadTx) (err error) {
		store, err = tx.Shop(ctx)
		return err
	})
	if err == nil && !store.Connected {
		err = fault.New(fault.FailedPrecondition, "the store's connection to the platform is gone").Entity(Entity).Code("connectionGone")
	}
	return store, err
}

// CheckEditable refuses to edit a contract that has ended, or that is between two services.
func CheckEditable(c contract.Contract) error {
	if c.Status == contract.Cancelled || c.Status == contract.Expired {
		return fault.New(fault.FailedPrecondition, "subscription contract %d is %s and cannot be changed", c.ID, c.Status).Entity(Entity).Code("contractNotActive")
	}
	return CheckFence(c)
}

// CheckFence refuses to change a contract that is between two services.
func CheckFence(c contract.Contract) error {
	if c.Fenced() {
		return fault.New(fault.Conflict, "subscription contract %d is being moved from one service to another: try again in a few minutes", c.ID).Entity(Entity).Code("contractMoving")
	}
	return nil
}
