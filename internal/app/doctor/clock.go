package doctor

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// How far another clock may be from this machine's before the check warns or fails. The
// platform's answers name whole seconds.
const (
	clockDrift    = 3 * time.Second
	clockTooWrong = 30 * time.Second
)

const synchronise = "have NTP set the clock of this machine and of the database's (chrony or systemd-timesyncd)"

// databaseClock compares the clock of this machine with the database's.
func databaseClock(ctx context.Context, c *checkup) Finding {
	before := c.Clock.Now()
	there, err := c.db.Now(ctx)
	switch {
	case err != nil:
		return failed("repair the database, then run perennial doctor again", "%v", err)
	case there.IsZero():
		return ok("the database is on this machine")
	}
	after := c.Clock.Now()
	return drift("the database's clock", before.Add(after.Sub(before)/2).Sub(there))
}

// platformClock compares it with the time at which the platform answers.
func platformClock(ctx context.Context, c *checkup) Finding {
	stores, err := c.db.Shops().All(ctx)
	if err != nil || len(stores) == 0 {
		return notChecked("no store is connected, whose platform could be asked")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.ReplaceAll(c.Settings.PlatformURL, "{shop}", stores[0].Domain), http.NoBody)
	if err != nil {
		return failed("check PERENNIAL_PLATFORM_URL", "%v", err)
	}
	before := c.Clock.Now()
	res, err := c.web.Do(req)
	if err != nil {
		return notChecked("the platform does not answer: %v", err)
	}
	_ = res.Body.Close()
	after := c.Clock.Now()
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return notChecked("the platform's answer has no date")
	}
	return drift("the platform's clock", before.Add(after.Sub(before)/2).Sub(there.Add(time.Second/2)))
}

func drift(of string, ahead time.Duration) Finding {
	text := "ahead of"
	by := ahead.Round(100 * time.Millisecond)
	if by < 0 {
		text, by = "behind", -by
	}
	switch {
	case by > clockTooWrong:
		return failed(synchronise, "this machine's clock is %s %s %s", by, text, of)
	case by > clockDrift:
		return warning(synchronise, "this machine's clock is %s %s %s", by, text, of)
	}
	return ok("agrees with %s", of)
}
