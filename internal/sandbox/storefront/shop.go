package storefront

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/sandbox/storefront/theme"
)

// card is a product on the list.
type card struct {
	simulator.Product
	From   money.Amount // the cheapest variant, once
	OnPlan money.Amount // the cheapest delivery on a plan; zero: there are no plans
}

// listPage is what the first page shows.
type listPage struct {
	Cards     []card
	NoPlans   bool // nothing can be subscribed to
	Dashboard string
}

func (s *Store) list(w http.ResponseWriter, r *http.Request) { s.showList(w, r, http.StatusOK, "") }

func (s *Store) showList(w http.ResponseWriter, r *http.Request, status int, problem string) {
	shelf, err := s.Platform.Shelf(s.Shop)
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	p := listPage{NoPlans: true, Dashboard: s.Dashboard}
	for _, one := range shelf {
		c := card{Product: one}
		p.NoPlans = p.NoPlans && len(one.Groups) == 0
		for i, v := range one.Variants {
			if i == 0 || v.Price.Minor < c.From.Minor {
				c.From = v.Price
			}
			for _, g := range one.Groups {
				if !slices.Contains(g.Variants, v.ID) {
					continue
				}
				for _, plan := range g.Plans {
					prices := plan.Prices(v.Price) // the last one lasts
					if each := prices[len(prices)-1].Each; c.OnPlan == (money.Amount{}) || each.Minor < c.OnPlan.Minor {
						c.OnPlan = each
					}
				}
			}
		}
		p.Cards = append(p.Cards, c)
	}
	s.show(w, r, status, "list.html", view{Title: s.Name, Page: p, Problem: problem})
}

// productPage is what a product's page shows.
type productPage struct {
	simulator.Product
	Variant  simulator.ProductVariant
	Language string
	Section  string        // id
	Options  template.HTML // the block of purchase options
	Portal   template.HTML // the block of the link to the portal
	OwnForm  bool          // the block of purchase options has the form
}

// Ids of sections. A block joins the form that its theme calls product-form-SECTION.
const mainSection = "main"

// stylesheet, script and settings of blocks on a product's page.
const (
	optionsBlock = "purchase-options"
	portalBlock  = "portal-link"
)

// find returns the product whose page has a handle.
func (s *Store) find(handle string) (simulator.Product, error) {
	shelf, err := s.Platform.Shelf(s.Shop)
	if err != nil {
		return simulator.Product{}, err
	}
	for _, p := range shelf {
		if p.Handle == handle {
			return p, nil
		}
	}
	return simulator.Product{}, fault.New(fault.NotFound, "the store has no product %q", handle).Code("productNotFound")
}

func (s *Store) product(w http.ResponseWriter, r *http.Request) {
	p, err := s.find(r.PathValue("handle"))
	if err == nil {
		err = s.showProduct(w, r, p)
	}
	if err != nil {
		s.refused(w, r, err, s.showList)
	}
}

// showProduct answers with a product's page, or with its section when the address asks for
// that, as the platform does. A language and settings of blocks are in the address too:
// ?locale=de&purchase-options.form=own shows the page as it would be.
func (s *Store) showProduct(w http.ResponseWriter, r *http.Request, p simulator.Product) error {
	page, err := s.themePage(r, &p)
	if err != nil {
		return err
	}
	d := productPage{Product: p, Variant: theme.Chosen(p, page.Variant), Language: page.Language, Section: page.Section}
	d.OwnForm = page.Settings[optionsBlock+".form"] == "own" && len(p.Groups) > 0
	v := view{Title: p.Title + " · " + s.Name}
	if d.Options, err = s.block(&v, optionsBlock, page); err != nil {
		return err
	}
	if d.Portal, err = s.block(&v, portalBlock, page); err != nil {
		return err
	}
	v.Page = d
	name := "product.html"
	if r.URL.Query().Get("section_id") == mainSection {
		name = "section"
	}
	s.show(w, r, http.StatusOK, name, v)
	return nil
}

// block renders a block and notes what its page has to load.
func (s *Store) block(v *view, name string, page theme.Page) (template.HTML, error) {
	b, _ := s.extension.Block(name)
	text, err := b.Render(page)
	if err != nil {
		return "", err
	}
	if of := b.Schema.Stylesheet; of != "" && !slices.Contains(v.Stylesheets, of) {
		v.Stylesheets = append(v.Stylesheets, of)
	}
	if of := b.Schema.Javascript; of != "" && !slices.Contains(v.Scripts, of) {
		v.Scripts = append(v.Scripts, of)
	}
	return template.HTML(text), nil //nolint:gosec // the block escapes what is not its own, as at the platform
}

// themePage is the page as blocks know it.
func (s *Store) themePage(r *http.Request, p *simulator.Product) (theme.Page, error) {
	store, _ := demo.StoreByDomain(s.Shop)
	page := theme.Page{Currency: store.Currency, Language: theme.DefaultLanguage, Product: p, Section: mainSection, Settings: map[string]string{}}
	if p != nil {
		page.Currency = p.Variants[0].Price.Currency
	}
	var err error
	if page.Variant, err = number(r, "variant"); err != nil {
		return page, err
	}
	if page.Plan, err = number(r, "selling_plan"); err != nil {
		return page, err
	}
	query := r.URL.Query()
	if language := query.Get("locale"); s.extension.Speaks(language) {
		page.Language = language
	}
	for name := range query {
		if block, _, ok := strings.Cut(name, "."); ok && (block == optionsBlock || block == portalBlock) {
			page.Settings[name] = query.Get(name)
		}
	}
	if id, err := strconv.ParseInt(cmp.Or(s.session(r), "0"), 10, 64); err == nil {
		page.Customer = id
	}
	return page, nil
}
