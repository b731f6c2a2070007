package theme

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/liquid"
)

// property reads what a host's objects say.
func property(c *liquid.Context, name string, path ...string) any {
	v := c.Object(name)
	for _, step := range path {
		o, ok := v.(*liquid.Object)
		if !ok {
			return nil
		}
		v = o.Properties[step]
	}
	return v
}

var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// translate is the filter t: the words of a key in the page's language, or in the default
// one. Values are escaped, unless the key ends with _html. A key or a value that is
// missing, or a value that has no place, is an error.
func (e *Extension) translate(c *liquid.Context, in any, _ []any, named map[string]any) (any, error) {
	key := liquid.Text(in)
	words, ok := find(e.words[liquid.Text(property(c, "request", "locale", "iso_code"))], key)
	if !ok {
		words, ok = find(e.words[DefaultLanguage], key)
	}
	if !ok {
		return nil, fmt.Errorf("there are no words for %q", key)
	}
	used := map[string]bool{}
	var missing error
	text := placeholder.ReplaceAllStringFunc(words, func(place string) string {
		name := placeholder.FindStringSubmatch(place)[1]
		v, given := named[name]
		if !given {
			missing = fmt.Errorf("%q needs a value for %q", key, name)
		}
		used[name] = true
		if strings.HasSuffix(key, "_html") {
			return liquid.Text(v)
		}
		return html.EscapeString(liquid.Text(v))
	})
	for name := range named {
		if !used[name] {
			missing = fmt.Errorf("%q has no place for %q", key, name)
		}
	}
	return text, missing
}

// find returns the words of a key such as "purchase.once".
func find(words map[string]any, key string) (string, bool) {
	var at any = words
	for step := range strings.SplitSeq(key, ".") {
		level, ok := at.(map[string]any)
		if !ok {
			return "", false
		}
		at = level[step]
	}
	text, ok := at.(string)
	return text, ok
}

// form is the tag form, for what a product's page sends to the cart.
func form(_ *liquid.Context, args []any, named map[string]any, body func() (string, error)) (string, error) {
	if len(args) != 2 || args[0] != "product" {
		return "", errors.New("only the form 'product' of a product is known")
	}
	product, ok := args[1].(*liquid.Object)
	if !ok || product.Name != "product" {
		return "", errors.New("the form needs a product")
	}
	attributes := ""
	for _, name := range []string{"id", "class"} {
		if v, given := named[name]; given {
			attributes += fmt.Sprintf(` %s="%s"`, name, html.EscapeString(liquid.Text(v)))
			delete(named, name)
		}
	}
	for name := range named {
		return "", fmt.Errorf("the attribute %q is not known", name)
	}
	inside, err := body()
	return `<form method="post" action="/cart/add" accept-charset="UTF-8" enctype="multipart/form-data"` + attributes + `>` +
		`<input type="hidden" name="form_type" value="product"><input type="hidden" name="utf8" value="✓">` + inside +
		`<input type="hidden" name="product-id" value="` + liquid.Text(product.Properties["id"]) + `"></form>`, err
}
