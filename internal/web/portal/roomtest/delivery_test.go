package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/delivery"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// deliveryChanges notes what was asked for. One contract takes no address.
type deliveryChanges struct {
	subscription.Changes

	site  *portaltest.Site
	stays contract.ID
	asked []string
}

func (c *deliveryChanges) Detail(ctx context.Context, who do.Caller, id contract.ID) (do.View, contract.Detail, error) {
	v, err := c.site.Portal.Contract(ctx, who, id)
	detail := contract.Detail{Contract: v.State.Contract}
	detail.Method.Address = contract.Address{FirstName: "Maya", Address1: "16 Quay Street", City: "Boston", CountryCode: "US", Zip: "02110"}
	return v, detail, err
}

// DraftDelivery has delivery to France cost 12.00.
func (c *deliveryChanges) DraftDelivery(ctx context.Context, who do.Caller, id contract.ID, want func(contract.DeliveryMethod) contract.DeliveryMethod) (do.Delivered, error) {
	v, d, err := c.Detail(ctx, who, id)
	is := do.Delivered{View: v, From: contractedit.Delivery{Method: d.Method, Price: d.DeliveryPrice}, To: contractedit.Delivery{Method: want(d.Method), Price: d.DeliveryPrice}}
	if is.To.Method.Title = "Abroad"; is.To.Method.Address.CountryCode == "FR" {
		is.To.Price.Minor = 1200
	}
	is.Next = money.Amount{Minor: 5000, Currency: d.Currency}
	return is, err
}

func (c *deliveryChanges) SetDelivery(ctx context.Context, who do.Caller, ref do.ContractRef, want func(contract.DeliveryMethod) contract.DeliveryMethod, agreed *money.Amount) (contract.Detail, error) {
	if ref.ID == c.stays {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "the platform refuses the change: zip is not valid for Canada").Code("platformRefused").Field("zip")
	}
	is, err := c.DraftDelivery(ctx, who, ref.ID, want)
	if err != nil {
		return contract.Detail{}, err
	}
	if is.To.Price != *agreed {
		return contract.Detail{}, fault.New(fault.FailedPrecondition, "delivery costs %s", is.To.Price).Code("deliveryPriceChanged").Field("deliveryPrice")
	}
	to := is.To.Method.Address
	c.asked = append(c.asked, fmt.Sprintf("%d to %s, %s %s", ref.ID, to.Address1, to.City, to.CountryCode))
	return contract.Detail{}, nil
}

func openDelivery(t *testing.T, c *deliveryChanges, contracts ...contract.Contract) *portaltest.Site {
	t.Helper()
	c.site = portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: c}), delivery.New(delivery.Options{Sheets: s.Overview, Changes: c})}
	})
	c.site.Put(c.site.First, contracts)
	c.site.SignIn(portaltest.Maya)
	return c.site
}

const deliveryPath = "/s/1/address"

// toAddress are the fields of a form with an address.
func toAddress(fields ...string) []string {
	return append([]string{"countryCode", "CA", "address1", "12 Mill Lane", "city", "Ottawa"}, fields...)
}

func TestAddressIsChangedOfOneSubscriptionOrOfAll(t *testing.T) {
	t.Parallel()
	c := &deliveryChanges{}
	ended := portaltest.Subscription(3)
	ended.Status = contract.Cancelled
	s := openDelivery(t, c, portaltest.Subscription(1), portaltest.Subscription(2), ended)
	p := s.Get(portaltest.At + deliveryPath)
	s.Want(p, http.StatusOK, `value="16 Quay Street"`, `<option value="US" selected>United States</option>`, "All my subscriptions (2)", "Delivery costs $2.50 for each order.", `autocomplete="postal-code"`)
	s.Want(s.Send(p, deliveryPath, toAddress("scope", "this")...), http.StatusOK, "Orders go to the new address")
	s.Want(s.Send(s.Get(portaltest.At+deliveryPath), deliveryPath, toAddress("scope", "all")...), http.StatusOK, "The orders of all your subscriptions go to the new address.")
	c.stays = 2
	s.Want(s.Send(s.Get(portaltest.At+deliveryPath), deliveryPath, toAddress("scope", "all")...), http.StatusOK, "Not all of the others could be changed")
	const one, two = "1 to 12 Mill Lane, Ottawa CA", "2 to 12 Mill Lane, Ottawa CA"
	if got, want := strings.Join(c.asked, "\n"), strings.Join([]string{one, one, two, one}, "\n"); got != want {
		t.Errorf("changed:\n%s\nwant:\n%s", got, want)
	}
}

// Another price of delivery is shown with what the next order costs, and nothing is changed before the
// subscriber agrees to it, for all the contracts together.
func TestNewPriceOfDeliveryIsAgreedToFirst(t *testing.T) {
	t.Parallel()
	c := &deliveryChanges{}
	s := openDelivery(t, c, portaltest.Subscription(1), portaltest.Subscription(2))
	france := func(fields ...string) []string {
		return append([]string{"countryCode", "FR", "address1", "1 rue Haute", "city", "Paris"}, fields...)
	}
	asks := s.Send(s.Get(portaltest.At+deliveryPath), deliveryPath, france("scope", "all")...)
	s.Want(asks, http.StatusUnprocessableEntity, "delivery by Abroad costs $12.00 for each order there, instead of $2.50. Your next order then costs $50.00.",
		"I agree to the new price of delivery.", `value="1:1200 2:1200"`, `value="1 rue Haute"`)
	s.Want(s.Send(asks, deliveryPath, france("scope", "all", "prices", "1:1200")...), http.StatusUnprocessableEntity, `value="1:1200 2:1200"`)
	if len(c.asked) != 0 {
		t.Fatalf("without an agreement it changed %v", c.asked)
	}
	s.Want(s.Send(asks, deliveryPath, france("scope", "all", "prices", "1:1200 2:1200")...), http.StatusOK, "The orders of all your subscriptions go to the new address.")
	if len(c.asked) != 2 {
		t.Errorf("changed %v", c.asked)
	}
}

func TestRefusedAddressKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	c := &deliveryChanges{stays: 1}
	s := openDelivery(t, c, portaltest.Subscription(1))
	p := s.Get(portaltest.At + deliveryPath)
	if strings.Contains(p.Text, "All my subscriptions") {
		t.Error("the only subscription is offered as all")
	}
	for name, row := range map[string]struct {
		fields []string
		says   string
	}{
		"no street":        {[]string{"countryCode", "CA", "address1", "", "city", "Ottawa"}, `id="e-address1"`},
		"no country":       {[]string{"countryCode", "XX", "address1", "12 Mill Lane", "city", "Ottawa"}, `id="e-countryCode"`},
		"a long telephone": {toAddress("phone", strings.Repeat("1", 51)), `id="e-phone"`},
		"of the platform":  {toAddress("zip", "wrong"), `id="e-zip"`},
	} {
		answer := s.Send(p, deliveryPath, row.fields...)
		s.Want(answer, http.StatusUnprocessableEntity, row.says, `value="Ottawa"`)
		if t.Failed() {
			t.Fatalf("%s: %s", name, answer.Text)
		}
	}
}
