package roomtest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/moves"
)

const movesPath = dashboardtest.At + "/moves"

// movesSecret is the key of the other service, which no page shows.
const movesSecret = "key-of-the-other-service"

type movesBench struct {
	*dashboardtest.Site

	moves *mover.Service
}

func openMoves(t *testing.T) *movesBench {
	t.Helper()
	b := &movesBench{}
	b.Site = dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		b.moves = &mover.Service{Store: s.DB.Moves(), Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}
		o.Rooms = append(o.Rooms, moves.New(moves.Options{Moves: b.moves, Book: s.DB}))
	})
	b.SignIn(dashboardtest.Owner)
	return b
}

// in runs fn in a transaction on the first store.
func (b *movesBench) in(fn func(tx *store.Tx) error) {
	b.Helper()
	if err := b.DB.Update(b.Context(), b.First.ID, fn); err != nil {
		b.Fatal(err)
	}
}

// put stores a move with contracts, and returns its path.
func (b *movesBench) put(m moving.Move, items ...moving.Item) string {
	b.Helper()
	if m.Direction == "" {
		m.Direction = moving.In
	}
	if m.Peer.Address == "" && m.File == nil {
		m.Peer = moving.Peer{Address: "https://other.example", Key: movesSecret, Rate: 10}
	}
	if m.Parts == (moving.Parts{}) {
		m.Parts.ReadAt = m.ReadAt
	}
	m.CreatedAt, m.By = b.Clock.Now().Add(-2*time.Minute), activity.Actor{By: "ana"}
	b.in(func(tx *store.Tx) error {
		if err := tx.PutMove(b.Context(), &m); err != nil {
			return err
		}
		for n := range items {
			items[n].Move = m.ID
		}
		return tx.PutMoveItems(b.Context(), items)
	})
	return movesPath + "/" + strconv.FormatInt(int64(m.ID), 10)
}

// plans gives the store two selling plans.
func (b *movesBench) plans() {
	b.Helper()
	b.in(func(tx *store.Tx) error {
		return tx.PutPlanGroup(b.Context(), &plan.Group{
			Line: shop.Subscriptions, Terms: plan.Terms{Name: "Tea"}, State: plan.Synced, Options: []plan.Option{{ID: 7001, Name: "Monthly"}, {ID: 7002, Name: "Yearly"}},
		})
	})
}

// item is a contract of a move with an order to come.
func (b *movesBench) item(there int64, s moving.Stage, found ...moving.Finding) moving.Item {
	i := moving.Item{
		There: there, Stage: s, Since: b.Clock.Now(), Plan: moving.Order{Date: b.Clock.Now().AddDate(0, 0, 3), Amount: eur(2500)},
		Coming:   moving.Coming{Here: 2500, HereOrders: 1, There: 2400, ThereOrders: 1},
		Contract: moving.Contract{ID: there, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Customer: contract.Customer{ID: 7, Name: "Ada <b>", Email: "ada@example.com"}},
	}
	i.Judge(found)
	return i
}

func movesFinding(fit moving.Fit, code, text string) moving.Finding {
	return moving.Finding{Fit: fit, Code: code, Text: text}
}

