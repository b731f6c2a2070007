package cadence_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

var exhaustive = flag.Bool("exhaustive", false, "look at every day of every zone, 2020 to 2060")

func TestLocal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		zone         string
		hour, minute int
		day, want    string
	}{
		{"an ordinary winter day", "America/New_York", 9, 30, "2026-01-15", "2026-01-15T14:30:00Z"},
		{"an ordinary summer day", "America/New_York", 9, 30, "2026-07-15", "2026-07-15T13:30:00Z"},
		{"a time in the gap moves to the gap's end", "America/New_York", 2, 30, "2026-03-08", "2026-03-08T07:00:00Z"},
		{"the gap's first instant moves to its end", "America/New_York", 2, 0, "2026-03-08", "2026-03-08T07:00:00Z"},
		{"the gap's end is itself", "America/New_York", 3, 0, "2026-03-08", "2026-03-08T07:00:00Z"},
		{"the minute before the gap is itself", "America/New_York", 1, 59, "2026-03-08", "2026-03-08T06:59:00Z"},
		{"a time that occurs twice is the first", "America/New_York", 1, 30, "2026-11-01", "2026-11-01T05:30:00Z"},
		{"the end of the overlap occurs once", "America/New_York", 2, 0, "2026-11-01", "2026-11-01T07:00:00Z"},
		{"an overlap in Europe", "Europe/Berlin", 2, 30, "2026-10-25", "2026-10-25T00:30:00Z"},
		{"a gap of half an hour", "Australia/Lord_Howe", 2, 15, "2026-10-04", "2026-10-03T15:30:00Z"},
		{"an overlap of half an hour", "Australia/Lord_Howe", 1, 45, "2026-04-05", "2026-04-04T14:45:00Z"},
		{"a zone of three quarters of an hour", "Asia/Kathmandu", 0, 0, "2026-05-01", "2026-04-30T18:15:00Z"},
		{"a midnight that is left out", "Africa/Cairo", 0, 0, "2026-04-24", "2026-04-23T22:00:00Z"},
		{"a midnight that occurs twice, the first being the day before's end", "America/Havana", 0, 30, "2026-11-01", "2026-11-01T04:30:00Z"},
		{"the last minute before a gap that ends the day", "America/Nuuk", 23, 30, "2026-03-28", "2026-03-29T00:59:00Z"},
		{"the day after a gap that ended the day", "America/Nuuk", 23, 30, "2026-03-29", "2026-03-30T00:30:00Z"},
		{"a day that Samoa left out means the next", "Pacific/Apia", 9, 0, "2011-12-30", "2011-12-30T19:00:00Z"},
		{"the day after it", "Pacific/Apia", 9, 0, "2011-12-31", "2011-12-30T19:00:00Z"},
		{"the day before it", "Pacific/Apia", 9, 0, "2011-12-29", "2011-12-29T19:00:00Z"},
		{"a day that Kwajalein left out means the next", "Pacific/Kwajalein", 23, 59, "1993-08-21", "1993-08-22T11:59:00Z"},
		{"an order time out of range stays in the day", "UTC", 99, 99, "2026-05-01", "2026-05-01T23:59:00Z"},
		{"a negative order time stays in the day", "UTC", -5, -5, "2026-05-01", "2026-05-01T00:00:00Z"},
		{"a day before the calendar begins", "UTC", 9, 0, "1899-12-31", "9999-01-01T00:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			day, err := ParseDate(row.day)
			if err != nil {
				t.Fatal(err)
			}
			c := Calendar{Zone: zone(t, row.zone), Hour: row.hour, Minute: row.minute}
			got := c.Local(day)
			if got.Format(time.RFC3339Nano) != row.want {
				t.Errorf("got %s, want %s", got.Format(time.RFC3339Nano), row.want)
			}
			if again := c.At(got); !again.Equal(got) {
				t.Errorf("re-anchored to %s", again)
			}
		})
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	newYork := Calendar{Zone: zone(t, "America/New_York"), Hour: 9}
	for _, row := range []struct {
		name     string
		calendar Calendar
		t, want  string
	}{
		{"an evening goes back to the morning of its local day", newYork, "2026-01-16T02:00:00Z", "2026-01-15T14:00:00Z"},
		{"a small hour goes forward to its local day's morning", newYork, "2026-01-16T05:00:00Z", "2026-01-16T14:00:00Z"},
		{"an order time stays", newYork, "2026-01-16T14:00:00Z", "2026-01-16T14:00:00Z"},
		{"fractions of a second go", newYork, "2026-01-16T14:00:00.123456Z", "2026-01-16T14:00:00Z"},
		{"no zone is UTC", Calendar{Hour: 9}, "2026-01-16T23:59:59Z", "2026-01-16T09:00:00Z"},
		{"the zero time is no date", newYork, "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339Nano, row.t)
			if err != nil {
				t.Fatal(err)
			}
			got := row.calendar.At(at)
			if got.Format(time.RFC3339Nano) != row.want || got.Location() != time.UTC {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	newYork := Calendar{Zone: zone(t, "America/New_York"), Hour: 9}
	for _, row := range []struct {
		name     string
		from, to string
		want     int
	}{
		{"two instants of a local day", "2026-01-16T05:00:00Z", "2026-01-17T04:59:59Z", 0},
		{"midnight lies between them", "2026-01-16T04:59:59Z", "2026-01-16T05:00:00Z", 1},
		{"the clock goes forward between them", "2026-03-07T14:00:00Z", "2026-03-09T13:00:00Z", 2},
		{"the second is earlier", "2026-03-09T13:00:00Z", "2026-02-27T14:00:00Z", -10},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, row.from)
			if err != nil {
				t.Fatal(err)
			}
			to, err := time.Parse(time.RFC3339, row.to)
			if err != nil {
				t.Fatal(err)
			}
			if got := newYork.Days(from, to); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}

// orderTimes are those that gaps and overlaps meet somewhere.
var orderTimes = [][2]int{{0, 0}, {0, 15}, {0, 30}, {1, 0}, {1, 45}, {2, 0}, {2, 15}, {2, 30}, {3, 0}, {9, 0}, {12, 0}, {22, 59}, {23, 0}, {23, 30}, {23, 59}}

// TestLocalInEveryZone checks what must hold of each day next to each change
// of each zone in ten years, which are later in each next zone, and has the oracle watch
// the clock through some of them. With -exhaustive it takes every day of forty years.
func TestLocalInEveryZone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	watched := 0
	for i, name := range zones(t) {
		from, to := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2061, 1, 1, 0, 0, 0, 0, time.UTC)
		if !*exhaustive {
			from = from.AddDate(10*(i%4), 0, 0)
			to = from.AddDate(11, 0, 0)
		}
		z := zone(t, name)
		order := orderTimes[random.IntN(len(orderTimes))]
		c := Calendar{Zone: z, Hour: order[0], Minute: order[1]}
		change := from
		var earlier time.Time
		for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
			if day.After(change.AddDate(0, 0, 2)) {
				_, end := day.In(z).ZoneBounds()
				if end.IsZero() {
					end = to
				}
				change = end
			}
			near := day.After(change.AddDate(0, 0, -3))
			if !near && !*exhaustive && random.IntN(60) > 0 {
				continue
			}
			date := Date{Year: day.Year(), Month: day.Month(), Day: day.Day()}
			got := c.Local(date)
			if !got.After(earlier) || dateIn(got, z) != date || !c.At(got).Equal(got) {
				t.Fatalf("%s %v %s: %s after %s", name, order, date, got, earlier)
			}
			earlier = got
			hour, minute, _ := got.In(z).Clock()
			exact := hour == order[0] && minute == order[1]
			if exact && (!near || random.IntN(25) > 0) {
				continue
			}
			watched++
			if want, ok := seen(c, date); !ok || !got.Equal(want) {
				t.Fatalf("%s %v %s: got %s, want %s", name, order, date, got, want)
			}
		}
	}
	if watched < 1000 {
		t.Errorf("the oracle watched only %d days", watched)
	}
}
