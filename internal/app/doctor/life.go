package doctor

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// personalData checks that no request for personal data is open after its deadline.
func personalData(ctx context.Context, c *checkup, s shop.Shop) Finding {
	list, err := (&privacy.Service{Store: c.db.Privacy(), Clock: c.Clock, Log: slog.New(slog.DiscardHandler)}).List(ctx, s.ID)
	if err != nil {
		return failed("repair the database, then run perennial doctor again", "%v", err)
	}
	open, overdue := privacy.Open(list), 0
	for _, r := range open {
		if r.Overdue(c.Clock.Now()) {
			overdue++
		}
	}
	switch {
	case overdue > 0:
		return failed("run perennial privacy list --shop "+s.Domain+", export what customers have asked for, and read the log for what keeps an erasure from its end", "%d requests for personal data are open after their 30 days", overdue)
	case len(open) > 0:
		return ok("%d requests for personal data are open, the first until %s", len(open), open[0].DueBy.Format(time.DateOnly))
	}
	return ok("no request for personal data is open")
}

// contracts checks that the first reading of the store goes on.
func contracts(ctx context.Context, c *checkup, s shop.Shop) Finding {
	y, known, err := (&intake.Service{Store: c.db.Intake(), Clock: c.Clock, Log: slog.New(slog.DiscardHandler)}).Progress(ctx, s.ID)
	switch {
	case err != nil:
		return failed("repair the database, then run perennial doctor again", "%v", err)
	case !known || !y.FinishedAt.IsZero() || !s.Connected:
		return ok("all contracts were read")
	case y.Failure != "":
		return warning("let perennial serve run: it tries again", "%d of %d contracts were read; the last try failed: %s", y.Done, y.Total, y.Failure)
	}
	return ok("%d of %d contracts were read", y.Done, y.Total)
}