func TestMoveIsStartedByItsForm(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	b.plans()
	b.Want(b.Get(movesPath), http.StatusOK, "No move yet", "Nothing is changed anywhere", `href="`+movesPath+`/in"`, `href="`+movesPath+`/out"`)
	b.Want(b.Get(movesPath+"/in"), http.StatusOK, "Nothing is changed anywhere while it reads", "Tea: Monthly (7001)", `type="password"`)
	for _, row := range []struct {
		name, field, value, at, says string
	}{
		{"an address that is none", "address", "other", "address", "Address must be the base address"},
		{"an address of memberships that is none", "memberships", "x", "memberships", "Memberships must be the base address"},
		{"no key", "key", " ", "key", "API key of the other service is missing"},
		{"a rate that is none", "rate", "fast", "rate", "number from 0.1 to 1000"},
		{"a rate that is too high", "rate", "1001", "rate", "from 0.1 to 1000"},
		{"a plan there that is none", "there", "monthly", "plan-1", "is not the number of a selling plan"},
		{"a plan that the store has not", "here", "6101", "plan-1", "is not the number of a selling plan"},
		{"a plan without its own", "there", "6101", "plan-1", "Choose the plan here that belongs to plan 6101 there"},
	} {
		t.Run(row.name, func(t *testing.T) {
			form := map[string]string{"address": "https://other.example", "memberships": "", "key": movesSecret, "rate": "10", "there": "", "here": "", row.field: row.value}
			var fields []string
			for name, value := range form {
				fields = append(fields, name, value)
			}
			p := b.Post(movesPath+"/in", fields...)
			b.Want(p, http.StatusUnprocessableEntity, row.says, `id="e-`+row.at+`"`)
			if strings.Contains(p.Text, movesSecret) {
				t.Error("the page shows the key")
			}
		})
	}
	b.Want(b.Post(movesPath+"/in", "address", "https://other.example", "key", movesSecret, "rate", "10", "there", "6101", "here", "7003"), http.StatusUnprocessableEntity, "The store has no selling plan 7003", `id="e-plan-1"`)
	p := b.Post(movesPath+"/in", "do", "rows", "address", "https://other.example", "key", movesSecret, "there", "6101", "here", "7001", "there", "", "here", "", "there", "", "here", "")
	if b.Want(p, http.StatusOK, `value="6101"`, `<option value="7001" selected>`, `id="there-6"`); strings.Contains(p.Text, movesSecret) {
		t.Error("the form shows the key again")
	}
	p = b.Post(movesPath+"/in", "address", "https://other.example/", "key", movesSecret, "rate", "2.5", "there", "6101", "here", "7001", "there", "", "here", "")
	if b.Want(p, http.StatusOK, "The move was started", "Move from other.example", "Stored encrypted", "2.5 a second"); strings.Contains(p.Text, movesSecret) {
		t.Error("the page of the move shows the key")
	}
	list, err := b.moves.Moves(t.Context(), b.First.ID)
	if err != nil || len(list) != 1 || list[0].Plans[6101] != 7001 || list[0].Peer.Key != movesSecret || list[0].Peer.Rate != 2.5 || list[0].Direction != moving.In || !strings.Contains(list[0].By.By, dashboardtest.Owner) {
		t.Errorf("started %+v, %v", list, err)
	}
	b.Want(b.Get(movesPath), http.StatusOK, "One move goes on at a time", "Move from other.example", "Reading")
	b.Want(b.Post(movesPath+"/in", "address", "https://other.example", "key", movesSecret, "rate", "10"), http.StatusUnprocessableEntity, "is open: end it first")
}

func TestPlansOfMoveOutAreNamedTheOtherWay(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	b.plans()
	p := b.Post(movesPath+"/out", "address", "https://other.example", "key", movesSecret, "rate", "10", "there", "6101", "here", "7001", "there", "6102", "here", "7002")
	b.Want(p, http.StatusOK, "Move to other.example")
	b.Want(b.Post(movesPath+"/out", "address", "https://other.example", "key", movesSecret, "rate", "10", "there", "6101", "here", "7001", "there", "6102", "here", "7001"), http.StatusUnprocessableEntity, "Plan 7001 is named twice", `id="e-plan-2"`)
	list, err := b.moves.Moves(t.Context(), b.First.ID)
	if err != nil || len(list) != 1 || list[0].Plans[7001] != 6101 || list[0].Plans[7002] != 6102 || list[0].Direction != moving.Out {
		t.Errorf("started %+v, %v", list, err)
	}
}

func TestFormOfAnotherSiteStartsNothing(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+movesPath+"/in", strings.NewReader("address=https://other.example&rate=10&key="+movesSecret))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if p := b.Do(req); p.Status != http.StatusForbidden {
		t.Errorf("a form of another site is answered %d", p.Status)
	}
	if list, err := b.moves.Moves(t.Context(), b.First.ID); len(list) > 0 || err != nil {
		t.Errorf("a form of another site started %+v, %v", list, err)
	}
}

