package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/swaps"
)

const swapsPath = dashboardtest.At + "/swaps"

// swapsShelf stands in for the domain.
type swapsShelf struct {
	*dashboardtest.Site
	rules   []swap.Rule
	holders []contract.Contract
	put     *swap.Rule
	did     []string
	err     error // of the next change or preview
}

func openSwaps(t *testing.T) *swapsShelf {
	s := &swapsShelf{}
	s.Site = dashboardtest.Open(t, func(_ *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, swaps.New(swaps.Options{Rules: s, Book: s, Preview: s}))
	})
	s.SignIn(dashboardtest.Owner)
	return s
}

func refillRule(id swap.ID) swap.Rule {
	return swap.Rule{
		ID: id, Line: shop.Subscriptions, Name: "Kit, then refills", Sources: []swap.Product{{VariantID: 12, Name: "Starter kit", Image: "https://cdn.example.com/kit.png", Quantity: 2}},
		Destinations: []swap.Product{{VariantID: 13, Name: "Refill", Quantity: 1}}, Cycle: 3, EveryOrder: true, Sequence: int(id), Discount: swap.None, ShiftDays: new(5), NoEmail: true, Version: 2,
	}
}

func (s *swapsShelf) SwapRulesOf(_ context.Context, of shop.ID, line shop.Line, p page.Request) ([]swap.Rule, int, error) {
	var list []swap.Rule
	for _, r := range s.rules {
		if r.Line == line && of == s.First.ID {
			list = append(list, r)
		}
	}
	from := min(p.Page*p.Size, len(list))
	return list[from:min(from+p.Size, len(list))], len(list), nil
}

func (s *swapsShelf) SwapRuleOf(_ context.Context, of shop.ID, line shop.Line, id swap.ID) (swap.Rule, error) {
	for _, r := range s.rules {
		if r.ID == id && r.Line == line && of == s.First.ID {
			return r, nil
		}
	}
	return swap.Rule{}, fault.New(fault.NotFound, "swap rule %d does not exist", id)
}

func (s *swapsShelf) change(r swap.Rule, what string) (swap.Rule, error) {
	if s.err != nil {
		return r, s.err
	}
	s.put = &r
	s.did = append(s.did, what)
	return r, nil
}

func (s *swapsShelf) Create(_ context.Context, _ shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error) {
	return s.change(r, "create by "+by.By)
}

func (s *swapsShelf) Update(_ context.Context, _ shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error) {
	if r.Version != 2 {
		return r, fault.New(fault.Conflict, "swap rule %d has changed", r.ID)
	}
	return s.change(r, "update by "+by.By)
}

func (s *swapsShelf) Switch(_ context.Context, _ shop.ID, _ shop.Line, id swap.ID, version int64, on bool, by activity.Actor) (swap.Rule, error) {
	if version != 2 {
		return swap.Rule{}, fault.New(fault.Conflict, "swap rule %d has changed", id)
	}
	return s.change(refillRule(id), fmt.Sprintf("switch %d %t by %s", id, on, by.By))
}

func (s *swapsShelf) Move(_ context.Context, _ shop.ID, _ shop.Line, id swap.ID, down bool, by activity.Actor) error {
	_, err := s.change(refillRule(id), fmt.Sprintf("move %d %t by %s", id, down, by.By))
	return err
}

func (s *swapsShelf) Delete(_ context.Context, _ shop.ID, _ shop.Line, id swap.ID, by activity.Actor) error {
	_, err := s.change(refillRule(id), fmt.Sprintf("delete %d by %s", id, by.By))
	return err
}

func (s *swapsShelf) CountHolders(context.Context, shop.ID, shop.Line, int64) (int, bool, error) {
	return len(s.holders), true, nil
}

func (s *swapsShelf) Holders(_ context.Context, _ shop.ID, _ shop.Line, _ int64, after contract.ID, limit int) ([]contract.Contract, error) {
	var list []contract.Contract
	for _, c := range s.holders {
		if c.ID > after && len(list) < limit {
			list = append(list, c)
		}
	}
	return list, nil
}

func (s *swapsShelf) PreviewWith(_ context.Context, _ shop.Shop, _ shop.Line, id contract.ID, rule swap.Rule) ([]prepare.Preview, error) {
	if s.err != nil {
		return nil, s.err
	}
	next := func(cycle int, applied ...swap.Rule) prepare.Preview {
		line := contract.LineItem{Title: "Refill", Quantity: 2, Price: money.Amount{Minor: 1225, Currency: "EUR"}}
		return prepare.Preview{Order: order.Order{Cycle: cycle, Lines: []contract.LineItem{line}, Applied: applied}, Date: s.Clock.Now().AddDate(0, cycle, 0)}
	}
	if id%2 == 0 {
		return []prepare.Preview{next(1), next(2)}, nil
	}
	return []prepare.Preview{next(1), next(2, rule, swap.Rule{ID: 99, Name: "Other"}), next(3, rule)}, nil
}

