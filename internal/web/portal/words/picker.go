package words

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// fromParam is the parameter of a page of products that says which one it is, counted from 0.
const fromParam = "from"

// variantParam is the parameter of the product that was chosen.
const variantParam = "variant"

// ProductsAsked returns which products a request asks for.
func ProductsAsked(r *http.Request) do.ProductQuery {
	return ProductQuery(r.URL.Query().Get("search"), r.URL.Query().Get(fromParam))
}

// ProductQuery returns which products a text, of at most 100 bytes, and the number of a page ask for. What
// is no number is the first page.
func ProductQuery(text, page string) do.ProductQuery {
	if len(text) > 100 {
		text = text[:100]
	}
	at, err := strconv.Atoi(page)
	if err != nil || at < 0 || at > 1000 {
		at = 0
	}
	return do.ProductQuery{Text: strings.ToValidUTF8(text, ""), Page: at}
}

// VariantAsked returns the product that a request has chosen; 0: none.
func VariantAsked(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(variantParam), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Choosing returns the path of a screen of products with one of them chosen.
func Choosing(path string, variant int64) string {
	return withParam(path, variantParam, strconv.FormatInt(variant, 10))
}

// Picker returns a page of products, each with what its price is called.
func Picker(v portal.Visit, path string, q do.ProductQuery, list do.ProductList, price func(do.Product) string) portal.Picker {
	p := portal.Picker{Path: path, Search: q.Text, None: v.T("picker.none")}
	if q.Text != "" {
		p.None = v.T("picker.notFound", "text", q.Text)
	}
	for _, one := range list.Products {
		name := ProductName(one)
		pick := portal.Pick{
			Item: portal.Item{Title: one.ProductTitle, About: one.Name(), Image: one.Image, Price: price(one)},
			Link: portal.Action{Text: v.T("picker.choose"), About: name, Path: Choosing(path, one.ID), Asks: true},
		}
		if !one.Available {
			pick.Off = v.T("picker.out")
		}
		p.Picks = append(p.Picks, pick)
	}
	turn := func(text string, page int) {
		to := withParam(path, fromParam, strconv.Itoa(page))
		if q.Text != "" {
			to = withParam(to, "search", q.Text)
		}
		p.Pages = append(p.Pages, portal.Action{Text: text, Path: to})
	}
	if q.Page > 0 {
		turn(v.T("picker.before"), q.Page-1)
	}
	if list.More {
		turn(v.T("picker.after"), q.Page+1)
	}
	return p
}

// quantity is the field of a quantity, as the interface names it.
const quantity = "quantity"

// QuantityField is the field of a quantity, which is at most so large.
func QuantityField(v portal.Visit, value string, most int) portal.Field {
	return portal.Field{Name: quantity, Type: "number", Label: v.T("quantity.label"), Value: value, Min: "1", Limit: strconv.Itoa(most), Required: true}
}

// Quantity reads the quantity that a form has.
func Quantity(r *http.Request, most int) (int, error) {
	n, err := strconv.Atoi(r.PostForm.Get(quantity))
	if err != nil || n < 1 || n > most {
		return 0, fault.New(fault.Invalid, "quantity must be from 1 to %d", most).Code("quantity").Field(quantity)
	}
	return n, nil
}

// ProductName returns what a product is called: with its variant where it has several.
func ProductName(p do.Product) string {
	if name := p.Name(); name != "" {
		return fmt.Sprintf("%s, %s", p.ProductTitle, name)
	}
	return p.ProductTitle
}

// withParam adds a parameter to a path.
func withParam(path, name, value string) string {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return path + mark + url.Values{name: {value}}.Encode()
}
