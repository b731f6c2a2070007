package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// sourced is a contract of another service, as its interface shows it.
type sourced struct {
	ID     int64
	Status string
	Next   string
	Line   string // JSON of its line
	Extra  string // further members of its JSON
	Past   string // JSON list of its last orders
	Row    string // further members of its row in the search
}

// source is another service with the interface, and what is wrong with it.
type source struct {
	*life
	contracts []*sourced
	move      moving.ID
	calls     []string // that changed something
	// bad deals with a request, and reports whether it did; nil: nothing is wrong.
	bad func(w http.ResponseWriter, r *http.Request) bool
}

// from returns a store here and another service with so many contracts of it, which charges in ten days.
func from(t *testing.T, contracts int) *source {
	t.Helper()
	l := live(t)
	s := &source{life: l}
	is, err := l.sim.Contract(int64(l.id))
	l.must(err)
	for n := range contracts {
		s.contracts = append(s.contracts, &sourced{
			ID: int64(501 + n), Status: "ACTIVE", Next: "2026-11-11T14:00:00Z", Past: "[]",
			Line: fmt.Sprintf(`{"id":"gid://shopify/SubscriptionLine/%d","variantId":"%d","quantity":1,"title":"Tea","currentPrice":{"amount":"12.50","currencyCode":"USD"}}`, n+1, is.Lines[0].VariantID),
			Extra: fmt.Sprintf(`"customer":{"id":"gid://shopify/Customer/%d"},"customerPaymentMethod":{"id":%q},
				"deliveryMethod":{"kind":"SHIPPING","serviceCode":"standard","title":"Standard","address":{"firstName":"Ana","lastName":"Silva","address1":"1 Main Street","city":"New York","provinceCode":"NY","countryCode":"US","zip":"10001"}}`, is.Customer.ID, is.PaymentMethod),
		})
	}
	l.peer = s
	return s
}

// ServeHTTP answers as the interface says.
func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.bad != nil && s.bad(w, r) {
		return
	}
	path, _ := strings.CutPrefix(r.URL.Path, "/api/external/v2/")
	name, id, _ := cutLast(path)
	switch q := r.URL.Query(); {
	case path == "subscription-contract-details":
		s.list(w, q.Get("subscriptionContractId"), q.Get("page"))
	case name == "subscription-contracts/contract-external":
		s.with(w, id, func(c *sourced) {
			fmt.Fprintf(w, `{"id":%d,"status":%q,"nextBillingDate":%q,"billingPolicy":{"interval":"MONTH","intervalCount":1},"deliveryPolicy":{"interval":"MONTH","intervalCount":1},"lines":[%s],%s}`,
				c.ID, c.Status, c.Next, c.Line, c.Extra)
		})
	case name == "subscription-contract-details/current-cycle":
		fmt.Fprint(w, "3")
	case path == "subscription-billing-attempts/past-orders":
		s.with(w, q.Get("contractId"), func(c *sourced) { fmt.Fprint(w, c.Past) })
	case path == "subscription-billing-attempts/top-orders":
		s.with(w, q.Get("contractId"), func(c *sourced) { fmt.Fprint(w, "[]") })
	case path == "subscription-contracts-update-status":
		s.calls = append(s.calls, q.Get("status")+" "+q.Get("contractId"))
		s.with(w, q.Get("contractId"), func(c *sourced) { c.Status = q.Get("status") })
	case path == "subscription-contracts-update-billing-date":
		s.calls = append(s.calls, "date "+q.Get("contractId"))
		s.with(w, q.Get("contractId"), func(c *sourced) { c.Next = q.Get("nextBillingDate") })
	case slices.Contains([]string{"subscription-groups", "product-swaps", "subscription-bundle-settings"}, path):
		w.WriteHeader(http.StatusNotImplemented)
	case r.Method == http.MethodDelete:
		s.calls = append(s.calls, "DELETE "+id)
		s.with(w, id, func(c *sourced) { c.Status = "CANCELLED" })
	default:
		s.t.Errorf("%s %s was asked of the other service", r.Method, path)
	}
}

func cutLast(path string) (before, after string, found bool) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return path, "", false
	}
	return path[:at], path[at+1:], true
}

func (s *source) list(w http.ResponseWriter, id, page string) {
	var rows []string
	for _, c := range s.contracts {
		if text := strconv.FormatInt(c.ID, 10); page == "0" || text == id {
			rows = append(rows, fmt.Sprintf(`{"subscriptionContractId":%d,"status":%q,"orderId":1,"totalSuccessfulOrders":2,"nextBillingDate":%q%s}`, c.ID, strings.ToLower(c.Status), c.Next, c.Row))
		}
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(rows)))
	fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
}