func swapForm(change ...string) []string {
	fields := map[string]string{"version": "2", "name": "Kit, then refills", "from": "12 × 2", "to": "13", "cycle": "3", "every": "on", "discount": "NONE", "shift": "5", "silent": "on", "on": "on"}
	for i := 0; i < len(change); i += 2 {
		fields[change[i]] = change[i+1]
	}
	var list []string
	for name, value := range fields {
		if value != "" {
			list = append(list, name, value)
		}
	}
	return list
}

func TestRulesAreListedInTheirOrder(t *testing.T) {
	s := openSwaps(t)
	s.Want(s.Get(swapsPath), http.StatusOK, "No swap rule yet", "Create swap rule")
	off := refillRule(8)
	off.Off, off.Name = true, "<script>alert(1)</script>{{7*7}}"
	s.rules = []swap.Rule{refillRule(7), off}
	p := s.Get(swapsPath)
	s.Want(p, http.StatusOK, "2 × Starter kit", "by 1 × Refill", "In every order from cycle 3 on; the orders after it come 5 days later", "Switch off", "Switch on", "&lt;script&gt;", "Move Kit, then refills down")
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("the name of a rule is markup")
	}
	s.Want(s.Post(swapsPath+"/8/move", "to", "up"), http.StatusOK, "The order of the rules was changed.")
	s.Want(s.Post(swapsPath+"/7/move", "to", "down"), http.StatusOK)
	if want := "move 8 false by ana@staff.example, move 7 true by ana@staff.example"; strings.Join(s.did, ", ") != want {
		t.Errorf("did %v", s.did)
	}
	s.Want(s.Post("/admin/stores/second/swaps/8/move", "to", "up"), http.StatusNotFound)
}

func TestRuleIsSavedAsTheFormSays(t *testing.T) {
	s := openSwaps(t)
	s.rules = []swap.Rule{refillRule(7)}
	s.Want(s.Get(swapsPath+"/7"), http.StatusOK, "12 × 2", "Replaces 2 × Starter kit.", `value="5"`)
	s.Want(s.Post(swapsPath+"/7", swapForm()...), http.StatusOK, "The rule was saved.")
	if got, want := *s.put, refillRule(7); got.Sources[0] != want.Sources[0] || got.Destinations[0] != want.Destinations[0] || *got.ShiftDays != 5 || got.Cycle != 3 || !got.EveryOrder || !got.NoEmail || got.Off || got.Sequence != 7 {
		t.Errorf("an unchanged form makes it %+v", got)
	}
	s.Want(s.Post(swapsPath+"/new?line=memberships", swapForm("from", "gid://shopify/ProductVariant/21 x 3\n22", "cycle", "", "every", "", "shift", "", "silent", "", "on", "", "discount", "PRODUCT_PLAN", "first", "on")...), http.StatusOK, "The rule was made.")
	if r := s.put; r.Line != shop.Memberships || len(r.Sources) != 2 || r.Sources[0] != (swap.Product{VariantID: 21, Quantity: 3}) || r.Cycle != 0 || r.EveryOrder || r.ShiftDays != nil || !r.Off || !r.FirstOrder || r.Discount != swap.ProductPlan {
		t.Errorf("made %+v", r)
	}
	for _, row := range []struct {
		field, says string
		change      []string
	}{
		{"from", "neither the number nor the graph id", []string{"from", "tea"}},
		{"from", "is not how many of variant 12", []string{"from", "12 x many"}},
		{"from", "“Replace” must name at least one variant", []string{"from", " "}},
		{"to", "replaces products with the same products", []string{"to", "12 x 2"}},
		{"cycle", "counted from 1", []string{"cycle", "-1"}},
		{"cycle", "“Billing cycle” is 5000", []string{"cycle", "5000"}},
		{"shift", "is a whole number", []string{"shift", "x"}},
		{"shift", "“Move later orders by days” is 400", []string{"shift", "400"}},
		{"discount", "is not a price", []string{"discount", "FREE"}},
	} {
		s.Want(s.Post(swapsPath+"/7", swapForm(row.change...)...), http.StatusUnprocessableEntity, `id="e-`+row.field+`"`, row.says)
	}
	s.Want(s.Post(swapsPath+"/7", swapForm("version", "1")...), http.StatusUnprocessableEntity, "Swap rule 7 has changed.")
	s.err = fault.New(fault.NotFound, "field 'destinationVariants': variant 13 does not exist in this store").Field("destinationVariants")
	s.Want(s.Post(swapsPath+"/7", swapForm()...), http.StatusUnprocessableEntity, `id="e-to"`, "“By”: variant 13 does not exist in this store.")
}

