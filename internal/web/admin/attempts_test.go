package admin

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// by is the actor that the fixture's requests act as.
func by() activity.Actor {
	return activity.Actor{Source: activity.MerchantExternalAPI, By: "API key ERP", ClientIP: "192.0.2.1", Request: "req-1"}
}

func TestOrderListPassesItsQueryOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target string
		want   billing.Question
	}{
		"upcoming orders of a contract": {"/top-orders?contractId=42", billing.Question{Contract: 42, Upcoming: true}},
		"upcoming orders of a customer": {"/top-orders?customerId=gid://shopify/Customer/5", billing.Question{Customer: 5, Upcoming: true}},
		"past orders of a contract":     {"/past-orders/?contractId=gid://shopify/SubscriptionContract/42", billing.Question{Contract: 42}},
		"past orders of a customer":     {"/past-orders?customerId=5", billing.Question{Customer: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{total: 30})
			w := s.ask("GET", ordersPath+test.target, "")
			test.want.Line = shop.Subscriptions
			if diff := cmp.Diff(test.want, s.question); diff != "" || w.Code != 200 || s.of != 7 || s.page.Size != 20 {
				t.Errorf("answered %d for shop %d, page %+v (-want +got):\n%s", w.Code, s.of, s.page, diff)
			}
			if w.Header().Get("X-Total-Count") != "30" || w.Header().Get("Link") == "" || w.Body.String() != "[]\n" {
				t.Errorf("headers %v body %s", w.Header(), w.Body)
			}
		})
	}
}

func TestSkipAndUnskipPassTheirQueryOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		want  command.Skip
	}{
		"only the attempt is needed":          {"", command.Skip{}},
		"the contract may be named":           {"?subscriptionContractId=42", command.Skip{Contract: 42}},
		"the contract may be a graph id":      {"?subscriptionContractId=gid://shopify/SubscriptionContract/42", command.Skip{Contract: 42}},
		"prepaid=false differs from absent":   {"?isPrepaid=false", command.Skip{Prepaid: new(false)}},
		"prepaid may be true":                 {"?isPrepaid=true", command.Skip{Prepaid: new(true)}},
		"a name without a value is not given": {"?isPrepaid", command.Skip{}},
		"an empty parameter is not given":     {"?isPrepaid=&subscriptionContractId=", command.Skip{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			test.want.Line, test.want.Attempt, test.want.Actor = shop.Subscriptions, 9, by()
			for path, got := range map[string]**command.Skip{"/skip-order/9": &s.skipped, "/unskip-order/9": &s.unskip} {
				w := s.ask("PUT", ordersPath+path+test.query, "")
				if w.Code != http.StatusOK || *got == nil {
					t.Fatalf("answered %d %s", w.Code, w.Body)
				}
				if diff := cmp.Diff(test.want, **got); diff != "" || s.of != 7 {
					t.Errorf("%s of shop %d (-want +got):\n%s", path, s.of, diff)
				}
			}
		})
	}
}

func TestAttemptBillingAnswersWithoutBody(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	w := s.ask("PUT", ordersPath+"/attempt-billing/9/", "")
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("answered %d %s %q", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	if want := (command.Trigger{Line: shop.Subscriptions, Attempt: 9, Actor: by()}); *s.trigger != want || s.of != 7 {
		t.Errorf("command %+v of shop %d", *s.trigger, s.of)
	}
}

func TestEditAttemptPassesChangedFieldsOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want command.Edit
	}{
		"a body that names nothing changes nothing": {`{"id":9}`, command.Edit{}},
		"what is as it was is not changed":          {`{"id":9,"status":"queued","billingDate":"2025-03-03T07:00:00-05:00","orderNote":"ring twice","retryingNeeded":false}`, command.Edit{}},
		"another spelling of a status is the same":  {`{"id":9,"status":"SCHEDULED"}`, command.Edit{}},
		"a note is replaced":                        {`{"id":9,"orderNote":"knock <b>"}`, command.Edit{Note: new("knock <b>")}},
		"a null note is cleared":                    {`{"id":9,"orderNote":null}`, command.Edit{Note: new("")}},
		"an empty note is cleared":                  {`{"id":9,"orderNote":""}`, command.Edit{Note: new("")}},
		"a status is read in any case":              {`{"id":9,"status":"Skipped"}`, command.Edit{Status: new(billing.Skipped)}},
		"a date is an instant":                      {`{"id":9,"billingDate":"2025-03-10T00:00:00Z"}`, command.Edit{BillingDate: new(time.Date(2025, 3, 10, 0, 0, 0, 0, time.UTC))}},
		"a day is that day at the order time":       {`{"id":9,"billingDate":"2025-03-10"}`, command.Edit{BillingDate: new(time.Date(2025, 3, 10, 13, 0, 0, 0, time.UTC))}},
		"a flag is set":                             {`{"id":9,"retryingNeeded":true,"applyUsageCharge":true,"upgradeDowngradeBilling":true}`, command.Edit{RetryingNeeded: new(true), ApplyUsageCharge: new(true), UpgradeDowngradeBilling: new(true)}},
		"a null flag is off":                        {`{"id":9,"retryingNeeded":null}`, command.Edit{}},
		"unknown fields are ignored":                {`{"id":9,"colour":"red","nested":{"a":[1]}}`, command.Edit{}},
		"the shop may be named":                     {`{"id":9,"shop":"demo.myshopify.com"}`, command.Edit{}},
		"white space does not matter":               {` {"id": 9 } `, command.Edit{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask("PUT", ordersPath, test.body, "Content-Type", "application/x-www-form-urlencoded")
			if w.Code != http.StatusOK {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Line, test.want.Attempt, test.want.Actor = shop.Subscriptions, 9, by()
			if diff := cmp.Diff(test.want, *s.edited); diff != "" || s.of != 7 {
				t.Errorf("command of shop %d (-want +got):\n%s", s.of, diff)
			}
		})
	}
}

