package plans

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// idsField is a field for the numbers of products or variants.
func idsField(name, hint string) dashboard.Field {
	return dashboard.Field{Name: name, Label: labels[name], Type: "textarea", Hint: hint}
}

// ids reads the numbers that a field lists, and those of boxes that are ticked.
func ids(r *http.Request, field, objectType string) ([]int64, error) {
	texts := slices.Clone(r.PostForm["tick-"+field])
	texts = append(texts, strings.FieldsFunc(r.PostForm.Get(field), func(c rune) bool { return strings.ContainsRune(", \t\r\n;", c) })...)
	if len(texts) > plan.MaxFromCollection {
		return nil, fault.New(fault.Invalid, "%d numbers are more than %d, the most at once", len(texts), plan.MaxFromCollection).Field(field)
	}
	var list []int64
	for _, text := range texts {
		id, err := gid.Parse(objectType, text)
		if err != nil {
			return nil, fault.Because(fault.Invalid, err, "%q is neither a number nor the graph id of a %s", text, strings.ToLower(labels[field][:len(labels[field])-1])).Field(field)
		}
		list = append(list, id)
	}
	return list, nil
}

// productsPage is a page that adds products to a group, or takes them out.
type productsPage struct {
	Path, Back string
	Version    int64
	Fields     []dashboard.Field
	Text       string
	Button     string
	Grave      bool
	Finder     *finder // searches the store's products; nil: they are taken out
}

// finder is what a search for products to add has found.
type finder struct {
	Text  string
	Found []found
	More  bool
	Says  string // when nothing can be ticked
}

// found is a product of the store.
type found struct {
	plan.Titled
	In bool // the group has it already
}

// maxSearch is how many characters a search for products has.
const maxSearch = 100

// search searches the store's products for some to add to a group. Where the platform does not answer, the
// page says so: products can still be added by their numbers.
func (m *room) search(r *http.Request, v dashboard.Visit, g plan.Group) *finder {
	text := []rune(strings.TrimSpace(r.URL.Query().Get("search")))
	f := &finder{Text: string(text[:min(len(text), maxSearch)])}
	list, more, err := m.Groups.FindProducts(r.Context(), v.Shop.ID, f.Text)
	f.More = more
	for _, p := range list {
		f.Found = append(f.Found, found{p, slices.ContainsFunc(g.Products, func(in plan.Titled) bool { return in.ID == p.ID })})
	}
	switch {
	case err != nil:
		web.Note(r.Context(), err)
		f.Says = "The platform does not answer at the moment. Search again in a minute, or add products by their numbers below."
	case len(list) == 0 && f.Text != "":
		f.Says = fmt.Sprintf("No product has words in its title that begin with %q. Try fewer letters.", f.Text)
	case len(list) == 0:
		f.Says = "The store has no products yet. Make some in the platform's admin first."
	}
	return f
}

func productsForm(g plan.Group, adds bool) dashboard.Page {
	group := fmt.Sprintf("%s/%d", path, g.ID)
	p := productsPage{Path: group + "/products/add", Back: group, Version: g.Version, Button: "Add products", Text: "They can be subscribed to with each option of this group at once."}
	title, most := "Add products", fmt.Sprintf("Number or graph id. At most %d products of it.", plan.MaxFromCollection)
	if !adds {
		title = "Remove products"
		p.Path, p.Button, p.Grave = group+"/products/remove", "Remove products", true
		p.Text = "They can no longer be subscribed to through this group. Contracts with them go on as they are. What is not in the group is no error."
	}
	p.Fields = []dashboard.Field{
		idsField("products", "Numbers or graph ids, separated by commas or spaces."), idsField("variants", "The same for single variants."),
		{Name: "collection", Label: labels["collection"], Max: 100, Hint: most},
	}
	if !adds {
		p.Fields = append(p.Fields, dashboard.Field{Name: "all", Label: "All products and variants of this group", Type: "checkbox"})
	}
	return dashboard.Page{Name: "plan-products", Title: title, Crumb: &dashboard.Crumb{Name: g.Name, Path: group}, Content: p}
}

func (m *room) addForm(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.products(w, r, v, true)
}

func (m *room) removeForm(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.products(w, r, v, false)
}

func (m *room) products(w http.ResponseWriter, r *http.Request, v dashboard.Visit, adds bool) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	p := productsForm(g, adds)
	shown := p.Content.(productsPage)
	if adds {
		shown.Finder = m.search(r, v, g)
	}
	for field, name := range map[int]string{0: "products", 1: "variants"} { // those that were ticked
		shown.Fields[field].Value = strings.Join(r.URL.Query()["tick-"+name], ", ")
	}
	p.Content = shown
	return v.Answer(w, p)
}

func (m *room) add(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.assign(w, r, v, true, "plan-added")
}

func (m *room) removeProducts(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.assign(w, r, v, false, "plan-removed")
}

// assign adds products to a group, or takes them out.
func (m *room) assign(w http.ResponseWriter, r *http.Request, v dashboard.Visit, adds bool, done string) error {
	g, err := m.read(r, v)
	if err != nil {
		return err
	}
	var named plan.Assigned
	command := plan.UpdateCommand{Line: g.Line, ID: g.ID, CollectionLeaves: !adds, Actor: v.Actor(r)}
	if named.Products, err = ids(r, "products", "Product"); err == nil {
		named.Variants, err = ids(r, "variants", "ProductVariant")
	}
	if text := strings.TrimSpace(r.PostForm.Get("collection")); err == nil && text != "" {
		if command.Collection, err = gid.Parse("Collection", text); err != nil {
			err = fault.Because(fault.Invalid, err, "%q is neither a number nor the graph id of a collection", text).Field("collection")
		}
	}
	command.Assign.RemoveAll = !adds && r.PostForm.Get("all") != ""
	if adds {
		command.Assign.Add = named
	} else {
		command.Assign.Remove = named
	}
	if err == nil && named.Empty() && command.Collection == 0 && !command.Assign.RemoveAll {
		err = fault.New(fault.Invalid, "tick or name at least one product, variant or collection").Field("products")
	}
	if err == nil {
		_, err = m.Groups.Update(r.Context(), v.Shop.ID, command)
	}
	if err != nil {
		p := productsForm(g, adds)
		shown := p.Content.(productsPage)
		shown.Fields = dashboard.Entered(shown.Fields, r.PostForm)
		if ticked := r.PostForm["tick-products"]; len(ticked) > 0 { // some are not on the page again
			shown.Fields[0].Value = strings.Join(append(ticked, strings.Fields(shown.Fields[0].Value)...), ", ")
		}
		if adds {
			shown.Finder = m.search(r, v, g)
		}
		p.Content = shown
		return v.Refuse(w, r, p, atForm(err))
	}
	return v.Go(w, fmt.Sprintf("%s/%s", path, strconv.FormatInt(int64(g.ID), 10)), done)
}
