package admin

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// profiles stands in for the delivery feature.
type profiles struct {
	created *delivery.CreateCommand
	updated *delivery.UpdateCommand
	err     error
}

func (p *profiles) profile() delivery.Profile {
	return delivery.Profile{ID: 31, PlatformID: 8002, Name: "Subscriptions", Groups: []int64{5, 6}}
}

func (p *profiles) Create(_ context.Context, _ shop.ID, c delivery.CreateCommand) (delivery.Profile, error) {
	p.created = &c
	if err := delivery.CheckPlaces(c.Places); err != nil {
		return delivery.Profile{}, err
	}
	return p.profile(), p.err
}

func (p *profiles) Update(_ context.Context, _ shop.ID, c delivery.UpdateCommand) (delivery.Profile, error) {
	p.updated = &c
	return p.profile(), p.err
}

const profilesPath = base + "/delivery-profiles/v2/create-shipping-profile"

func askProfiles(t *testing.T, p *profiles, body string) *httptest.ResponseRecorder {
	t.Helper()
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, shop.Subscriptions, s.log, s.clock)
	o.Delivery = p
	s.handler = New(o)
	return s.ask("POST", profilesPath, body)
}

const fullProfile = `{"name": "Subscriptions", "id": "", "locationInfos": [
	{"locationId": "gid://shopify/Location/6001", "countryInfos": [
		{"code": "us", "shouldIncludeAllProvince": false, "restOfWorld": false, "provinceCode": "ca", "deliveryMethodInfo": [
			{"name": " Express ", "amount": 12.5, "carrierServiceId": "", "carrierRate": false, "deliveryConditionType": "price", "priceConditions": [
				{"amount": 10, "deliverCondtion": "greater_than_or_equal_to"}, {"amount": 99.99, "deliverCondtion": "LESS_THAN_OR_EQUAL_TO"}], "weightConditions": []}]},
		{"code": "DE", "shouldIncludeAllProvince": false, "deliveryMethodInfo": [
			{"name": "Paket", "amount": 0, "deliveryConditionType": "TOTAL_WEIGHT", "weightConditions": [{"deliveryCondition": "GREATER_THAN_OR_EQUAL_TO", "weight": 0.5, "weightUnit": "kilograms"}]}]},
		{"restOfWorld": true, "deliveryMethodInfo": [{"name": "Carrier", "carrierRate": true, "carrierServiceId": "6501", "deliveryConditionType": "none"}]}]},
	{"locationId": 6002, "countryInfos": [{"code": "US", "shouldIncludeAllProvince": true, "deliveryMethodInfo": [{"name": "Standard", "amount": 4.9}]}]}]}`