func TestPageShowsDryRunAndComparison(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	now := b.Clock.Now()
	failed := b.item(4, moving.Shadow)
	failed.Code, failed.Reason = "refused", "The other service refused it."
	moved := b.item(5, moving.Moved)
	moved.Here, moved.EndedAt = 9005, now.Add(-time.Minute)
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: now.Add(-time.Hour), ListAt: now.Add(time.Hour), Announced: 7, Wave: 10},
		b.item(1, moving.Shadow, movesFinding(moving.Changes, "planUnknown", "The selling plan is <b> not known."), movesFinding(moving.Changes, "planUnknown", "Another line.")),
		b.item(2, moving.Staying, movesFinding(moving.Stays, "newRule", "A rule without words.")), b.item(3, moving.Making), failed, moved,
	)
	id, _ := strconv.ParseInt(path[len(movesPath)+1:], 10, 64)
	b.in(func(tx *store.Tx) error {
		compared := func(there int64, v moving.Verdict, text string) moving.Compared {
			return moving.Compared{Move: moving.ID(id), There: there, Date: now, Verdict: v, Planned: eur(2500), Charged: eur(2600), Order: 77, Text: text}
		}
		return tx.AddCompared(t.Context(), []moving.Compared{compared(1, moving.Same, ""), compared(2, moving.Taxes, "1.00 more."), compared(3, moving.Unexplained, "It cost <i> 1.00 more.")})
	})
	p := b.Get(path)
	b.Want(p, http.StatusOK, "Move from other.example", `aria-current="step"`, "1 of 4 contracts moved", "The other service said that it has 7 contracts, and listed 5.",
		"The selling plan is not named", "For example: A rule without words.", "1 of 3 orders differ without an explanation", "It cost &lt;i&gt; 1.00 more.", "25.00 EUR", "26.00 EUR",
		"75.00 EUR", "72.00 EUR", "3.00 EUR more here", "Retry 1 contract", `wave?percent=100`, `contracts?finding=planUnknown`)
	if strings.Contains(p.Text, "wave?percent=10&#") || strings.Contains(p.Text, `wave?percent=1"`) {
		t.Error("a wave is offered that has begun")
	}
	b.Want(b.Get(path+"/contracts"), http.StatusOK, "Ada &lt;b&gt;", "2 differences", "A rule without words.", "The other service refused it.", dashboardtest.At+"/contracts/9005", "5 there")
	for show, want := range map[string][]string{"?show=stays": {"2"}, "?show=moved": {"9005"}, "?show=between": {"3"}, "?show=failing": {"4"}, "?finding=planUnknown": {"1"}, "?show=changes": {"1"}, "?after=4": {"9005"}} {
		p := b.Get(path + "/contracts" + show)
		if b.Want(p, http.StatusOK); strings.Count(p.Text, `<th scope="row"`) != len(want) || !strings.Contains(p.Text, ">"+want[0]+"<") {
			t.Errorf("%s lists other contracts:\n%s", show, p.Text)
		}
	}
	b.Want(b.Get(path+"/contracts?show=waiting"), http.StatusOK, "No such contracts")
	b.Want(b.Get(path+"/orders?verdict=TAXES"), http.StatusOK, "1.00 more.", "taxes or a shipping rate")
	if p := b.Get(path + "/orders?verdict=TAXES"); strings.Contains(p.Text, "&lt;i&gt;") {
		t.Error("the list of one verdict has orders of another")
	}
}

func TestPartOfPageIsReadAgainUntilMoveRests(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	path := b.put(moving.Move{Status: moving.Reading}, b.item(1, moving.Shadow), moving.Item{There: 2, Stage: moving.Found})
	p := b.Get(path)
	b.Want(p, http.StatusOK, "every 3s", "1 of 2 contracts read", "0.5 contracts a minute: about 2 minutes left", "Show the progress again")
	part := b.Get(path + "?part=1&state=READING-false-0-true-false-true")
	if b.Want(part, http.StatusOK, "1 of 2 contracts read"); strings.Contains(part.Text, "<html") || part.Header.Get("HX-Refresh") != "" {
		t.Errorf("the part is a page, or has it opened again: %v", part.Header)
	}
	if part := b.Get(path + "?part=1&state=LISTING"); part.Header.Get("HX-Refresh") != "true" {
		t.Error("what can be done has changed, and the page is not opened again")
	}
}

