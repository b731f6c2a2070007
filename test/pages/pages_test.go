// Package pages visits every page in a real browser.
package pages

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/web/portal"
)

var shots = flag.String("shots", "", "folder for pictures of every page")

// site is a sandbox with a few customers, and a portal for a customer without contracts.
type site struct {
	sandbox.URLs
	portal string // the first page of the store's portal
	email  string // address of a customer with contracts
	key    string // of the store

	manifest sandbox.Manifest
}

// open starts a sandbox of one store.
func open(t *testing.T) *site {
	t.Helper()
	return openWith(t, sandbox.Options{Contracts: 12, MainOnly: true})
}

// openAll does the same with all stores of the demo.
func openAll(t *testing.T) *site {
	t.Helper()
	return openWith(t, sandbox.Options{Contracts: 12})
}

func openWith(t *testing.T, o sandbox.Options) *site {
	t.Helper()
	s := run(t, o)
	at := &site{URLs: s.URLs(), key: s.Manifest().APIKey, manifest: s.Manifest()}
	at.portal = at.Subscriptions + portal.Path + login.Handle(s.Manifest().Shop)
	var customer struct{ Email string }
	at.read(t, "/platform/customers/7001", &customer)
	at.email = customer.Email
	return at
}

// read reads an answer of the control interface.
func (s *site) read(t *testing.T, path string, out any) {
	t.Helper()
	answer, err := http.Get(s.Control + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		t.Fatal(err)
	}
}

// link returns the sign-in link that was sent last.
func (s *site) link(t *testing.T) string {
	t.Helper()
	var mails []struct{ Links []string }
	s.read(t, "/mail?kind=management_link&to="+s.email, &mails)
	if len(mails) > 0 {
		for _, link := range mails[len(mails)-1].Links {
			if strings.Contains(link, "/l/") {
				return link
			}
		}
	}
	t.Fatalf("no link in the mails to %q: %v", s.email, mails)
	return ""
}

// Every page can be used by everybody: on a phone and on a desk, in light and in dark, with
// a keyboard alone. The visits go where a person goes, so what one finds the next builds on.
func TestEveryPageCanBeUsedByEverybody(t *testing.T) {
	t.Parallel()
	s, browser := openAll(t), browsertest.Start(t)
	for _, row := range []struct {
		name  string
		visit func(*visit)
	}{ // one after the other: what one changes, the next shows
		{"fronts", func(v *visit) {
			for _, host := range []struct{ name, url string }{
				{"subscriptions", s.Subscriptions}, {"memberships", s.Memberships}, {"dashboard", s.Dashboard}, {"platform", s.Platform}, {"control", s.Control},
			} {
				v.open(host.name, host.url+"/", http.StatusOK)
			}
		}},
		{"reference", func(v *visit) {
			docs := s.Subscriptions + "/docs"
			v.open("index", docs, http.StatusOK)
			v.submit("found", "[name=q]", "skip order", http.StatusOK)
			v.submit("nothing found", "[name=q]", "no such thing", http.StatusOK)
			v.open("resource", docs+"/webhooks", http.StatusOK)
			v.open("resource with filters", docs+"/billing-attempts", http.StatusOK)
			v.open("shapes", docs+"/shapes", http.StatusOK)
			v.open("shape", docs+"/shapes/PlanOption", http.StatusOK)
			v.open("missing", docs+"/nothing", http.StatusNotFound)
		}},
		{"references of other interfaces", func(v *visit) {
			v.open("loyalty", s.Loyalty+"/loyalty/docs", http.StatusOK)
			v.open("loyalty resource", s.Loyalty+"/loyalty/docs/points", http.StatusOK)
			v.open("portal interface", s.Subscriptions+"/portal/docs", http.StatusOK)
			v.open("portal resource", s.Subscriptions+"/portal/docs/orders", http.StatusOK)
			v.open("partner", s.Subscriptions+"/api/partner/docs", http.StatusOK)
			v.open("partner resource", s.Subscriptions+"/api/partner/docs/connections", http.StatusOK)
		}},
		{"portal", func(v *visit) {
			v.open("sign in", s.portal, http.StatusOK)
			v.submit("link sent", "[name=email]", s.email, http.StatusOK)
			link := s.link(v.t)
			v.open("continue", link, http.StatusOK)
			v.click("subscriptions", "main button", http.StatusOK)
			v.open("link used", link, http.StatusGone)
			v.open("no such store", s.Subscriptions+"/p/nobody", http.StatusNotFound)
		}},
		{"caught messages", func(v *visit) {
			v.open("list", s.Control+"/inbox", http.StatusOK)
			v.submit("nothing fits", "[name=to]", "no such person", http.StatusOK)
			v.submit("some fit", "[name=to]", "@shopper", http.StatusOK)
			v.click("desktop", ".rows a", http.StatusOK)
			v.click("phone", ".shapes a:nth-child(2)", http.StatusOK)
			v.click("dark", ".shapes a:nth-child(3)", http.StatusOK)
			v.click("text", ".shapes a:nth-child(4)", http.StatusOK)
		}},
		{"storefront", func(v *visit) {
			v.open("signed out", s.Storefront, http.StatusOK)
			v.submit("refused", "[name=customer_id]", "somebody", http.StatusBadRequest)
			v.submit("signed in", "[name=customer_id]", "7001", http.StatusOK)
			v.click("product", ".shelf a", http.StatusOK)
			v.open("product with its own form", s.Storefront+"/products/house-blend-coffee?purchase-options.form=own&selling_plan=6009", http.StatusOK)
			v.open("membership", s.Storefront+"/products/pantry-club-membership", http.StatusOK)
			v.open("product in Japanese", s.Storefront+"/products/house-blend-coffee?locale=ja&selling_plan=6009", http.StatusOK)
			v.open("empty cart", s.Storefront+"/cart", http.StatusOK)
			v.open("plan", s.Storefront+"/products/house-blend-coffee?selling_plan=6003", http.StatusOK)
			v.click("cart", ".buy button", http.StatusOK)
			v.click("checkout", "main a.button", http.StatusOK)
			v.click("thanks", ".pay button", http.StatusOK)
		}},
	} {
		t.Run(row.name, func(t *testing.T) { row.visit(&visit{t: t, tab: browser.Tab(t), of: row.name}) })
	}
}

