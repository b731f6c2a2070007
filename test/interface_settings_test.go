package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
)

func TestBundleKeepsVolumeDiscounts(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	type settings struct {
		ID        int64
		Discounts struct {
			EnableVolumeDiscounts bool
			VolumeDiscountTiers   []struct{ MinProducts, DiscountPercent float64 }
		}
	}
	tiers := func(pairs ...float64) map[string]any {
		list := []any{}
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, map[string]any{"minProducts": pairs[i], "discountPercent": pairs[i+1]})
		}
		return map[string]any{"enableVolumeDiscounts": len(list) > 0, "volumeDiscountTiers": list}
	}
	var made settings
	if got := m.do("POST", "/subscription-bundle-settings", map[string]any{"title": "Box", "discounts": tiers(6, 5, 10, 12.5)}, &made); got != http.StatusOK {
		t.Fatalf("making a bundle answered %d", got)
	}
	read := func() string {
		var s settings
		if got := m.do("GET", fmt.Sprintf("/subscription-bundle-settings/%d", made.ID), nil, &s); got != http.StatusOK {
			t.Fatalf("reading it answered %d", got)
		}
		return fmt.Sprint(s.Discounts)
	}
	if got, want := read(), "{true [{6 5} {10 12.5}]}"; got != want {
		t.Errorf("the bundle has the discounts %s, want %s", got, want)
	}
	change := func(discounts map[string]any) int {
		return m.do("PUT", "/subscription-bundle-settings", map[string]any{"id": made.ID, "discounts": discounts}, nil)
	}
	if got := change(tiers(4, 7)); got != http.StatusOK {
		t.Errorf("changing the tiers answered %d", got)
	}
	for name, bad := range map[string]map[string]any{
		"tiers that fall": tiers(6, 5, 4, 10), "more than all off": tiers(4, 101), "half a product": tiers(1.5, 10),
		"none, though there should be": {"enableVolumeDiscounts": true, "volumeDiscountTiers": []any{}},
	} {
		if got := change(bad); got != http.StatusBadRequest {
			t.Errorf("%s: answered %d", name, got)
		}
	}
	if got, want := read(), "{true [{4 7}]}"; got != want {
		t.Errorf("the bundle has the discounts %s, want %s", got, want)
	}
}

// What the service does not act on is refused by name, and the object as it was read is not.
func TestSettingsWithoutEffectAreRefused(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	group := map[string]any{"groupName": "Tea", "subscriptionPlans": []any{map[string]any{"frequencyName": "Monthly", "frequencyCount": 1, "frequencyInterval": "MONTH"}}}
	for _, of := range []struct {
		path, field string
		object      map[string]any
		refused     map[string]any
	}{
		{"/subscription-bundle-settings", "notifications.sendBundleCreatedEmail", map[string]any{"title": "Box"}, map[string]any{"notifications": map[string]any{"sendBundleCreatedEmail": true}}},
		{"/subscription-groups", "rulesJson", group, map[string]any{"rulesJson": `[{"perk":"tea"}]`}},
	} {
		var made map[string]any
		if got := m.do("POST", of.path, of.object, &made); got != http.StatusOK && got != http.StatusCreated {
			t.Fatalf("%s answered %d", of.path, got)
		}
		if got := m.do("PUT", of.path, made, nil); got != http.StatusOK {
			t.Errorf("%s, sent back as it was read, answered %d", of.path, got)
		}
		for _, method := range []string{"POST", "PUT"} {
			body := maps.Clone(of.object)
			if method == "PUT" {
				body = maps.Clone(made)
			}
			maps.Copy(body, of.refused)
			got := m.demand(method, of.path, m.key, body)
			want(t, got, http.StatusBadRequest, "notSupported")
			if !strings.Contains(string(got.body), fmt.Sprintf(`"params":%q`, of.field)) || !strings.Contains(string(got.body), "is not supported: ") {
				t.Errorf("%s %s answered %s", method, of.path, got.body)
			}
		}
	}
}

