package sandbox

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
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
	settings, err := a.Portal.Settings(ctx, store.ID)
	if err != nil || settings.AccountClient != "" {
		return err
	}
	_, err = a.Portal.ChangeSettings(ctx, store.ID, activity.System, func(is *portal.Settings) error {
		is.AccountClient = accountClientID
		return nil
	})
	return err
}