// Pages need no scripts: the search is a form, what only a script can do is not shown, and
// the links of the time when the reference was one page lead into its index.
func TestPagesWorkWithoutScripts(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	tab := browser.Tab(t)
	tab.Scripts(false)
	docs := s.Subscriptions + "/docs"
	tab.Open(docs)
	if status := tab.Submit("[name=q]", "unskipOrder"); status != http.StatusOK {
		t.Errorf("the search answered %d", status)
	}
	text := func() string { return browsertest.Eval[string](tab, "document.body.innerText") }
	if got := text(); !strings.Contains(got, "1 operation and 0 shapes for") || !strings.Contains(got, "Take a skip back") {
		t.Errorf("the search found:\n%s", got)
	}
	if status := tab.Click("main .op a"); status != http.StatusOK {
		t.Errorf("the operation's page answered %d", status)
	}
	if got := text(); !strings.Contains(got, "subscription-billing-attempts/unskip-order/{id}") || strings.Contains(got, "Send a request") || strings.Contains(got, "API key, to send") {
		t.Errorf("the operation's page says:\n%s", got)
	}
	tab.Open(docs + "#unskipOrder")
	if got := browsertest.Eval[string](tab, "document.querySelector(':target a').getAttribute('href')"); got != "/docs/billing-attempts#unskipOrder" {
		t.Errorf("the old link of the operation leads to %q", got)
	}
	tab.Open(s.portal)
	if status := tab.Submit("[name=email]", s.email); status != http.StatusOK {
		t.Errorf("signing in answered %d", status)
	}
	tab.Open(s.link(t))
	if status := tab.Click("main button"); status != http.StatusOK || !strings.Contains(text(), "Your next order") {
		t.Errorf("the link opened %d:\n%s", status, text())
	}
}

// With scripts the reference sends requests, with the key that was typed on any of its
// pages, and old links lead to where their target is now.
func TestTheReferenceSendsRequests(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	tab := browser.Tab(t)
	tab.Open(s.Subscriptions + "/docs/webhooks")
	browsertest.Eval[bool](tab, `key.value = "`+s.key+`", key.dispatchEvent(new Event("input")), true`)
	tab.Open(s.Subscriptions + "/docs/customers")
	const sent = `(async () => {
		const form = document.querySelector("#searchCustomers form");
		form.requestSubmit();
		const output = form.querySelector("output");
		while (output.textContent.length < 2) await new Promise(requestAnimationFrame);
		return output.textContent;
	})()`
	if got := browsertest.Eval[string](tab, sent); !strings.HasPrefix(got, "200 OK\n[") || !strings.Contains(got, "7001") {
		t.Errorf("the answer is shown as %.300s", got)
	}
	for from, want := range map[string]string{"/docs#searchCustomers": "/docs/customers#searchCustomers", "/docs#shape-PlanOption": "/docs/shapes/PlanOption"} {
		tab := browser.Tab(t)
		tab.Open(s.Subscriptions + from)
		tab.Until(`location.pathname + location.hash === "` + want + `"`)
	}
}

// visit is a browser's way through pages.
type visit struct {
	t   *testing.T
	tab *browsertest.Tab
	of  string
}

func (v *visit) open(name, url string, want int) {
	v.t.Helper()
	v.look(name, v.tab.Open(url), want)
}

func (v *visit) submit(name, field, text string, want int) {
	v.t.Helper()
	v.look(name, v.tab.Submit(field, text), want)
}

func (v *visit) click(name, selector string, want int) {
	v.t.Helper()
	v.look(name, v.tab.Click(selector), want)
}

// clickAndWait clicks, waits until what was asked for is done, and looks at the page, opened again.
func (v *visit) clickAndWait(name, selector string, s *site) {
	v.t.Helper()
	if status := v.tab.Click(selector); status != http.StatusOK {
		v.t.Errorf("%s: the click answers %d", name, status)
	}
	s.rest(v.t)
	v.open(name, browsertest.Eval[string](v.tab, "location.href"), http.StatusOK)
}

// look audits the page that is open.
func (v *visit) look(name string, status, want int) {
	v.t.Helper()
	if status != want {
		v.t.Errorf("%s: answered %d, want %d", name, status, want)
	}
	if !v.tab.RunsScripts() { // the page is looked at where they run
		return
	}
	if v.audit(name, part{"", v.tab}) {
		v.report(name+", by keyboard", v.tab.Keyboard())
	}
}

// part is a page, or a frame in it.
type part struct {
	where string
	page  interface {
		Audit() []browsertest.Violation
		AuditColours() []browsertest.Violation
		Layout() string
		Sideways() []browsertest.Violation
		Content() string
	}
}

// audit looks at those parts of the page that is open whose checksums are not in the list, and reports
// whether the page itself is one of them.
func (v *visit) audit(name string, parts ...part) (page bool) {
	v.t.Helper()
	found, page := v.violations(&audited, name, parts...)
	for _, one := range found {
		v.t.Error(one)
	}
	return page
}

// violations is audit with another list. It returns what it has found.
func (v *visit) violations(list *audits, name string, parts ...part) (found []string, page bool) {
	v.t.Helper()
	var changed []part
	for _, p := range parts {
		if !v.unchanged(list, name, p) {
			changed = append(changed, p)
			page = page || p.where == ""
		}
	}
	if len(changed) > 0 || *shots != "" {
		found = v.everywhere(name, changed)
		v.tab.Show(browsertest.Width, browsertest.Height, browsertest.Scheme)
	}
	return found, page
}

// everywhere looks at parts of the page that is open on a phone and on a desk, in light and in dark, as
// far as auditedWidths say. Where the dark only has other colours, its colours alone are looked at.
func (v *visit) everywhere(name string, parts []part) (found []string) {
	v.t.Helper()
	for _, width := range []int64{390, 1280} {
		audited := parts
		if !slices.Contains(auditedWidths, width) {
			audited = nil
		}
		layouts := make(map[part]string, len(parts))
		for _, scheme := range []string{"light", "dark"} {
			v.tab.Show(width, map[int64]int64{390: 844, 1280: 800}[width], scheme)
			for _, p := range audited {
				look := p.page.Audit
				is := p.page.Layout()
				if is == layouts[p] {
					look = p.page.AuditColours
				}
				layouts[p] = is
				found = append(found, each(fmt.Sprintf("%s, %s%d pixels wide, %s", name, p.where, width, scheme), look())...)
			}
			v.picture(fmt.Sprintf("%s %s %d %s", v.of, name, width, scheme))
		}
		for _, p := range parts {
			found = append(found, each(fmt.Sprintf("%s, %s%d pixels wide", name, p.where, width), p.page.Sideways())...)
		}
	}
	return found
}

// each returns a line for each violation.
func each(how string, found []browsertest.Violation) (lines []string) {
	for _, one := range found {
		lines = append(lines, how+": "+one.String())
	}
	return lines
}

func (v *visit) report(how string, found []browsertest.Violation) {
	v.t.Helper()
	for _, one := range each(how, found) {
		v.t.Error(one)
	}
}

// picture keeps a picture of the page when the flag -shots is set.
func (v *visit) picture(name string) {
	v.t.Helper()
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, strings.ReplaceAll(name, " ", "-")+".png"), v.tab.Screenshot(), 0o600); err != nil {
		v.t.Fatal(err)
	}
}
