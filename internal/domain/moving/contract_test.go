package moving_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/platform"
)

var (
	first = time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC)
	nine  = cadence.Calendar{Hour: 9}
)

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

// weekly returns a contract of 10.00 with 2.00 delivery whose orders to come are on days after the first.
func weekly(days ...int) moving.Contract {
	c := moving.Contract{
		ID: 1, Status: contract.Active, Currency: "USD", Billing: contract.Policy{Interval: cadence.Week, Count: 1}, Delivery: contract.Policy{Interval: cadence.Week, Count: 1},
		Lines: []moving.Line{{ID: "a", Variant: 4, Quantity: 1, Price: usd(1000)}}, DeliveryPrice: usd(200), Next: first, Orders: 1,
	}
	for _, d := range days {
		c.Upcoming = append(c.Upcoming, moving.Upcoming{ID: int64(d + 1), Date: first.AddDate(0, 0, d)})
	}
	return c
}

func TestOrdersThatDifferFromFrequencyAreFound(t *testing.T) {
	t.Parallel()
	at := func(days int) time.Time { return first.AddDate(0, 0, days) }
	noted := weekly(0, 7, 14)
	noted.Upcoming[1].Note = "Ring twice."
	noted.Upcoming[2].OneOffs = []moving.OneOff{{Variant: 9, Quantity: 2}}
	for name, row := range map[string]struct {
		of   moving.Contract
		want []moving.Edit
	}{
		"none does":          {weekly(0, 7, 14), nil},
		"none is listed":     {weekly(), nil},
		"one is skipped":     {weekly(0, 14, 21), []moving.Edit{{Cycle: 2, Date: at(7), Skip: true}}},
		"two are skipped":    {weekly(0, 21), []moving.Edit{{Cycle: 2, Date: at(7), Skip: true}, {Cycle: 3, Date: at(14), Skip: true}}},
		"one is moved":       {weekly(0, 9, 14), []moving.Edit{{Cycle: 2, Date: at(7), MoveTo: at(9)}}},
		"one is moved ahead": {weekly(0, 5, 14), []moving.Edit{{Cycle: 2, Date: at(7), MoveTo: at(5)}}},
		"a note and a product": {noted, []moving.Edit{
			{Cycle: 2, Date: at(7), Note: "Ring twice."}, {Cycle: 3, Date: at(14), OneOffs: []moving.OneOff{{Variant: 9, Quantity: 2}}},
		}},
	} {
		if diff := cmp.Diff(row.want, row.of.Edits(nine)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// monthly returns a contract with an order on each of the days of 2026.
func monthly(days ...string) moving.Contract {
	c := weekly()
	c.Billing.Interval, c.Delivery.Interval = cadence.Month, cadence.Month
	for n, day := range days {
		date, err := time.Parse(time.DateOnly, "2026-"+day)
		if err != nil {
			panic(err)
		}
		c.Upcoming = append(c.Upcoming, moving.Upcoming{ID: int64(n + 1), Date: date.Add(9 * time.Hour)})
	}
	c.Next = c.Upcoming[0].Date
	return c
}

func TestDatesAreCountedAgainFromOrdersThatExplainLaterOnes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		of   moving.Contract
		want map[int]bool // by cycle, whether later orders are counted from its new date
	}{
		"the 30th after the end of February":       {monthly("02-28", "03-30", "04-30", "05-30"), map[int]bool{2: true}},
		"the 31st after the end of April":          {monthly("04-30", "05-31", "06-30", "07-31", "08-31"), map[int]bool{2: true}},
		"the last day of February":                 {monthly("02-28", "03-28", "04-28"), map[int]bool{}},
		"the next order alone was moved":           {monthly("03-18", "04-15", "05-15", "06-15"), map[int]bool{2: true}},
		"a later one alone was moved":              {monthly("03-15", "04-18", "05-15", "06-15"), map[int]bool{2: false}},
		"the last one that is listed was moved":    {monthly("03-15", "04-15", "05-18"), map[int]bool{3: false}},
		"an order is skipped, and the day changes": {monthly("03-18", "05-15", "06-15", "07-15"), map[int]bool{2: false, 3: true}},
		"the day changes twice":                    {monthly("03-01", "04-05", "05-05", "06-05", "07-10", "08-10", "09-10", "10-10", "11-10"), map[int]bool{2: true, 5: true}},
	} {
		got := map[int]bool{}
		for _, e := range row.of.Edits(nine) {
			got[e.Cycle] = e.Restart
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	far := monthly("03-15", "04-20", "05-20")
	for n := range far.Upcoming[1:] {
		far.Upcoming[n+1].Date = far.Upcoming[n+1].Date.AddDate(7000, 0, 0)
	}
	if edits, later := far.Edits(nine), far.Stored(nine).LaterSeries; len(edits) > 100 || len(later) > 0 {
		t.Errorf("a source that lies about dates makes %d edits and the series %v", len(edits), later)
	}
	far.Billing = contract.Policy{} // no interval
	if edits := far.Edits(nine); len(edits) > 100 {
		t.Errorf("a source that names no interval makes %d edits", len(edits))
	}
	if got, want := monthly("02-28", "03-30", "04-30", "05-30").After(1, nine).Next, time.Date(2026, 3, 30, 9, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("after the order of February the next one is due %s, want %s", got, want)
	}
}

func TestCyclesAndPricesGoOnWhereTheyWere(t *testing.T) {
	t.Parallel()
	c := weekly(0, 7)
	c.MinCycles, c.MaxCycles, c.Orders, c.CyclesDone = 6, 10, 4, 4
	if least, most := c.Left(); least != 2 || most != 6 {
		t.Errorf("%d to %d cycles are left, want 2 to 6", least, most)
	}
	c.CyclesDone = 3 // a service that does not count the order of the checkout
	if least, most := c.Left(); least != 2 || most != 7 {
		t.Errorf("%d to %d cycles are left, want 2 to 7", least, most)
	}
	c.Orders, c.CyclesDone = 9, 9
	if least, most := c.Left(); least != 0 || most != 1 {
		t.Errorf("before the last order %d to %d cycles are left, want 0 to 1", least, most)
	}
	c.Orders, c.CyclesDone = 3, 1
	c.Lines[0].Pricing = &contract.Pricing{Base: usd(1000), Cycles: []contract.CyclePrice{
		{After: 0, Kind: platform.FixedPrice, Amount: usd(1000), Computed: usd(1000)}, {After: 2, Kind: platform.FixedPrice, Amount: usd(1500), Computed: usd(1500)},
	}}
	for ahead, want := range []money.Amount{usd(1200), usd(1700), usd(1700)} {
		if got := c.Amount(ahead, nine); got != want {
			t.Errorf("the order after %d others costs %s, want %s", ahead, got, want)
		}
	}
}

// A line still has the price of the step before when the next order is the first one of another step.
func TestStepThatBeginsWithNextOrderIsItsPrice(t *testing.T) {
	t.Parallel()
	steps := &contract.Pricing{Base: usd(1000), Cycles: []contract.CyclePrice{
		{After: 2, Kind: platform.FixedPrice, Amount: usd(400), Computed: usd(400)}, {After: 4, Kind: platform.FixedPrice, Amount: usd(700), Computed: usd(700)},
	}}
	for _, row := range []struct {
		done      int
		is        money.Amount
		want      money.Amount
		wantLater money.Amount
	}{
		{done: 1, is: usd(1000), want: usd(1000), wantLater: usd(400)},
		{done: 2, is: usd(1000), want: usd(400), wantLater: usd(400)},
		{done: 3, is: usd(400), want: usd(400), wantLater: usd(700)},
		{done: 4, is: usd(400), want: usd(700), wantLater: usd(700)},
		{done: 4, is: usd(555), want: usd(555), wantLater: usd(555)}, // set by hand: no step changes it
	} {
		c := weekly(0, 7)
		c.DeliveryPrice.Minor, c.CyclesDone = 0, row.done
		c.Lines = []moving.Line{{ID: "line", Variant: 1, Quantity: 1, Price: row.is, Pricing: steps}}
		if now, later := c.Amount(0, nine), c.Amount(1, nine); now != row.want || later != row.wantLater || c.Lines[0].NextPrice(row.done) != row.want {
			t.Errorf("after %d cycles at %s the next orders cost %s and %s, want %s and %s", row.done, row.is, now, later, row.want, row.wantLater)
		}
	}
}

// The next orders are compared as both contracts charge them: what one has lost shows.
func TestDifferencesOfNextOrdersAreFound(t *testing.T) {
	t.Parallel()
	c := weekly(0, 7)
	c.Discounts = []contract.Discount{{Title: "Hello", Percent: 50, AllLines: true, CycleLimit: 4, UsedCycles: 3}}
	for name, row := range map[string]struct {
		change func(*moving.Contract)
		same   bool
	}{
		"nothing":                        {func(*moving.Contract) {}, true},
		"the orders that are left of it": {func(is *moving.Contract) { is.Discounts[0].CycleLimit, is.Discounts[0].UsedCycles = 1, 0 }, true},
		"a discount":                     {func(is *moving.Contract) { is.Discounts = nil }, false},
		"when a discount ends":           {func(is *moving.Contract) { is.Discounts[0].CycleLimit, is.Discounts[0].UsedCycles = 4, 0 }, false},
		"delivery":                       {func(is *moving.Contract) { is.DeliveryPrice.Minor++ }, false},
		"a later price": {func(is *moving.Contract) {
			is.Lines[0].Pricing = &contract.Pricing{Base: usd(1000), Cycles: []contract.CyclePrice{{After: 2, Kind: platform.FixedPrice, Amount: usd(900), Computed: usd(900)}}}
		}, false},
		"the discount of a box": {func(is *moving.Contract) {
			is.Discounts = append(is.Discounts, contract.Discount{Title: "Box price", Amount: usd(300), AllLines: true})
		}, true},
		"amounts that both services say": {func(is *moving.Contract) {
			is.Lines[0].Price, is.Expected = usd(1), []money.Amount{usd(700), usd(1200), usd(1350)}
		}, true},
		"prices that the other service has announced": {func(is *moving.Contract) {
			is.Expected, is.Announced = []money.Amount{usd(700), usd(1200), usd(1200)}, []money.Amount{usd(700), usd(1200), usd(1350)}
		}, true},
		"prices that it has not": {func(is *moving.Contract) {
			is.Expected, is.Announced = []money.Amount{usd(700), usd(1200), usd(1350)}, []money.Amount{usd(700), usd(1200), usd(1500)}
		}, true},
		"an amount that both services say": {func(is *moving.Contract) { is.Expected = []money.Amount{usd(700), usd(1200), usd(1200)} }, false},
	} {
		is := c
		is.Lines, is.Discounts = slices.Clone(c.Lines), slices.Clone(c.Discounts)
		row.change(&is)
		was := c
		was.Upcoming = []moving.Upcoming{{Amount: usd(700)}, {Amount: usd(1200)}, {Amount: usd(1350)}}
		if what := was.Differs(is, nine); (what == "") != row.same {
			t.Errorf("%s: %q", name, what)
		}
	}
}

func TestChargesOfBothServicesAreSummed(t *testing.T) {
	t.Parallel()
	c := weekly(0, 14, 21)
	c.Upcoming[0].Amount = usd(1250)
	got := c.Charges(first.AddDate(0, 0, 20), nine)
	if want := (moving.Coming{Here: 2400, HereOrders: 2, There: 2450, ThereOrders: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	c.Status = contract.Paused
	if got := c.Charges(first.AddDate(0, 0, 20), nine); got != (moving.Coming{}) {
		t.Errorf("a paused contract: %+v", got)
	}
}

func TestOrderMadeMeanwhileMovesNextDate(t *testing.T) {
	t.Parallel()
	c := weekly(0, 14, 21).After(1, nine)
	if want := first.AddDate(0, 0, 14); !c.Next.Equal(want) || c.Orders != 2 || len(c.Upcoming) != 2 {
		t.Errorf("the next order is on %s, want %s: %+v", c.Next, want, c)
	}
}
