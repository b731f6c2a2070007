package portal

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Service carries out what subscribers want. Every method finds only the caller's own contracts:
// others are NotFound. What the settings forbid is a fault with the key of the rule.
type Service struct {
	Store     Store
	Orders    *command.Service
	Edits     *contractedit.Service
	Statuses  *lifecycle.Service
	Creations *create.Service
	Plans     plan.Book
	Members   Members
	Answers   Answers
	Clock     clock.Clock

	UnsubscribeKey []byte // signs the links in e-mails that end e-mails
}

// Members knows members.
type Members interface {
	// IsMember reports whether a customer has an ACTIVE contract of the membership line.
	IsMember(ctx context.Context, of shop.ID, customer int64) (bool, error)
}

// Settings returns the settings of a store's portal.
func (s *Service) Settings(ctx context.Context, of shop.ID) (settings Settings, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		settings, err = tx.PortalSettings(ctx)
		return err
	})
	return settings, err
}

// settingsNote is the additional information of an entry about settings.
type settingsNote struct {
	From Settings `json:"from"`
	To   Settings `json:"to"`
}

// ChangeSettings changes the settings of a store's portal and returns them.
func (s *Service) ChangeSettings(ctx context.Context, of shop.ID, by activity.Actor, change func(*Settings) error) (settings Settings, err error) {
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		before, err := tx.PortalSettings(ctx)
		if err != nil {
			return err
		}
		settings = before
		if err := change(&settings); err != nil {
			return err
		}
		if err := settings.Check(); err != nil {
			return err
		}
		if settings.AccountClient == "" {
			settings.AccountSecret = ""
		}
		settings.UpdatedAt = s.Clock.Now()
		if err := tx.PutPortalSettings(ctx, &settings); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(of), EntityType: activity.EntityCustomerPortalSettings, Event: activity.Updated, Status: activity.Success, Actor: by,
			At: settings.UpdatedAt, Info: activity.Details(settingsNote{before, settings}),
		})
	})
	return settings, err
}

// View is a contract of the caller's, with what may be done with it and with its orders.
type View struct {
	State
	Settings Settings
	Can      Permissions
}

// Order returns the permissions on one of the contract's orders.
func (v View) Order(order billing.Attempt) (Permissions, error) {
	return v.Settings.ForOrder(v.State, order)
}

// NextCost returns what the next order costs, before taxes, if the contract is as given.
func (v View) NextCost(is contract.Contract) money.Amount { return v.NextOrder().With(is).Cost() }

// NextOrder returns the order that comes next. Of a contract without orders to come it is the one
// that it would make first.
func (v View) NextOrder() billing.Record {
	if next, comes := billing.Earliest(billing.OnlyQueued(v.Orders)); comes {
		return v.Record(next)
	}
	c := v.State.Contract
	cal, err := v.Shop.Calendar()
	if err != nil {
		return v.Record(billing.Attempt{Contract: c.ID, Cycle: c.Series.Cycle, Status: billing.Queued})
	}
	return billing.ResumedOrder(c, v.Inputs, v.Orders, cal, v.Now)
}

// Record returns one of the contract's orders with what it depends on.
func (v View) Record(a billing.Attempt) billing.Record {
	return billing.RecordOf(a, v.State.Contract, v.Inputs, v.Orders)
}

// Contract returns a contract of the caller's and what may be done with it. It asks the database
// only.
func (s *Service) Contract(ctx context.Context, who Caller, id contract.ID) (v View, err error) {
	err = s.Store.View(ctx, who.Shop.ID, func(tx ReadTx) error {
		v, err = s.view(ctx, tx, who, id)
		return err
	})
	return v, err
}

func (s *Service) view(ctx context.Context, tx ReadTx, who Caller, id contract.ID) (v View, err error) {
	rows, err := tx.Contracts(ctx, []contract.ID{id})
	if err != nil {
		return v, err
	}
	if len(rows) == 0 || who.CannotSee(rows[0]) {
		return v, amend.ContractNotFound(id)
	}
	if v.Settings, err = tx.PortalSettings(ctx); err != nil {
		return v, err
	}
	v.State = State{Shop: who.Shop, Contract: rows[0], Now: s.Clock.Now()}
	if v.Orders, err = tx.AttemptsOf(ctx, []contract.ID{id}, billing.Unfinished...); err != nil {
		return v, err
	}
	inputs, err := billing.ReadInputs(ctx, tx, who.Shop, map[contract.ID]*contract.Contract{id: &rows[0]})
	if err != nil {
		return v, err
	}
	v.Inputs = inputs[id]
	v.Can, err = v.Settings.ForContract(v.State)
	return v, err
}

// Detail returns a contract as Contract does, with what only the platform knows of it. While the
// platform does not answer, that is left out.
func (s *Service) Detail(ctx context.Context, who Caller, id contract.ID) (View, contract.Detail, error) {
	v, err := s.Contract(ctx, who, id)
	if err != nil {
		return v, contract.Detail{}, err
	}
	d, err := s.Edits.Show(ctx, who.Shop.ID, amend.Command{Line: v.State.Contract.Line, Contract: id, Actor: who.Actor})
	return v, d, err
}

// CannotSee reports whether a contract is another subscriber's, or of a line that was not asked for.
func (who Caller) CannotSee(c contract.Contract) bool {
	return who.Actor.Customer == 0 || c.HiddenFrom(who.Actor) || who.Line != "" && c.Line != who.Line
}
