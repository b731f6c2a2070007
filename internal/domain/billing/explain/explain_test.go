package explain

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/goldentest"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// berlin is 2025 at 9:00 in Berlin, in summer or in winter.
func berlin(t *testing.T, month time.Month, day int) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2025, month, day, 9, 0, 0, 0, zone).UTC()
}

// april returns the facts of the order for April of a contract that was begun on
// the 31st of January, three days before it is due.
func april(t *testing.T, change ...func(*Facts)) Facts {
	t.Helper()
	due := berlin(t, time.April, 30)
	f := Facts{
		Now: due.AddDate(0, 0, -3), Policy: billing.DefaultPolicy(),
		Shop: shop.Shop{Domain: "demo.myshopify.com", TimeZone: "Europe/Berlin", OrderHour: 9, Connected: true},
		Record: billing.Record{
			Attempt: billing.Attempt{ID: 7, Contract: 9001, Cycle: 4, Status: billing.Queued, BillingDate: due, DueAt: due},
			Of: contract.Contract{
				ID: 9001, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", AutoCharge: true,
				Billing: contract.Policy{Interval: cadence.Month, Count: 1}, Series: contract.Series{Cycle: 1, Start: berlin(t, time.January, 31)},
				Lines: []contract.LineItem{{ID: "gid://shopify/SubscriptionLine/1", VariantID: 4001, Title: "House Blend", VariantTitle: "250 g", Quantity: 2, Price: usd(1250), SellingPlanID: 6003}},
			},
		},
		Terms: &Terms{},
	}
	var err error
	if f.Calendar, err = f.Shop.Calendar(); err != nil {
		t.Fatal(err)
	}
	for _, do := range change {
		do(&f)
	}
	return f
}

// log returns an entry about the attempt.
func log(event activity.EventType, status activity.Status, by activity.Actor, at time.Time, o billing.EntryInfo) activity.Entry {
	o.Cycle = 4
	return billing.NewEntry(billing.Attempt{ID: 7}, event, status, by, at, o)
}

// warehouse is an integration of the merchant's.
var warehouse = activity.Actor{Source: activity.MerchantExternalAPI, By: "API key Warehouse", ClientIP: "203.0.113.7"}

// begun lets the attempt have been sent when it fell due, and asks a minute later.
func begun(status billing.Status) func(*Facts) {
	return func(f *Facts) {
		at := f.BillingDate
		f.Status, f.Try, f.Key = status, 1, billing.KeyOf(f.Shop.Domain, 9001, 4, 1)
		f.AttemptedAt, f.FirstSentAt, f.SentAt, f.UpdatedAt = at, at, at, at
		f.Now, f.DueAt = at.Add(time.Minute), at.Add(f.Policy.Lease)
	}
}

// over lets it have an end.
func over(status billing.Status, reason string) func(*Facts) {
	return func(f *Facts) {
		f.Status, f.ErrorMessage, f.DueAt = status, reason, time.Time{}
		f.Now = f.BillingDate.Add(time.Hour)
		f.Entries = append(f.Entries, log(activity.BillingAttemptSkipped, activity.Skipped, activity.System, f.BillingDate, billing.EntryInfo{Reason: reason}))
	}
}

func declinedOnce(f *Facts) {
	f.Status, f.DueAt, f.PlatformID = billing.Failure, time.Time{}, "gid://shopify/SubscriptionBillingAttempt/81"
	f.ErrorCode, f.ErrorMessage = "INSUFFICIENT_FUNDS", "Insufficient funds."
	f.Entries = append(f.Entries, log(activity.BillingAttemptTriggered, activity.Failure, activity.System, f.BillingDate.Add(30*time.Second),
		billing.EntryInfo{Try: 1, ErrorCode: f.ErrorCode, ErrorMessage: f.ErrorMessage}))
}

