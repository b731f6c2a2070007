package web

import (
	"encoding/json"
	"testing"
	"time"
)

func TestInstantIsWrittenInUTCAndReadBack(t *testing.T) {
	t.Parallel()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		at   time.Time
		want string
	}{
		"a whole second has no milliseconds": {time.Date(2025, 1, 31, 8, 0, 0, 0, time.UTC), `"2025-01-31T08:00:00Z"`},
		"milliseconds have three digits":     {time.Date(2025, 1, 31, 8, 0, 0, 20e6, time.UTC), `"2025-01-31T08:00:00.020Z"`},
		"less than a millisecond is cut off": {time.Date(2025, 1, 31, 8, 0, 0, 999, time.UTC), `"2025-01-31T08:00:00Z"`},
		"another zone is turned to UTC":      {time.Date(2025, 1, 31, 8, 0, 0, 0, newYork), `"2025-01-31T13:00:00Z"`},
		"the zero time is null":              {time.Time{}, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(At(test.at))
			if err != nil || string(got) != test.want {
				t.Fatalf("%s, %v, want %s", got, err, test.want)
			}
			var back *Instant
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if (back == nil) != test.at.IsZero() || back != nil && *back != *At(test.at) {
				t.Errorf("read back as %v", back)
			}
		})
	}
}

func TestParseMomentReadsInstantsAndDays(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text, from, to string // empty: refused
	}{
		"an instant in UTC":                    {"2025-01-31T08:00:00Z", "2025-01-31T08:00:00Z", "2025-01-31T08:00:00Z"},
		"an instant with an offset":            {"2025-01-31T08:00:00-03:00", "2025-01-31T11:00:00Z", "2025-01-31T11:00:00Z"},
		"an offset without a colon":            {"2025-01-31T08:00:00-0300", "2025-01-31T11:00:00Z", "2025-01-31T11:00:00Z"},
		"without seconds":                      {"2025-01-31T08:00Z", "2025-01-31T08:00:00Z", "2025-01-31T08:00:00Z"},
		"nanoseconds are cut to milliseconds":  {"2025-01-31T08:00:00.123456789Z", "2025-01-31T08:00:00.123Z", "2025-01-31T08:00:00.123Z"},
		"a day of the zone":                    {"2025-01-31", "2025-01-31T03:00:00Z", "2025-02-01T02:59:59.999Z"},
		"a day whose midnight is left out":     {"2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T01:59:59.999Z"},
		"a day that does not exist is refused": {"2025-02-29", "", ""},
		"a time without a zone is refused":     {"2025-01-31T08:00:00", "", ""},
		"a year before 1900 is refused":        {"1899-12-31T00:00:00Z", "", ""},
		"a day before 1900 is refused":         {"0001-01-01", "", ""},
		"a number is refused":                  {"1738310400", "", ""},
		"an empty text is refused":             {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := ParseMoment("date", test.text, zone)
			if (err != nil) != (test.from == "") {
				t.Fatalf("%+v, %v", m, err)
			}
			if err != nil {
				return
			}
			if from, to := m.From.Format(time.RFC3339Nano), m.To.Format(time.RFC3339Nano); from != test.from || to != test.to {
				t.Errorf("from %s to %s, want %s to %s", from, to, test.from, test.to)
			}
		})
	}
}
