package portaltest

import (
	"net/http/httptest"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/platform/shopify/accounts"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// OpenAccounts lets Maya sign in with her account at the first store, at a simulated platform, which it
// returns. Our own domain is where the test reaches it from then on.
func (s *Site) OpenAccounts() (*simulator.Simulator, *httptest.Server) {
	s.Helper()
	sim, err := simulator.New(simulator.Options{Clock: s.Clock})
	s.must(err)
	s.must(sim.AddShop(simulator.ShopSpec{Domain: s.First.Domain, Token: "shpat_first", FirstCustomer: Maya}))
	made, err := sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Tin", Price: "7.92"}}})
	s.must(err)
	_, err = sim.Checkout(simulator.ContractSpec{
		Customer: simulator.CustomerSpec{Email: "maya@shopper.example", FirstName: "Maya", LastName: "Okafor"}, NextBillingDate: Next,
		Billing: simulator.PolicySpec{Interval: "WEEK", IntervalCount: 2}, Lines: []simulator.LineSpec{{VariantID: made[0].ID, Quantity: 1}},
	})
	s.must(err)
	at := s.Own.URL + At
	s.must(sim.SetAccountClient(s.First.Domain, simulator.AccountClient{
		ID: "shp_1", Redirects: []string{at + login.AccountReturnPath}, SignOuts: []string{at + login.AccountSignOutPath}, Origins: []string{s.Own.URL},
	}))
	_, err = s.Portal.ChangeSettings(s.Context(), s.First.ID, activity.Operator, func(is *do.Settings) error {
		is.AccountClient = "shp_1"
		return nil
	})
	s.must(err)
	server := httptest.NewServer(sim.Site())
	s.Cleanup(server.Close)
	s.Login.PublicURL = s.Own.URL
	s.Login.Accounts = accounts.New(accounts.Options{BaseURL: server.URL + "/store/{shop}", Clock: s.Clock})
	s.Account = true
	return sim, server
}
