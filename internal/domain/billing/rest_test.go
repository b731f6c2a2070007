package billing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// The fixture's contract renews on the 10th of each month for 10.00, with 3.00 off the next two orders.
func TestRestHasEveryOrderThatIsStillCharged(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 9, 0, 0, 0, time.UTC) }
	now, cal := day(time.January, 20), cadence.Calendar{Zone: time.UTC, Hour: 9}
	monthly := contract.Policy{Interval: cadence.Month, Count: 1}
	runs := contract.Contract{
		ID: 9001, Status: contract.Active, Currency: "USD", OriginOrderID: 1, MinCycles: 4, Billing: monthly, Delivery: monthly, CreatedAt: day(time.January, 10),
		Series: contract.Series{Cycle: 1, Start: day(time.January, 10)}, NextBillingDate: day(time.February, 10),
		Lines:     []contract.LineItem{{ID: "a", VariantID: 10, Quantity: 1, Price: usd(1000)}},
		Discounts: []contract.Discount{{Amount: usd(300), AllLines: true, CycleLimit: 2}},
	}
	queued := func(cycle int, month time.Month) Attempt {
		return Attempt{ID: AttemptID(cycle), Contract: 9001, Cycle: cycle, Status: Queued, BillingDate: day(month, 10), DueAt: day(month, 10)}
	}
	with := func(change func(*contract.Contract)) contract.Contract {
		c := runs
		change(&c)
		return c
	}
	ends := func(why contract.EndReason, cycle int) contract.Contract {
		return with(func(c *contract.Contract) {
			c.Ending = &contract.Ending{Why: why, Cycle: cycle, At: day(time.April, 10)}
		})
	}
	unpaid := queued(2, time.January)
	unpaid.Status, unpaid.DueAt, unpaid.Dunning.State = Failure, day(time.January, 25), dunning.Open
	sent := queued(2, time.January)
	sent.Status, sent.Amount = Requesting, money.Amount{}
	skipped := queued(3, time.March)
	skipped.Status = Skipped
	ahead := []Attempt{queued(2, time.February), queued(3, time.March), queued(4, time.April), queued(5, time.May)}
	once := Inputs{OneOffs: []OneOff{{Cycle: 3, Quantity: 2, Variant: platform.Variant{ID: 20, Price: usd(150)}}}}
	prepaid := with(func(c *contract.Contract) {
		c.Billing, c.MinCycles = contract.Policy{Interval: cadence.Month, Count: 3}, 0
		c.Ending = &contract.Ending{Why: contract.EndOfTerm, At: day(time.April, 10), Paid: day(time.January, 10)}
	})
	owing := ends(contract.EndOfMinimum, 5)
	owing.Dunning = &contract.Dunning{Attempt: 2, Cycle: 2, State: dunning.Open}
	for _, row := range []struct {
		name     string
		contract contract.Contract
		inputs   Inputs
		attempts []Attempt
		want     string
	}{
		{"a contract that goes on charges nothing that is listed", runs, Inputs{}, ahead, "0.00"},
		{"a commitment has its orders, each at its own price", ends(contract.EndOfMinimum, 4), Inputs{}, ahead, "10 Feb 7.00, 10 Mar 7.00, 10 Apr 10.00 = 24.00"},
		{"a one-time product is in its order", ends(contract.EndOfMinimum, 4), once, ahead, "10 Feb 7.00, 10 Mar 10.00, 10 Apr 10.00 = 27.00"},
		{"a commitment reaches beyond the queue", ends(contract.EndOfMinimum, 4), Inputs{}, ahead[:1], "10 Feb 7.00, 10 Mar 7.00, 10 Apr 10.00 = 24.00"},
		{"an order that is skipped is made up for", ends(contract.EndOfMinimum, 5), Inputs{}, []Attempt{ahead[0], skipped, ahead[2], ahead[3]}, "10 Feb 7.00, 10 Apr 7.00, 10 May 10.00 = 24.00"},
		{"an unpaid order is one of the commitment", owing, Inputs{}, append([]Attempt{unpaid}, ahead[1:]...), "10 Jan 7.00, 10 Mar 7.00, 10 Apr 10.00 = 24.00"},
		{"the next order that cannot be changed any more", ends(contract.EndOfOrder, 2), Inputs{}, ahead, "10 Feb 7.00 = 7.00"},
		{"a charge in flight is made although the contract is cancelled", with(func(c *contract.Contract) { c.Moving = &contract.Move{To: contract.Cancelled} }), Inputs{}, append([]Attempt{sent}, ahead[1:]...), "10 Jan 7.00 = 7.00"},
		{"deliveries of a prepaid term", prepaid, Inputs{}, nil, "0.00, deliveries 10 Feb, 10 Mar"},
		{"a prepaid order that cannot be changed any more", with(func(c *contract.Contract) {
			c.Billing, c.CreatedAt = prepaid.Billing, day(time.January, 10).AddDate(0, -3, 0)
			c.Series.Start, c.NextBillingDate, c.Ending = day(time.January, 25), day(time.January, 25), &contract.Ending{Why: contract.EndOfOrder, Cycle: 1, At: day(time.January, 25)}
		}), Inputs{}, []Attempt{{ID: 1, Contract: 9001, Cycle: 1, Status: Queued, BillingDate: day(time.January, 25)}}, "25 Jan 7.00 = 7.00, deliveries 25 Jan, 25 Feb, 25 Mar"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			rest := RestOf(row.contract, row.inputs, row.attempts, cal, now)
			var orders, days []string
			for _, o := range rest.Orders {
				orders = append(orders, o.BillingDate.Format("2 Jan ")+o.Pays.String())
				all := slices.Clone(row.attempts)
				if o.ID == 0 {
					continue
				}
				if alone := RecordOf(o.Attempt, row.contract, row.inputs, all).Cost(); alone != o.Pays {
					t.Errorf("the order of %s costs %s, and %s alone", o.BillingDate, o.Pays, alone)
				}
			}
			for _, d := range rest.Deliveries {
				days = append(days, d.Format("2 Jan"))
			}
			got := rest.Total.String()
			if len(orders) > 0 {
				got = fmt.Sprintf("%s = %s", strings.Join(orders, ", "), got)
			}
			if len(days) > 0 {
				got += ", deliveries " + strings.Join(days, ", ")
			}
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
