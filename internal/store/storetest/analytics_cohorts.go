package storetest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// in returns a contract whose amounts are of another currency.
func in(c contract.Contract, currency money.Currency) contract.Contract {
	c.Currency, c.DeliveryPrice.Currency, c.Lifetime.Currency, c.LastOrderAmount.Currency = currency, currency, currency, currency
	c.Lines = slices.Clone(c.Lines)
	for i := range c.Lines {
		c.Lines[i].Price.Currency = currency
	}
	return c
}

// history returns all versions and outcomes of the first shop.
func (w world) history() (versions []analytics.Version, outcomes []analytics.Outcome) {
	w.Helper()
	w.in(func(tx *store.Tx) (err error) {
		if versions, err = tx.VersionsAfter(w.Context(), 0, 100_000); err != nil {
			return err
		}
		outcomes, err = tx.OutcomesAfter(w.Context(), 0, 100_000)
		return err
	})
	return versions, outcomes
}

// checkCohorts checks the rows of currencies against the history: a subscriber joins a currency
// with the first ACTIVE contract in it, and each order's revenue is in its cohort.
func (w world) checkCohorts(kept []analytics.CohortMonth) {
	w.Helper()
	versions, outcomes := w.history()
	cohorts := make(map[int64]analytics.Month) // of customers
	type payer struct {
		customer int64
		in       money.Currency
	}
	seen := make(map[payer]bool)
	want := make(map[analytics.CohortMonth]analytics.CohortMonth) // by key
	row := func(cohort analytics.Month, on analytics.Day, in money.Currency, joined, revenue int64) {
		key := analytics.CohortMonth{Cohort: cohort, Month: on.Month(), Currency: in}
		r := want[key]
		r.Cohort, r.Month, r.Currency, r.Joined, r.Revenue = key.Cohort, key.Month, in, r.Joined+joined, r.Revenue+revenue
		want[key] = r
	}
	both := 0
	for _, v := range versions {
		if !v.Active() {
			continue
		}
		if _, has := cohorts[v.Customer]; !has {
			cohorts[v.Customer] = v.Cohort
		}
		if key := (payer{v.Customer, v.Currency}); !seen[key] {
			if seen[key] = true; cohorts[v.Customer] != 0 {
				row(cohorts[v.Customer], v.Day, v.Currency, 1, 0)
			}
			if seen[payer{v.Customer, "EUR"}] && seen[payer{v.Customer, "USD"}] {
				both++
			}
		}
	}
	for _, o := range outcomes {
		if o.PaidDay != 0 && o.Cohort != 0 {
			row(o.Cohort, o.PaidDay, o.Currency, 0, o.PaidAmount)
		}
	}
	got := make(map[analytics.CohortMonth]analytics.CohortMonth)
	for _, k := range kept {
		if k.Currency != "" {
			got[analytics.CohortMonth{Cohort: k.Cohort, Month: k.Month, Currency: k.Currency}] = k
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 5 || both == 0 {
		w.Errorf("cohorts of %d subscribers in two currencies differ (-history +kept):\n%s", both, diff)
	}
}

// checkLifetimes checks that all subscribers of cohorts and all their revenue is in the sums.
func (w world) checkLifetimes() {
	w.Helper()
	s := analytics.Service{Store: w.db.Figures(), Clock: clock.NewManual(day)}
	for _, in := range []money.Currency{"EUR", "USD"} {
		list, all, err := s.Lifetimes(w.Context(), w.shop.ID, in)
		var want, sum analytics.Lifetime
		for _, k := range w.figures().Cohorts {
			if k.Currency == in {
				want.Subscribers, want.Revenue = want.Subscribers+k.Joined, want.Revenue+k.Revenue
			}
		}
		for i, l := range list {
			if sum.Subscribers, sum.Revenue = sum.Subscribers+l.Subscribers, sum.Revenue+l.Revenue; i > 0 && l.Month <= list[i-1].Month {
				w.Errorf("cohort %s follows %s", l.Month, list[i-1].Month)
			}
		}
		if err != nil || all != sum || all.Subscribers != want.Subscribers || all.Revenue > want.Revenue || all.Subscribers == 0 || all.Revenue == 0 {
			w.Errorf("%s: all is %+v, the cohorts make %+v of %+v (%v)", in, all, sum, want, err)
		}
	}
}

// checkFailures checks that the failures of all plan groups are those of the store.
func (w world) checkFailures(groups ...int64) {
	w.Helper()
	read := func(f analytics.Filter) (list []analytics.FailureFigures) {
		w.Helper()
		w.in(func(tx *store.Tx) (err error) {
			list, err = tx.FailureDays(w.Context(), 1, 1<<30, f)
			return err
		})
		return list
	}
	add := func(a, b analytics.FailureFigures) analytics.FailureFigures {
		a.Failed, a.FailedAmount, a.Recovered, a.RecoveredAmount = a.Failed+b.Failed, a.FailedAmount+b.FailedAmount, a.Recovered+b.Recovered, a.RecoveredAmount+b.RecoveredAmount
		a.Retried, a.RetriedAmount, a.Mailed, a.MailedAmount = a.Retried+b.Retried, a.RetriedAmount+b.RetriedAmount, a.Mailed+b.Mailed, a.MailedAmount+b.MailedAmount
		a.Renewed, a.RenewedAmount, a.Lost, a.LostAmount = a.Renewed+b.Renewed, a.RenewedAmount+b.RenewedAmount, a.Lost+b.Lost, a.LostAmount+b.LostAmount
		return a
	}
	for _, in := range []money.Currency{"EUR", ""} {
		byKey := make(map[analytics.FailureFigures]analytics.FailureFigures)
		for _, id := range groups {
			list := read(analytics.Filter{Currency: in, Group: &id})
			if len(list) == 0 && in == "" {
				w.Errorf("group %d has no failures", id)
			}
			for _, f := range list {
				key := analytics.FailureFigures{Day: f.Day, Currency: f.Currency, Class: f.Class, Try: f.Try}
				if was, has := byKey[key]; has {
					f = add(was, f)
				}
				byKey[key] = f
			}
		}
		sums := slices.SortedFunc(maps.Values(byKey), analytics.CompareFailures)
		if diff := cmp.Diff(read(analytics.Filter{Currency: in}), sums); diff != "" {
			w.Errorf("failures in %q differ (-of the store +of its groups):\n%s", in, diff)
		}
	}
	if none := read(analytics.Filter{Currency: "EUR", Group: new(slices.Max(groups) + 1)}); len(none) != 0 {
		w.Errorf("a plan group without contracts has failures: %+v", none)
	}
}

func testCohorts(t *testing.T, open opener) {
	t.Run("an order belongs to the cohort of its subscriber, in its currency", func(t *testing.T) {
		w := begin(t, open)
		Cohorts(t, w.db, w.shop.ID)
		s := analytics.Service{Store: w.db.Figures(), Clock: clock.NewManual(day.AddDate(1, 0, 0))}
		january := analytics.DayOf(day, time.UTC).Month()
		for currency, want := range map[money.Currency][]analytics.Lifetime{
			"EUR": {{Month: january, Subscribers: 1, Revenue: 7000}, {Month: january + 1, Subscribers: 1, Revenue: 1000}},
			"USD": {{Month: january, Subscribers: 1, Revenue: 800}},
			"SEK": {{Month: january, Subscribers: 1}},
			"NOK": nil,
		} {
			list, all, err := s.Lifetimes(t.Context(), w.shop.ID, currency)
			var sum analytics.Lifetime
			for _, l := range want {
				sum.Subscribers, sum.Revenue = sum.Subscribers+l.Subscribers, sum.Revenue+l.Revenue
			}
			if diff := cmp.Diff(want, list); err != nil || diff != "" || all != sum {
				t.Errorf("%s: all is %+v, %v, and cohorts differ (-want +got):\n%s", currency, all, err, diff)
			}
		}
		cohorts, err := s.Cohorts(t.Context(), w.shop.ID, 24*12, analytics.Filter{Currency: "EUR"})
		if err != nil || len(cohorts) != 2 || cohorts[0].Size != 1 {
			t.Errorf("cohorts are %+v, %v", cohorts, err)
		}
	})
}

// Cohorts stores a history without transfers, in which all have paid renewals. The first
// subscriber begins in the month of the tests' day and gets contracts in two currencies later,
// and one in a third that is paused at first. The second begins a month later. The third
// was there before the store was connected and gets another contract.
func Cohorts(t *testing.T, db *store.DB, of shop.ID) {
	t.Helper()
	begin := func(id contract.ID, customer int64, months int) contract.Contract {
		c := monthly(id)
		c.Customer.ID, c.CreatedAt = customer, day.AddDate(0, 0, 28*months)
		return c
	}
	old := begin(5, 903, 0)
	old.CreatedAt = day.AddDate(-1, 0, 0)
	contracts := []contract.Contract{begin(1, 901, 0), begin(2, 902, 1), begin(3, 901, 2), in(begin(4, 901, 3), "USD"), old, begin(6, 903, 3)}
	waits := []contract.Contract{in(begin(7, 901, 3), "SEK")}
	waits[0].Status = contract.Paused
	put := func(at time.Time, contracts []contract.Contract, attempts []billing.Attempt) {
		t.Helper()
		for i := range contracts {
			contracts[i].UpdatedAt = at
		}
		for i := range attempts {
			attempts[i].UpdatedAt = at
		}
		err := db.Update(t.Context(), of, func(tx *store.Tx) error {
			if err := tx.PutContracts(t.Context(), contracts); err != nil {
				return err
			}
			return tx.PutAttempts(t.Context(), attempts)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	paid := func(c contract.ID, minor int64, in money.Currency) billing.Attempt {
		a := queued(c, 2, day)
		a.Status, a.OrderID, a.Try, a.Amount = billing.Success, int64(c), 1, money.Amount{Minor: minor, Currency: in}
		return a
	}
	put(day, []contract.Contract{contracts[4]}, nil)
	put(contracts[0].CreatedAt, contracts[:1], nil)
	put(contracts[1].CreatedAt, contracts[1:2], []billing.Attempt{paid(2, 1000, "EUR")}) // with the first contract, in one transaction
	put(contracts[2].CreatedAt, contracts[2:3], nil)
	put(contracts[3].CreatedAt, contracts[3:4], []billing.Attempt{paid(4, 800, "USD")})
	put(contracts[5].CreatedAt, contracts[5:], nil)
	put(day.AddDate(0, 0, 90), waits, nil)
	waits[0].Status = contract.Active
	put(day.AddDate(0, 0, 130), waits, nil)
	put(day.AddDate(0, 0, 140), nil, []billing.Attempt{paid(1, 3000, "EUR"), paid(3, 4000, "EUR"), paid(5, 50_000, "EUR"), paid(6, 60_000, "EUR")})
}
