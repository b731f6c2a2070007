package test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// recorded returns the entries since the story began, oldest first, each as "event info".
func (s *subscription) recorded() (list []string) {
	s.t.Helper()
	var entries []struct{ EventType, AdditionalInfo string }
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &entries)
	for _, e := range entries {
		if !beside(e.EventType) {
			list = append(list, e.EventType+" "+e.AdditionalInfo)
		}
	}
	return list
}

// wantRecorded asserts the exact list of entries since the story began, with what they
// say.
func (s *subscription) wantRecorded(want ...string) {
	s.t.Helper()
	if got := s.recorded(); !slices.Equal(got, want) {
		s.t.Errorf("entries:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

func TestDeliveryChangeEntryNamesFieldsWithoutAddress(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c := fmt.Sprintf("contractId=%d", s.id)
	address := map[string]any{"firstName": "Ana", "lastName": "Silva", "address1": "12 Mill Lane", "city": "Reno", "provinceCode": "NV", "country": "United States", "countryCode": "US", "zip": "89501", "methodType": "SHIPPING"}
	for range 2 { // the same again changes nothing
		s.change("PUT", "/subscription-contracts-update-shipping-address?"+c, address)
	}
	s.begin()
	address["city"], address["zip"] = "Sparks", "89431"
	s.change("PUT", "/subscription-contracts-update-shipping-address?"+c, address)
	s.change("PUT", "/subscription-contracts-update-delivery-method?deliveryMethodName=Express&"+c, nil)
	s.change("PUT", "/subscription-contracts-update-delivery-method?deliveryMethodName=Slow&"+c, nil)
	s.wantRecorded(
		`SHIPPING_ADDRESS_CHANGE {"fields":["city","zip"]}`,
		`DELIVERY_METHOD_UPDATED {"fields":["code","title"],"from":"Standard","to":"Express"}`,
		`DELIVERY_METHOD_UPDATED {"fields":["code","title"],"from":"Express","to":"Slow"}`,
	)
}

func TestLineChangeEntryNamesEveryField(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	sold := s.variants()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	is := o.Lines.Nodes[0]
	path := fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s&", s.id, url.QueryEscape(is.ID))
	o = s.change("PUT", path+fmt.Sprintf("variantId=%d&quantity=3&price=10.25", sold[2]), nil)
	if n := o.Lines.Nodes[0]; n.Quantity != 3 || n.CurrentPrice.Amount != "10.25" {
		t.Errorf("after the update the line is %+v", n)
	}
	s.change("PUT", path+fmt.Sprintf("variantId=%d&quantity=3", sold[0]), nil) // at the price that comes with it
	about := func(variant int64) string {
		return fmt.Sprintf(`{"lineId":%q,"title":"House Blend Coffee","variantId":%d,`, is.ID, variant)
	}
	s.wantRecorded(
		"PRODUCT_REPLACE "+about(sold[2])+fmt.Sprintf(`"oldVariantId":%d}`, sold[0]),
		"PRODUCT_QUANTITY_CHANGE "+about(sold[2])+fmt.Sprintf(`"quantity":3,"oldQuantity":%d}`, is.Quantity),
		"PRODUCT_PRICE_CHANGE "+about(sold[2])+fmt.Sprintf(`"price":"10.25","oldPrice":%q}`, is.CurrentPrice.Amount),
		"PRODUCT_REPLACE "+about(sold[0])+fmt.Sprintf(`"oldVariantId":%d}`, sold[2]),
	)
}

func TestRevokedCardIsRecorded(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	s.call("POST", "/platform/payment-methods/"+url.PathEscape(o.CustomerPaymentMethod.ID), map[string]any{"status": "revoked"}, nil)
	s.pass("PT5M")
	s.wantRecorded(`PAYMENT_METHOD_UPDATED {"reason":"the payment method was revoked: nothing can be charged with it"}`)
}

func TestOrderTagsAreRecordedOnceWithCycle(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	body := monthlyGroup("Tagged")
	body["orderTag"], body["memberOrderTag"] = "begun", "renewal"
	var made group
	if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
		t.Fatalf("making a group answered %d", got)
	}
	s.id = s.checkout(map[string]any{
		"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "9.00", "sellingPlanId": made.Plans[0].IDNew}},
	})
	s.pass("PT5M")
	tagged := func() (list []string) {
		for _, e := range s.recorded() {
			if info, ok := strings.CutPrefix(e, "ORDER_TAGS_ADDED "); ok {
				list = append(list, info)
			}
		}
		return list
	}
	begun := tagged()
	s.status(http.StatusNoContent, "PAUSED")
	s.pass("PT5M")
	s.status(http.StatusNoContent, "ACTIVE")
	s.pass("PT5M")
	if again := tagged(); !slices.Equal(again, begun) {
		t.Errorf("resumed: %v, before %v", again, begun)
	}
	s.pass("P12D")
	renewal := fmt.Sprintf(`{"cycle":1,"target":"gid://shopify/Order/%d","tags":["renewal"]}`, *s.past()[0].OrderID)
	if got := tagged(); !slices.Equal(got, append(begun, renewal)) || len(begun) != 1 {
		t.Errorf("tags %v, want %v and %s", got, begun, renewal)
	}
}

func TestSystemEntriesNameNoActor(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 50}, nil)
	s.pass("P32D")
	sources := map[string]int{}
	var entries []struct{ EventSource, EventType, ActivityBy, ClientIP string }
	s.get("/activity-logs?size=100", &entries)
	for _, e := range entries {
		sources[e.EventSource]++
		if e.EventSource == "SYSTEM_EVENT" && e.ActivityBy+e.ClientIP != "" {
			t.Errorf("%s is the service's own, and names the actor %q at %q", e.EventType, e.ActivityBy, e.ClientIP)
		}
	}
	if sources["SYSTEM_EVENT"] == 0 || sources["MERCHANT_PORTAL"] == 0 {
		t.Errorf("entries by source: %v", sources)
	}
}
