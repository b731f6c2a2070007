package dunning

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestCaseFollowsDeclines(t *testing.T) {
	t.Parallel()
	g := Inputs{Calendar: berlin(t)}
	day := func(n int) time.Time { return time.Date(2025, 3, 4+n, 8, 0, 0, 0, time.UTC) } // 9:00 in Berlin
	var k Case
	k.Decline(g, "CARD_DECLINED", day(0), day(0).Add(2*time.Second))
	if k.State != Open || k.Class != Issuer || !k.RetryAt.Equal(day(1)) || !k.OpenedAt.Equal(day(0)) {
		t.Fatalf("opened as %+v", k)
	}
	if slot, ok := k.Notice(g, day(0)); !ok || slot.What != Declined {
		t.Errorf("the customer got the notice %+v", slot)
	}
	k.NotifiedAt = day(0)
	if _, ok := k.Notice(g, day(4)); ok {
		t.Error("the customer got the notice twice")
	}
	if !k.NextDue(g).Equal(day(1)) {
		t.Errorf("wakes %s", k.NextDue(g))
	}
	k.Decline(g, "EXPIRED_CARD", day(3), day(3))
	if k.Class != Card || k.FirstCode != "CARD_DECLINED" || !k.RetryAt.IsZero() || !k.EndAt.Equal(day(14)) || !k.NextDue(g).Equal(day(3)) {
		t.Errorf("a dead card later makes it %+v, waking %s", k, k.NextDue(g))
	}
	k.PaidWith = day(4)
	k.Decline(g, "EXPIRED_CARD", day(3), day(4))
	if k.Cause != ByCardUpdate || !k.Due(day(4)) {
		t.Errorf("a card that was replaced while the one before was declined makes it %+v", k)
	}
	k.Close(Recovered, day(5))
	if k.State.Live() || !k.NextDue(g).IsZero() || k.Due(day(9)) || k.Over(day(99)) {
		t.Errorf("closed as %+v", k)
	}
}

func TestSkippedRetryIsFollowedByNext(t *testing.T) {
	t.Parallel()
	g := Inputs{Calendar: berlin(t)}
	first := time.Date(2025, 3, 4, 8, 0, 0, 0, time.UTC)
	var k Case
	k.Decline(g, "INVALID_SHIPPING_ADDRESS", first, first)
	k.SkipRetry(g)
	if !k.RetryAt.Equal(first.AddDate(0, 0, 7)) {
		t.Errorf("the retry after the third day's is %s", k.RetryAt)
	}
	k.SkipRetry(g)
	if !k.RetryAt.IsZero() || !k.Over(first.AddDate(0, 0, 7)) {
		t.Errorf("after the last one comes %+v", k)
	}
}

func TestOrderLeftToCustomerEndsWithItsPlan(t *testing.T) {
	t.Parallel()
	g := Inputs{Calendar: berlin(t)}
	first := time.Date(2025, 3, 4, 8, 0, 0, 0, time.UTC)
	var k Case
	k.Decline(g, "CARD_DECLINED", first, first)
	k.LeaveToCustomer(g)
	if k.State != Open || !k.RetryAt.IsZero() || !k.EndAt.Equal(first.AddDate(0, 0, 16)) {
		t.Errorf("left to the customer it is %+v", k)
	}
	k.EndAt, k.RetryAt = time.Time{}, first.AddDate(0, 0, 18) // postponed past the end
	k.LeaveToCustomer(g)
	if !k.EndAt.Equal(first.AddDate(0, 0, 18)) {
		t.Errorf("a postponed retry ends at %s", k.EndAt)
	}
}

func TestSettingsValidateRejects(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Settings{
		"dunning.mode":                   {Mode: "CLEVER"},
		"dunning.retries":                {Mode: Simple, Retries: 11, EveryDays: 1},
		"dunning.everyDays":              {Mode: Simple, Retries: 1},
		"dunning.finalAction":            {Then: "SUE"},
		"dunning.outOfStock.retries":     {OutOfStock: &StockPolicy{Retries: -1}},
		"dunning.outOfStock.everyDays":   {OutOfStock: &StockPolicy{EveryDays: 15}},
		"dunning.outOfStock.finalAction": {OutOfStock: &StockPolicy{Then: "SUE"}},
	} {
		if err := s.Check(); err == nil || !strings.Contains(field(err), want) {
			t.Errorf("%+v: %v, want a failure about %s", s, err, want)
		}
	}
	for _, s := range []Settings{{}, {Mode: Simple}, {Mode: Simple, Retries: 10, EveryDays: 14, Then: Cancel}, {OutOfStock: &StockPolicy{}}} {
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestFinalActionByClass(t *testing.T) {
	t.Parallel()
	if (Settings{Then: Cancel}).Final(Stock) != Skip || (Settings{}).Final(Funds) != Pause {
		t.Error("stock has an end of its own")
	}
	if s := (Settings{Then: Cancel, OutOfStock: &StockPolicy{Then: Pause}}); s.Final(Stock) != Pause || s.Final(Funds) != Cancel {
		t.Errorf("stock ends with %s and the others with %s", s.Final(Stock), s.Final(Funds))
	}
}

func field(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Param
	}
	return ""
}