func (s *source) with(w http.ResponseWriter, id string, do func(*sourced)) {
	at := slices.IndexFunc(s.contracts, func(c *sourced) bool { return strconv.FormatInt(c.ID, 10) == id })
	if at < 0 {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"title":"Not Found"}`)
		return
	}
	do(s.contracts[at])
}

// begin starts a move from the source.
func (s *source) begin() {
	s.t.Helper()
	m, err := s.app.Moves.Start(s.t.Context(), s.of.ID, mover.New{
		Direction: moving.In, Peer: moving.Peer{Address: "https://source.example.com", Key: "secret", Rate: 1000}, By: activity.Operator,
	})
	s.must(err)
	s.move = m.ID
}

func (s *source) progress() mover.Progress {
	s.t.Helper()
	p, err := s.app.Moves.Progress(s.t.Context(), s.of.ID, s.move)
	s.must(err)
	return p
}

func (s *source) items() []moving.Item {
	s.t.Helper()
	list, err := s.app.Moves.Items(s.t.Context(), s.of.ID, s.move, moving.Match{}, 0, 1000)
	s.must(err)
	return list
}

// wave lets all contracts go.
func (s *source) wave() {
	s.t.Helper()
	_, err := s.app.Moves.SetWave(s.t.Context(), s.of.ID, s.move, activity.Operator, 100)
	s.must(err)
}

// whole checks that every contract arrived, and that each is charged once.
func (s *source) whole() {
	s.t.Helper()
	if p := s.progress(); p.Moved != len(s.contracts) {
		for _, i := range s.items() {
			s.t.Logf("contract %d is %s (%s), due %s: %s %s %+v", i.There, i.Stage, i.Fit, i.DueAt, i.Code, i.Reason, i.Findings)
		}
		s.t.Fatalf("%d of %d contracts were moved (%s)", p.Moved, len(s.contracts), p.Move.Failure)
	}
	for _, c := range s.contracts {
		if c.Status != "CANCELLED" {
			s.t.Errorf("contract %d is %s there", c.ID, c.Status)
		}
	}
	s.until("2026-11-13")
	orders := map[int64]int{}
	for _, o := range s.sim.Orders(simulator.OrderFilter{}) {
		orders[o.Contract]++
	}
	if len(orders) != len(s.contracts)+1 { // one was here before
		s.t.Errorf("%d contracts were charged, want %d", len(orders), len(s.contracts)+1)
	}
	for id, n := range orders {
		if n != 1 {
			s.t.Errorf("contract %d was charged %d times", id, n)
		}
	}
}

// on has requests whose path has a part dealt with.
func on(part string, answer func(w http.ResponseWriter)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, part) {
			return false
		}
		answer(w)
		return true
	}
}

func status(code int, text string, header ...string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for n := 0; n+1 < len(header); n += 2 {
			w.Header().Set(header[n], header[n+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// failures are ways in which a source fails for a while, and what the move says meanwhile.
var failures = map[string]struct {
	answer func(w http.ResponseWriter)
	says   string
}{
	"5xx":                         {status(503, "<html>"), "answered 503"},
	"429":                         {status(429, ""), "asks to wait"},
	"429 with Retry-After":        {status(429, "", "Retry-After", "120"), "asks to wait"},
	"429 with a bad Retry-After":  {status(429, "", "Retry-After", "-9999999999999"), "asks to wait"},
	"429 with a date":             {status(429, "", "Retry-After", "Sun, 01 Nov 2026 12:02:00 GMT", "Date", "Sun, 01 Nov 2026 12:00:00 GMT"), "asks to wait"},
	"HTML with 200":               {status(200, "<html>maintenance</html>"), "cannot be read"},
	"an empty answer":             {status(200, ""), "is empty"},
	"null":                        {status(200, "null"), "is empty"},
	"truncated JSON":              {status(200, `[{"subscriptionContractId":501,"sta`), "cannot be read"},
	"a page of a proxy with 404":  {status(404, "<html>no such host</html>"), "is not its interface"},
	"a redirect to another host":  {status(302, "", "Location", "https://elsewhere.example.com/"), "redirects"},
	"a key that it does not know": {status(401, `{"title":"Unauthorized"}`), "refuses the key"},
	"an answer in another form":   {status(200, `{"content":[]}`), "cannot be read"},
}

// However a source fails for an hour, while it is listed, while it is read, and at each step of a
// move: the move says why it waits, goes on when the source is well, and each order is charged once.
func TestMoveWaitsForSourceThatFails(t *testing.T) {
	t.Parallel()
	parts := map[string]string{"listing": "subscription-contract-details", "reading": "contract-external", "its orders": "past-orders"}
	for n, name := range slices.Sorted(maps.Keys(failures)) {
		for _, step := range inTurn(n, slices.Sorted(maps.Keys(parts))) {
			t.Run(name+" while "+step, func(t *testing.T) {
				t.Parallel()
				f, part := failures[name], parts[step]
				says := f.says
				if name == "an answer in another form" && step == "reading" {
					says = "answered with contract 0" // it is an object
				}
				s := from(t, 3)
				s.bad = on(part, f.answer)
				s.begin()
				s.pass(time.Hour)
				p := s.progress()
				reasons := p.Move.Failure
				for _, i := range s.items() {
					reasons += "\n" + i.Reason
					if i.Stage != moving.Found {
						t.Errorf("contract %d is %s (%s)", i.There, i.Stage, i.Reason)
					}
				}
				if !strings.Contains(reasons, says) || strings.Contains(reasons, "secret") {
					t.Errorf("the move says %q, want %q", reasons, says)
				}
				s.bad = nil
				s.pass(2 * time.Hour)
				if p := s.progress(); p.Move.Status != moving.Ready || p.Read != 3 || p.Move.Failure != "" {
					t.Fatalf("after it was well the move is %s with %d read: %s", p.Move.Status, p.Read, p.Move.Failure)
				}
				s.wave()
				s.pass(time.Hour)
				s.whole()
			})
		}
	}
}

// The same at each step of a contract's move.
func TestContractArrivesThoughSourceFailsMeanwhile(t *testing.T) {
	t.Parallel()
	for n, name := range slices.Sorted(maps.Keys(failures)) {
		for _, step := range inTurn(n, []string{"update-status", "contract-external", "subscription-contracts/50"}) {
			t.Run(name+" at "+step, func(t *testing.T) {
				t.Parallel()
				f := failures[name]
				s := from(t, 2)
				s.begin()
				s.pass(10 * time.Minute)
				s.bad = on(step, f.answer)
				s.wave()
				s.pass(time.Hour)
				for _, i := range s.items() {
					if i.Stage == moving.Moved && f.says != "cannot be read" && f.says != "is empty" {
						t.Errorf("contract %d is %s", i.There, i.Stage)
					}
				}
				s.bad = nil
				s.pass(3 * time.Hour)
				s.whole()
			})
		}
	}
}

func TestListThatLiesIsReadWhole(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]func(s *source) func(w http.ResponseWriter, r *http.Request) bool{
		"it counts too many": func(*source) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X-Total-Count", "99999")
				return false
			}
		},
		"it lists the same page for ever": func(s *source) func(http.ResponseWriter, *http.Request) bool {
			return func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "details") || r.URL.Query().Get("subscriptionContractId") != "" {
					return false
				}
				var rows []map[string]any
				for n := range 500 {
					id := s.contracts[n%3].ID
					rows = append(rows, map[string]any{"subscriptionContractId": id})
				}
				text, _ := json.Marshal(rows)
				_, _ = w.Write(text)
				return true
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := from(t, 3)
			s.bad = bad(s)
			s.begin()
			s.pass(8 * time.Hour) // changes are listed too
			if p := s.progress(); p.Move.Status != moving.Ready || p.Read != 3 || p.Total != 3 {
				t.Fatalf("the move is %s with %d of %d read: %s", p.Move.Status, p.Read, p.Total, p.Move.Failure)
			}
			s.wave()
			s.pass(time.Hour)
			s.whole()
		})
	}
}

