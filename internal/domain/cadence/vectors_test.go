package cadence_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/perennialhq/perennial/internal/domain/cadence"
)

var update = flag.Bool("update", false, "have the oracle write testdata/vectors.csv anew")

const vectorsFile = "testdata/vectors.csv"

// TestVectors reads a table that the oracle wrote and people can check. The
// package never writes it. A new version of the time zone database may change
// rows in years to come.
func TestVectors(t *testing.T) {
	t.Parallel()
	if *update {
		writeVectors(t)
	}
	f, err := os.Open(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 400 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows[1:] {
		s := readSeries(t, row)
		n, err := strconv.Atoi(row[4])
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Nth(n).Format(time.RFC3339Nano); got != row[5] {
			t.Errorf("%s: got %s", strings.Join(row, ","), got)
		}
	}
}

// readSeries reads the columns zone, order time, policy and start.
func readSeries(t *testing.T, row []string) Series {
	t.Helper()
	s := Series{Calendar: Calendar{Zone: zone(t, row[0])}, Start: at(t, row[3])}
	if _, err := fmt.Sscanf(row[1], "%d:%d", &s.Hour, &s.Minute); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(row[2])
	var err error
	if s.Count, err = strconv.Atoi(words[0]); err != nil {
		t.Fatal(err)
	}
	if s.Interval, err = ParseInterval(words[1]); err != nil {
		t.Fatal(err)
	}
	for _, word := range words[2:] {
		kind, day, _ := strings.Cut(word, ":")
		a := Anchor{}
		if a.Kind, err = ParseAnchorKind(kind); err != nil {
			t.Fatal(err)
		}
		if month, rest, ok := strings.Cut(day, "-"); ok {
			day = rest
			if a.Month, err = strconv.Atoi(month); err != nil {
				t.Fatal(err)
			}
		}
		if a.Day, err = strconv.Atoi(day); err != nil {
			t.Fatal(err)
		}
		s.Anchors = append(s.Anchors, a)
	}
	return s
}

func writeVectors(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	policies := []string{
		"1 DAY", "10 DAY", "1 WEEK", "2 WEEK", "1 MONTH", "3 MONTH", "1 YEAR",
		"1 WEEK WEEKDAY:1 WEEKDAY:4", "2 WEEK WEEKDAY:7",
		"1 MONTH MONTHDAY:15", "1 MONTH MONTHDAY:10 MONTHDAY:20", "2 MONTH MONTHDAY:30 MONTHDAY:31",
		"3 MONTH YEARDAY:1-1 YEARDAY:4-1 YEARDAY:7-1 YEARDAY:10-1", "1 YEAR YEARDAY:2-29 YEARDAY:7-4",
	}
	zones := []string{
		"UTC", "America/New_York", "America/Los_Angeles", "America/St_Johns", "America/Sao_Paulo", "America/Santiago",
		"America/Havana", "America/Nuuk", "Europe/London", "Europe/Dublin", "Europe/Berlin", "Africa/Cairo", "Africa/Casablanca",
		"Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo", "Asia/Jerusalem", "Asia/Beirut", "Australia/Sydney", "Australia/Lord_Howe",
		"Pacific/Auckland", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Marquesas",
	}
	rows := [][]string{{"zone", "order time", "policy", "start", "n", "expected"}}
	add := func(name, policy string, start time.Time, n int) {
		order := orderTimes[random.IntN(len(orderTimes))]
		row := []string{name, fmt.Sprintf("%02d:%02d", order[0], order[1]), policy, start.UTC().Format(time.RFC3339), strconv.Itoa(n)}
		s := readSeries(t, row)
		until := utcDay(dateIn(start, s.Zone))
		var days []Date
		for len(days) <= n {
			until = until.AddDate(2, 0, 0)
			days = walk(s, until)
		}
		expected, ok := seen(s.Calendar, days[n])
		if !ok {
			t.Fatalf("%v: %s does not exist", row, days[n])
		}
		rows = append(rows, append(row, expected.Format(time.RFC3339)))
	}
	for _, name := range zones {
		for _, policy := range policies {
			start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(35*365*24)) * time.Hour)
			add(name, policy, start, random.IntN(60))
		}
		// A daily order across the next changes of the zone's clocks.
		change := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 2 {
			if _, change = change.In(zone(t, name)).ZoneBounds(); change.IsZero() {
				break
			}
			for n := 1; n <= 3; n++ {
				add(name, "1 DAY", change.AddDate(0, 0, -2), n)
			}
		}
	}
	for n := range 8 {
		add("Pacific/Apia", "1 DAY", time.Date(2011, 12, 27, 20, 0, 0, 0, time.UTC), n)
		add("Pacific/Apia", "1 WEEK WEEKDAY:5 WEEKDAY:6", time.Date(2011, 12, 20, 20, 0, 0, 0, time.UTC), n)
		add("Pacific/Kwajalein", "1 DAY", time.Date(1993, 8, 19, 20, 0, 0, 0, time.UTC), n)
	}
	f, err := os.Create(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
