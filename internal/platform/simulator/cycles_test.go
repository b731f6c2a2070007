package simulator

import (
	"strings"
	"testing"
	"time"
)

func TestObservedCycles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly(func(c *ContractSpec) {
		c.CreatedAt, c.NextBillingDate = day("2025-11-19T17:00:00Z"), day("2025-11-20T08:00:00Z")
	})
	d := w.ask(`query($id: ID!) { subscriptionBillingCycles(contractId: $id, first: 3, billingCyclesIndexRangeSelector: {startIndex: 1, endIndex: 3}) { nodes { cycleIndex cycleStartAt cycleEndAt billingAttemptExpectedDate status } } }`,
		map[string]any{"id": contractGID(made.Contract)})
	want := `[{"billingAttemptExpectedDate":"2025-11-20T08:00:00Z","cycleEndAt":"2025-11-20T08:00:00Z","cycleIndex":1,"cycleStartAt":"2025-11-19T17:00:00Z","status":"UNBILLED"},` +
		`{"billingAttemptExpectedDate":"2025-12-20T08:00:00Z","cycleEndAt":"2025-12-20T08:00:00Z","cycleIndex":2,"cycleStartAt":"2025-11-20T08:00:01Z","status":"UNBILLED"},` +
		`{"billingAttemptExpectedDate":"2026-01-20T08:00:00Z","cycleEndAt":"2026-01-20T08:00:00Z","cycleIndex":3,"cycleStartAt":"2025-12-20T08:00:01Z","status":"UNBILLED"}]`
	if got := text(dig(d, "subscriptionBillingCycles", "nodes")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhenCyclesEnd(t *testing.T) {
	t.Parallel()
	anchors := func(list ...AnchorSpec) []AnchorSpec { return list }
	tests := []struct {
		name     string
		switches Switches
		next     string
		policy   PolicySpec
		want     []string // ends of the first cycles, local time of New York
	}{
		{"months begun on the 31st come back to it", Switches{}, "2025-01-31T15:00:00Z", PolicySpec{Interval: "MONTH", IntervalCount: 1},
			[]string{"2025-01-31 10:00", "2025-02-28 10:00", "2025-03-31 10:00", "2025-04-30 10:00"}},
		{"years begun on a leap day come back to it", Switches{}, "2028-02-29T15:00:00Z", PolicySpec{Interval: "YEAR", IntervalCount: 2},
			[]string{"2028-02-29 10:00", "2030-02-28 10:00", "2032-02-29 10:00"}},
		{"weeks keep the local hour over a clock change", Switches{}, "2025-03-05T15:00:00Z", PolicySpec{Interval: "WEEK", IntervalCount: 1},
			[]string{"2025-03-05 10:00", "2025-03-12 10:00", "2025-03-19 10:00"}},
		{"days are counted", Switches{}, "2025-02-27T15:00:00Z", PolicySpec{Interval: "DAY", IntervalCount: 3},
			[]string{"2025-02-27 10:00", "2025-03-02 10:00", "2025-03-05 10:00"}},
		{"a month-day anchor fixes later cycles", Switches{}, "2025-02-01T15:00:00Z", PolicySpec{Interval: "MONTH", IntervalCount: 1, Anchors: anchors(AnchorSpec{Type: "MONTHDAY", Day: 15})},
			[]string{"2025-02-01 10:00", "2025-02-15 10:00", "2025-03-15 10:00"}},
		{"a month-day anchor is clamped to the month's end", Switches{}, "2025-01-31T15:00:00Z", PolicySpec{Interval: "MONTH", IntervalCount: 1, Anchors: anchors(AnchorSpec{Type: "MONTHDAY", Day: 31})},
			[]string{"2025-01-31 10:00", "2025-02-28 10:00", "2025-03-31 10:00"}},
		{"two anchors take turns", Switches{}, "2026-02-20T15:00:00Z", PolicySpec{Interval: "MONTH", IntervalCount: 1, Anchors: anchors(AnchorSpec{Type: "MONTHDAY", Day: 10}, AnchorSpec{Type: "MONTHDAY", Day: 20})},
			[]string{"2026-02-20 10:00", "2026-03-10 10:00", "2026-03-20 10:00", "2026-04-10 10:00"}},
		{"two anchors have a cycle without length when switched so", Switches{ZeroLengthAnchorCycle: true}, "2026-02-20T15:00:00Z", PolicySpec{Interval: "MONTH", IntervalCount: 1, Anchors: anchors(AnchorSpec{Type: "MONTHDAY", Day: 10}, AnchorSpec{Type: "MONTHDAY", Day: 20})},
			[]string{"2026-02-20 10:00", "2026-02-20 10:00", "2026-03-10 10:00", "2026-03-20 10:00", "2026-04-10 10:00", "2026-04-20 10:00"}},
		{"a weekday anchor every second week", Switches{}, "2025-02-07T15:00:00Z", PolicySpec{Interval: "WEEK", IntervalCount: 2, Anchors: anchors(AnchorSpec{Type: "WEEKDAY", Day: 5})},
			[]string{"2025-02-07 10:00", "2025-02-21 10:00", "2025-03-07 10:00"}},
		{"a year-day anchor", Switches{}, "2025-02-01T15:00:00Z", PolicySpec{Interval: "YEAR", IntervalCount: 1, Anchors: anchors(AnchorSpec{Type: "YEARDAY", Month: 6, Day: 1})},
			[]string{"2025-02-01 10:00", "2025-06-01 10:00", "2026-06-01 10:00"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches = tt.switches })
			made := w.monthly(func(c *ContractSpec) { c.NextBillingDate, c.Billing = day(tt.next), tt.policy })
			cycles, err := w.sim.Cycles(made.Contract)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := time.LoadLocation("America/New_York")
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				if got := cycles[i].End.In(zone).Format("2006-01-02 15:04"); got != want {
					t.Errorf("cycle %d ends at %s, want %s", i+1, got, want)
				}
				if i > 0 && !cycles[i].Start.Equal(cycles[i-1].End.Add(time.Second)) {
					t.Errorf("cycle %d starts at %s", i+1, cycles[i].Start)
				}
			}
		})
	}
}

func TestOriginOrderMayBillFirstCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Switches.OriginOrderBillsFirstCycle = true })
	made := w.monthly()
	cycles, err := w.sim.Cycles(made.Contract)
	if err != nil {
		t.Fatal(err)
	}
	if c := cycles[0]; !c.Billed || !c.Expected.Equal(day("2025-01-01T09:00:00Z")) || !c.End.Equal(day("2025-02-01T15:00:00Z")) {
		t.Errorf("cycle 1: %+v", c)
	}
	if c := cycles[1]; c.Billed || !c.Expected.Equal(day("2025-02-01T15:00:00Z")) || !c.End.Equal(day("2025-03-01T15:00:00Z")) {
		t.Errorf("cycle 2: %+v", c)
	}
}

const cycleMutations = `mutation($in: SubscriptionBillingCycleInput!, $edit: SubscriptionBillingCycleScheduleEditInput!) {
	subscriptionBillingCycleScheduleEdit(billingCycleInput: $in, input: $edit) { billingCycle { billingAttemptExpectedDate skipped edited } userErrors { code } } }`

func TestScheduleEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit map[string]any
		prep func(w *world, id int64)
		want string
	}{
		{"a date inside the cycle moves the charge", map[string]any{"billingDate": "2025-02-20T12:00:00Z", "reason": "DEV_INITIATED"}, nil,
			`{"billingCycle":{"billingAttemptExpectedDate":"2025-02-20T12:00:00Z","edited":true,"skipped":false},"userErrors":[]}`},
		{"a date after the cycle is out of bounds", map[string]any{"billingDate": "2025-03-02T12:00:00Z", "reason": "DEV_INITIATED"}, nil,
			`{"billingCycle":null,"userErrors":[{"code":"OUT_OF_BOUNDS"}]}`},
		{"a date before the cycle is out of bounds", map[string]any{"billingDate": "2025-02-01T12:00:00Z", "reason": "DEV_INITIATED"}, nil,
			`{"billingCycle":null,"userErrors":[{"code":"OUT_OF_BOUNDS"}]}`},
		{"a skip by way of an edit", map[string]any{"skip": true, "reason": "BUYER_INITIATED"}, nil,
			`{"billingCycle":{"billingAttemptExpectedDate":"2025-03-01T15:00:00Z","edited":true,"skipped":true},"userErrors":[]}`},
		{"nothing to edit is refused", map[string]any{"reason": "BUYER_INITIATED"}, nil,
			`{"billingCycle":null,"userErrors":[{"code":"EMPTY_BILLING_CYCLE_EDIT_SCHEDULE_INPUT"}]}`},
		{"a skipped cycle has no date", map[string]any{"billingDate": "2025-02-20T12:00:00Z", "reason": "DEV_INITIATED"}, func(w *world, id int64) { w.skip(id, 2) },
			`{"billingCycle":null,"userErrors":[{"code":"BILLING_DATE_SET_ON_SKIPPED"}]}`},
		{"a cycle that is being charged keeps its date", map[string]any{"billingDate": "2025-02-20T12:00:00Z", "reason": "DEV_INITIATED"},
			func(w *world, id int64) { w.pass("2025-03-01T12:00:00Z"); w.charge(id, "k", 2) },
			`{"billingCycle":null,"userErrors":[{"code":"INCOMPLETE_BILLING_ATTEMPTS"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.monthly()
			if tt.prep != nil {
				tt.prep(w, made.Contract)
			}
			d := w.ask(cycleMutations, map[string]any{"edit": tt.edit, "in": map[string]any{"contractId": contractGID(made.Contract), "selector": map[string]any{"index": 2}}})
			if got := text(d["subscriptionBillingCycleScheduleEdit"]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTwoCyclesMaySeemDueAfterPaymentUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Switches.PaymentUpdateOpensNewCycle = true })
	made := w.monthly(func(c *ContractSpec) { c.PaymentMethod = MethodExpired })
	w.pass("2025-02-10")
	if err := w.sim.SetPaymentMethodStatus(made.PaymentMethod, MethodValid); err != nil {
		t.Fatal(err)
	}
	cycles, err := w.sim.Cycles(made.Contract)
	if err != nil {
		t.Fatal(err)
	}
	if !cycles[1].End.Equal(day("2025-02-09T23:59:59Z")) || !cycles[2].Start.Equal(day("2025-02-10")) || !cycles[2].End.Equal(day("2025-03-01T15:00:00Z")) {
		t.Errorf("cycles 2 and 3: %+v %+v", cycles[1], cycles[2])
	}
}

func TestCycleIsFoundByDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	for date, want := range map[string]any{
		"2025-01-01T08:59:59Z": nil, "2025-01-01T09:00:00Z": 1.0, "2025-02-01T15:00:00Z": 1.0, "2025-02-01T15:00:01Z": 2.0, "2025-12-24T00:00:00Z": 12.0,
	} {
		d := w.ask(`query($in: SubscriptionBillingCycleInput!) { subscriptionBillingCycle(billingCycleInput: $in) { cycleIndex } }`,
			map[string]any{"in": map[string]any{"contractId": contractGID(made.Contract), "selector": map[string]any{"date": date}}})
		if got := dig(d, "subscriptionBillingCycle", "cycleIndex"); got != want {
			t.Errorf("at %s runs cycle %v, want %v", date, got, want)
		}
	}
}

func TestShortMonthsMayOverflow(t *testing.T) {
	t.Parallel()
	for overflow, want := range map[bool]string{false: "2025-02-28T15:00:00Z", true: "2025-03-03T15:00:00Z"} {
		w := newWorld(t, func(o *Options) { o.Switches.ShortMonthsOverflow = overflow })
		made := w.monthly(func(s *ContractSpec) { s.NextBillingDate = day("2025-01-31T15:00:00Z") })
		cycles, err := w.sim.Cycles(made.Contract)
		if err != nil {
			t.Fatal(err)
		}
		if got := stamp(cycles[1].Expected); got != want {
			t.Errorf("overflow %t: the cycle after January 31 is expected %s, want %s", overflow, got, want)
		}
	}
}

func TestTooWideDateRangeIsRefused(t *testing.T) {
	t.Parallel()
	const query = `query($id: ID!, $end: DateTime!) { subscriptionBillingCycles(contractId: $id, first: 3, billingCyclesDateRangeSelector: {startDate: "2025-02-01T00:00:00Z", endDate: $end}) { nodes { cycleIndex } } }`
	w := newWorld(t, func(o *Options) { o.Switches.DateRangeLimit = 90 * 24 * time.Hour })
	made := w.monthly()
	for end, refused := range map[string]bool{"2025-04-01T00:00:00Z": false, "2025-08-01T00:00:00Z": true} {
		answer := w.post(query, map[string]any{"id": contractGID(made.Contract), "end": end})
		if got := len(answer.Errors) > 0; got != refused {
			t.Errorf("a range until %s: refused %t, want %t", end, got, refused)
		}
	}
}

func TestContractOverLineLimitIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Switches.MaxLines = 1 })
	w.monthly()
	_, err := w.sim.Checkout(ContractSpec{
		Customer: CustomerSpec{Email: "bo@example.com"}, NextBillingDate: day("2025-02-01T15:00:00Z"), Billing: PolicySpec{Interval: "MONTH", IntervalCount: 1},
		Lines: []LineSpec{{VariantID: w.variants[0].ID}, {VariantID: w.variants[0].ID}},
	})
	if err == nil || !strings.Contains(err.Error(), "more lines") {
		t.Errorf("two lines where one is the most: %v", err)
	}
}