func TestPaceIsThatOfLastArrivals(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	now := b.Clock.Now()
	arrived, earlier := b.item(1, moving.Moved), b.item(2, moving.Moved)
	arrived.EndedAt, earlier.EndedAt = now.Add(-2*time.Minute), now.Add(-time.Hour)
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: now.Add(-2 * time.Hour), Wave: 100}, arrived, earlier, b.item(3, moving.Chosen), b.item(4, moving.Shadow))
	b.Want(b.Get(path), http.StatusOK, "2 of 4 contracts moved; 2 of the wave left", "0.5 contracts a minute: about 4 minutes left, until 25 Nov 2026, 12:04 UTC")
}

func TestFailureOfOtherServiceIsShown(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	now := b.Clock.Now()
	path := b.put(moving.Move{Status: moving.Listing, Failures: 3, Failure: "the key is <refused>", FailedAt: now.Add(-time.Hour), DueAt: now.Add(5 * time.Minute)})
	b.Want(b.Get(path), http.StatusOK, "The other service has failed since 25 Nov 2026, 11:00 UTC: the key is &lt;refused&gt;.", "It is tried again at 25 Nov 2026, 12:05 UTC", "Other service fails")
}

func TestWaveIsConfirmed(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	now := b.Clock.Now()
	var items []moving.Item
	for n := range int64(20) {
		items = append(items, b.item(n+1, moving.Shadow))
	}
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: now}, items...)
	id, _ := strconv.ParseInt(path[len(movesPath)+1:], 10, 64)
	p := b.Get(path + "/wave?percent=10")
	b.Want(p, http.StatusOK, "Nothing is changed yet.", "2 contracts are moved.", "Then 10 percent of the 20", "It is stopped there", "It is cancelled there, for good", "50.00 EUR", "48.00 EUR", "Move 2 contracts")
	if strings.Contains(p.Text, "f-typed") {
		t.Error("a number must be typed without any difference")
	}
	b.Want(b.Get(path+"/wave?percent=x"), http.StatusBadRequest, "whole number of percent")
	b.Want(b.Get(path+"/wave?percent=101"), http.StatusBadRequest, "from 1 to 100 percent")
	b.Want(b.Post(path+"/wave", "percent", "10", "contracts", "3", "unexplained", "0"), http.StatusUnprocessableEntity, "The wave would move 2 contracts now")
	b.in(func(tx *store.Tx) error {
		return tx.AddCompared(t.Context(), []moving.Compared{{Move: moving.ID(id), There: 1, Date: now, Verdict: moving.Missing, Planned: eur(1)}})
	})
	b.Want(b.Post(path+"/wave", "percent", "10", "contracts", "2", "unexplained", "0"), http.StatusUnprocessableEntity, "1 order differs without an explanation now", "Type 1, the number of orders")
	b.Want(b.Post(path+"/wave", "percent", "10", "contracts", "2", "unexplained", "1"), http.StatusUnprocessableEntity, `id="e-typed"`)
	if p, err := b.moves.Progress(t.Context(), b.First.ID, moving.ID(id)); p.Move.Wave != 0 || err != nil {
		t.Fatalf("a wave that was refused began: %+v, %v", p.Move, err)
	}
	b.Want(b.Post(path+"/wave", "percent", "10", "contracts", "2", "unexplained", "1", "typed", "1"), http.StatusOK, "The wave has begun", "10 percent of the contracts are moved")
	got, err := b.moves.Progress(t.Context(), b.First.ID, moving.ID(id))
	if err != nil || got.Move.Wave != 10 || !strings.Contains(got.Move.By.By, dashboardtest.Owner) {
		t.Errorf("the wave is %+v, %v", got.Move, err)
	}
	b.Want(b.Get(path+"/wave?percent=1"), http.StatusConflict, "10 percent are on their way already")
}

