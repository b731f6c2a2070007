package repair_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/charge"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// books are a platform's charges, oldest first, in pages of fifty.
type books struct {
	repair.Platform
	charges []platform.Attempt
	hollow  bool  // the first page is empty
	refuses error // what a cursor is answered
}

func (*books) Epoch(context.Context, platform.Shop) (platform.Epoch, error) {
	return platform.Epoch{}, nil
}

func (*books) SetEpoch(context.Context, platform.Shop, platform.Epoch, string) error { return nil }

func (*books) CycleStates(_ context.Context, _ platform.Shop, of []platform.CycleRef) ([]platform.CycleState, error) {
	return make([]platform.CycleState, len(of)), nil
}

func (b *books) Attempts(_ context.Context, _ platform.Shop, ids []string) (found []platform.Attempt, err error) {
	for _, id := range ids {
		for _, p := range b.charges {
			if p.ID == id {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

func (b *books) AttemptsSince(_ context.Context, _ platform.Shop, since time.Time, cursor string) ([]platform.Attempt, string, error) {
	from := 0
	switch {
	case cursor != "" && b.refuses != nil:
		return nil, "", b.refuses
	case cursor != "":
		if _, err := fmt.Sscan(cursor, &from); err != nil {
			return nil, "", err
		}
	case b.hollow:
		return nil, "0", nil
	default:
		for from < len(b.charges) && b.charges[from].CreatedAt.Before(since) {
			from++
		}
	}
	to := min(from+50, len(b.charges))
	if to == len(b.charges) {
		return b.charges[from:to], "", nil
	}
	return b.charges[from:to], fmt.Sprint(to), nil
}

// auditor compares the books of a store that was frozen an hour ago with those of a
// platform that charged it then, more than one check reads.
type auditor struct {
	*testing.T
	*repair.Service
	of shop.ID
	db *store.DB
	at *clock.Manual
}

const manyCharges = 1500

func audit(t *testing.T, b *books, atOnce bool) *auditor {
	t.Helper()
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for i := range manyCharges {
		p := platform.Attempt{ID: fmt.Sprintf("gid://shopify/SubscriptionBillingAttempt/%d", i+1), Key: fmt.Sprint("key ", i), Contract: 1, State: platform.Failed, CreatedAt: noon}
		if !atOnce {
			p.CreatedAt = noon.Add(time.Duration(i) * 400 * time.Millisecond)
		}
		b.charges = append(b.charges, p)
	}
	last := &b.charges[manyCharges-1]
	last.State, last.Order = platform.Succeeded, platform.OrderRef{ID: 9, Name: "#9"}
	a := &auditor{T: t, db: storetest.SQLite(t), at: clock.NewManual(noon.Add(time.Hour))}
	of := shop.Shop{
		Domain: "demo.myshopify.com", Token: "token", TimeZone: "UTC", Connected: true, CreatedAt: noon.AddDate(0, 0, -3), ReconciledAt: noon.Add(2 * time.Hour),
		Guard: shop.Guard{FrozenAt: noon.Add(time.Hour), Reason: "a copy", CoveredTo: noon.Add(-time.Hour), ComparedAt: noon.Add(-48 * time.Hour)},
	}
	must(t, a.db.Shops().AddShop(t.Context(), &of))
	a.of = of.ID
	log := slog.New(slog.DiscardHandler)
	a.Service = &repair.Service{
		Store: a.db.Repair(), Platform: b, Billing: charge.New(&billing.Env{Clock: a.at, Log: log}), Clock: a.at, Log: log,
		Policy: repair.Policy{Retry: time.Minute, Every: time.Hour, Grace: 2 * time.Hour, Horizon: 48 * time.Hour},
	}
	return a
}

func (a *auditor) check() shop.Guard {
	a.Helper()
	must(a.T, a.Check(a.Context(), a.of))
	is, err := a.db.Shops().Shop(a.Context(), a.of)
	must(a.T, err)
	return is.Guard
}

func (a *auditor) stuck() repair.Stuck {
	a.Helper()
	list, err := a.Stuck(a.Context(), a.of)
	must(a.T, err)
	return list
}

func TestLongBooksAreComparedAcrossChecks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		books  books
		atOnce bool
	}{
		{"charges of ten minutes", books{}, false},
		{"charges of one instant", books{}, true},
		{"behind a page without charges", books{hollow: true}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := audit(t, &row.books, row.atOnce)
			if a.stuck().Compared == "" {
				t.Error("a comparison that did not end for two days is not reported")
			}
			g := a.check()
			if !g.CheckAt.Equal(a.at.Now()) || g.Comparing == (shop.Reading{}) || !g.ComparedAt.Before(g.FrozenAt) {
				t.Fatalf("a check that did not read all goes on at %s, guard %+v", g.CheckAt, g)
			}
			if err := a.Unfreeze(t.Context(), a.of, "it is over", activity.System); err == nil {
				t.Fatal("a store is charged again before its books were compared")
			}
			began := a.at.Now()
			a.at.Set(began.Add(time.Minute))
			g = a.check()
			if g.Comparing != (shop.Reading{}) || !g.ComparedAt.Equal(began) || !g.CoveredTo.Equal(began) || !g.CheckAt.Equal(a.at.Now().Add(time.Hour)) {
				t.Errorf("after the second check the books are compared as of %s, covered to %s, and compared next at %s, want %s", g.ComparedAt, g.CoveredTo, g.CheckAt, began)
			}
			if list := a.stuck(); list.Compared != "" || len(list.Findings) != 1 || list.Findings[0].Kind != repair.UnknownOrder {
				t.Errorf("in the end %+v needs to be looked at, want the unknown order", list)
			}
			if err := a.Unfreeze(t.Context(), a.of, "it is over", activity.System); err != nil {
				t.Errorf("the freeze is not lifted: %v", err)
			}
		})
	}
}

func TestComparisonRestartsWhenCursorIsRejected(t *testing.T) {
	t.Parallel()
	b := &books{}
	a := audit(t, b, true)
	a.check()
	b.refuses = &platform.Refusal{Code: "INVALID"}
	if g := a.check(); g.Comparing != (shop.Reading{}) || !g.CheckAt.Equal(a.at.Now().Add(time.Minute)) {
		t.Errorf("guard %+v, want that it restarts after a minute", g)
	}
	b.refuses = nil
	a.check()
	b.refuses = platform.ErrUnknown
	a.at.Set(a.at.Now().Add(24 * time.Hour))
	if g := a.check(); g.Comparing == (shop.Reading{}) {
		t.Error("an answer that was lost restarts the comparison")
	}
	b.refuses = nil
	a.at.Set(a.at.Now().Add(time.Minute))
	if g := a.check(); !g.Comparing.Started.Equal(a.at.Now()) {
		t.Errorf("guard %+v, want that what has not ended for a day restarts", g)
	}
	if g := a.check(); g.ComparedAt.Before(g.FrozenAt) {
		t.Errorf("the books are compared as of %s only", g.ComparedAt)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