func TestDryRunSaysWhichContractsChangeWhen(t *testing.T) {
	s := openSwaps(t)
	s.rules = []swap.Rule{refillRule(7)}
	run := append(swapForm("on", ""), "do", "dry-run")
	s.Want(s.Post(swapsPath+"/7", run...), http.StatusOK, "0 contracts have variant 12, so the rule would change nothing now. Nothing was changed or saved.")
	for id := range contract.ID(7) {
		c := contract.Contract{ID: 9001 + id, Customer: contract.Customer{Name: "Ivo"}}
		c.Lines = []contract.LineItem{{Title: "Starter kit", VariantTitle: "Large", Quantity: 2, Price: money.Amount{Minor: 2000, Currency: "EUR"}}}
		s.holders = append(s.holders, c)
	}
	s.Want(s.Post(swapsPath+"/7", run...), http.StatusOK, "7 contracts have variant 12", "2 × Starter kit - Large at 20.00 EUR", "25 Jan 2027, cycle 2", "2 × Refill at 12.25 EUR", "With Other. It acts in 2 of the next 3 orders.",
		"Stays as it is", `name="after" value="9005"`)
	p := s.Post(swapsPath+"/7", append(run, "after", "9005")...)
	s.Want(p, http.StatusOK, "/contracts/9007")
	if strings.Contains(p.Text, "/contracts/9005") || strings.Contains(p.Text, `name="after"`) || len(s.did) != 0 {
		t.Errorf("the next part has what was shown, or something was changed: %v", s.did)
	}
	s.Want(s.Post(swapsPath+"/new", append(swapForm(), "do", "dry-run")...), http.StatusOK, "2 × Refill at 12.25 EUR")
	s.err = fault.New(fault.Unavailable, "the platform could not be asked for the prices")
	s.Want(s.Post(swapsPath+"/7", run...), http.StatusUnprocessableEntity, "The platform could not be asked for the prices.", "12 × 2")
}

func TestRulesAreSwitchedAndDeletedAfterQuestions(t *testing.T) {
	s := openSwaps(t)
	s.rules = []swap.Rule{refillRule(7)}
	s.Want(s.Get(swapsPath+"/7/switch"), http.StatusOK, "From now on it changes no order.")
	s.Want(s.Post(swapsPath+"/7/switch", "version", "1", "to", "off"), http.StatusUnprocessableEntity, "Swap rule 7 has changed.")
	s.Want(s.Post(swapsPath+"/7/switch", "version", "2", "to", "off"), http.StatusOK, "The rule changes no more orders.")
	s.rules[0].Off = true
	s.Want(s.Get(swapsPath+"/7/switch"), http.StatusOK, "Switch the rule on")
	s.Want(s.Post(swapsPath+"/7/switch", "version", "2", "to", "on"), http.StatusOK, "The rule changes orders from now on.")
	s.Want(s.Get(swapsPath+"/7/delete"), http.StatusOK, "Contracts and orders that it has changed stay as they are.")
	s.Want(s.Post(swapsPath+"/7/delete"), http.StatusOK, "The rule was deleted.")
	if want := "switch 7 false by ana@staff.example, switch 7 true by ana@staff.example, delete 7 by ana@staff.example"; strings.Join(s.did, ", ") != want {
		t.Errorf("did %v", s.did)
	}
	for _, path := range []string{"/8", "/x", "/8/switch", "/8/delete"} {
		s.Want(s.Get(swapsPath+path), http.StatusNotFound)
	}
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	p := s.Get(swapsPath + "/7")
	s.Want(p, http.StatusOK, "An owner or admin of the store can change this.")
	if strings.Contains(p.Text, "Save rule") || strings.Contains(s.Get(swapsPath).Text, "Switch on") {
		t.Error("support is offered to change rules")
	}
	s.Want(s.Post(swapsPath+"/7", swapForm()...), http.StatusForbidden)
	s.Want(s.Post(swapsPath+"/7/move", "to", "up"), http.StatusForbidden)
}