func TestExplanations(t *testing.T) {
	t.Parallel()
	explained := make(map[billing.Status]bool)
	for name, change := range map[string][]func(*Facts){
		"queued": nil,
		"queued-before-its-calendar": {func(f *Facts) {
			f.Of.Series = contract.Series{Cycle: 6, Start: berlin(t, time.June, 15), Moved: true}
		}},
		"queued-off-its-calendar": {func(f *Facts) { f.BillingDate = berlin(t, time.April, 28) }},
		"queued-moved-and-skipped-and-taken-back": {func(f *Facts) {
			f.BillingDate, f.DueAt, f.Moved = berlin(t, time.May, 5), berlin(t, time.May, 5), true
			f.Entries = []activity.Entry{
				log(activity.BillingAttemptSkipped, activity.Success, warehouse, berlin(t, time.April, 1), billing.EntryInfo{}),
				log(activity.BillingAttemptUpdated, activity.Success, activity.Platform, berlin(t, time.April, 2), billing.EntryInfo{Reason: billing.NoLongerSkipped}),
				log(activity.NextBillingDateChange, activity.Success, warehouse, berlin(t, time.April, 3), billing.EntryInfo{From: "2025-04-30T07:00:00Z", To: "2025-05-05T07:00:00Z"}),
			}
		}},
		"queued-with-a-price-rule-discounts-and-a-product": {func(f *Facts) {
			f.Of.Priced, f.Note, f.Of.DeliveryPrice = true, "Ring twice", usd(490)
			f.OneOffs = []billing.OneOff{{ID: 3, Contract: 9001, Cycle: 4, Quantity: 1, Variant: platform.Variant{ID: 4009, ProductTitle: "Mug", Price: usd(800)}}}
			f.Needs = prepare.Needs{Prices: true, Note: true, OneOffs: 1, Rules: true}
			f.Of.Pricing = map[string]contract.Pricing{f.Of.Lines[0].ID: {Base: usd(1250), Cycles: []contract.CyclePrice{{After: 0, Computed: usd(1250)}, {After: 3, Computed: usd(1125)}}}}
			f.Terms = &Terms{
				Lines: f.Of.Lines,
				Details: []contract.LineDetail{{Pricing: &contract.Pricing{Base: usd(1250), Cycles: []contract.CyclePrice{
					{After: 0, Kind: platform.PercentOff, Percent: 0, Computed: usd(1250)}, {After: 3, Kind: platform.PercentOff, Percent: 10, Computed: usd(1125)},
				}}}},
				Discounts: []contract.Discount{
					{Title: "WELCOME", Code: "WELCOME", Percent: 10, AllLines: true, CycleLimit: 3, UsedCycles: 3},
					{Title: "Sorry", Amount: usd(500), Lines: []string{"gid://shopify/SubscriptionLine/1"}},
					{Title: "Post", FreeShipping: true, RejectedWhy: "NOT_FOUND"},
				},
			}
		}},
		"queued-behind-the-last-order-of-a-discount": {func(f *Facts) {
			f.Before, f.Terms = []order.Place{{Cycle: 3}}, &Terms{Lines: f.Of.Lines, Discounts: []contract.Discount{{Title: "Hello", Percent: 15, AllLines: true, CycleLimit: 2, UsedCycles: 1}}}
		}},
		"queued-with-a-price-that-a-person-set": {func(f *Facts) {
			f.Of.Priced, f.Needs = true, prepare.Needs{Prices: true}
			f.Of.Lines[0].Price = usd(999)
			f.Terms = &Terms{Lines: f.Of.Lines, Details: []contract.LineDetail{{Pricing: &contract.Pricing{Base: usd(1250), Cycles: []contract.CyclePrice{
				{After: 0, Kind: platform.AmountOff, Amount: usd(250), Computed: usd(1000)},
			}}}}}
		}},
		"queued-with-a-price-of-its-plan": {func(f *Facts) {
			f.Of.Priced, f.Of.Orders, f.Of.OriginOrderID, f.Before, f.Needs = true, 2, 5001, []order.Place{{Cycle: 3}}, prepare.Needs{Prices: true}
			f.Terms = &Terms{Lines: f.Of.Lines, Plans: map[string]contract.Pricing{f.Of.Lines[0].ID: {Base: usd(1500), Cycles: []contract.CyclePrice{
				{After: 0, Kind: platform.FixedPrice, Computed: usd(1250)}, {After: 4, Kind: platform.PercentOff, Percent: 20, Computed: usd(1200)},
			}}}}
			f.Of.PlanPricing = f.Terms.Plans
		}},
		"queued-with-a-price-rule-that-is-not-applied": {func(f *Facts) {
			f.Terms = &Terms{Lines: f.Of.Lines, Details: []contract.LineDetail{{Pricing: &contract.Pricing{Base: usd(1250), Cycles: []contract.CyclePrice{
				{After: 0, Kind: platform.AmountOff, Amount: usd(250), Computed: usd(1000)},
			}}}}}
		}},
		"queued-while-the-platform-is-silent": {func(f *Facts) { f.Terms, f.Silent = nil, true }},
		"queued-behind-another-cycle": {func(f *Facts) {
			f.Now = f.BillingDate.Add(2 * time.Minute)
			f.DueAt = f.BillingDate.Add(10 * time.Minute)
			f.Others = []billing.Attempt{{ID: 6, Contract: 9001, Cycle: 3, Status: billing.Requesting}}
		}},
		"queued-and-missed": {func(f *Facts) {
			f.Now = berlin(t, time.June, 1)
			f.Others = []billing.Attempt{f.Attempt, {ID: 8, Contract: 9001, Cycle: 5, Status: billing.Queued, BillingDate: berlin(t, time.May, 31)}}
		}},
		"queued-of-a-contract-that-was-paused": {func(f *Facts) { f.Of.Status = contract.Paused }},
		"queued-on-fixed-days": {func(f *Facts) {
			f.Of.Billing.Anchors = []cadence.Anchor{{Kind: cadence.MonthDay, Day: 31}}
			f.Of.MaxCycles = 12
		}},
		"queued-and-being-prepared": {begun(billing.Queued), func(f *Facts) {
			f.Try, f.Key, f.FirstSentAt, f.SentAt, f.AttemptedAt = 0, "", time.Time{}, time.Time{}, time.Time{}
			f.Needs = prepare.Needs{Rules: true}
			f.Prep = billing.Preparation{Stage: billing.OrderPlanned, Failures: 2, Since: f.BillingDate, Plan: &billing.Plan{Changes: []billing.Change{{Rule: 1, Name: "Summer"}}}}
		}},
		"requesting":            {begun(billing.Requesting)},
		"requesting-unsent":     {begun(billing.Requesting), func(f *Facts) { f.FirstSentAt, f.SentAt, f.DueAt = time.Time{}, time.Time{}, f.Now }},
		"requesting-unanswered": {begun(billing.Requesting), func(f *Facts) { f.Failures, f.SentAt = 2, f.SentAt.Add(time.Minute) }},
		"requesting-past-the-window": {begun(billing.Requesting), func(f *Facts) {
			f.Now = f.FirstSentAt.Add(21 * time.Hour)
			f.SentAt, f.DueAt = f.Now.Add(-time.Minute), f.Now
		}},
		"progress": {begun(billing.Progress), func(f *Facts) { f.PlatformID, f.Polls = "gid://shopify/SubscriptionBillingAttempt/81", 1 }},
		"challenge": {begun(billing.Challenge), func(f *Facts) {
			f.PlatformID, f.ActionURL = "gid://shopify/SubscriptionBillingAttempt/81", "https://bank.example/confirm"
		}},
		"exception": {begun(billing.PlatformException), func(f *Facts) { f.Failures, f.DueAt = 4, f.Now.Add(f.Policy.Repair) }},
		"exception-of-an-accepted-charge": {begun(billing.PlatformException), func(f *Facts) {
			f.PlatformID, f.Polls, f.DueAt = "gid://shopify/SubscriptionBillingAttempt/81", 12, f.Now.Add(6*time.Hour)
		}},
		"failure":                   {begun(billing.Failure), declinedOnce},
		"failure-of-the-last-order": {begun(billing.Failure), declinedOnce, func(f *Facts) { f.Of.ExpireAt = berlin(t, time.May, 14) }},
		"failure-with-a-new-date": {begun(billing.Failure), declinedOnce, func(f *Facts) {
			f.BillingDate, f.DueAt, f.Moved = berlin(t, time.May, 5), berlin(t, time.May, 5), true
			f.Entries = append(f.Entries, log(activity.NextBillingDateChange, activity.Success, warehouse, f.Now, billing.EntryInfo{From: "2025-04-30T07:00:00Z", To: "2025-05-05T07:00:00Z"}))
		}},
		"failure-with-a-retry-to-come":   {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Open, Class: dunning.Issuer, RetryAt: berlin(t, time.May, 1)})},
		"failure-without-a-retry":        {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Open, Class: dunning.Card, EndAt: berlin(t, time.May, 14)})},
		"failure-that-is-held":           {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Held, Class: dunning.Merchant})},
		"failure-that-ends-the-contract": {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Ending, Class: dunning.Card, Action: dunning.Cancel})},
		"failure-in-a-store-that-is-frozen": {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Open, Class: dunning.Issuer, RetryAt: berlin(t, time.May, 1)}), func(f *Facts) {
			f.DueAt, f.Shop.Guard.FrozenAt, f.Shop.Guard.Reason = berlin(t, time.May, 1), f.Now, "the database was put back from a backup"
		}},
		"failure-in-a-store-that-is-gone": {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Open, Class: dunning.Issuer, RetryAt: berlin(t, time.May, 1)}), func(f *Facts) {
			f.DueAt, f.Shop.Connected = berlin(t, time.May, 1), false
		}},
		"failure-of-a-payment-method-that-is-spent": {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Open, Class: dunning.Issuer, RetryAt: berlin(t, time.May, 1)}), func(f *Facts) {
			f.DueAt, f.CardTries = berlin(t, time.May, 1), slices.Repeat([]time.Time{f.Now}, dunning.MaxTries)
		}},
		"queued-while-another-is-unpaid": {func(f *Facts) { f.Of.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3} }},
		"left-out-while-another-is-unpaid": {func(f *Facts) {
			f.Status, f.DueAt, f.ErrorMessage = billing.SkippedDunning, time.Time{}, "cycle 3 could not be charged yet: no other order is made before it is paid or given up"
			f.Entries = []activity.Entry{log(activity.DunningAttemptSkipped, activity.Skipped, activity.System, f.Now, billing.EntryInfo{Reason: f.ErrorMessage})}
		}},
		"exception-of-a-missed-order": {begun(billing.PlatformException), func(f *Facts) {
			f.Failures, f.Now = 4, berlin(t, time.June, 1)
			f.DueAt, f.SentAt = f.Now, f.Now.Add(-time.Minute)
			f.Others = []billing.Attempt{f.Attempt, {ID: 8, Contract: 9001, Cycle: 5, Status: billing.Queued, BillingDate: berlin(t, time.May, 31)}}
		}},
		"failure-behind-an-earlier-charge": {begun(billing.Failure), declinedOnce, func(f *Facts) {
			f.Try, f.ErrorCode, f.ErrorMessage = 2, dunning.EarlierChargeOpen, "an earlier charge of this cycle has not ended at the platform, and may still be paid"
		}},
		"failure-of-a-contract-that-was-paused-for-it": {begun(billing.Failure), declinedOnce, withCase(dunning.Case{State: dunning.Lost, Class: dunning.Funds, Action: dunning.Pause}), func(f *Facts) {
			f.Of.Status = contract.Paused
		}},
		"failure-of-a-contract-that-was-paused":    {begun(billing.Failure), declinedOnce, func(f *Facts) { f.Of.Status = contract.Paused }},
		"failure-of-a-contract-that-was-cancelled": {begun(billing.Failure), declinedOnce, func(f *Facts) { f.Of.Status = contract.Cancelled }},
		"given-up-for-a-later-order": {begun(billing.Failure), declinedOnce, func(f *Facts) {
			f.Status = billing.SkippedDunning
			f.Entries = append(f.Entries, log(activity.DunningSkipped, activity.Success, activity.System, f.Now, billing.EntryInfo{Try: 1, Reason: "a later order was paid"}))
		}},
		"given-up-with-its-contract": {begun(billing.Failure), declinedOnce, func(f *Facts) {
			f.Status, f.Of.Status = billing.SkippedDunning, contract.Cancelled
			f.Entries = append(f.Entries, log(activity.DunningAttemptSkipped, activity.Skipped, activity.System, f.Now, billing.EntryInfo{Try: 1, Reason: "the contract is cancelled"}))
		}},
		"paid-elsewhere": {begun(billing.Skipped), func(f *Facts) {
			f.Try, f.FirstSentAt, f.SentAt, f.DueAt = 2, time.Time{}, time.Time{}, time.Time{}
			f.ErrorCode, f.ErrorMessage = "INVOICE_ALREADY_PAID", "the platform says that this cycle is paid, by an order that is not ours"
			f.Entries = []activity.Entry{log(activity.DuplicateBillingAttemptDetected, activity.Skipped, activity.System, f.Now, billing.EntryInfo{Reason: f.ErrorMessage})}
		}},
		"queued-after-a-free-trial": {func(f *Facts) {
			f.Of.Series = contract.Series{Cycle: 4, Start: f.BillingDate, Moved: true}
			f.Of.Trial = &contract.Trial{EndsAt: f.BillingDate.Add(-time.Hour), ChargeAt: f.BillingDate}
		}},
		"success": {begun(billing.Success), func(f *Facts) {
			f.DueAt, f.PlatformID, f.OrderID, f.OrderName, f.Amount = time.Time{}, "gid://shopify/SubscriptionBillingAttempt/81", 5004, "#1004", usd(2250)
			f.Lines, f.Prep.Stage = f.Of.Lines, billing.Ready
			f.Lines[0].Price = usd(1125)
			f.Entries = []activity.Entry{
				log(activity.ProductPriceChange, activity.Success, activity.System, f.BillingDate, billing.EntryInfo{Variant: 4001, From: "12.50", To: "11.25"}),
				log(activity.BillingAttemptTriggered, activity.Success, activity.System, f.Now, billing.EntryInfo{Try: 1, OrderID: 5004, OrderName: "#1004", Amount: "22.50", Currency: "USD"}),
			}
		}},
		"success-of-the-second-try": {begun(billing.Success), declinedOnce, func(f *Facts) {
			f.Status, f.ErrorCode, f.ErrorMessage = billing.Success, "", ""
			f.Try, f.Key = 2, billing.KeyOf(f.Shop.Domain, 9001, 4, 2)
			f.FirstSentAt, f.SentAt, f.Now = f.BillingDate.Add(2*time.Hour), f.BillingDate.Add(2*time.Hour), f.BillingDate.Add(3*time.Hour)
			f.PlatformID, f.OrderID, f.OrderName, f.Amount, f.Lines = "gid://shopify/SubscriptionBillingAttempt/82", 5004, "#1004", usd(2500), f.Of.Lines
			f.Entries = append(f.Entries,
				log(activity.BillingAttemptTriggered, activity.Info, warehouse, f.SentAt, billing.EntryInfo{Try: 2}),
				log(activity.BillingAttemptTriggered, activity.Success, activity.System, f.SentAt, billing.EntryInfo{Try: 2, OrderID: 5004, OrderName: "#1004"}),
				log(activity.DuplicateBillingAttemptDetected, activity.Failure, activity.System, f.Now, billing.EntryInfo{OrderID: 5005, Reason: "a second order exists for this cycle"}),
			)
		}},
		"success-that-was-found": {begun(billing.Success), func(f *Facts) {
			f.Try, f.Key, f.FirstSentAt, f.SentAt, f.DueAt = 0, "", time.Time{}, time.Time{}, time.Time{}
			f.OrderID, f.OrderName, f.Amount, f.Lines, f.PublishAt = 5004, "#1004", usd(2500), f.Of.Lines, f.Now
		}},
		"skipped": {func(f *Facts) {
			f.Status, f.DueAt = billing.Skipped, time.Time{}
			f.Entries = []activity.Entry{log(activity.BillingAttemptSkipped, activity.Success, warehouse, berlin(t, time.April, 1), billing.EntryInfo{})}
		}},
		"skipped-in-the-past": {func(f *Facts) {
			f.Status, f.DueAt, f.Now = billing.Skipped, time.Time{}, f.BillingDate.AddDate(0, 0, 1)
			f.Entries = []activity.Entry{log(activity.BillingAttemptSkipped, activity.Success, activity.Actor{Source: activity.CustomerPortal}, berlin(t, time.April, 1), billing.EntryInfo{})}
		}},
		"skipped-after-an-outage":      {over(billing.Skipped, "missed, and cycle 5 is due too: only the newest is charged")},
		"connection-gone":              {over(billing.ConnectionGone, "the store's connection to the platform is gone")},
		"contract-cancelled":           {over(billing.ContractCancelled, "the contract is cancelled")},
		"contract-cancelled-when-sent": {begun(billing.Requesting), over(billing.ContractCancelled, "the contract is cancelled")},
		"contract-ended":               {over(billing.ContractEnded, "the contract ends after 3 cycles")},
		"contract-paused":              {over(billing.ContractPaused, "the contract is paused")},
		"auto-charge-disabled":         {over(billing.AutoChargeDisabled, "automatic charges are switched off for the contract")},
		"skipped-dunning":              {begun(billing.Failure), declinedOnce, func(f *Facts) { f.Status = billing.SkippedDunning }},
	} {
		f := april(t, change...)
		e := Explain(f)
		explained[f.Status] = true
		goldentest.Same(t, filepath.Join("testdata", "explain", name+".txt"), []byte(e.Text()))
		if again := Explain(april(t, change...)).Text(); again != e.Text() {
			t.Errorf("%s is explained differently the second time:\n%s", name, again)
		}
		if !slices.Contains(StepKinds, e.Next.Kind) || !slices.Contains(PreparationKinds, e.Preparation.Kind) || e.Summary == "" || e.Outcome.Words == "" {
			t.Errorf("%s: %+v %+v %q", name, e.Next, e.Preparation, e.Summary)
		}
		for _, line := range strings.Split(e.Text(), "\n") {
			if strings.Contains(line, "%!") || strings.Contains(line, "  .") || strings.Contains(line, "..") {
				t.Errorf("%s: %q is no sentence", name, line)
			}
		}
	}
	for _, s := range billing.Statuses {
		if !explained[s] || standing[s] == "" {
			t.Errorf("no example is %s", s)
		}
	}
}

