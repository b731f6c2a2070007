package shopify

import "testing"

// contractAnswer is a contract with a status, as little as can be read of one.
func contractAnswer(status string) string {
	return `{"id":"gid://shopify/SubscriptionContract/1","revisionId":"7","status":"` + status + `","currencyCode":"USD",
		"deliveryPrice":{"amount":"0.0","currencyCode":"USD"}}`
}

func TestRefusedStatusIsReadBack(t *testing.T) {
	t.Parallel()
	const refused = `{"data":{"done":{"contract":null,"userErrors":[{"code":"INVALID","field":["subscriptionContractId"],"message":"no"}]}}}`
	read := func(status string) string { return `{"data":{"subscriptionContract":` + contractAnswer(status) + `}}` }
	client, _ := scripted(t, refused, read("PAUSED"))
	if d, err := client.SetStatus(t.Context(), demo, 1, "PAUSED"); err != nil || d.Status != "PAUSED" {
		t.Errorf("a contract that is paused: %+v, %v", d, err)
	}
	client, _ = scripted(t, refused, read("ACTIVE"))
	if _, err := client.SetStatus(t.Context(), demo, 1, "PAUSED"); !isRefusal(err, "INVALID") {
		t.Errorf("a contract that is not: %v", err)
	}
	client, sent := scripted(t)
	if _, err := client.SetStatus(t.Context(), demo, 1, "STOPPED"); err == nil || len(sent.variables) != 0 {
		t.Errorf("an unknown status: %v after %d requests", err, len(sent.variables))
	}
}

func TestRevokedPaymentMethodIsReported(t *testing.T) {
	t.Parallel()
	client, _ := scripted(t, `{"data":{"subscriptionContract":{"id":"gid://shopify/SubscriptionContract/1","revisionId":"7","currencyCode":"USD","deliveryPrice":{"amount":"0.0","currencyCode":"USD"},
		"customerPaymentMethod":{"id":"gid://shopify/CustomerPaymentMethod/a","revokedAt":"2026-03-01T00:00:00Z","revokedReason":"MANUALLY_REVOKED",
		"instrument":{"__typename":"BankAccount","bankName":"Bank","lastDigits":"99"}}}}}`)
	d, err := client.Detail(t.Context(), demo, 1)
	if i := d.Instrument; err != nil || !d.PaymentMethod.Revoked || !i.RevokedAt.Equal(at("2026-03-01T00:00:00Z")) || i.RevokedWhy != "MANUALLY_REVOKED" || i.Brand != "Bank" || i.LastDigits != "99" {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestMissingScopeHidesOnlyItsFields(t *testing.T) {
	t.Parallel()
	const contract = `{"id":"gid://shopify/SubscriptionContract/1","revisionId":"7","status":"ACTIVE","currencyCode":"USD",
		"deliveryPrice":{"amount":"0.0","currencyCode":"USD"},"customer":{"id":"gid://shopify/Customer/2"},
		"originOrder":{"id":"gid://shopify/Order/3","name":"#3","fulfillmentOrders":null}}`
	const denied = `"errors":[{"message":"Access denied for fulfillmentOrders field.","path":["subscriptionContract","originOrder","fulfillmentOrders"],"extensions":{"code":"ACCESS_DENIED"}}]`
	client, _ := scripted(t, `{"data":{"subscriptionContract":`+contract+`},`+denied+`}`)
	d, err := client.Detail(t.Context(), demo, 1)
	if err != nil || d.ID != 1 || d.Revision != 7 || d.OriginOrder.ID != 3 || len(d.Fulfilments) != 0 {
		t.Errorf("got %+v, %v", d, err)
	}
}
