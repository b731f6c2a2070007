package portal

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// permit lets a command through that the settings allow, on the contract or the order as it is
// in the command's own transaction.
type permit struct {
	settings Settings
	actions  []Action // all of them must be allowed
	version  int64    // of the contract, as of ContractRef
	clock    clock.Clock
	also     func(State) error // what else must hold; nil: nothing
}

var (
	_ amend.Permit   = (*permit)(nil)
	_ command.Permit = (*permit)(nil)
)

// Contract implements amend.Permit.
func (p *permit) Contract(ctx context.Context, tx intake.ReadTx, of shop.Shop, c contract.Contract) error {
	return p.check(ctx, tx, of, c, nil)
}

// Order implements command.Permit.
func (p *permit) Order(ctx context.Context, tx billing.ReadTx, of shop.Shop, r billing.Record) error {
	return p.check(ctx, tx, of, r.Of, &r.Attempt)
}

func (p *permit) check(ctx context.Context, tx billing.ReadTx, of shop.Shop, c contract.Contract, order *billing.Attempt) error {
	if p.version != 0 && p.version != c.Fingerprint() {
		return changedMeanwhile(c.ID)
	}
	orders, err := tx.AttemptsOf(ctx, []contract.ID{c.ID}, billing.Unfinished...)
	if err != nil {
		return err
	}
	is := State{Shop: of, Contract: c, Orders: orders, Now: p.clock.Now()}
	for _, a := range p.actions {
		if err := p.settings.allow(a, is, order); err != nil {
			return err
		}
	}
	if p.also == nil {
		return nil
	}
	return p.also(is)
}

// allow refuses an action that the settings or the state of the contract forbid. A status in which
// the action does not exist is left to the command, which says why.
func (s Settings) allow(a Action, is State, order *billing.Attempt) error {
	if r := ruleOf(a); r.toggle != "" && !s.Allows(r.toggle) {
		return disabled(r)
	} else if s.frozen(r, is) {
		return is.Contract.Frozen()
	}
	p, err := s.ForContract(is)
	if order != nil {
		p, err = s.ForOrder(is, *order)
	}
	if err != nil {
		return err
	}
	if refusal := p[a]; refusal != nil && refusal.ErrorKey != "contractNotActive" {
		return refusal
	}
	return nil
}

// changedMeanwhile is the Conflict of a contract that has changed since the caller has seen it.
func changedMeanwhile(id contract.ID) error {
	return fault.New(fault.Conflict, "subscription contract %d has changed since you looked at it", id).Entity(amend.Entity).Code("changedMeanwhile").Field("version")
}