func TestProfileShipsToProvincesAtCarrierPrice(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Empty: true, MainOnly: true})
	ask := func(query string, out any) {
		t.Helper()
		body, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		answer := m.graphQL(m.token, body)
		if err := json.Unmarshal(answer.Data, out); err != nil {
			t.Fatalf("%v: %s", err, answer.Errors)
		}
	}
	var services struct {
		CarrierServices struct{ Nodes []struct{ ID string } }
	}
	ask("{ carrierServices(first: 1) { nodes { id } } }", &services)
	carrier := services.CarrierServices.Nodes[0].ID
	zone := func(more map[string]any, methods ...any) map[string]any {
		more["deliveryMethodInfo"] = methods
		return more
	}
	quoted := map[string]any{"name": "Express", "carrierServiceId": carrier, "carrierRate": true}
	fixed := map[string]any{"name": "Standard", "amount": 4.9, "carrierRate": false}
	profile := func(zones ...any) map[string]any {
		return map[string]any{"name": "Boxes", "locationInfos": []any{map[string]any{"locationId": fmt.Sprint(m.location), "countryInfos": zones}}}
	}
	if got := m.do("POST", shippingPath, profile(
		zone(map[string]any{"code": "CA", "provinceCode": "qc", "shouldIncludeAllProvince": false}, quoted),
		zone(map[string]any{"code": "US", "shouldIncludeAllProvince": true}, fixed),
	), nil); got != http.StatusOK {
		t.Fatalf("making the profile answered %d", got)
	}
	var got struct {
		DeliveryProfiles struct {
			Nodes []struct {
				Name                  string
				ProfileLocationGroups []struct {
					LocationGroupZones struct {
						Nodes []struct {
							Zone struct {
								Countries []struct {
									Code      struct{ CountryCode string }
									Provinces []struct{ Code string }
								}
							}
							MethodDefinitions struct {
								Nodes []struct {
									Name         string
									RateProvider struct {
										CarrierService struct{ ID string }
										Price          struct{ Amount string }
									}
								}
							}
						}
					}
				}
			}
		}
	}
	ask(`{ deliveryProfiles(first: 5) { nodes { name profileLocationGroups { locationGroupZones(first: 5) { nodes {
		zone { countries { code { countryCode } provinces { code } } }
		methodDefinitions(first: 5) { nodes { name rateProvider { ... on DeliveryParticipant { carrierService { id } } ... on DeliveryRateDefinition { price { amount } } } } }
	} } } } } }`, &got)
	var words []string
	for _, p := range got.DeliveryProfiles.Nodes {
		if p.Name == "Boxes" {
			for _, z := range p.ProfileLocationGroups[0].LocationGroupZones.Nodes {
				where, how := z.Zone.Countries[0], z.MethodDefinitions.Nodes[0]
				words = append(words, fmt.Sprint(where.Code.CountryCode, where.Provinces, " ", how.Name, how.RateProvider))
			}
		}
	}
	slices.Sort(words)
	want := []string{"CA[{QC}] Express{{" + carrier + "} {}}", "US[] Standard{{} {4.9}}"}
	if !slices.Equal(words, want) {
		t.Errorf("the platform's profile reaches\n%swant\n%s", lines(words), lines(want))
	}
	for name, bad := range map[string]map[string]any{
		"a part of the whole country":     zone(map[string]any{"code": "CA", "provinceCode": "QC", "shouldIncludeAllProvince": true}, fixed),
		"a part of the rest of the world": zone(map[string]any{"restOfWorld": true, "provinceCode": "QC"}, fixed),
		"a price of no carrier":           zone(map[string]any{"code": "CA", "provinceCode": "QC"}, map[string]any{"name": "Express", "carrierRate": true}),
		"two prices":                      zone(map[string]any{"code": "CA", "provinceCode": "QC"}, map[string]any{"name": "Express", "carrierRate": true, "carrierServiceId": carrier, "amount": 3}),
		"a carrier that says no price":    zone(map[string]any{"code": "CA", "provinceCode": "QC"}, map[string]any{"name": "Express", "carrierServiceId": carrier, "amount": 3}),
		"a carrier that there is not":     zone(map[string]any{"code": "CA", "provinceCode": "QC"}, map[string]any{"name": "Express", "carrierServiceId": "987", "carrierRate": true}),
	} {
		if got := m.do("POST", shippingPath, profile(bad), nil); got != http.StatusBadRequest && got != http.StatusNotFound {
			t.Errorf("%s: answered %d", name, got)
		}
	}
	m.wantProfiles(general, "Boxes")
}
