package sandbox

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// accountClientID is the client id of customer accounts of the main store.
const accountClientID = "shp_00000000-0000-4000-8000-000000000001"

// openAccounts lets customers of the main store sign in to the portal with their account: it makes a
// public client at the platform, with the addresses of this run, and sets it in the service unless
// another one is set there.
func (s *Sandbox) openAccounts(ctx context.Context) error {
	a := s.front.running()
	store, err := a.Store.Shops().ShopByDomain(ctx, demo.Main)
	if err != nil {
		return err
	}
	at := s.urls.Subscriptions + "/p/" + login.Handle(demo.Main)
	err = s.sim.SetAccountClient(demo.Main, simulator.AccountClient{
		ID: accountClientID, Redirects: []string{at + login.AccountReturnPath}, SignOuts: []string{at + login.AccountSignOutPath}, Origins: []string{s.urls.Subscriptions},
	})
	if err != nil {
		return err
	}
	return a.Store.Portal().Update(ctx, store.ID, func(tx portal.Tx) error { // no entry in the activity log: the store came with it
		settings, err := tx.PortalSettings(ctx)
		if err != nil || settings.AccountClient != "" {
			return err
		}
		settings.AccountClient, settings.UpdatedAt = accountClientID, s.clock.Now()
		return tx.PutPortalSettings(ctx, &settings)
	})
}
