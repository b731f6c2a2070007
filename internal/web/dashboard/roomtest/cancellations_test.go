package roomtest_test

import (
	"context"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/cancellations"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

const cancellationsPath = dashboardtest.At + "/cancellations"

var cancellationsNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// cancellationsShelf stands in for the domain.
type cancellationsShelf struct {
	*dashboardtest.Site
	flow   flow.Flow
	put    *flow.Flow
	is     report.Report
	period time.Duration
}

func openCancellations(t *testing.T) *cancellationsShelf {
	s := &cancellationsShelf{flow: flow.Default("EUR")}
	s.Site = dashboardtest.Open(t, func(_ *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, cancellations.New(cancellations.Options{Flows: s, Reports: s, Figures: s, Clock: clock.NewManual(cancellationsNoon)}))
	})
	s.SignIn(dashboardtest.Owner)
	return s
}

func (s *cancellationsShelf) Current(context.Context, shop.ID) (flow.Flow, error) { return s.flow, nil }

func (s *cancellationsShelf) Versions(context.Context, shop.ID) ([]flow.Flow, error) { return nil, nil }

func (s *cancellationsShelf) Publish(_ context.Context, _ shop.ID, f flow.Flow, base int, by activity.Actor) (flow.Flow, error) {
	if base != s.flow.Version {
		return f, flow.Outdated(s.flow)
	}
	if err := f.Check(); err != nil {
		return f, err
	}
	f.PublishedBy = by.By
	s.put = &f
	return f, nil
}

func (s *cancellationsShelf) Report(_ context.Context, _ shop.ID, from, to time.Time) (report.Report, error) {
	s.period = to.Sub(from)
	return s.is, nil
}

func (s *cancellationsShelf) Scope(context.Context, shop.Shop) (analytics.Scope, error) {
	return analytics.Scope{Groups: []analytics.PlanGroup{{ID: 7, Name: "Coffee & tea"}}}, nil
}

// shown checks that a page says texts.
func (s *cancellationsShelf) shown(p dashboardtest.Page, texts ...string) {
	s.Helper()
	text := html.UnescapeString(p.Text)
	for _, want := range texts {
		if !strings.Contains(text, want) {
			s.Errorf("%s does not say %q", p.Path, want)
		}
	}
}

func TestReportShowsReasonsOffersAndTheirDifference(t *testing.T) {
	t.Parallel()
	s := openCancellations(t)
	s.shown(s.Get(cancellationsPath), "No customer started to cancel", "Edit the flow")
	tally := report.Tally{Sessions: 40, Open: 2, Shown: 20, Accepted: 10, Kept: 4, Abandoned: 5, Scheduled: 1, Cancelled: 18, Ripe: 10, Survived: 7}
	trial := report.Trial{Version: 3}
	trial.Treated.Kept, trial.Held.Kept = report.Share{Is: 60, Of: 100}, report.Share{Is: 20, Of: 100}
	s.is = report.Report{
		Tally: tally, Costs: 4500, Trials: []report.Trial{trial},
		Reasons: []report.Line{{Key: "too-much", Tally: tally}, {Key: "", Tally: report.Tally{Sessions: 3, Cancelled: 3}}, {Key: "long-ago", Tally: report.Tally{Sessions: 1, Cancelled: 1}}},
		Offers:  []report.Line{{Key: "SKIP", Tally: tally}}, Plans: []report.Line{{Key: "7", Tally: tally}, {Key: "0", Tally: tally}}, Ages: []report.Line{{Key: "0", Tally: tally}, {Key: "4", Tally: tally}},
		Comments: []session.Session{{Contract: 9001, Reason: "too-much", Comment: "<b>Less</b> {{tea}}", StartedAt: cancellationsNoon, Outcome: session.Accepted}},
	}
	p := s.Get(cancellationsPath + "?days=30")
	s.Want(p, http.StatusOK)
	s.shown(p, "I have too much", "No reason given", "long-ago", "Skip orders", "Coffee & tea", "Other plans", "0 to 1 orders", "13 orders or more", "50 %", "45.00 EUR", "70 %", "Version 3",
		"+40 points (+27 to +51)", "Offers help", "“<b>Less</b> {{tea}}”", "Kept")
	if strings.Contains(p.Text, "<b>Less</b>") || s.period != 30*24*time.Hour {
		t.Errorf("the comment is not escaped, or the period is %s", s.period)
	}
	s.shown(p, "Save rate", "19 of 38 that ended were kept", "Sessions that are still open do not count", "neither cancelled nor expired within 60 days")
	csv := s.Get(cancellationsPath + ".csv?days=365")
	s.Want(csv, http.StatusOK, "By,Of,Started,Open,Offers made,Accepted,", "All,,40,2,20,10,4,5,18,1,50.0,10,7,70.0\r\n", "Reason,No reason given,3,0,0,0,0,0,3,0,0.0,0,0,\r\n", "Offer,Skip orders,40,",
		"Plan group,Coffee & tea,40,", "Completed orders,13 orders or more,40,")
	if got := csv.Header.Get("Content-Disposition"); got != `attachment; filename="cancellations-365-days-2026-11-20.csv"` || s.period != 365*24*time.Hour {
		t.Errorf("the download is %q of %s", got, s.period)
	}
	s.Want(s.Get(cancellationsPath+".csv?days=7"), http.StatusBadRequest)
	s.Want(s.Get(cancellationsPath+"?days=7"), http.StatusBadRequest)
	s.Add("analyst@shop.example", staff.Analyst)
	s.SignIn("analyst@shop.example")
	if p := s.Get(cancellationsPath); p.Status != http.StatusOK || strings.Contains(p.Text, "Edit the flow") {
		t.Errorf("to an analyst: %d", p.Status)
	}
	s.Want(s.Get(cancellationsPath+"/flow"), http.StatusForbidden)
	s.Want(s.Post(cancellationsPath+"/flow", "do", "publish"), http.StatusForbidden)
}

