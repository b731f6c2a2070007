package test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rowsWith returns the tables of the service's database in which a text stands, in any
// letter case.
func (s *store) rowsWith(text string) (tables []string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "perennial.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	list := func(query string, args ...any) (found []string) {
		rows, err := db.QueryContext(s.t.Context(), query, args...)
		if err != nil {
			s.t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				s.t.Fatal(err)
			}
			found = append(found, one)
		}
		if err := rows.Err(); err != nil {
			s.t.Fatal(err)
		}
		return found
	}
	for _, table := range list("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'") {
		for _, column := range list("SELECT name FROM pragma_table_info(?)", table) {
			query := fmt.Sprintf(`SELECT count(*) FROM "%s" WHERE instr(lower(CAST("%s" AS text)), ?) > 0`, table, column)
			if n := list(query, strings.ToLower(text)); n[0] != "0" {
				tables = append(tables, fmt.Sprintf("%s.%s %s", table, column, n[0]))
			}
		}
	}
	return tables
}

// A customer that the platform asks to erase is erased wherever their data is kept. What is being charged comes to its end, and what was ordered is still counted.
func TestRedactedCustomerIsErased(t *testing.T) {
	t.Parallel()
	const email = "Zebulon@quagmire.example"
	who := map[string]any{"email": email, "firstName": "Zebulon", "lastName": "Quagmire", "phone": "+15550142377"}
	s := subscribe(t, map[string]any{"customer": who, "nextBillingDate": "2026-11-11T14:00:00Z"})
	s.call("POST", "/loyalty", map[string]any{"active": true}, nil)
	customer := s.payer(s.id)
	first := s.id

	s.id = s.checkout(map[string]any{"customer": map[string]any{"id": customer}}) // one that is over
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=Ask+for+Zebulon", s.id), nil)
	s.refused(http.StatusOK, "PUT", "/subscription-contracts-update-custom-note-attributes", map[string]any{
		"subscriptionContractId": s.id, "customAttributesList": []any{map[string]string{"key": "to", "value": "Zebulon Quagmire"}},
	})
	s.visit(customer).want(200, "POST", "/customer-retention-activities", map[string]any{
		"shop": "demo.myshopify.com", "contractId": s.id, "retentionAction": "CANCELLED", "cancellationReason": "Zebulon moves", "additionalInfo": `{"name":"Zebulon"}`,
	}, nil)
	s.cancel(http.StatusNoContent, "cancellationFeedback=Zebulon+moves&cancellationNote="+url.QueryEscape(email))

	s.id = first // an active one with a charge on its way
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts-update-order-note/%d?orderNote=For+Zebulon", s.upcoming()[1].ID), nil)
	s.declines("CHALLENGE", 1)
	s.pass("P11D")
	s.magicLink(email)
	mails := s.letters("kind=management_link")
	guest := &browser{T: t}
	guest.open("POST", mails[len(mails)-1].Links[0])
	s.magicLink(email) // a link that is not used yet
	mails = s.letters("kind=management_link")
	for _, text := range []string{"zebulon", "quagmire", "5550142377"} {
		if len(s.rowsWith(text)) == 0 {
			t.Errorf("%q stands nowhere before", text)
		}
	}

	s.call("POST", fmt.Sprintf("/platform/customers/%d/redact", customer), nil, nil)
	s.pass("PT2H")
	for _, text := range []string{"zebulon", "quagmire", "5550142377"} {
		if left := s.rowsWith(text); len(left) > 0 {
			t.Errorf("%q is left in %v", text, left)
		}
	}
	if status, _, _ := guest.open("GET", s.urls.Subscriptions+"/p/demo"); status != http.StatusSeeOther {
		t.Errorf("who was in the portal is answered %d there", status)
	}
	if status, _, _ := (&browser{T: t}).open("POST", mails[len(mails)-1].Links[0]); status != http.StatusNotFound {
		t.Errorf("the link of before is answered %d", status)
	}
	if got := s.magicLink(email); got != http.StatusBadRequest {
		t.Errorf("asking for a link answered %d", got)
	}

	s.ended("SUCCESS")
	s.pass("PT1H")
	s.wantAmounts("25.00")
	var rows []map[string]any
	s.get(fmt.Sprintf("/subscription-contract-details?customerId=%d&sort=id,asc", customer), &rows)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r["status"], " ", r["customerId"], " ", r["customerEmail"], " ", r["customerName"], " ", r["phone"], " ", r["lifetimeValue"]))
	}
	want := []string{fmt.Sprint("active ", float64(customer), " <nil> <nil> <nil> 25"), fmt.Sprint("cancelled ", float64(customer), " <nil> <nil> <nil> 0")}
	if !slices.Equal(got, want) {
		t.Errorf("the contracts are %q, want %q", got, want)
	}
	s.until("2026-12-12")
	s.wantAmounts("25.00", "25.00")
}

