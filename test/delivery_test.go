package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

const shippingPath = "/delivery-profiles/v2/create-shipping-profile"

// merchant is an integration of an otherwise empty store.
type merchant struct {
	*store
	key      string
	token    string
	location int64
}

func newMerchant(t *testing.T, o sandbox.Options) *merchant {
	t.Helper()
	m := &merchant{store: open(t, o)}
	text, err := os.ReadFile(filepath.Join(m.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		APIKey, PlatformToken string
		Examples              struct {
			LocationID int64 `json:"locationId"`
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	m.key, m.token, m.location = manifest.APIKey, manifest.PlatformToken, manifest.Examples.LocationID
	return m
}

func (m *merchant) do(method, path string, in, out any) int {
	m.t.Helper()
	return m.send(method, m.urls.Subscriptions+api+path, m.key, in, out)
}

// profile is the body of a delivery profile.
func (m *merchant) profile(name string, location int64) map[string]any {
	return map[string]any{"name": name, "locationInfos": []any{map[string]any{"locationId": fmt.Sprint(location), "countryInfos": []any{map[string]any{
		"code": "US", "shouldIncludeAllProvince": true, "deliveryMethodInfo": []any{map[string]any{"name": "Standard", "amount": 4.9}},
	}}}}}
}

type shippingProfile struct {
	Shop, DeliveryProfileID, Name string
	ID                            int64
	SellerGroupIDs                []string
}

// atPlatform returns the names of the profiles that the platform has.
func (m *merchant) atPlatform() []string {
	m.t.Helper()
	body := strings.NewReader(`{"query":"{ deliveryProfiles(first: 50) { nodes { name } } }"}`)
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.urls.Platform+"/admin/api/2026-10/graphql.json", body)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("X-Shopify-Access-Token", m.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Data struct {
			DeliveryProfiles struct{ Nodes []struct{ Name string } }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		m.t.Fatal(err)
	}
	var names []string
	for _, n := range got.Data.DeliveryProfiles.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func (m *merchant) wantProfiles(want ...string) {
	m.t.Helper()
	if got := m.atPlatform(); fmt.Sprint(got) != fmt.Sprint(want) {
		m.t.Errorf("the platform has the profiles %q, want %q", got, want)
	}
}

func (m *merchant) wantLog(want ...string) {
	m.t.Helper()
	var list []struct{ EntityType, EventType, Status string }
	m.do("GET", "/activity-logs?size=100&sort=id,asc&entityType.in=SHIPPING_PROFILE,SUBSCRIPTION_BUNDLING", nil, &list)
	var got []string
	for _, e := range list {
		got = append(got, e.EntityType+" "+e.EventType+" "+e.Status)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		m.t.Errorf("entries:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

const general = "General profile" // every store has it

func TestDeliveryProfileIsCreatedAndChanged(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	var made, changed shippingProfile
	if got := m.do("POST", shippingPath, m.profile("Boxes", m.location), &made); got != 200 {
		t.Fatalf("answered %d", got)
	}
	if made.ID == 0 || made.Name != "Boxes" || made.Shop == "" || !strings.HasPrefix(made.DeliveryProfileID, "gid://shopify/DeliveryProfile/") {
		t.Errorf("%+v", made)
	}
	m.wantProfiles(general, "Boxes")
	for _, id := range []string{fmt.Sprint(made.ID), made.DeliveryProfileID} {
		body := m.profile("Crates", m.location)
		body["id"] = id
		if got := m.do("POST", shippingPath, body, &changed); got != 200 || changed.ID != made.ID || changed.Name != "Crates" {
			t.Errorf("answered %d %+v", got, changed)
		}
	}
	m.wantProfiles(general, "Crates")
	if got := m.do("POST", shippingPath, map[string]any{"id": "987654", "name": "a"}, nil); got != 404 {
		t.Errorf("a profile that does not exist answered %d", got)
	}
	if got := m.do("POST", shippingPath, m.profile("Nowhere", 99), nil); got != 404 {
		t.Errorf("an unknown location answered %d", got)
	}
	m.wantProfiles(general, "Crates")
	m.wantLog("SHIPPING_PROFILE CREATED SUCCESS", "SHIPPING_PROFILE UPDATED SUCCESS", "SHIPPING_PROFILE UPDATED SUCCESS")
}

// While every answer of the platform is lost the outcome for a profile is
// unknown; afterwards there is one, whether the request is sent again or not.
func TestLostAnswersMakeOneDeliveryProfile(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	faulty := func(rate float64) {
		m.call("POST", "/platform/faults", map[string]any{"rate": rate, "kinds": []string{"timeout_after"}, "seed": 3}, nil)
	}
	names := []string{general}
	faulty(0.5)
	for i := range 6 {
		name := fmt.Sprint("Boxes ", i)
		names = append(names, name)
		for try := 0; ; try++ {
			got := m.do("POST", shippingPath, m.profile(name, m.location), nil)
			if got == 200 {
				break
			}
			if got != 503 || try > 30 {
				t.Fatalf("try %d answered %d", try, got)
			}
		}
	}
	m.call("DELETE", "/platform/faults", nil, nil)
	m.pass("PT20M")
	m.wantProfiles(names...)
	m.wantLog("SHIPPING_PROFILE CREATED SUCCESS", "SHIPPING_PROFILE CREATED SUCCESS", "SHIPPING_PROFILE CREATED SUCCESS",
		"SHIPPING_PROFILE CREATED SUCCESS", "SHIPPING_PROFILE CREATED SUCCESS", "SHIPPING_PROFILE CREATED SUCCESS")
}

func TestBundleCanBeSentBackUnchanged(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	var made, read, put map[string]any
	if got := m.do("POST", "/subscription-bundle-settings", map[string]any{"title": "Box", "minProducts": 2, "categoryLimits": map[string]any{"Tea": map[string]any{"min": 1, "max": 3}}}, &made); got != 200 {
		t.Fatalf("answered %d", got)
	}
	path := fmt.Sprintf("/subscription-bundle-settings/%.0f", made["id"])
	if got := m.do("GET", path, nil, &read); got != 200 || fmt.Sprint(read) != fmt.Sprint(made) {
		t.Errorf("read %d %v\nmade %v", got, read, made)
	}
	read["title"] = "Bigger box"
	if got := m.do("PUT", "/subscription-bundle-settings", read, &put); got != 200 || put["title"] != "Bigger box" {
		t.Errorf("put %d %v", got, put)
	}
	if got := m.do("DELETE", path, nil, nil); got != 200 {
		t.Errorf("delete answered %d", got)
	}
	if got := m.do("GET", path, nil, nil); got != 404 {
		t.Errorf("a deleted bundle answered %d", got)
	}
	m.wantLog("SUBSCRIPTION_BUNDLING CREATED SUCCESS", "SUBSCRIPTION_BUNDLING UPDATED SUCCESS", "SUBSCRIPTION_BUNDLING DELETED SUCCESS")
}

// An address with a province outside its country, or with an unknown country,
// is refused with the reason, and the old one stays.
func TestUnknownAddressIsRefused(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	path := fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", s.id)
	address := func(change map[string]any) map[string]any {
		a := map[string]any{"address1": "12 Mill Lane", "city": "Ottawa", "zip": "K1A 0B1", "countryCode": "CA", "provinceCode": "ON"}
		maps.Copy(a, change)
		return a
	}
	for _, row := range []struct {
		name          string
		change        map[string]any
		want          int
		says, shownAs string
	}{
		{"a province of its country", nil, 200, "", "Ontario ON CA Canada"},
		{"codes in small letters", map[string]any{"countryCode": "ca", "provinceCode": "qc"}, 200, "", "Quebec QC CA Canada"},
		{"names", map[string]any{"countryCode": "", "provinceCode": "", "country": "Canada", "province": "Yukon"}, 200, "", "Yukon YT CA Canada"},
		{"a province of another country", map[string]any{"provinceCode": "TX"}, 400, "Province is not valid in CA", "Yukon YT CA Canada"},
		{"no province at all", map[string]any{"provinceCode": "ZZ"}, 400, "Province is not valid in CA", "Yukon YT CA Canada"},
		{"a name that is no province's", map[string]any{"provinceCode": "", "province": "Atlantis"}, 400, "Province is not valid in CA", "Yukon YT CA Canada"},
		{"no country at all", map[string]any{"countryCode": "XX"}, 400, "which is no country: write two letters", "Yukon YT CA Canada"},
	} {
		got := s.demand("PUT", path, s.key, address(row.change))
		if got.status != row.want || !strings.Contains(string(got.body), row.says) {
			t.Errorf("%s: answered %d %.400s, want %d with %q", row.name, got.status, got.body, row.want, row.says)
		}
		var now struct {
			DeliveryMethod struct {
				Address struct{ Province, ProvinceCode, CountryCode, Country string }
			}
		}
		s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &now)
		if a := now.DeliveryMethod.Address; a.Province+" "+a.ProvinceCode+" "+a.CountryCode+" "+a.Country != row.shownAs {
			t.Errorf("%s: the address is in %+v, want %s", row.name, a, row.shownAs)
		}
	}
	body := map[string]any{
		"customerId": s.ana().CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 5), "billingIntervalType": "MONTH", "billingIntervalCount": 1,
		"lines":            []any{map[string]any{"variantId": s.variants()[0], "quantity": 1}},
		"deliveryAddress1": "12 Mill Lane", "deliveryCity": "Ottawa", "deliveryCountryCode": "CA", "deliveryProvinceCode": "TX",
	}
	if got := s.post("/subscription-contract-details/create-subscription-contract", body, nil); got != 400 {
		t.Errorf("a contract to a province that does not exist answered %d", got)
	}
}

// Where orders go somewhere else, the platform's own options decide how they are delivered and for how
// much: the way of the same name, or else the store's rule. A price that was set by hand stays.
func TestDeliveryFollowsAddress(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.refused(http.StatusNoContent, "DELETE", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	plan := s.boxPlan([]int64{4001}, map[string]any{})
	var m sandbox.Manifest
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	way := func(name string, amount float64) any { return map[string]any{"name": name, "amount": amount} }
	to := func(country string, ways ...any) any {
		return map[string]any{"code": country, "shouldIncludeAllProvince": true, "deliveryMethodInfo": ways}
	}
	if got := s.post("/delivery-profiles/v2/create-shipping-profile", map[string]any{"name": "Parcels", "locationInfos": []any{map[string]any{
		"locationId": fmt.Sprint(m.Examples.Location), "countryInfos": []any{to("US", way("Standard", 4.9)), to("PT", way("Express", 20), way("Standard", 9.5)), to("FR", way("Courier", 14), way("Plane", 30))},
	}}}, nil); got != http.StatusOK && got != http.StatusCreated {
		t.Fatalf("the profile answered %d", got)
	}
	s.id = s.checkout(map[string]any{"deliveryPrice": "4.90", "lines": []any{map[string]any{"variantId": 4001, "quantity": 2, "currentPrice": "12.50", "sellingPlanId": plan}}})
	address := func(country, street string) map[string]any {
		return map[string]any{"firstName": "Ana", "lastName": "Silva", "address1": street, "city": "Here", "countryCode": country, "zip": "1100-001", "methodType": "shipping"}
	}
	moves := func(country, method, price string) {
		t.Helper()
		o := s.change("PUT", fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", s.id), address(country, "12 Rua Nova"))
		if *o.DeliveryMethod.Title != method || o.DeliveryPrice.Amount != price {
			t.Errorf("to %s it goes by %s for %s, want %s for %s", country, *o.DeliveryMethod.Title, o.DeliveryPrice.Amount, method, price)
		}
	}
	moves("PT", "Standard", "9.50")
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-delivery-method?deliveryMethodName=Express&contractId=%d", s.id), nil)
	moves("PT", "Express", "20.00")
	moves("FR", "Courier", "14.00")

	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contracts-update-shipping-address?contractId=%d", s.id), address("JP", "1-1 Chiyoda"))
	moves("FR", "Courier", "14.00")

	ana := s.visit(s.payer(s.id))
	var preview struct {
		DeliveryMethod                                  string
		DeliveryPrice, DeliveryPriceNow, NextOrderPrice struct{ Amount string }
	}
	ana.want(http.StatusOK, "POST", fmt.Sprintf("/contracts/%d/shipping-address/preview", s.id), address("PT", "12 Rua Nova"), &preview)
	if preview.DeliveryMethod != "Standard" && preview.DeliveryPrice.Amount != "9.50" || preview.DeliveryPriceNow.Amount != "14.00" {
		t.Errorf("the preview is %+v", preview)
	}
	for range 12 {
		s.pass("P1D")
	}
	if o := s.orders(); len(o) != 1 || o[0].Amount != "39.00" {
		t.Errorf("the orders are %+v, want one with delivery for 14.00", o)
	}

	user, at := s.merchant()
	seen := regexp.MustCompile(`name="seen" value="([^"]*)"`).FindStringSubmatch(user.page(at + "/settings"))
	user.form(at+"/settings", "seen", seen[1], "delivery", "KEEP", "catch-up", "6", "rate", "0", "burst", "0", "memberships", "")
	moves("US", "Courier", "14.00")
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-delivery-price?deliveryPrice=3&contractId=%d", s.id), nil)
	moves("PT", "Courier", "3.00")
	var rows []struct{ AllowDeliveryPriceOverride bool }
	if s.get("/subscription-contract-details?sort=id,asc", &rows); len(rows) != 2 || rows[0].AllowDeliveryPriceOverride || !rows[1].AllowDeliveryPriceOverride {
		t.Errorf("the row is %+v", rows)
	}
	entries := strings.Join(s.did(s.log, "MERCHANT_EXTERNAL_API"), " ")
	if got := strings.Count(entries, "SYSTEM_UPDATED_DELIVERY_PRICE"); got != 3 {
		t.Errorf("%d entries say that the price of delivery has changed: %s", got, entries)
	}
}
