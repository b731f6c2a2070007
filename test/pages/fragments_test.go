package pages

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/home"
)

// arrives waits until the page that is open says a text.
func (v *visit) arrives(want string) {
	v.t.Helper()
	v.tab.Until(fmt.Sprintf("document.body.innerText.includes(%q)", want))
}

// A part of a page that fails says so in its place. The rest of the page can be used, and the
// part can be asked for again.
func TestPartOfPageThatFailsSaysSoInItsPlace(t *testing.T) {
	t.Parallel()
	s := dashboardtest.Open(t)
	s.State = home.State{Connected: true, Contracts: true}
	s.Overview = analytics.Overview{At: s.Clock.Now(), First: 1, Currency: "EUR", MRR: analytics.Tile{Value: 120050, Before: 100000, Trend: make([]int64, 30)}}
	s.Fails = errors.New("the disk is broken")
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "part"}
	v.tab.Open(s.URL + "/admin/signin")
	v.fill("#email", dashboardtest.Owner)
	v.tab.Submit("#password", dashboardtest.Password)
	v.tab.Open(s.URL + dashboardtest.At)
	v.arrives("Something is wrong on our side")
	v.says("Needs attention")
	if n := browsertest.Eval[int](v.tab, `document.querySelectorAll("h1, html").length`); n != 2 {
		t.Errorf("the page has %d roots and headings: a page is within the page", n)
	}
	v.look("fails", http.StatusOK, http.StatusOK)
	s.Fails = nil
	browsertest.Eval[bool](v.tab, `document.querySelector("[data-problem] button").click(), true`)
	v.arrives("1200.50")
	if got := v.text("[data-problem]"); got != "" {
		t.Errorf("the page still says %q", got)
	}
	s.Clock.Set(s.Clock.Now().AddDate(0, 0, 1)) // the figures are no longer fresh
	v.tab.Open(s.URL + dashboardtest.At + "/charging")
	s.Close() // nothing answers any more
	browsertest.Eval[bool](v.tab, `(() => {
		const part = document.createElement("div");
		part.setAttribute("hx-get", location.pathname);
		part.setAttribute("hx-trigger", "load");
		document.querySelector("main").append(part);
		htmx.process(part);
		return true;
	})()`)
	v.arrives("No answer came. Check the connection.")
	if got := v.text("[data-problem] button"); got != "Try again" {
		t.Errorf("the button says %q", got)
	}
}