// A contract with something that cannot be taken over stays where it is, with a reason, and is not touched there.
func TestContractThatCannotBeReadStays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*sourced)
		code   string
	}{
		"a negative quantity":  {func(c *sourced) { c.Line = strings.Replace(c.Line, `"quantity":1`, `"quantity":-3`, 1) }, "quantityInvalid"},
		"a negative price":     {func(c *sourced) { c.Line = strings.Replace(c.Line, "12.50", "-12.50", 1) }, "priceInvalid"},
		"a price that is huge": {func(c *sourced) { c.Line = strings.Replace(c.Line, "12.50", "1e400", 1) }, "priceInvalid"},
		"a price that is none": {func(c *sourced) { c.Line = strings.Replace(c.Line, "12.50", "free", 1) }, "priceInvalid"},
		"a delivery price":     {func(c *sourced) { c.Extra += `,"deliveryPrice":{"amount":"later"}` }, "priceInvalid"},
		"an unknown currency":  {func(c *sourced) { c.Row = `,"currencyCode":"BITCOIN"` }, "currencyUnknown"},
		"an unknown status":    {func(c *sourced) { c.Status = "ONHOLD" }, "contractEnded"},
		"a date that is none":  {func(c *sourced) { c.Next = "soon" }, "dateMissing"},
		"a date that is past":  {func(c *sourced) { c.Next = "1999-01-01" }, "datePast"},
		"a variant that is huge": {func(c *sourced) {
			c.Line = strings.Replace(c.Line, `"variantId":"`, `"variantId":"99999999999999999999`, 1)
		}, "variantGone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := from(t, 1)
			row.change(s.contracts[0])
			s.begin()
			s.pass(10 * time.Minute)
			items := s.items()
			if len(items) != 1 || items[0].Stage != moving.Staying || items[0].Fit != moving.Stays ||
				!slices.ContainsFunc(items[0].Findings, func(f moving.Finding) bool { return f.Code == row.code && f.Text != "" }) {
				t.Errorf("%+v", items)
			}
			s.wave()
			s.pass(time.Hour)
			if len(s.calls) > 0 || s.progress().Moved > 0 {
				t.Errorf("it was changed there: %v", s.calls)
			}
		})
	}
}

