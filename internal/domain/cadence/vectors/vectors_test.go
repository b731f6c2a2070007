package vectors_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/cadence/vectors"
)

var exhaustive = flag.Bool("exhaustive", false, "compare every day of every zone, 2020 to 2060, at every order time")

var database = sync.OnceValues(vectors.Open)

func opened(t *testing.T) *vectors.Database {
	t.Helper()
	db, err := database()
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func table(t *testing.T, name string) (rows []vectors.Row, version string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, version, err = vectors.Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return rows, version
}

// series returns what package cadence makes of a row.
func series(t testing.TB, s vectors.Series, in *time.Location) cadence.Series {
	t.Helper()
	interval, err := cadence.ParseInterval(s.Interval)
	if err != nil {
		t.Fatal(err)
	}
	made := cadence.Series{
		Policy:   cadence.Policy{Interval: interval, Count: s.Count},
		Calendar: cadence.Calendar{Zone: in, Hour: s.Minute / 60, Minute: s.Minute % 60}, Start: time.Unix(s.Start, 0),
	}
	for _, a := range s.Anchors {
		kind, err := cadence.ParseAnchorKind(a.Kind)
		if err != nil {
			t.Fatal(err)
		}
		made.Anchors = append(made.Anchors, cadence.Anchor{Kind: kind, Day: a.Day, Month: a.Month, Cutoff: a.Cutoff})
	}
	return made
}

// computed returns what package cadence says of a row.
func computed(t *testing.T, name string, row vectors.Row, in *time.Location) []time.Time {
	s := series(t, row.Series, in)
	if name == vectors.SeriesFile {
		return []time.Time{s.Nth(row.N)}
	}
	before := cadence.ASAP
	if row.Next {
		before = cadence.Next
	}
	first, next := s.First(s.Calendar, s.Start, before)
	return []time.Time{first, next}
}

// Every row of the tables is what package cadence computes. The tables hold for
// one version of the zone database; under another one, a row may change, and
// must then equal a second computation.
func TestCadenceMatchesTables(t *testing.T) {
	t.Parallel()
	db := opened(t)
	fresh := vectors.Tables(db)
	for _, name := range []string{vectors.SeriesFile, vectors.FirstFile} {
		rows, version := table(t, name)
		seen := make(map[string]bool)
		moved, wrong := 0, 0
		for i, row := range rows {
			seen[row.Place] = true
			in := db.Places[row.Place]
			if in == nil {
				t.Fatalf("%s: the zone %s is not in %s", name, row.Place, db.Version)
			}
			got := computed(t, name, row, in)
			if fmt.Sprint(got) == fmt.Sprint(row.Want) {
				continue
			}
			if version != db.Version && i < len(fresh[name]) && fmt.Sprint(got) == fmt.Sprint(fresh[name][i].Want) {
				moved++
				continue
			}
			if wrong++; wrong <= 20 {
				t.Errorf("%s: %+v: got %s", name, row, got)
			}
		}
		if len(seen) < 590 || len(rows) < 4*len(seen) {
			t.Errorf("%s has %d rows for %d zones", name, len(rows), len(seen))
		}
		if wrong > 20 {
			t.Errorf("%s: %d rows differ", name, wrong)
		}
		if moved > 0 {
			t.Logf("%s: %d rows of %s are others in %s: go generate ./internal/domain/cadence/vectors", name, moved, version, db.Version)
		}
	}
}

// The tables have not been edited.
func TestTablesMatchGenerator(t *testing.T) {
	t.Parallel()
	db := opened(t)
	for name, rows := range vectors.Tables(db) {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(want), "# Zones of "+db.Version+".") {
			t.Logf("%s is of other zones than %s, the ones here", name, db.Version)
			continue
		}
		var got bytes.Buffer
		if err := vectors.Write(&got, name, db.Version, rows); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not what go generate writes", name)
		}
	}
}