func TestShippingProfileBodyBecomesCommand(t *testing.T) {
	t.Parallel()
	p := &profiles{}
	w := askProfiles(t, p, fullProfile)
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	webtest.Golden(t, "shipping-profile.json", w.Body.Bytes())
	usd := func(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }
	want := &delivery.CreateCommand{Name: "Subscriptions", Actor: by(), Places: []delivery.Place{
		{Location: 6001, Zones: []delivery.Zone{
			{Country: "US", Province: "CA", Rates: []delivery.Rate{{Name: "Express", Price: usd(1250), Conditions: []delivery.Condition{
				{Operator: platform.AtLeast, Price: new(usd(1000))}, {Operator: platform.AtMost, Price: new(usd(9999))},
			}}}},
			{Country: "DE", Rates: []delivery.Rate{{Name: "Paket", Price: usd(0), Conditions: []delivery.Condition{
				{Operator: platform.AtLeast, Weight: &delivery.Weight{Value: 0.5, Unit: platform.Kilograms}},
			}}}},
			{Rates: []delivery.Rate{{Name: "Carrier", Price: usd(0), Carrier: 6501}}},
		}},
		{Location: 6002, Zones: []delivery.Zone{{Country: "US", Rates: []delivery.Rate{{Name: "Standard", Price: usd(490)}}}}},
	}}
	if diff := cmp.Diff(want, p.created); diff != "" || p.updated != nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeliveryMethodCombinesPriceAndWeightConditions(t *testing.T) {
	t.Parallel()
	p := &profiles{}
	w := askProfiles(t, p, strings.Replace(fullProfile, `"name": "Standard", "amount": 4.9`, `"name": "Standard", "amount": 4.9,
		"priceConditions": [{"amount": 50, "deliverCondtion": "LESS_THAN_OR_EQUAL_TO"}],
		"weightConditions": [{"deliveryCondition": "LESS_THAN_OR_EQUAL_TO", "weight": 20, "weightUnit": "POUNDS"}]`, 1))
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	want := []delivery.Condition{
		{Operator: platform.AtMost, Price: &money.Amount{Minor: 5000, Currency: "USD"}}, {Operator: platform.AtMost, Weight: &delivery.Weight{Value: 20, Unit: platform.Pounds}},
	}
	if diff := cmp.Diff(want, p.created.Places[1].Zones[0].Rates[0].Conditions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShippingProfileWithIDUpdates(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]delivery.Ref{
		`31`: {Number: 31}, `"31"`: {Number: 31}, `"gid://shopify/DeliveryProfile/8002"`: {Number: 8002, Platform: true},
	} {
		p := &profiles{}
		w := askProfiles(t, p, `{"id":`+id+`,"name":"Boxes","shop":"demo.myshopify.com"}`)
		if w.Code != 200 || p.updated == nil || p.updated.Profile != want || *p.updated.Name != "Boxes" || p.updated.Places != nil {
			t.Errorf("%s answered %d: %+v", id, w.Code, p.updated)
		}
	}
	p := &profiles{}
	if w := askProfiles(t, p, strings.Replace(fullProfile, `"id": ""`, `"id": "31"`, 1)); w.Code != 200 || p.updated == nil || len(p.updated.Places) != 2 {
		t.Errorf("answered %d: %+v", w.Code, p.updated)
	}
}

func TestShippingProfileWithInvalidFieldIsRefused(t *testing.T) {
	t.Parallel()
	const country = "locationInfos[1].countryInfos[0]"
	const method = country + ".deliveryMethodInfo[0]"
	// change replaces a part of the last location.
	last := `{"code": "US", "shouldIncludeAllProvince": true, "deliveryMethodInfo": [{"name": "Standard", "amount": 4.9}]}`
	rate := func(text string) string {
		return strings.Replace(fullProfile, `{"name": "Standard", "amount": 4.9}`, text, 1)
	}
	zone := func(text string) string { return strings.Replace(fullProfile, last, text, 1) }
	const methods = `"deliveryMethodInfo": [{"name": "Standard", "amount": 4.9}]`
	for name, test := range map[string]struct{ body, path, says string }{
		"no name":                             {`{"locationInfos":[]}`, "name", "required"},
		"no locations":                        {`{"name":"a"}`, "locationInfos", "required"},
		"an empty list of locations":          {`{"name":"a","locationInfos":[]}`, "locationInfos", "at least one"},
		"nothing to change":                   {`{"id":"3"}`, "name", "required"},
		"an id of something else":             {`{"id":"gid://shopify/Product/3","name":"a"}`, "id", "not a DeliveryProfile id"},
		"an id that is no number":             {`{"id":"abc","name":"a"}`, "id", "not a DeliveryProfile id"},
		"another store":                       {`{"shop":"other.myshopify.com","name":"a"}`, "shop", "must be"},
		"a text for a list":                   {`{"name":"a","locationInfos":"x"}`, "locationInfos", "cannot be a string"},
		"no location":                         {`{"name":"a","locationInfos":[{}]}`, "locationInfos[0].locationId", "required"},
		"a product for a location":            {`{"name":"a","locationInfos":[{"locationId":"gid://shopify/Product/1"}]}`, "locationInfos[0].locationId", "not a Location id"},
		"no countries":                        {zone(""), "locationInfos[1].countryInfos", "at least one"},
		"no country":                          {zone(`{` + methods + `}`), country + ".code", "required"},
		"a country that is none":              {zone(`{"code":"XX",` + methods + `}`), country + ".code", "not a country"},
		"a country twice":                     {zone(last + "," + last), "locationInfos[1].countryInfos[1].code", "twice"},
		"a country and the rest of the world": {zone(`{"code":"US","restOfWorld":true,` + methods + `}`), country + ".code", "leave code out"},
		"a part of the rest of the world":     {zone(`{"restOfWorld":true,"provinceCode":"CA",` + methods + `}`), country + ".provinceCode", "leave provinceCode out"},
		"the whole and a part":                {zone(`{"code":"US","shouldIncludeAllProvince":true,"provinceCode":"CA",` + methods + `}`), country + ".provinceCode", "whole country"},
		"neither the whole nor a part":        {zone(`{"code":"US","shouldIncludeAllProvince":false,` + methods + `}`), country + ".provinceCode", "required"},
		"no methods":                          {zone(`{"code":"US","deliveryMethodInfo":[]}`), country + ".deliveryMethodInfo", "at least one"},
		"a method without a name":             {rate(`{"amount":1}`), method + ".name", "needs a name"},
		"a method without a price":            {rate(`{"name":"a"}`), method + ".amount", "required"},
		"a price that is null":                {rate(`{"name":"a","amount":null}`), method + ".amount", "required"},
		"a price that is a text":              {rate(`{"name":"a","amount":"5"}`), "amount", "cannot be a string"},
		"a negative price":                    {rate(`{"name":"a","amount":-1}`), method + ".amount", "between 0"},
		"half a cent":                         {rate(`{"name":"a","amount":1.005}`), method + ".amount", "decimals"},
		"a carrier without its id":            {rate(`{"name":"a","carrierRate":true}`), method + ".carrierServiceId", "required"},
		"a carrier and a price":               {rate(`{"name":"a","carrierRate":true,"carrierServiceId":"1","amount":5}`), method + ".amount", "leave amount out"},
		"a carrier that says nothing":         {rate(`{"name":"a","amount":5,"carrierServiceId":"1"}`), method + ".carrierServiceId", "needs carrierRate"},
		"an unknown kind of condition":        {rate(`{"name":"a","amount":5,"deliveryConditionType":"MOOD"}`), method + ".deliveryConditionType", "NONE, PRICE, WEIGHT"},
		"conditions of the wrong kind":        {rate(`{"name":"a","amount":5,"deliveryConditionType":"WEIGHT","priceConditions":[{}]}`), method + ".priceConditions", "takes no"},
		"conditions of both kinds, one of a kind that is named": {rate(`{"name":"a","amount":5,"deliveryConditionType":"PRICE","priceConditions":[{}],"weightConditions":[{}]}`), method + ".weightConditions", "takes no"},
		"a negative weight, and a price": {rate(`{"name":"a","amount":5,"priceConditions":[{"amount":5,"deliverCondtion":"LESS_THAN_OR_EQUAL_TO"}],"weightConditions":[{"weight":-5,"weightUnit":"GRAMS","deliveryCondition":"LESS_THAN_OR_EQUAL_TO"}]}`),
			method + ".weightConditions[0].weight", "between 0"},
		"a kind without conditions":       {rate(`{"name":"a","amount":5,"deliveryConditionType":"PRICE"}`), method + ".priceConditions", "required"},
		"a condition without an amount":   {rate(`{"name":"a","amount":5,"priceConditions":[{"deliverCondtion":"LESS_THAN_OR_EQUAL_TO"}]}`), method + ".priceConditions[0].amount", "required"},
		"a condition without an operator": {rate(`{"name":"a","amount":5,"priceConditions":[{"amount":5}]}`), method + ".priceConditions[0].deliverCondtion", "required"},
		"an unknown operator":             {rate(`{"name":"a","amount":5,"weightConditions":[{"weight":5,"weightUnit":"GRAMS","deliveryCondition":"EQUALS"}]}`), method + ".weightConditions[0].deliveryCondition", "GREATER_THAN_OR_EQUAL_TO"},
		"an unknown unit":                 {rate(`{"name":"a","amount":5,"weightConditions":[{"weight":5,"weightUnit":"STONES","deliveryCondition":"LESS_THAN_OR_EQUAL_TO"}]}`), method + ".weightConditions[0].weightUnit", "GRAMS"},
		"a weight that is a text":         {rate(`{"name":"a","amount":5,"weightConditions":[{"weight":"5"}]}`), method + ".weightConditions[0].weight", "cannot be a string"},
		"prices the wrong way round": {rate(`{"name":"a","amount":5,"priceConditions":[{"amount":5,"deliverCondtion":"LESS_THAN_OR_EQUAL_TO"},{"amount":6,"deliverCondtion":"GREATER_THAN_OR_EQUAL_TO"}]}`),
			method + ".priceConditions[1]", "no order"},
		"twice from below": {rate(`{"name":"a","amount":5,"weightConditions":[{"weight":5,"weightUnit":"GRAMS","deliveryCondition":"LESS_THAN_OR_EQUAL_TO"},{"weight":6,"weightUnit":"GRAMS","deliveryCondition":"LESS_THAN_OR_EQUAL_TO"}]}`),
			method + ".weightConditions[1].deliveryCondition", "twice"},
		"a negative weight": {rate(`{"name":"a","amount":5,"weightConditions":[{"weight":-5,"weightUnit":"GRAMS","deliveryCondition":"LESS_THAN_OR_EQUAL_TO"}]}`), method + ".weightConditions[0].weight", "between 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := askProfiles(t, &profiles{}, test.body)
			p := webtest.Problem(t, w)
			if w.Code != http.StatusBadRequest || !strings.HasSuffix(deref(p.Params), test.path) || !strings.Contains(p.Detail, test.says) {
				t.Errorf("answered %d %q at %q, want %q at %q", w.Code, p.Detail, deref(p.Params), test.says, test.path)
			}
		})
	}
}

func TestShippingProfileFaultNamesInterfaceField(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"name": "name", "places.1.location": "locationInfos[1].locationId", "places.0.zones.2.rates.0.carrier": "locationInfos[0].countryInfos[2].deliveryMethodInfo[0].carrierServiceId", "": "",
	} {
		w := askProfiles(t, &profiles{err: fault.New(fault.FailedPrecondition, "No.").Entity("deliveryProfile").Code("platformRefused").Field(path)}, fullProfile)
		if p := webtest.Problem(t, w); w.Code != 400 || deref(p.Params) != want || p.Detail != "No." || p.ErrorKey != "platformRefused" {
			t.Errorf("answered %d %q at %q, want it at %q", w.Code, p.Detail, deref(p.Params), want)
		}
	}
}
