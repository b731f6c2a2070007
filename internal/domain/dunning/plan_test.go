package dunning

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

func berlin(t testing.TB) cadence.Calendar {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return cadence.Calendar{Zone: zone, Hour: 9}
}

// all follows a plan to its end, every retry declined with the same class, and
// writes each instant as days and hours from the first decline's day.
func all(t testing.TB, s Settings, first time.Time, c Class) string {
	t.Helper()
	d := Decline{First: first, Last: first, Class: c, Calendar: berlin(t)}
	midnight := time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, d.Calendar.Zone)
	write := func(what string, at time.Time) string {
		local := at.In(d.Calendar.Zone)
		day := int(time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, d.Calendar.Zone).Sub(midnight).Hours() / 24)
		return fmt.Sprintf("%s%d@%s", what, day, local.Format("15:04"))
	}
	var steps []string
	for range 50 {
		step := s.Next(d)
		switch {
		case step.Held:
			return strings.Join(append(steps, "held"), " ")
		case step.RetryAt.IsZero():
			return strings.Join(append(steps, write("end ", step.EndAt)), " ")
		}
		steps = append(steps, write("", step.RetryAt))
		d.Last = step.RetryAt
	}
	t.Fatalf("%s has no end: %v", c, steps)
	return ""
}

func TestNextRetryByClass(t *testing.T) {
	t.Parallel()
	tuesday := time.Date(2025, 3, 4, 8, 0, 5, 0, time.UTC) // 9:00:05 in Berlin; summer time begins on day 26
	simple := Settings{Mode: Simple, Retries: 3, EveryDays: 4}
	for name, tt := range map[string]struct {
		settings Settings
		class    Class
		want     string
	}{
		"lack of funds waits for paydays":  {Settings{}, Funds, "3@09:00 4@09:00 7@09:00 10@09:00 14@09:00 18@09:00 end 18@09:00"},
		"a bank's no":                      {Settings{}, Issuer, "1@09:00 3@09:00 5@09:00 8@09:00 12@09:00 16@09:00 end 16@09:00"},
		"a fault on the way is tried soon": {Settings{}, Transient, "0@10:00 0@15:00 1@09:00 3@09:00 5@09:00 8@09:00 12@09:00 16@09:00 end 16@09:00"},
		"a payment to confirm once more":   {Settings{}, Auth, "7@09:00 end 7@09:00"},
		"a card that will not do never":    {Settings{}, Card, "end 14@09:00"},
		"a suspected fraud never":          {Settings{}, Fraud, "end 14@09:00"},
		"an address twice":                 {Settings{}, Address, "3@09:00 7@09:00 end 7@09:00"},
		"a store's own fault is held":      {Settings{}, Merchant, "held"},
		"a customer who is gone at once":   {Settings{}, Gone, "end 0@09:00"},
		"stock for five days":              {Settings{}, Stock, "1@09:00 2@09:00 3@09:00 4@09:00 5@09:00 end 5@09:00"},

		"a simple plan for funds":               {simple, Funds, "4@09:00 8@09:00 12@09:00 end 12@09:00"},
		"a simple plan for a bank's no":         {simple, Issuer, "4@09:00 8@09:00 12@09:00 end 12@09:00"},
		"a simple plan for faults":              {simple, Transient, "4@09:00 8@09:00 12@09:00 end 12@09:00"},
		"a simple plan for confirmations":       {simple, Auth, "4@09:00 8@09:00 12@09:00 end 12@09:00"},
		"a simple plan never tries a dead card": {simple, Card, "end 12@09:00"},
		"nor a fraud":                           {simple, Fraud, "end 12@09:00"},
		"nor a customer who was removed":        {simple, Gone, "end 0@09:00"},
		"a simple plan holds, too":              {simple, Merchant, "held"},
		"and leaves stock to its own policy":    {simple, Stock, "1@09:00 2@09:00 3@09:00 4@09:00 5@09:00 end 5@09:00"},
		"a simple plan without retries ends":    {Settings{Mode: Simple}, Funds, "end 0@09:00"},
		"a store's own policy for stock":        {Settings{OutOfStock: &StockPolicy{Retries: 2, EveryDays: 3}}, Stock, "3@09:00 6@09:00 end 6@09:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := all(t, tt.settings, tuesday, tt.class); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPaydayMovesRetryByTwoDaysAtMost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, first, want string
	}{
		{"a Friday is one", "2025-03-05", "2025-03-07"},
		{"one day before it", "2025-03-04", "2025-03-07"},
		{"two days before it", "2025-03-03", "2025-03-07"},
		{"three days before it is too far", "2025-03-02", "2025-03-04"},
		{"the first of a month", "2025-06-28", "2025-07-01"},
		{"the fifteenth", "2025-07-11", "2025-07-15"},
	} {
		first, err := time.ParseInLocation("2006-01-02 15", tt.first+" 09", berlin(t).Zone)
		if err != nil {
			t.Fatal(err)
		}
		step := Settings{}.Next(Decline{First: first, Last: first, Class: Funds, Calendar: berlin(t)})
		if got := step.RetryAt.In(berlin(t).Zone).Format("2006-01-02 15:04"); got != tt.want+" 09:00" {
			t.Errorf("%s: the first retry is %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A person may have an order charged weeks before its day.
func TestOrderIsNotGivenUpBeforeItsDay(t *testing.T) {
	t.Parallel()
	simple := Settings{Mode: Simple}
	first := time.Date(2025, 3, 4, 8, 0, 5, 0, time.UTC)
	for name, row := range map[string]struct {
		settings Settings
		class    Class
		day      int // of the order, after the first decline
		want     string
	}{
		"the plan ends before":             {Settings{}, Issuer, 20, "16 20 end 20"},
		"the plan ends after":              {Settings{}, Issuer, 10, "16 end 16"},
		"no retry is planned":              {simple, Issuer, 20, "20 end 20"},
		"a card that will not do":          {Settings{}, Card, 20, "end 20"},
		"a card that will not do for long": {Settings{}, Card, 10, "end 14"},
		"the customer was removed":         {Settings{}, Gone, 20, "end 20"},
	} {
		d := Decline{First: first, Last: first.AddDate(0, 0, 12), Class: row.class, Due: first.AddDate(0, 0, row.day).Add(-5 * time.Second), Calendar: cadence.Calendar{Zone: time.UTC, Hour: 8}}
		day := func(at time.Time) string { return fmt.Sprint(int(at.Sub(first.Add(-time.Minute)).Hours() / 24)) }
		var got []string
		step := row.settings.Next(d)
		for ; !step.RetryAt.IsZero(); step = row.settings.Next(d) {
			got, d.Last = append(got, day(step.RetryAt)), step.RetryAt
		}
		if got := strings.Join(append(got, "end "+day(step.EndAt)), " "); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	first := time.Date(2025, 3, 4, 8, 0, 5, 0, time.UTC)
	for class, want := range map[Class]string{
		Funds: "0 7 14 warned 16", Issuer: "0 5 12 warned 14", Transient: "1 5 12 warned 14", Auth: "0 2 warned 5", Card: "0 3 7 warned 12",
		Fraud: "0 warned 12", Stock: "0", Address: "0 3 warned 5", Merchant: "", Gone: "",
	} {
		if got := told(t, Settings{}, first, class); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
}

// noticeDays returns the days of the customer's notices, from that of the first decline.
func told(t *testing.T, settings Settings, first time.Time, class Class) string {
	t.Helper()
	var list []string
	for _, s := range settings.Notices(Decline{First: first, Last: first, Class: class, Calendar: berlin(t)}) {
		text := fmt.Sprint(int(s.At.Sub(first.Add(-time.Hour)).Hours() / 24))
		if s.What == Warning {
			text = "warned " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestTwoDayPlanSendsNoReminderOnLastDay(t *testing.T) {
	t.Parallel()
	first := time.Date(2025, 3, 4, 8, 0, 5, 0, time.UTC)
	simple := func(retries, every int) Settings { return Settings{Mode: Simple, Retries: retries, EveryDays: every} }
	for _, row := range []struct {
		name     string
		settings Settings
		class    Class
		want     string
	}{
		{"a fault on the way to the bank, a plan of one day", simple(1, 1), Transient, ""},
		{"a fault on the way to the bank, a plan of two days", simple(2, 1), Transient, "1"},
		{"a fault on the way to the bank, one retry after two days", simple(1, 2), Transient, "1"},
		{"a confirmation, a plan of one day", simple(1, 1), Auth, "0"},
		{"a confirmation, a plan of two days", simple(2, 1), Auth, "0"},
		{"a confirmation, one retry after two days", simple(1, 2), Auth, "0"},
		{"a confirmation, a plan of three days, which warns", simple(3, 1), Auth, "0 warned 1"},
		{"lack of funds, a plan of two days", simple(2, 1), Funds, "0"},
		{"a dead card, a plan of two days", simple(2, 1), Card, "0"},
		{"a dead card, a plan without retries", simple(0, 1), Card, "0"},
	} {
		if got := told(t, row.settings, first, row.class); got != row.want {
			t.Errorf("%s: notices on days %q, want %q", row.name, got, row.want)
		}
	}
}

// The plan is kept whatever happens to an order and whatever else tries it.
func TestPlannedRetriesAreOnDifferentDaysAndEnd(t *testing.T) {
	t.Parallel()
	cal := berlin(t)
	every := []Class{Funds, Issuer, Transient, Auth, Card, Fraud, Stock, Address}
	rapid.Check(t, func(t *rapid.T) {
		s := Settings{}
		if rapid.Bool().Draw(t, "simple") {
			s = Settings{Mode: Simple, Retries: rapid.IntRange(0, MaxRetries).Draw(t, "retries"), EveryDays: rapid.IntRange(1, MaxEveryDays).Draw(t, "every")}
		}
		first := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "first"), 0).UTC()
		d := Decline{First: first, Last: first, Calendar: cal, Spread: time.Duration(rapid.IntRange(0, 29).Draw(t, "spread")) * time.Minute}
		last := first
		for n := 0; ; n++ {
			if d.Class = rapid.SampledFrom(every).Draw(t, "class"); n > 20 {
				t.Fatalf("no end after %d retries", n)
			}
			if rapid.Bool().Draw(t, "by hand") {
				d.Last = d.Last.Add(time.Duration(rapid.IntRange(0, 72).Draw(t, "later")) * time.Hour)
			}
			step := s.Next(d)
			if step.RetryAt.IsZero() {
				if step.Held || step.EndAt.Before(first) {
					t.Fatalf("the end of %s is %+v, first %s", d.Class, step, first)
				}
				return
			}
			if d.Class == Card || d.Class == Fraud {
				t.Fatalf("%s is retried automatically", d.Class)
			}
			if !step.RetryAt.After(d.Last) || d.Class != Transient && cal.Day(step.RetryAt) == cal.Day(last) {
				t.Fatalf("%s is tried again at %s, the last try was %s", d.Class, step.RetryAt, d.Last)
			}
			d.Last = step.RetryAt
			last = step.RetryAt
		}
	})
}

func TestSpreadDependsOnOrderAlone(t *testing.T) {
	t.Parallel()
	seen := make(map[time.Duration]bool)
	for i := range 1000 {
		at := SpreadOf(fmt.Sprint("order ", i))
		if at != SpreadOf(fmt.Sprint("order ", i)) || at < 0 || at >= spreadMinutes*time.Minute || at%time.Minute != 0 {
			t.Fatalf("order %d is spread by %s", i, at)
		}
		seen[at] = true
	}
	if len(seen) != spreadMinutes {
		t.Errorf("%d different minutes are used of %d", len(seen), spreadMinutes)
	}
}

func TestCardLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 3, 4, 8, 0, 0, 0, time.UTC)
	tries := make([]time.Time, MaxTries)
	for i := range tries {
		tries[i] = now.Add(-time.Duration(i+1) * 24 * time.Hour)
	}
	if !CardLimitReached(tries, now) || CardLimitReached(tries[1:], now) || CardLimitReached(tries, now.Add(TryWindow-14*24*time.Hour)) {
		t.Error("a card may be tried fifteen times in thirty days, no more and no less")
	}
	cal := berlin(t)
	at := tries[0]
	if tried := []time.Time{at}; !TriedToday(tried, cal, at.Add(14*time.Hour)) || TriedToday(tried, cal, at.Add(15*time.Hour)) {
		t.Error("a day is the store's: it ends at its midnight")
	}
}