// A body that says it is not packed is none that is.
func TestEditAttemptAcceptsIdentityEncoding(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"identity", "Identity", ""} {
		s := serve(t, &fakes{records: []billing.Record{theRecord()}})
		if w := s.ask("PUT", ordersPath, `{"id":9,"orderNote":"knock"}`, "Content-Encoding", coding); w.Code != http.StatusOK || s.edited == nil {
			t.Errorf("%q answered %d %s", coding, w.Code, w.Body)
		}
	}
}

// What an operation does not read may come in any form.
func TestSkipIgnoresCompressedBody(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{records: []billing.Record{theRecord()}})
	if w := s.ask("PUT", ordersPath+"/skip-order/9", "\x1f\x8b", "Content-Encoding", "gzip"); w.Code != http.StatusOK || s.skipped == nil {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// Whatever a record is, it may be sent back as it was read.
func TestEditAttemptAcceptsRecordAsRead(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]billing.Record{"upcoming": theRecord(), "charged": charged(), "failed": failed()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{r}})
			var list []json.RawMessage
			if err := json.Unmarshal(s.ask("GET", ordersPath+"/past-orders?contractId=42", "").Body.Bytes(), &list); err != nil {
				t.Fatal(err)
			}
			w := s.ask("PUT", ordersPath, string(list[0]))
			want := command.Edit{Line: shop.Subscriptions, Attempt: r.ID, Actor: by()}
			if w.Code != http.StatusOK || !cmp.Equal(want, *s.edited) {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
		})
	}
}

func charged() billing.Record {
	r := theRecord()
	r.ID, r.Status, r.Try, r.AttemptedAt, r.Polls = 8, billing.Success, 2, noon().Add(456*time.Millisecond), 1
	r.PlatformID, r.OrderID, r.OrderName = "gid://shopify/SubscriptionBillingAttempt/77", 1004, "#1004"
	r.Amount = money.Amount{Minor: 1999, Currency: "USD"}
	r.Attempt.Lines = []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/old", VariantID: 14, Title: "Mug", Quantity: 1, Price: money.Amount{Minor: 1999, Currency: "USD"}}}
	r.Flags.ApplyUsageCharge = true
	return r
}

func failed() billing.Record {
	r := theRecord()
	r.ID, r.Status, r.Try, r.AttemptedAt = 7, billing.Failure, 1, noon()
	r.ErrorCode, r.ErrorMessage, r.Note = "INSUFFICIENT_FUNDS", "The card has insufficient funds.", ""
	return r
}

func TestBillingAttemptMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{records: []billing.Record{theRecord(), charged(), failed()}})
	webtest.Golden(t, "billing-attempts.json", s.ask("GET", ordersPath+"/past-orders?contractId=42", "").Body.Bytes())

	var list []map[string]json.RawMessage
	if err := json.Unmarshal(s.ask("GET", ordersPath+"/top-orders?contractId=42", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	var one map[string]json.RawMessage
	if err := json.Unmarshal(s.ask("PUT", ordersPath+"/skip-order/9", "").Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	equal := func(a, b json.RawMessage) bool { return string(a) == string(b) }
	if !maps.EqualFunc(list[0], one, equal) {
		t.Error("an operation answers with another shape than a list")
	}
}

func TestBillingAttemptHasEveryField(t *testing.T) {
	t.Parallel()
	want := []string{
		"id", "shop", "billingAttemptId", "status", "billingDate", "attemptTime", "contractId", "attemptCount", "progressAttemptCount", "graphOrderId", "orderId",
		"orderAmount", "orderAmountUSD", "transactionRate", "orderName", "retryingNeeded", "applyUsageCharge", "upgradeDowngradeBilling", "recurringChargeId",
		"billingAttemptResponseMessage", "orderNote", "variantList", "transactionFailedEmailSentStatus", "upcomingOrderEmailSentStatus",
		"securityChallengeSentStatus", "transactionFailedSmsSentStatus", "upcomingOrderSmsSentStatus", "usageChargeStatus",
	}
	w := serve(t, &fakes{records: []billing.Record{theRecord()}}).ask("GET", ordersPath+"/top-orders?contractId=42", "")
	sameFields(t, want, w.Body.Bytes())
}