// Some rows that everybody can check with a calendar in the hand.
func TestTablesHaveKnownDates(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		vectors.SeriesFile: {
			"Africa/Asmera,2028-01-31T09:00:00Z,MONTH,1,,23:30,1,2028-02-29T20:30:00Z",
			"Pacific/Apia,2011-12-28T22:00:00Z,DAY,1,,09:00,2,2011-12-30T19:00:00Z",
			"Pacific/Kwajalein,1993-08-20T00:00:00Z,DAY,1,,09:00,2,1993-08-21T21:00:00Z",
			"America/New_York,2037-03-06T17:00:00Z,DAY,1,,02:30,2,2037-03-08T07:00:00Z",
			"America/New_York,2037-10-30T16:00:00Z,DAY,1,,01:30,2,2037-11-01T05:30:00Z",
			"Australia/Lord_Howe,2037-10-02T01:30:00Z,DAY,1,,02:15,2,2037-10-03T15:30:00Z",
		},
		vectors.FirstFile: {
			"Africa/Abidjan,2026-03-09T12:00:00Z,MONTH,1,MONTHDAY:15/5,09:00,ASAP,2026-03-09T09:00:00Z,2026-03-15T09:00:00Z",
		},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(string(text), "\n"+line+"\n") {
				t.Errorf("%s lacks %s", name, line)
			}
		}
	}
}

// sweepFrom and sweepTo are the first and the last day of the sweep, since
// 1970-01-01: 2020-01-01 and 2059-12-31.
const (
	sweepFrom = 18262
	sweepTo   = 32871
	tenYears  = (sweepTo - sweepFrom) / 4
)

// Forty years of every fourth zone, ten of the others: the 31st of every month, two anchors that fall
// together in short months, and the days around the changes of the clocks of ten
// years, at the times that the change leaves out or repeats and at some others. With
// -exhaustive it is every day.
func TestCadenceAgreesForFortyYearsInEveryZone(t *testing.T) {
	t.Parallel()
	db := opened(t)
	compared := 0
	for i, z := range db.Zones {
		in := db.Places[z.Name]
		minute := vectors.OrderTimes[i%len(vectors.OrderTimes)]
		start, _ := z.At(sweepFrom+30, 12*60)
		last := sweepTo
		if i%4 > 0 && !*exhaustive {
			last = sweepFrom + tenYears
		}
		for _, s := range []vectors.Series{
			{Zone: z, Start: start, Interval: vectors.Month, Count: 1, Minute: minute},
			{Zone: z, Start: start, Interval: vectors.Month, Count: 1, Minute: minute, Anchors: []vectors.Anchor{
				{Kind: vectors.MonthDay, Day: 30}, {Kind: vectors.MonthDay, Day: 31},
			}},
		} {
			of := series(t, s, in)
			for n, want := range s.Until(last) {
				if got := of.Nth(n).Unix(); got != want {
					t.Fatalf("%s, %s with %d anchors at %d: order %d is %s, want %s", z.Name, s.Interval, len(s.Anchors), minute, n, utc(got), utc(want))
				}
				compared++
			}
		}
		from := sweepFrom + i%4*tenYears // ten years, which are later in each next zone
		days := z.Around(from, from+tenYears, 2)
		if *exhaustive {
			days = days[:0]
			for day := sweepFrom; day <= sweepTo; day++ {
				days = append(days, day)
			}
		}
		for _, day := range days {
			for _, minute := range append(z.TurnsOn(day), vectors.OrderTimes...) {
				want, exists := z.At(day, minute)
				date := time.Unix(int64(day)*24*60*60, 0).UTC()
				got := cadence.Calendar{Zone: in, Hour: minute / 60, Minute: minute % 60}.
					Local(cadence.Date{Year: date.Year(), Month: date.Month(), Day: date.Day()}).Unix()
				if exists && got != want {
					t.Fatalf("%s, %s at %02d:%02d: got %s, want %s", z.Name, date.Format(time.DateOnly), minute/60, minute%60, utc(got), utc(want))
				}
				compared++
			}
		}
	}
	if compared < 300_000 {
		t.Errorf("only %d dates were compared", compared)
	}
	t.Logf("%d dates in %d zones of %s", compared, len(db.Zones), db.Version)
}

func utc(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }
