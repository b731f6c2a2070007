package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/storefront"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// visitor is a customer in the portal of a life, at the store's domain.
type visitor struct {
	*life

	pages    portal.Portal
	customer int64
	log      *bytes.Buffer
}

func visit(l *life) *visitor {
	l.t.Helper()
	v := &visitor{life: l, customer: l.contract().Customer.ID, log: &bytes.Buffer{}}
	var err error
	v.pages, err = l.app.portal(web.Frame{Log: slog.New(slog.NewTextHandler(v.log, nil))})
	l.must(err)
	return v
}

// send sends a request through the app proxy, with a form.
func (v *visitor) send(method, path string, form url.Values) (status int, text string) {
	v.t.Helper()
	path, asked, _ := strings.Cut(path, "?")
	query, err := url.ParseQuery(asked)
	v.must(err)
	for name, value := range map[string]string{"shop": v.of.Domain, "logged_in_customer_id": fmt.Sprint(v.customer), "path_prefix": "/apps/subscriptions", "timestamp": fmt.Sprint(v.clock.Now().Unix())} {
		query.Set(name, value)
	}
	query.Set("signature", storefront.Sign(lifeSecret, query))
	r := httptest.NewRequestWithContext(v.t.Context(), method, portal.Proxied("subscriptions")+path+"?"+query.Encode(), strings.NewReader(form.Encode()))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	v.pages.Proxied.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// unseen finds the unseen fields of a form.
var unseen = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// formOf returns the unseen fields of a page's form whose action ends with a path.
func (v *visitor) formOf(text, action string) url.Values {
	v.t.Helper()
	at := strings.Index(text, action+`"`)
	if at < 0 {
		v.t.Fatalf("the page has no form for %s:\n%s", action, text)
	}
	text, _, _ = strings.Cut(text[at:], "</form>")
	form := url.Values{}
	for _, f := range unseen.FindAllStringSubmatch(text, -1) {
		form.Set(f[1], f[2])
	}
	return form
}

// does opens the question before an action, sends its form, and returns the page that follows.
func (v *visitor) does(path string) string {
	v.t.Helper()
	status, text := v.send(http.MethodGet, path, nil)
	if status != http.StatusOK {
		v.t.Fatalf("%s answers %d:\n%s", path, status, text)
	}
	return v.sends(path, v.formOf(text, path))
}

func (v *visitor) sends(path string, form url.Values) string {
	v.t.Helper()
	status, text := v.send(http.MethodPost, path, form)
	_, to, leads := strings.Cut(text, `http-equiv="refresh" content="0; url=/apps/subscriptions/cp`)
	if status != http.StatusOK || !leads {
		v.t.Fatalf("the form of %s answers %d:\n%s", path, status, text)
	}
	to, _, _ = strings.Cut(to, `"`)
	v.settle()
	status, text = v.send(http.MethodGet, strings.ReplaceAll(to, "&amp;", "&"), nil)
	if status != http.StatusOK {
		v.t.Fatalf("%s leads to %s, which answers %d:\n%s", path, to, status, text)
	}
	return text
}

func (v *visitor) says(text string, want ...string) {
	v.t.Helper()
	for _, words := range want {
		if !strings.Contains(text, words) {
			_, shown, _ := strings.Cut(text, "<main")
			v.t.Errorf("the page does not say %q:\n%s", words, shown)
		}
	}
}

// A customer skips an order and takes that back, asks for the next one now, and finds what became of
// it.
func TestCustomerSkipsAndOrdersOnPages(t *testing.T) {
	t.Parallel()
	l := live(t)
	v := visit(l)
	first := l.upcoming(0)
	at := fmt.Sprintf("/s/%d", l.id)
	skip := fmt.Sprintf("%s/orders/%d/skip", at, first)

	status, asked := v.send(http.MethodGet, skip, nil)
	if status != http.StatusOK {
		t.Fatalf("the question answers %d:\n%s", status, asked)
	}
	v.says(asked, "Skip the order on Wednesday, November 11?", "Your next order will be on Friday, December 11.")
	form := v.formOf(asked, skip)
	text := v.sends(skip, form)
	v.says(text, "The order is skipped. You won’t be charged for it", "Undo skip")
	again := v.sends(skip, form) // the reader presses the button twice
	v.says(again, "The order is skipped.")
	if got := v.statusOf(first); got != billing.Skipped {
		t.Errorf("the order is %s", got)
	}

	text = v.sends(fmt.Sprintf("%s/orders/%d/unskip", at, first), v.formOf(text, fmt.Sprintf("%s/orders/%d/unskip", at, first)))
	v.says(text, "The order is back.")
	if got := v.statusOf(first); got != billing.Queued {
		t.Errorf("the order is %s", got)
	}

	l.until("2026-11-10") // the platform charges an order from a day before its date on
	text = v.does(fmt.Sprintf("%s/orders/%d/now", at, first))
	v.says(text, "Placing your order…")
	l.pass(time.Hour)
	_, text = v.send(http.MethodGet, fmt.Sprintf("%s/orders/%d/placed", at, first), nil)
	v.says(text, "Your order is placed", "You were charged $25.00.")
	if got := v.statusOf(first); got != billing.Success {
		t.Errorf("the order is %s", got)
	}
	if _, text = v.send(http.MethodGet, at, nil); !strings.Contains(text, "Paid") {
		t.Errorf("the subscription does not show the order:\n%s", text)
	}
	skips := 0
	for _, e := range v.entries() {
		if e.Event != activity.BillingAttemptSkipped {
			continue
		}
		if skips++; e.Actor.Source != activity.CustomerPortal {
			t.Errorf("the log has %+v", e)
		}
	}
	if skips != 1 {
		t.Errorf("the log has %d skips", skips)
	}
}

// A form that was made before the contract changed does nothing: it is asked again, with what is
// true now.
func TestFormOfChangedContractIsAskedAgain(t *testing.T) {
	t.Parallel()
	l := live(t)
	v := visit(l)
	skip := fmt.Sprintf("/s/%d/orders/%d/skip", l.id, l.upcoming(1))
	_, asked := v.send(http.MethodGet, skip, nil)
	form := v.formOf(asked, skip)
	l.skip(0)
	status, text := v.send(http.MethodPost, skip, form)
	if status != http.StatusConflict {
		t.Errorf("answered %d", status)
	}
	v.says(text, "This subscription changed while you were here. Your change was not saved, and you were not charged.", "Skip this order")
	if fresh := v.formOf(text, skip); fresh.Get("version") == form.Get("version") {
		t.Errorf("the form that is shown again has the old version %s", form.Get("version"))
	}
}

// A pause ends on the page, and the order that it has named comes.
func TestCustomerResumesOnPages(t *testing.T) {
	t.Parallel()
	l := live(t)
	v := visit(l)
	at := fmt.Sprintf("/s/%d", l.id)
	_, err := l.app.Portal.Pause(t.Context(), v.caller(), do.ContractRef{ID: l.id}, do.PauseParams{})
	l.must(err)
	l.settle()
	l.until("2026-11-20")
	_, asked := v.send(http.MethodGet, at+"/resume", nil)
	v.says(asked, "Your next order will be on Friday, December 11.")
	v.says(v.sends(at+"/resume", v.formOf(asked, at+"/resume")), "Your subscription runs again.", "Friday, December 11")
	if c := l.contract(); c.Status != contract.Active {
		t.Errorf("the contract is %s", c.Status)
	}
}

func (v *visitor) caller() do.Caller {
	return do.Caller{Shop: v.of, Actor: login.Principal{Shop: v.of.ID, Customer: v.customer}.Actor("192.0.2.1")}
}

func (v *visitor) statusOf(id billing.AttemptID) billing.Status {
	v.t.Helper()
	r, err := v.app.Store.Attempt(v.t.Context(), v.of.ID, shop.Subscriptions, id)
	v.must(err)
	return r.Status
}

func (v *visitor) entries() []activity.Entry {
	v.t.Helper()
	list, err := v.app.Store.LatestEntries(v.t.Context(), v.of.ID, 100)
	v.must(err)
	return list
}

// Every route of the portal treats what belongs to another customer or another store as what does
// not exist, at both places, and changes nothing of it. The routes are those of the rooms, so that a
// new one is covered.
func TestEveryRouteOfPortalHidesWhatIsAnothers(t *testing.T) {
	t.Parallel()
	l := live(t)
	v := visit(l)
	own := l.contract()
	other := shop.Shop{Domain: "other.myshopify.com", Token: "shpat_other", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: l.clock.Now()}
	l.must(l.app.Store.Shops().AddShop(t.Context(), &other))
	put := func(of shop.ID, id contract.ID, customer int64) billing.AttemptID {
		c := own
		c.ID, c.Customer.ID, c.Version, c.Status = id, customer, 0, contract.Active
		attempts := []billing.Attempt{{Contract: id, Cycle: 2, Status: billing.Queued, BillingDate: l.clock.Now().Add(240 * time.Hour)}}
		l.must(l.app.Store.Update(t.Context(), of, func(tx *store.Tx) error {
			if err := tx.PutContracts(t.Context(), []contract.Contract{c}); err != nil {
				return err
			}
			return tx.PutAttempts(t.Context(), attempts)
		}))
		return attempts[0].ID
	}
	names := map[string][2]string{
		"of another customer":                       {"770001", fmt.Sprint(put(l.of.ID, 770001, own.Customer.ID+1))},
		"of the same customer number there":         {"770002", fmt.Sprint(put(other.ID, 770002, own.Customer.ID))},
		"that does not exist":                       {"779999", "779999"},
		"that is no number":                         {"x", "x"},
		"that is too large a number":                {"99999999999999999999", "1"},
		"of the customer, with an order of another": {fmt.Sprint(l.id), fmt.Sprint(put(l.of.ID, 770003, own.Customer.ID+2))},
	}
	before := l.snapshotOf(l.of.ID, 770001, 770003)
	there := l.snapshotOf(other.ID, 770002)
	_, home := v.send(http.MethodGet, "", nil)
	form := url.Values{"request_id": {"0123456789abcdef012345"}}
	status, asked := v.send(http.MethodGet, fmt.Sprintf("/s/%d/orders/%d/skip", l.id, l.upcoming(0)), nil)
	if status != http.StatusOK {
		t.Fatalf("%d: %s %s", status, asked, home)
	}
	form.Set("token", v.formOf(asked, "/skip").Get("token"))
	checked := 0
	for _, room := range l.app.portalRooms() {
		for _, route := range room.Routes {
			method, path, _ := strings.Cut(route.Pattern, " ")
			if !strings.Contains(path, "{contract}") {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(names)) {
				ids := names[name]
				if ids[0] == fmt.Sprint(l.id) && !strings.Contains(path, "{attempt}") {
					continue
				}
				target := wildcard.ReplaceAllString(strings.NewReplacer("{contract}", ids[0], "{attempt}", ids[1]).Replace(path), "1")
				if status, text := v.send(method, target, form); status != http.StatusNotFound || strings.Contains(text, own.Lines[0].Title) {
					t.Errorf("%s, a contract %s, answers %d", route.Pattern, name, status)
				}
				checked++
			}
			if status, _ := v.send(method, wildcard.ReplaceAllString(path, "1"), url.Values{}); method == http.MethodPost && status != http.StatusForbidden {
				t.Errorf("%s without a token answers %d", route.Pattern, status)
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d requests were checked", checked)
	}
	if got := l.snapshotOf(l.of.ID, 770001, 770003); got != before {
		t.Errorf("what is another customer's has changed:\n%s\n%s", before, got)
	}
	if got := l.snapshotOf(other.ID, 770002); got != there {
		t.Errorf("what is another store's has changed:\n%s\n%s", there, got)
	}
}

// snapshotOf returns the versions of contracts and what is stored of their orders.
func (l *life) snapshotOf(of shop.ID, ids ...contract.ID) string {
	l.t.Helper()
	var text strings.Builder
	l.must(l.app.Store.View(l.t.Context(), of, func(tx *store.Tx) error {
		contracts, err := tx.ReadContracts(l.t.Context(), ids)
		if err != nil {
			return err
		}
		for _, c := range contracts {
			fmt.Fprintln(&text, c.ID, c.Version, c.Status, c.NextBillingDate)
		}
		attempts, err := tx.AttemptsOf(l.t.Context(), ids, billing.Statuses...)
		for _, a := range attempts {
			fmt.Fprintln(&text, a.ID, a.Version, a.Status, a.BillingDate)
		}
		return err
	}))
	return text.String()
}

func TestHelpIsPageOrElseAddressOrTelephone(t *testing.T) {
	t.Parallel()
	all := do.Support{URL: "https://demo.example/help", Email: "help@demo.example", Phone: "+1 (555) 010-0"}
	for _, row := range []struct {
		leave func(*do.Support)
		want  string
	}{
		{func(*do.Support) {}, "https://demo.example/help"},
		{func(s *do.Support) { s.URL = "" }, "mailto:help@demo.example"},
		{func(s *do.Support) { s.URL, s.Email = "", "" }, "tel:+15550100"},
		{func(s *do.Support) { *s = do.Support{} }, ""},
	} {
		s := all
		row.leave(&s)
		if got := helpOf(s); got != row.want {
			t.Errorf("of %+v it is %q, want %q", s, got, row.want)
		}
	}
}
