package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/boxes"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// boxesChanges is a box of coffee, and notes what is asked for.
type boxesChanges struct {
	subscription.Changes
	*portaltest.Site

	rules  bundle.Rules
	prices bundle.Pricing
	asked  []string
}

func (c *boxesChanges) Box(ctx context.Context, who do.Caller, id contract.ID) (do.Box, error) {
	v, err := c.Portal.Contract(ctx, who, id)
	return do.Box{View: v, Bundle: bundle.Settings{Rules: c.rules, Pricing: c.prices, Texts: bundle.Texts{TieredDiscount: "The more, the cheaper"}}, Held: []do.BoxProduct{{Product: portaltest.Product(201, "House Blend Coffee", "Whole bean", 1408), Quantity: 2}}}, err
}

func (c *boxesChanges) DraftBox(_ context.Context, _ do.Box, want []contractedit.BoxItem) (do.BoxDraft, error) {
	d := do.BoxDraft{Cost: portaltest.USD(100)}
	for _, i := range want {
		d.Pieces += i.Quantity
	}
	d.Broken = c.rules.CheckBox([]bundle.Item{{Variant: 1, Quantity: d.Pieces}})
	return d, nil
}

func (c *boxesChanges) FillBox(_ context.Context, _ do.Caller, _ do.ContractRef, want []contractedit.BoxItem) (contract.Detail, error) {
	c.asked = append(c.asked, fmt.Sprint(want))
	pieces := 0
	for _, i := range want {
		pieces += i.Quantity
	}
	return contract.Detail{}, c.rules.CheckBox([]bundle.Item{{Variant: 1, Quantity: pieces}})
}

func (c *boxesChanges) Products(_ context.Context, _ do.Caller, _ contract.ID, q do.ProductQuery) (do.ProductList, error) {
	if q.Page > 0 {
		return do.ProductList{Products: []do.Product{portaltest.Product(302, "Geisha", "250 g", 2000)}}, nil
	}
	return do.ProductList{Products: []do.Product{portaltest.Product(201, "House Blend Coffee", "Whole bean", 1408), portaltest.Product(301, "Decaf", contract.OnlyVariant, 1300)}, More: true}, nil
}

const boxesPath = "/s/1/box"

func openBoxes(t *testing.T, rules bundle.Rules) (*portaltest.Site, *boxesChanges) {
	t.Helper()
	c := &boxesChanges{rules: rules}
	s := openRooms(t, nil, func(s *portaltest.Site) []portal.Room {
		c.Site = s
		boxed := func(context.Context, shop.ID, contract.Contract) (bool, error) { return true, nil }
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: c, Boxes: boxed}), boxes.New(boxes.Options{Changes: c})}
	})
	return s, c
}

func TestBoxSaysWhatItCosts(t *testing.T) {
	t.Parallel()
	s, c := openBoxes(t, bundle.Rules{})
	if p := s.Get(portaltest.At + boxesPath); strings.Contains(p.Text, "for the box") || strings.Contains(p.Text, "The more") {
		t.Errorf("a box that costs the sum of its products says: %s", p.Text)
	}
	c.prices = bundle.Pricing{Model: bundle.Fixed, Fixed: portaltest.USD(4900), Volume: true, Tiers: []bundle.Tier{{MinProducts: 3, Percent: 5}, {MinProducts: 6, Percent: 12.5}}}
	s.Want(s.Get(portaltest.At+boxesPath), http.StatusOK, "$49.00 for the box, or what its products cost if that is less.", "The more, the cheaper", "5% off from 3 pieces.", "12.5% off from 6 pieces.")
}

func TestBoxIsFilledAcrossPagesOfProducts(t *testing.T) {
	t.Parallel()
	s, c := openBoxes(t, bundle.Rules{Enabled: true, MinProducts: 2, MaxProducts: 6, MaxSwaps: 3, CutoffDays: 1, CategoryLimits: map[string]bundle.Limit{"Tea": {Max: 4}}})
	s.Want(s.Get(portaltest.At+"/s/1"), http.StatusOK, `href="/p/first/s/1/box"`)
	p := s.Get(portaltest.At + boxesPath)
	s.Want(p, http.StatusOK, "2 to 6 pieces.", "Tea: at most 4.", "3 products can be exchanged before each order.", "until 1 day before the order", `name="quantity-201" type="number" value="2"`, `name="quantity-301" type="number" value="0"`, "2 pieces")
	if n := strings.Count(p.Text, `name="quantity-201"`); n != 1 {
		t.Errorf("what the box holds stands %d times on the page", n)
	}
	p = s.Send(p, boxesPath, "quantity-201", "1", "quantity-301", "1", "do", "turn-1")
	s.Want(p, http.StatusOK, "Geisha", `type="hidden" name="quantity-301" value="1"`, `name="quantity-201" type="number" value="1"`)
	p = s.Send(p, boxesPath, "quantity-201", "1", "quantity-301", "1", "quantity-302", "1", "do", "save")
	s.Want(p, http.StatusOK, "Your box is saved.")
	if got, want := strings.Join(c.asked, "\n"), "[{201 1} {301 1} {302 1}]"; got != want {
		t.Errorf("filled with %s, want %s", got, want)
	}
}

func TestRefusedBoxKeepsWhatWasChosen(t *testing.T) {
	t.Parallel()
	s, c := openBoxes(t, bundle.Rules{Enabled: true, MaxProducts: 3})
	p := s.Get(portaltest.At + boxesPath)
	for typed, says := range map[string]string{"1.5": "Enter a whole number", "-1": "Enter a whole number", "10000": "Enter a whole number", "9": "The box holds too many products."} {
		s.Want(s.Send(p, boxesPath, "quantity-201", typed, "do", "save"), http.StatusUnprocessableEntity, says, `value="`+typed+`"`)
	}
	s.Want(s.Send(p, boxesPath, "quantity-201", "9", "do", "count"), http.StatusOK, "9 pieces", `<p class="err">The box holds too many products.</p>`)
	if len(c.asked) != 1 {
		t.Errorf("asked for %q: what is no number reaches the domain, or a count changes the box", c.asked)
	}
}