func TestWhatIsBesideContractsIsMadeFirst(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	now := b.Clock.Now()
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: now}, b.item(1, moving.Shadow))
	number, _ := strconv.ParseInt(path[len(movesPath)+1:], 10, 64)
	id := moving.ID(number)
	b.in(func(tx *store.Tx) error {
		part := func(kind moving.PartKind, there, name string, found ...moving.Finding) moving.Part {
			p := moving.Part{Move: id, PartKey: moving.PartKey{Kind: kind, Line: shop.Subscriptions, There: there}, Name: name, Stage: moving.PartFound, SeenAt: now}
			p.Judge(found)
			return p
		}
		return tx.PutMoveParts(t.Context(), []moving.Part{
			part(moving.GroupPart, "1", "Tea <b>"), part(moving.RulePart, "2", "Green for black", movesFinding(moving.Stays, "variantGone", "The store no longer has variant 9.")),
			part(moving.GroupPart, "3", "Coffee", movesFinding(moving.Changes, "productsGone", "2 products are left out.")),
		})
	})
	b.Want(b.Get(path), http.StatusOK, "Beside contracts", "Tea &lt;b&gt;", "Green for black", "The store no longer has variant 9.", "2 products are left out.", "2 plan groups. Plan groups are made", "First say what becomes of")
	b.Want(b.Get(path+"/wave?percent=10"), http.StatusOK, "Move 1 contract")
	b.Want(b.Post(path+"/wave", "percent", "100", "contracts", "1", "unexplained", "0"), http.StatusConflict, "2 plan groups, swap rules, bundles or members go and are not made")
	b.Want(b.Post(path+"/parts"), http.StatusOK, "What goes is made. ")
	if p, err := b.moves.Progress(t.Context(), b.First.ID, id); !p.Move.Parts.Make || err != nil {
		t.Errorf("what goes is not made: %+v, %v", p.Move.Parts, err)
	}
	b.Want(b.Post(path+"/parts/decline"), http.StatusOK, "Contracts are moved without what is not made")
	b.Want(b.Post(path+"/wave", "percent", "100", "contracts", "1", "unexplained", "0"), http.StatusOK, "The wave has begun")
}

func TestMoveIsSteered(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	failed := b.item(1, moving.Shadow)
	failed.Code, failed.Reason = "refused", "why"
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()}, failed, b.item(2, moving.Made))
	b.Want(b.Post(path+"/pause"), http.StatusOK, "The move is paused", "Resume the move first")
	b.Want(b.Post(path+"/resume"), http.StatusOK, "The move goes on.", "Pause the move")
	b.Want(b.Post(path+"/retry"), http.StatusOK, "tried again")
	id, _ := strconv.ParseInt(path[len(movesPath)+1:], 10, 64)
	if p, err := b.moves.Progress(t.Context(), b.First.ID, moving.ID(id)); p.Failing != 0 || err != nil {
		t.Errorf("%d contracts fail after the retry, %v", p.Failing, err)
	}
	b.Want(b.Post(path+"/read"), http.StatusOK, "read again", "Changes are being read. A wave can begin in a moment.")
	b.Want(b.Get(path+"/end"), http.StatusOK, "0 contracts were moved and stay here. 2 contracts were not moved and stay there", "1 contract is between the services")
	b.Want(b.Post(path+"/end"), http.StatusUnprocessableEntity, "between the services")
	b.in(func(tx *store.Tx) error {
		arrived, fails := b.item(2, moving.Moved), failed
		arrived.Move, fails.Move = moving.ID(id), moving.ID(id)
		return tx.PutMoveItems(t.Context(), []moving.Item{arrived, fails})
	})
	p := b.Post(path + "/end")
	if b.Want(p, http.StatusOK, "The move was ended", "Ended"); strings.Contains(p.Text, "What you can do") {
		t.Error("a move that has ended can be steered")
	}
	for _, what := range []string{"/pause", "/read", "/retry"} {
		b.Want(b.Post(path+what), http.StatusConflict, "has ended")
	}
}

func TestFormOfAnotherMoveListsPlansThatWereNotNamed(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	i := b.item(1, moving.Shadow, movesFinding(moving.Changes, "planUnknown", "x"))
	i.Contract.Lines = []moving.Line{{Plan: 6102, PlanName: "Every <year>"}, {Plan: 6102, PlanName: "Every <year>"}, {Plan: 6101, PlanName: "named"}, {}}
	path := b.put(moving.Move{Status: moving.Ended, EndedAt: b.Clock.Now(), Plans: map[int64]int64{6101: 7001}}, i)
	b.Want(b.Get(movesPath+"/in?like="+path[len(movesPath)+1:]), http.StatusOK, "plan groups of the other service can be made here", "The other move has found Every &lt;year&gt; (6102).")
	b.plans()
	b.Want(b.Get(path), http.StatusOK, "Start another one like it", "in?like="+path[len(movesPath)+1:])
	p := b.Get(movesPath + "/in?like=" + path[len(movesPath)+1:])
	b.Want(p, http.StatusOK, `value="https://other.example"`, `value="6101"`, `<option value="7001" selected>`, `value="6102"`, "There it is “Every &lt;year&gt;”.")
	if strings.Count(p.Text, `value="6102"`) != 1 || strings.Contains(p.Text, movesSecret) {
		t.Errorf("the form lists a plan twice, or shows the key:\n%s", p.Text)
	}
	path = b.put(moving.Move{Status: moving.Ended, EndedAt: b.Clock.Now()}, i)
	b.Want(b.Get(movesPath+"/in?like="+path[len(movesPath)+1:]), http.StatusOK, `value="6101"`, `value="6102"`)
	b.Want(b.Get(movesPath+"/in?like=x"), http.StatusNotFound)
}

