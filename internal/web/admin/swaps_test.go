package admin

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// products stands in for the rules and the one-time products of a store.
type products struct {
	rule    swap.Rule
	command command.OneOff
}

func (p *products) Create(_ context.Context, _ shop.Shop, r swap.Rule, _ activity.Actor) (swap.Rule, error) {
	p.rule = r
	r.ID = 77
	return r, r.Check()
}

func (p *products) Update(_ context.Context, _ shop.Shop, r swap.Rule, _ activity.Actor) (swap.Rule, error) {
	p.rule = r
	return r, nil
}

func (p *products) Delete(context.Context, shop.ID, shop.Line, swap.ID, activity.Actor) error {
	return nil
}

func (p *products) SwapRuleOf(_ context.Context, _ shop.ID, _ shop.Line, id swap.ID) (swap.Rule, error) {
	if id != 77 {
		return swap.Rule{}, fault.New(fault.NotFound, "no such rule")
	}
	return theRule(), nil
}

func (p *products) SwapRulesOf(context.Context, shop.ID, shop.Line, page.Request) ([]swap.Rule, int, error) {
	return []swap.Rule{theRule()}, 1, nil
}

func (p *products) Preview(context.Context, shop.Shop, shop.Line, contract.ID) ([]prepare.Preview, error) {
	return []prepare.Preview{{Order: order.Order{Cycle: 4, Lines: theContract().Lines, Applied: []swap.Rule{theRule()}}, Date: noon()}}, nil
}

func (p *products) AddOneOff(_ context.Context, _ shop.Shop, c command.OneOff) error {
	p.command = c
	return nil
}

func (p *products) UpdateOneOff(_ context.Context, _ shop.Shop, c command.OneOff) (billing.OneOffRecord, error) {
	p.command = c
	return theOneOff(), nil
}

func (p *products) RemoveOneOff(_ context.Context, _ shop.Shop, c command.OneOff) error {
	p.command = c
	return nil
}

func (p *products) WaitingOneOffs(context.Context, shop.ID, []contract.ID) ([]billing.OneOff, error) {
	return nil, nil
}

func (p *products) OneOffsOf(context.Context, shop.ID, billing.OneOffQuestion, page.Request) ([]billing.OneOffRecord, int, error) {
	return []billing.OneOffRecord{theOneOff()}, 1, nil
}

func theRule() swap.Rule {
	return swap.Rule{
		ID: 77, Line: shop.Subscriptions, Name: "Tea", Sources: []swap.Product{{VariantID: 12, Name: "Tin", Image: "https://cdn.example.com/tin.png", Quantity: 2}},
		Destinations: []swap.Product{{VariantID: 13, Name: "Refill", Quantity: 1}}, Cycle: 3, Sequence: 4, Discount: swap.None, ShiftDays: new(5), Version: 2,
	}
}

func theOneOff() billing.OneOffRecord {
	return billing.OneOffRecord{Attempt: 9, OneOff: billing.OneOff{
		ID: 5, Contract: 42, Cycle: 4, Handle: "green-tea", Quantity: 2, Variant: platform.Variant{ID: 12, Price: money.Amount{Minor: 1050, Currency: "USD"}},
	}}
}

// shelve serves the interface over fakes of products.
func shelve(t *testing.T) (*products, *server) {
	t.Helper()
	f, p := &fakes{}, &products{}
	s := &server{fakes: f, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(f, shop.Subscriptions, s.log, s.clock)
	o.Swaps, o.SwapBook, o.Preview, o.OneOffs, o.OneOffBook = p, p, p, p, p
	s.handler = New(o)
	return p, s
}

func TestSwapRulesAndOneTimeProductsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	_, s := shelve(t)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"product_swaps.json":    s.ask("GET", swapsPath, ""),
		"product_foreseen.json": s.ask("POST", base+"/product-swaps-by-variant-groups/42", ""),
		"one_offs.json":         s.ask("GET", base+"/subscription-contract-one-offs-by-contractId?contractId=42", ""),
	} {
		if w.Code != http.StatusOK {
			t.Fatalf("%s: answered %d %s", name, w.Code, w.Body)
		}
		webtest.Golden(t, name, w.Body.Bytes())
	}
}