// enteredFlow are the fields of a form with two reasons.
func enteredFlow(more ...string) []string {
	return append([]string{
		"version", "0", "mode", "RETENTION", "instructions", "", "support", "help@store.example", "budget", "250.50", "holdback", "10", "language", "de",
		"r0-key", "price", "r0-label", "It costs too much", "r0-more", "de: Zu teuer\r\nfr: Trop cher", "r0-comment", "on", "r0-groups", "7",
		"r0-o0-kind", "DISCOUNT", "r0-o0-percent", "", "r0-o0-amount", "5", "r0-o0-orders", "3", "r0-o1-kind", "SWAP", "r0-o1-variants", "4001, gid://shopify/ProductVariant/4002",
		"r1-key", "", "r1-label", "Too much — of it!", "r1-more", "",
		"r1-o0-kind", "FREQUENCY", "r1-o0-direction", "RARER", "r1-o1-kind", "SUPPORT",
	}, more...)
}

func TestFlowIsPublishedAsItWasEntered(t *testing.T) {
	t.Parallel()
	s := openCancellations(t)
	p := s.Post(cancellationsPath+"/flow", enteredFlow("do", "publish")...)
	s.Want(p, http.StatusOK, "The flow was published.")
	if s.put == nil || s.put.Mode != flow.Retention || s.put.Budget != 25050 || s.put.HoldBack != 10 || s.put.Support != "help@store.example" {
		t.Fatalf("published %+v", s.put)
	}
	want := []flow.Reason{
		{
			Key: "price", Label: map[string]string{"en": "It costs too much", "de": "Zu teuer", "fr": "Trop cher"}, Comment: true, PlanGroups: []int64{7},
			Offers: []flow.Offer{{Kind: flow.Discount, Amount: s.put.Reasons[0].Offers[0].Amount, Orders: 3}, {Kind: flow.Swap, Variants: []int64{4001, 4002}}},
		},
		{Key: "too-much-of-it", Label: map[string]string{"en": "Too much — of it!"}, Offers: []flow.Offer{{Kind: flow.Frequency, Direction: flow.Rarer}, {Kind: flow.Support}}},
	}
	if diff := cmp.Diff(want, s.put.Reasons); diff != "" || s.put.Reasons[0].Offers[0].Amount.Minor != 500 {
		t.Error(diff)
	}
}

func TestFormIsShownAgainAsItWasEnteredWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := openCancellations(t)
	for name, row := range map[string]struct {
		field, value, says string
	}{
		"a budget in words":         {"budget", "much", "“Budget for discounts” is an amount in EUR"},
		"a share in words":          {"holdback", "some", "“Percent without an offer” is a whole number"},
		"too large a share":         {"holdback", "51", "must be from 0 to 50 percent"},
		"an unknown contact":        {"support", "call us", "Support must be an e-mail address"},
		"no label":                  {"r1-label", " ", "Every reason needs a text in English"},
		"a label without a text":    {"r0-more", "deutsch", "is no language and text"},
		"an amount in words":        {"r0-o0-amount", "five", "“Amount” is an amount in EUR"},
		"orders that are no number": {"r0-o0-orders", "x", "“Orders” is a whole number"},
		"no orders":                 {"r0-o0-orders", "", "orders of the offer DISCOUNT is 0"},
		"a variant in words":        {"r0-o1-variants", "tea", "neither the number nor the graph id"},
		"no variant":                {"r0-o1-variants", "", "names 0 variants"},
		"another version":           {"version", "3", "was published as version 0"},
	} {
		fields := enteredFlow("do", "publish")
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == row.field {
				fields[i+1] = row.value
			}
		}
		p := s.Post(cancellationsPath+"/flow", fields...)
		if p.Status == http.StatusOK || s.put != nil {
			t.Errorf("%s: it was published", name)
		}
		s.shown(p, row.says)
		if row.field != "r0-more" {
			s.shown(p, "Zu teuer")
		}
		if row.field != "r0-o1-variants" {
			s.shown(p, `value="4001, gid://shopify/ProductVariant/4002"`)
		}
	}
}

func TestButtonsMoveAddAndRemoveWithoutPublishing(t *testing.T) {
	t.Parallel()
	s := openCancellations(t)
	order := func(p dashboardtest.Page) string {
		var keys []string
		for _, part := range strings.Split(p.Text, `-key" value="`)[1:] {
			key, _, _ := strings.Cut(part, `"`)
			keys = append(keys, key)
		}
		return strings.Join(keys, " ")
	}
	for do, want := range map[string]string{
		"up:1": " price", "down:0": " price", "up:0": "price ", "remove:0": "", "remove:7": "price ", "add": "price  ", "preview": "price ",
	} {
		p := s.Post(cancellationsPath+"/flow", enteredFlow("do", do)...)
		if got := order(p); got != want || p.Status != http.StatusOK {
			t.Errorf("%s: %d, reasons %q, want %q", do, p.Status, got, want)
		}
	}
	p := s.Post(cancellationsPath+"/flow", enteredFlow("r1-new", "PAUSE", "do", "add-offer:1")...)
	s.shown(p, `name="r1-o2-kind" value="PAUSE"`, `name="r1-o2-months"`)
	p = s.Post(cancellationsPath+"/flow", enteredFlow("do", "offer-up:0:1")...)
	s.shown(p, `name="r0-o0-kind" value="SWAP"`)
	p = s.Post(cancellationsPath+"/flow", enteredFlow("do", "offer-remove:0:0")...)
	s.shown(p, `name="r0-o0-kind" value="SWAP"`)
	p = s.Post(cancellationsPath+"/flow", enteredFlow("do", "preview")...)
	s.shown(p, "<strong>Zu teuer</strong>", "5.00 EUR off 3 orders, or else: Swap to one of 2 products")
	if s.put != nil {
		t.Error("a button has published the flow")
	}
}

func TestEditorShowsTheFlowThatIsThere(t *testing.T) {
	t.Parallel()
	s := openCancellations(t)
	s.shown(s.Get(cancellationsPath+"/flow"), "Nothing was published yet", "I have too much", "Ich habe zu viel davon", "Skip 2 orders, or else: Deliver less often, or else: Pause for 2 months")
	s.flow.Version, s.flow.PublishedAt, s.flow.PublishedBy, s.flow.Mode, s.flow.Instructions = 4, cancellationsNoon, "ana@shop.example", flow.Instructions, "Call us.\nAny time."
	s.shown(s.Get(cancellationsPath+"/flow"), "Version 4, published on 20 Nov 2026", "ana@shop.example", "<p>Call us.</p>", "<p>Any time.</p>")
}
