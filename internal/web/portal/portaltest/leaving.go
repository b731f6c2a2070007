package portaltest

import (
	"context"
	"log/slog"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/retention/sessiontest"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// Leaving returns the service of cancelling on the site's database, which cancels contracts there
// alone, and what it was asked to change.
func (s *Site) Leaving() (*session.Service, *sessiontest.Changes) {
	c := &sessiontest.Changes{Cancel: s.cancel}
	return &session.Service{Store: s.DB.CancelSessions(), Statuses: c, Edits: c, Orders: c, Prices: c, Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}, c
}

// cancel cancels a contract in the database.
func (s *Site) cancel(ctx context.Context, of shop.ID, id contract.ID, feedback string) error {
	return s.DB.Update(ctx, of, func(tx *store.Tx) error {
		rows, err := tx.Contracts(ctx, []contract.ID{id})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.New(fault.NotFound, "contract %d does not exist", id)
		}
		rows[0].Status, rows[0].CancelledAt, rows[0].CancellationFeedback = contract.Cancelled, s.Clock.Now(), feedback
		return tx.PutContracts(ctx, rows)
	})
}

// Publish publishes a flow in the first store, as the next version.
func (s *Site) Publish(f flow.Flow) {
	s.Helper()
	flows := flow.Service{Store: s.DB.CancelFlows(), Clock: s.Clock}
	is, err := flows.Current(s.Context(), s.First.ID)
	s.must(err)
	_, err = flows.Publish(s.Context(), s.First.ID, f, is.Version, activity.Operator)
	s.must(err)
}