func TestReportIsSentWhole(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	var items []moving.Item
	for n := range int64(1200) {
		items = append(items, b.item(n+1, moving.Shadow, movesFinding(moving.Changes, "c", "=1+1")))
	}
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()}, items...)
	file := b.Get(path + "/report.csv")
	if b.Want(file, http.StatusOK, "1200,", "'=1+1"); strings.Count(file.Text, "\r\n") != 1201 {
		t.Errorf("the report has %d lines", strings.Count(file.Text, "\r\n"))
	}
	if got := file.Header.Get("Content-Disposition"); !strings.HasPrefix(got, `attachment; filename="move-`) || !strings.HasSuffix(got, `.csv"`) || file.Header.Get("Content-Length") != "" {
		t.Errorf("the report is sent with %v", file.Header)
	}
	lines := b.Get(path + "/report.jsonl")
	if b.Want(lines, http.StatusOK, `"contractId":1200`); strings.Count(lines.Text, "\n") != 1200 {
		t.Errorf("the report has %d lines", strings.Count(lines.Text, "\n"))
	}
	b.Want(b.Get(movesPath+"/999/report.csv"), http.StatusNotFound)
}

func TestMovesRolesAndOtherStores(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()}, b.item(1, moving.Shadow))
	b.Want(b.Get(movesPath+"/x"), http.StatusNotFound)
	b.Want(b.Get(strings.Replace(path, "/first/", "/second/", 1)), http.StatusNotFound)
	b.Add("sam@staff.example", staff.Support)
	b.SignIn("sam@staff.example")
	p := b.Get(path)
	if b.Want(p, http.StatusOK, "Dry run"); strings.Contains(p.Text, "What you can do") {
		t.Error("a user of the support is offered to steer a move")
	}
	if p := b.Get(movesPath); strings.Contains(p.Text, "Start a move") {
		t.Error("a user of the support is offered to start a move")
	}
	for _, where := range []string{movesPath + "/in", movesPath + "/out", path + "/wave", path + "/end"} {
		b.Want(b.Get(where+"?percent=1"), http.StatusForbidden)
		b.Want(b.Post(where, "percent", "1"), http.StatusForbidden)
	}
	for _, what := range []string{"/pause", "/resume", "/read", "/retry", "/parts", "/parts/decline"} {
		b.Want(b.Post(path+what), http.StatusForbidden)
	}
	if list, err := b.moves.Moves(t.Context(), b.First.ID); err != nil || len(list) != 1 || list[0].Paused || list[0].Wave != 0 || list[0].Status != moving.Ready {
		t.Errorf("a user of the support changed %+v, %v", list, err)
	}
}

func TestListPagesByNumber(t *testing.T) {
	t.Parallel()
	b := openMoves(t)
	var items []moving.Item
	for n := range int64(51) {
		items = append(items, b.item(n+1, moving.Shadow))
	}
	path := b.put(moving.Move{Status: moving.Ready, ReadAt: b.Clock.Now()}, items...)
	b.Want(b.Get(path+"/contracts?show=goes"), http.StatusOK, fmt.Sprintf(`href="%s/contracts?after=50&amp;show=goes"`, path))
	p := b.Get(path + "/contracts?show=goes&after=50")
	if b.Want(p, http.StatusOK, "First page"); strings.Count(p.Text, `<th scope="row"`) != 1 {
		t.Error("the second page has other contracts than the last one")
	}
}
