package loyalty

import (
	"testing"
	"time"
)

func TestExpiryUsesStoreTimeZone(t *testing.T) {
	t.Parallel()
	aged, idle, fixed := ExpiryPolicy{Mode: LotAge, Months: 1}, ExpiryPolicy{Mode: Inactivity, Days: 30}, ExpiryPolicy{Mode: FixedDate, Month: time.January, Day: 1}
	const (
		ahead  = "Pacific/Kiritimati" // 14 hours
		behind = "Pacific/Pago_Pago"  // 11 hours
		summer = "America/New_York"
	)
	for name, test := range map[string]struct {
		policy ExpiryPolicy
		zone   string
		from   string
		want   string // in the store's zone
	}{
		"a month, in UTC":                                     {aged, "UTC", "2026-03-14T12:00:00Z", "2026-04-14T03:00:00Z"},
		"a month, where the next day has begun":               {aged, ahead, "2026-03-14T12:00:00Z", "2026-04-15T03:00:00+14:00"},
		"a month, where the next day begins at that instant":  {aged, ahead, "2026-03-14T10:00:00Z", "2026-04-15T03:00:00+14:00"},
		"a month, where the day has a moment left":            {aged, ahead, "2026-03-14T09:59:59Z", "2026-04-14T03:00:00+14:00"},
		"a month, where it is the day before":                 {aged, behind, "2026-03-14T10:59:59Z", "2026-04-13T03:00:00-11:00"},
		"a month, where the day begins at that instant":       {aged, behind, "2026-03-14T11:00:00Z", "2026-04-14T03:00:00-11:00"},
		"a month, where the next month has begun":             {aged, ahead, "2026-01-31T12:00:00Z", "2026-03-01T03:00:00+14:00"},
		"a month, where it is the month before":               {aged, behind, "2026-02-01T01:00:00Z", "2026-02-28T03:00:00-11:00"},
		"a month, over the begin of summer time":              {aged, summer, "2026-02-20T17:00:00Z", "2026-03-20T03:00:00-04:00"},
		"thirty days, in UTC":                                 {idle, "UTC", "2026-03-14T12:00:00Z", "2026-04-13T03:00:00Z"},
		"thirty days, where the next day has begun":           {idle, ahead, "2026-03-14T12:00:00Z", "2026-04-14T03:00:00+14:00"},
		"thirty days, where it is the day before":             {idle, behind, "2026-03-14T10:59:59Z", "2026-04-12T03:00:00-11:00"},
		"thirty days, over the end of summer time":            {idle, summer, "2026-10-20T03:59:59Z", "2026-11-18T03:00:00-05:00"},
		"a date, where that hour came the day before in UTC":  {fixed, ahead, "2025-12-31T13:00:00Z", "2027-01-01T03:00:00+14:00"},
		"a date, where that hour comes the day before in UTC": {fixed, ahead, "2025-12-31T12:59:59Z", "2026-01-01T03:00:00+14:00"},
		"a date, where that hour comes at 14:00 UTC":          {fixed, behind, "2026-01-01T13:59:59Z", "2026-01-01T03:00:00-11:00"},
		"a date, where that hour has come":                    {fixed, behind, "2026-01-01T14:00:00Z", "2027-01-01T03:00:00-11:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			from, err := time.Parse(time.RFC3339, test.from)
			if err != nil {
				t.Fatal(err)
			}
			got := test.policy.of(from, zone)
			if test.policy.Mode == Inactivity {
				got = test.policy.idle(from, zone)
			}
			if shown := got.In(zone).Format(time.RFC3339); shown != test.want {
				t.Errorf("expires at %s, want %s", shown, test.want)
			}
		})
	}
}