func TestSwapRuleBodyBecomesRule(t *testing.T) {
	t.Parallel()
	p, s := shelve(t)
	w := s.ask("POST", swapsPath, `{"shop":"demo.myshopify.com","name":" Tea ","sourceVariants":[{"id":"gid://shopify/ProductVariant/12"}],"destinationVariants":"[{\"id\":13,\"quantity\":2}]","discountCarryForward":"product_plan"}`)
	if w.Code != http.StatusCreated {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	if r := p.rule; r.Name != "Tea" || r.Sources[0] != (swap.Product{VariantID: 12, Quantity: 1}) || r.Destinations[0] != (swap.Product{VariantID: 13, Quantity: 2}) || r.Discount != swap.ProductPlan || r.ShiftDays != nil {
		t.Errorf("read as %+v", r)
	}
	w = s.ask("PUT", swapsPath, `{"id":77,"shop":"demo.myshopify.com","changeNextOrderDateBy":null,"ruleSequence":1}`)
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	if r := p.rule; r.ShiftDays != nil || r.Sequence != 1 || r.Cycle != 3 || r.Name != "Tea" || r.Sources[0] != theRule().Sources[0] {
		t.Errorf("changed to %+v", r)
	}
	for body, want := range map[string]int{
		`{"id":77,"shop":"demo.myshopify.com","sourceVariants":"[{\"id\":12,\"quantity\":1.5}]"}`:       400,
		`{"id":77,"shop":"demo.myshopify.com","sourceVariants":"{}"}`:                                   400,
		`{"id":77,"shop":"demo.myshopify.com","sourceVariants":"[{\"id\":\"gid://shopify/Order/1\"}]"}`: 400,
		`{"id":77,"shop":"demo.myshopify.com","ruleSequence":null}`:                                     400,
		`{"id":78,"shop":"demo.myshopify.com"}`:                                                         404,
		`{"shop":"demo.myshopify.com"}`:                                                                 400,
		`{"id":77,"ruleSequence":1}`:                                                                    400,
	} {
		if w := s.ask("PUT", swapsPath, body); w.Code != want {
			t.Errorf("%s answered %d, want %d", body, w.Code, want)
		}
	}
	if w := s.ask("PUT", swapsPath+"/77", `{"id":78,"shop":"demo.myshopify.com"}`); w.Code != 400 {
		t.Errorf("two different ids answered %d", w.Code)
	}
}

func TestOneOffQuantityComesFromQueryOrBody(t *testing.T) {
	t.Parallel()
	const path = base + "/subscription-contract-one-offs-update-quantity"
	for name, ask := range map[string][2]string{
		"all in the query": {"?contractId=42&billingAttemptId=9&variantId=12&quantity=3", ""},
		"all in the body":  {"", `{"contractId":42,"billingAttemptId":9,"variantId":"gid://shopify/ProductVariant/12","quantity":3}`},
		"some in each":     {"?contractId=42&quantity=3", `{"billingAttemptId":9,"variantId":12,"quantity":8}`},
	} {
		p, s := shelve(t)
		w := s.ask("PUT", path+ask[0], ask[1])
		if c := p.command; w.Code != 200 || c.Contract != 42 || c.Attempt != 9 || c.Variant != 12 || c.Quantity != 3 {
			t.Errorf("%s: answered %d %s, read as %+v", name, w.Code, w.Body, c)
		}
	}
	_, s := shelve(t)
	w := s.ask("PUT", path+"?contractId=42&billingAttemptId=9&variantId=12", "")
	if w.Code != 400 || !strings.Contains(w.Body.String(), "Required request parameter 'quantity' for method parameter type Integer is not present") {
		t.Errorf("without a quantity: %d %s", w.Code, w.Body)
	}
	if w := s.ask("PUT", path, `{"contractId":42,"billingAttemptId":9,"variantId":12,"quantity":1000}`); w.Code != 400 {
		t.Errorf("too many answered %d", w.Code)
	}
}