// An order with a status that is not known may be one that is charged now.
func TestOrderWithUnknownStatusIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := from(t, 1)
	s.contracts[0].Past = `[{"id":7,"status":"AWAITING_CAPTURE","billingDate":"2026-10-31T09:00:00Z"}]`
	s.begin()
	s.pass(10 * time.Minute)
	s.wave()
	s.pass(time.Hour)
	if i := s.items()[0]; i.Stage != moving.Chosen || !strings.Contains(i.Reason, "AWAITING_CAPTURE") || len(s.calls) > 0 {
		t.Errorf("contract %d is %s: %s, %v", i.There, i.Stage, i.Reason, s.calls)
	}
	s.contracts[0].Past = `[{"id":7,"status":"SUCCESS","billingDate":"2026-10-31T09:00:00Z"}]`
	s.pass(time.Hour)
	s.whole()
}

// A contract with a status that is not known has not ended: it is not charged here as well.
func TestContractOfUnknownStatusIsNotTakenForCancelled(t *testing.T) {
	t.Parallel()
	s := from(t, 1)
	s.begin()
	s.pass(10 * time.Minute)
	s.bad = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			s.contracts[0].Status = "ENDING_SOON"
			return true
		}
		return false
	}
	s.wave()
	s.pass(time.Hour)
	if i := s.items()[0]; i.Stage != moving.Cancelling || !strings.Contains(i.Reason, "ENDING_SOON") {
		t.Errorf("contract %d is %s: %s", i.There, i.Stage, i.Reason)
	}
	s.bad = nil
	s.pass(3 * time.Hour)
	if s.contracts[0].Status != "CANCELLED" || s.progress().Moved != 1 {
		t.Errorf("%+v", s.items())
	}
}

// Contracts that appear, vanish and change between the list and their reading.
func TestContractsThatChangeWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	s := from(t, 3)
	gone, changed := s.contracts[1], s.contracts[2]
	s.bad = func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/502"): // it vanishes once it was listed
			s.contracts = slices.DeleteFunc(s.contracts, func(c *sourced) bool { return c == gone })
		case strings.HasSuffix(r.URL.Path, "update-status") && r.URL.Query().Get("contractId") == "503": // its price changes as it is stopped
			changed.Line = strings.Replace(changed.Line, "12.50", "15.00", 1)
		}
		return false
	}
	s.begin()
	s.pass(10 * time.Minute)
	if p := s.progress(); p.Move.Status != moving.Ready || p.Stages[moving.Staying] != 1 {
		t.Fatalf("%s %v", p.Move.Status, p.Stages)
	}
	late := *changed
	late.ID, late.Line = 504, strings.Replace(late.Line, "SubscriptionLine/3", "SubscriptionLine/4", 1)
	s.contracts = append(s.contracts, &late)
	s.pass(7 * time.Hour)
	s.wave()
	s.pass(24 * time.Hour)
	s.whole()
	amounts := map[string]int{}
	for _, o := range s.sim.Orders(simulator.OrderFilter{}) {
		amounts[o.Amount]++
	}
	if amounts["15.00"] != 1 {
		t.Errorf("orders by amount: %v", amounts)
	}
}

// Dates without a zone are the store's.
func TestDatesWithoutZoneAreTheStores(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-11": "2026-11-11T14:00:00Z", "2026-11-11T23:30:00": "2026-11-12T04:30:00Z", "2026-11-11T23:30": "2026-11-12T04:30:00Z", "2026-11-11T23:30:00Z": "2026-11-11T23:30:00Z",
		"2026-11-11T23:30:00+0200": "2026-11-11T21:30:00Z",
	} {
		s := from(t, 1)
		s.contracts[0].Next = text
		s.begin()
		s.pass(10 * time.Minute)
		if got := s.items()[0].Contract.Next.Format(time.RFC3339); got != want {
			t.Errorf("%s was read as %s, want %s", text, got, want)
		}
	}
}