// withCase opens a case of an order that was declined.
func withCase(k dunning.Case) func(*Facts) {
	return func(f *Facts) {
		k.OpenedAt, k.TriedAt = f.BillingDate, f.BillingDate
		f.Attempt.Dunning = k
	}
}

// retried lets an order be declined that is tried again when it falls due.
func retried(change func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		withCase(dunning.Case{State: dunning.Open, Class: dunning.Issuer, RetryAt: f.DueAt})(f)
		f.Status, f.Try = billing.Failure, 1
		change(f)
	}
}

// givenUp lets an order be declined that is given up when it falls due.
func givenUp(change func(*Facts)) func(*Facts) {
	return func(f *Facts) {
		withCase(dunning.Case{State: dunning.Open, Class: dunning.Card, EndAt: f.DueAt})(f)
		f.Status, f.Try = billing.Failure, 1
		change(f)
	}
}

// What is explained comes from what is decided: where the explanation says that
// the order will be charged, it would be.
func TestExplanationAgreesWithDecision(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*Facts)
		want   StepKind
		ends   billing.Status
	}{
		"a date that comes":                {func(*Facts) {}, StepCharge, ""},
		"a store that is not connected":    {func(f *Facts) { f.Shop.Connected = false }, StepEnd, billing.ConnectionGone},
		"a contract that does not charge":  {func(f *Facts) { f.Of.AutoCharge = false }, StepEnd, billing.AutoChargeDisabled},
		"the same when a person asked":     {func(f *Facts) { f.Of.AutoCharge, f.Manual = false, true }, StepCharge, ""},
		"a cycle after the last":           {func(f *Facts) { f.Of.MaxCycles = 3 }, StepEnd, billing.ContractEnded},
		"an order that was only just made": {func(f *Facts) { f.Of.LastOrderAt = f.DueAt.Add(-time.Hour) }, StepWait, ""},
		"another cycle in flight":          {func(f *Facts) { f.Others = []billing.Attempt{{ID: 1, Cycle: 3, Status: billing.Progress}} }, StepWait, ""},
		"another cycle that the platform has": {func(f *Facts) {
			f.Others = []billing.Attempt{{ID: 1, Cycle: 3, Status: billing.PlatformException, PlatformID: "x"}}
		}, StepCharge, ""},
		"an order that wants something":     {func(f *Facts) { f.Needs.OneOffs = 2 }, StepPrepare, ""},
		"a decline that waits for a person": {func(f *Facts) { f.Status, f.DueAt, f.Try = billing.Failure, time.Time{}, 1 }, StepNone, ""},
		"a decline that is tried again": {func(f *Facts) {
			withCase(dunning.Case{State: dunning.Open, RetryAt: f.DueAt})(f)
			f.Status = billing.Failure
		}, StepCharge, ""},
		"a decline that waits for another card": {func(f *Facts) {
			withCase(dunning.Case{State: dunning.Open, EndAt: f.DueAt})(f)
			f.Status = billing.Failure
		}, StepEnd, billing.Failure},
		"an order behind one that may be paid yet": {func(f *Facts) { f.Of.Dunning = &contract.Dunning{Attempt: 1, Cycle: 3} }, StepCharge, ""},
		"an order behind one that is unpaid": {func(f *Facts) {
			f.Of.Dunning, f.Now = &contract.Dunning{Attempt: 1, Cycle: 3}, f.DueAt
		}, StepEnd, billing.SkippedDunning},
		"a decline of a store that is frozen":        {retried(func(f *Facts) { f.Shop.Guard.FrozenAt = f.Now }), StepWait, ""},
		"the end of one of a store that is frozen":   {givenUp(func(f *Facts) { f.Shop.Guard.FrozenAt = f.Now }), StepWait, ""},
		"a decline of a store that is held":          {retried(func(f *Facts) { f.Shop.Guard.Hold.Until = f.DueAt.Add(time.Hour) }), StepWait, ""},
		"a decline of a store that is not connected": {retried(func(f *Facts) { f.Shop.Connected = false }), StepEnd, billing.Failure},
		"the end of one of such a store":             {givenUp(func(f *Facts) { f.Shop.Connected = false }), StepEnd, billing.Failure},
		"a decline of a contract that has ended":     {retried(func(f *Facts) { f.Of.MaxCycles = 3 }), StepEnd, billing.Failure},
		"a decline of a payment method that is spent": {retried(func(f *Facts) {
			f.CardTries = slices.Repeat([]time.Time{f.Now}, dunning.MaxTries)
		}), StepWait, ""},
		"a decline of a contract that was paused": {func(f *Facts) { f.Status, f.Try, f.Of.Status = billing.Failure, 1, contract.Paused }, StepEnd, billing.Failure},
	} {
		f := april(t, row.change)
		if got := Explain(f).Next; got.Kind != row.want || got.Ends != row.ends || (got.Kind == StepNone) != got.At.IsZero() {
			t.Errorf("%s: %+v, want %s %s", name, got, row.want, row.ends)
		}
	}
}