// A store that gave up the service is forgotten with all its customers; one that has it
// again is not.
func TestRedactedStoreIsErased(t *testing.T) {
	t.Parallel()
	const erase = `{"shop_id":1,"shop_domain":"demo.myshopify.com"}`
	s := subscribe(t, nil)
	s.says("shop/redact", erase)
	if len(s.rowsWith("ana@shopper.example")) == 0 {
		t.Error("a store that has the service has lost its customers")
	}
	gone := subscribe(t, nil)
	gone.uninstall()
	gone.says("shop/redact", erase)
	gone.pass("PT2H")
	for _, address := range []string{"ana@shopper.example", "owner@demo.myshopify.com"} {
		if left := gone.rowsWith(address); len(left) > 0 {
			t.Errorf("%s is left in %v", address, left)
		}
	}
}

// A captured webhook, body and signature, does nothing under other headers: neither to its
// own store nor to another one.
func TestCapturedWebhookDoesNothingUnderAnotherTopicOrStore(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	const (
		captured = `{"id":1,"domain":"demo.myshopify.com","myshopify_domain":"demo.myshopify.com"}`
		contract = `{"admin_graphql_api_id":"gid://shopify/SubscriptionContract/1","id":1,"revision_id":"1"}`
		erasure  = `{"shop_id":1,"shop_domain":"demo.myshopify.com"}`
	)
	s.says("shop/update", captured)
	s.says("subscription_contracts/update", contract)
	for _, row := range []struct {
		name, topic, shop, body string
		want                    int
	}{
		{"as an uninstallation", "app/uninstalled", "demo.myshopify.com", captured, http.StatusUnauthorized},
		{"as an erasure of the store", "shop/redact", "demo.myshopify.com", captured, http.StatusUnauthorized},
		{"as an uninstallation of another store", "app/uninstalled", "other.myshopify.com", captured, http.StatusUnauthorized},
		{"a contract's, as an uninstallation", "app/uninstalled", "demo.myshopify.com", contract, http.StatusUnauthorized},
		{"a contract's, as an uninstallation of another store", "app/uninstalled", "other.myshopify.com", contract, http.StatusUnauthorized},
		{"a contract's, as an erasure of another store", "shop/redact", "other.myshopify.com", contract, http.StatusUnauthorized},
		{"an erasure, of another store", "shop/redact", "other.myshopify.com", erasure, http.StatusUnauthorized},
		{"an erasure that is genuine, of a store that has the app", "shop/redact", "demo.myshopify.com", erasure, http.StatusOK},
		{"an uninstallation that was not received before, of a store that has the app", "app/uninstalled", "demo.myshopify.com", `{"id":2,"myshopify_domain":"demo.myshopify.com"}`, http.StatusOK},
		{"one without a body", "app/uninstalled", "other.myshopify.com", "", http.StatusOK},
	} {
		if got := s.sends(row.topic, row.shop, row.body); got != row.want {
			t.Errorf("%s: answered %d, want %d", row.name, got, row.want)
		}
	}
	s.pass("PT1M")
	if len(s.rowsWith("ana@shopper.example")) == 0 {
		t.Error("the store has lost its customers")
	}
	s.pass("P11D")
	s.wantAmounts("25.00")
	var stuck struct{ Gone string }
	for _, shop := range []string{"demo.myshopify.com", "other.myshopify.com"} {
		s.call("GET", "/stuck?shop="+shop, nil, &stuck)
		if stuck.Gone != "" {
			t.Errorf("%s is disconnected: %s", shop, stuck.Gone)
		}
	}
}

// What a customer asks of a store is noted for its staff. A request about an
// unknown customer is not repeated.
func TestUnknownComplianceWebhookRunsOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.says("customers/data_request", fmt.Sprintf(`{"shop_domain":"demo.myshopify.com","orders_requested":[],"customer":{"id":%d,"email":"ana@shopper.example"},"data_request":{"id":9}}`, s.payer(s.id)))
	s.says("customers/merge", `{"admin_graphql_api_customer_kept_id":"gid://shopify/Customer/1"}`)
	s.wantEntries(created, "SHOPIFY_EVENT INFORMATIONAL_EVENT INFO", "SYSTEM_EVENT INFORMATIONAL_EVENT SUCCESS")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.dir, "perennial.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var waiting int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM inbox WHERE finished_at IS NULL").Scan(&waiting); err != nil || waiting != 0 {
		t.Errorf("%d events wait (%v)", waiting, err)
	}
}
