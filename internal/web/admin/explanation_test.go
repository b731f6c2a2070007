package admin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestExplanationMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	cents := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	r := theRecord()
	r.Of.Series = contract.Series{Cycle: 1, Start: time.Date(2024, 10, 31, 13, 0, 0, 0, time.UTC)}
	r.Of.Priced = true
	r.Of.Pricing = map[string]contract.Pricing{r.Of.Lines[0].ID: {Base: cents(1050), Cycles: []contract.CyclePrice{{After: 2, Computed: cents(1000)}}}}
	r.Of.Billing.Anchors = []cadence.Anchor{{Kind: cadence.MonthDay, Day: 31}}
	r.BillingDate = time.Date(2025, 1, 31, 14, 0, 0, 0, time.UTC)
	r.Status, r.DueAt, r.Try, r.Moved = billing.Failure, noon().Add(4*time.Hour), 1, true
	r.Key, r.FirstSentAt, r.SentAt = "prn1-key", noon().Add(-2*time.Hour), noon().Add(-time.Hour)
	r.PlatformID, r.ErrorCode, r.ErrorMessage = "gid://shopify/SubscriptionBillingAttempt/8001", "CARD_EXPIRED", "The card has expired."
	entry := func(event activity.EventType, status activity.Status, info string) activity.Entry {
		return activity.Entry{ID: 1, EntityID: 9, EntityType: activity.EntitySubscriptionBillingAttempt, Event: event, Status: status, Actor: by(), At: noon().Add(-time.Hour), Info: info}
	}
	s := serve(t, &fakes{
		records: []billing.Record{r},
		entries: []activity.Entry{
			entry(activity.NextBillingDateChange, activity.Success, `{"from":"2025-01-30T14:00:00Z","to":"2025-01-31T14:00:00Z"}`),
			entry(activity.BillingAttemptTriggered, activity.Info, `{"try":1}`),
			entry(activity.BillingAttemptTriggered, activity.Failure, `{"try":1,"errorCode":"CARD_EXPIRED","errorMessage":"The card has expired."}`),
		},
		terms: &explain.Terms{
			Lines:     r.Of.Lines,
			Details:   []contract.LineDetail{{Pricing: &contract.Pricing{Base: cents(1050), Cycles: []contract.CyclePrice{{After: 2, Kind: platform.AmountOff, Amount: cents(50), Computed: cents(1000)}}}}},
			Discounts: []contract.Discount{{ID: "gid://shopify/SubscriptionManualDiscount/1", Title: "WELCOME10", Code: "WELCOME10", Percent: 10, AllLines: true}},
		},
	})
	w := s.ask("GET", ordersPath+"/9/explanation", "")
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	webtest.Golden(t, "explanation.json", w.Body.Bytes())

	r.Of.Billing = contract.Policy{Interval: cadence.Year, Count: 1, Anchors: []cadence.Anchor{{Kind: cadence.YearDay, Day: 29, Month: 2}}}
	r.Status, r.Of.Series, r.DueAt = billing.Skipped, contract.Series{}, time.Time{}
	s = serve(t, &fakes{records: []billing.Record{r}})
	if w := s.ask("GET", ordersPath+"/9/explanation", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"seriesStart":null`) || !strings.Contains(w.Body.String(), `"month":2`) {
		t.Errorf("without a calendar it answered %d %s", w.Code, w.Body)
	}
	if w := s.ask("GET", ordersPath+"/10/explanation", ""); w.Code != http.StatusNotFound {
		t.Errorf("of no attempt it answered %d %s", w.Code, w.Body)
	}
	if w := s.ask("GET", ordersPath+"/9/explanation", "", "X-API-Key", noneKey); w.Code != http.StatusForbidden {
		t.Errorf("a key that may not read contracts was answered %d", w.Code)
	}
	if w := serveLine(t, &fakes{records: []billing.Record{r}}, shop.Memberships).ask("GET", ordersPath+"/9/explanation", ""); w.Code != http.StatusNotFound {
		t.Errorf("the other line answered %d", w.Code)
	}
}

// Every value that the explanation can have is one that the document lists.
func TestExplanationEnumsMatchDocument(t *testing.T) {
	t.Parallel()
	doc := serve(t, &fakes{}).ask("GET", "/openapi.json", "").Body.String()
	for _, values := range [][]string{names(explain.StepKinds), names(explain.TryStates), names(explain.PreparationKinds), names(explain.ChangeKinds)} {
		if list := `["` + strings.Join(values, `","`) + `"]`; !strings.Contains(doc, `"enum":`+list) {
			t.Errorf("the document does not list %s", list)
		}
	}
}
