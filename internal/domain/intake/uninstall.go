package intake

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// uninstallTakes is how long the platform may accept the token after it reported an
// uninstallation, and uninstallLook is how often it is checked meanwhile.
const uninstallTakes, uninstallLook = 5 * time.Minute, time.Minute

// uninstall disconnects the store once the platform refuses the token. The event alone
// does not: the platform does not sign its topic, and it may be older than the current
// connection.
func (s *Service) uninstall(ctx context.Context, b batch) error {
	store, events := b.store, b.events
	now := s.Clock.Now()
	_, err := s.Platform.Store(ctx, store.At())
	if err == nil {
		return s.Store.Update(ctx, store.ID, func(tx Tx) error {
			for _, e := range events {
				if now.Sub(e.ReceivedAt) < uninstallTakes && !e.happenedAt().Before(store.Guard.ConnectedAt) {
					err = tx.DeferEvents(ctx, []string{e.ID}, now.Add(uninstallLook), e.Failures, "the platform still accepts the token")
				} else {
					err = tx.FinishEvents(ctx, []string{e.ID}, now)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if !disconnected(err) {
		return fmt.Errorf("check whether the app is installed: %w", err)
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error {
		now := s.Clock.Now()
		current, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if current.Token != store.Token {
			return fault.New(fault.Conflict, "%s has been connected again", store.Domain)
		}
		if current.Connected {
			current.Disconnect(now)
			if err := notify.Disconnected(ctx, tx, current, now); err != nil {
				return err
			}
			if err := tx.PutShop(ctx, current); err != nil {
				return err
			}
			if err := tx.Record(ctx, activity.Entry{
				EntityID: int64(store.ID), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Info,
				Actor: activity.Platform, At: now, Info: activity.Details(entryDetails{Reason: "the app was uninstalled: the connection is gone and nothing is charged"}),
			}); err != nil {
				return err
			}
		}
		if err := partner.Uninstall(ctx, tx, now); err != nil {
			return err
		}
		return tx.FinishEvents(ctx, idsOf(events), now)
	})
}

// Departure is what a merchant is shown of a store that has uninstalled the app.
type Departure struct {
	DisconnectedAt time.Time // zero: the store is connected
	CancelsAt      time.Time // when the platform cancels its contracts; installing the app again before avoids it
	Contracts      int       // that are then cancelled, or were
}

// Departure returns since when a store is disconnected, and what is to come of it.
func (s *Service) Departure(ctx context.Context, of shop.ID) (Departure, error) {
	var d Departure
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if d = (Departure{CancelsAt: store.CancelsAt()}); d.CancelsAt.IsZero() {
			return nil
		}
		d.DisconnectedAt = store.Guard.DisconnectedAt
		d.Contracts, err = tx.RunningContracts(ctx)
		return err
	})
	return d, err
}
