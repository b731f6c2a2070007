package theme_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/perennialhq/perennial/extensions"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/storefront/theme"
)

// block returns a block of an extension that has only that one.
func block(t *testing.T, liquid string) *theme.Block {
	t.Helper()
	e, err := theme.Read(fstest.MapFS{
		"blocks/one.liquid":       {Data: []byte(liquid + `{% schema %}{"name": "One", "target": "section", "settings": [{"type": "product", "id": "product", "label": "x", "autofill": true}]}{% endschema %}`)},
		"locales/en.default.json": {Data: []byte(`{"hello": "Hello {{ name }}", "hello_html": "<b>{{ name }}</b>", "plain": "Only here"}`)},
		"locales/de.json":         {Data: []byte(`{"hello": "Hallo {{ name }}"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, ok := e.Block("one")
	if !ok {
		t.Fatal("the block is missing")
	}
	return b
}

func TestBlockSpeaksLanguageOfPage(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ language, liquid, want string }{
		"the page's language":                     {"de", `{{ 'hello' | t: name: 'Ana' }}`, "Hallo Ana"},
		"the default for what it lacks":           {"de", `{{ 'plain' | t }}`, "Only here"},
		"the default for a language without file": {"fi", `{{ 'hello' | t: name: 'Ana' }}`, "Hello Ana"},
		"values are escaped":                      {"en", `{{ 'hello' | t: name: '<i>' }}`, "Hello &lt;i&gt;"},
		"but not in keys that end with _html":     {"en", `{{ 'hello_html' | t: name: '<i>' }}`, "<b><i></b>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := block(t, row.liquid).Render(theme.Page{Language: row.language})
			if err != nil || got != row.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestBlockThatThePlatformWouldNotRenderIsAnError(t *testing.T) {
	t.Parallel()
	tea := &simulator.Product{ID: 1, Handle: "tea", Variants: []simulator.ProductVariant{{ID: 2, Price: money.Amount{Minor: 900, Currency: "EUR"}}}}
	for name, row := range map[string]struct{ liquid, want string }{
		"words that do not exist":          {`{{ 'bye' | t }}`, `there are no words for "bye"`},
		"a value that is missing":          {`{{ 'hello' | t }}`, `"hello" needs a value for "name"`},
		"a value without a place":          {`{{ 'plain' | t: name: 1 }}`, `"plain" has no place for "name"`},
		"a setting that does not exist":    {`{{ block.settings.color }}`, `block.settings has no property "color"`},
		"more of the section than its id":  {`{{ section.settings }}`, `section has no property "settings"`},
		"an object of another page":        {`{{ collection.title }}`, `there is no object "collection"`},
		"a property that is not simulated": {`{{ block.settings.product.media }}`, `product has no property "media"`},
		"a text as an amount":              {`{{ '9.00' | money }}`, `"9.00" is not an amount`},
		"a form of another kind":           {`{% form 'contact' %}{% endform %}`, `only the form 'product' of a product is known`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := block(t, row.liquid).Render(theme.Page{Language: "en", Currency: "EUR", Product: tea})
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), "blocks/one.liquid:1: ") {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestAmountsAreWrittenAsStoresDo(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]money.Amount{
		"$1,134.65":     {Minor: 113465, Currency: "USD"},
		"$0.05":         {Minor: 5, Currency: "CAD"},
		"€1.134,65":     {Minor: 113465, Currency: "EUR"},
		"¥1,134":        {Minor: 1134, Currency: "JPY"},
		"1,134.650 KWD": {Minor: 1134650, Currency: "KWD"},
		"1,134,650 ISK": {Minor: 1134650, Currency: "ISK"},
		"-£2.50":        {Minor: -250, Currency: "GBP"},
		"12.00 CHF":     {Minor: 1200, Currency: "CHF"},
		"$1,234,567.00": {Minor: 123456700, Currency: "USD"},
	} {
		if got := theme.Format(a); got != want {
			t.Errorf("%v is written %s, want %s", a, got, want)
		}
	}
}

// Our blocks are whole in every language and on every page.
func TestBlocksOfExtensionRenderEverywhere(t *testing.T) {
	t.Parallel()
	e, err := theme.Read(extensions.Storefront())
	if err != nil {
		t.Fatal(err)
	}
	price := money.Amount{Minor: 1500, Currency: "JPY"}
	products := map[string]*simulator.Product{
		"no product":    nil,
		"without plans": {ID: 1, Handle: "tea", Variants: []simulator.ProductVariant{{ID: 2, Price: price, Available: true}}},
		"on a plan only": {ID: 1, Handle: "tea", OnlyOnPlans: true, Variants: []simulator.ProductVariant{{ID: 2, Price: price}, {ID: 3, Price: price, RequiresShipping: true}},
			Groups: []simulator.PlanGroup{{ID: 8, Name: "Save", Options: []string{"Delivery"}, Variants: []int64{2}, Plans: []simulator.Plan{
				{ID: 5, Name: "Every week", Options: []string{"Every week"}, Billing: simulator.PolicySpec{Interval: "WEEK", IntervalCount: 1}},
			}}}},
	}
	for _, language := range []string{"de", "en", "es", "fr", "it", "ja", "nl", "pt-BR"} {
		if !e.Speaks(language) {
			t.Errorf("there are no words in %s", language)
		}
		for name, p := range products {
			for _, form := range []string{"own", "theme"} {
				for _, customer := range []int64{0, 7} {
					for _, block := range []string{"purchase-options", "portal-link"} {
						b, _ := e.Block(block)
						got, err := b.Render(theme.Page{
							Language: language, Currency: "JPY", Product: p, Customer: customer, Section: "main",
							Settings: map[string]string{"purchase-options.form": form},
						})
						if err != nil {
							t.Fatalf("%s, %s, %s: %v", block, language, name, err)
						}
						if strings.Contains(got, "{{") || strings.Contains(got, "{%") || strings.Count(got, "<div") != strings.Count(got, "</div") {
							t.Errorf("%s, %s, %s: it is\n%s", block, language, name, got)
						}
						if options := strings.Contains(got, "perennial-options"); options != (block == "purchase-options" && name == "on a plan only") {
							t.Errorf("%s, %s, %s: options are shown: %v", block, language, name, options)
						}
					}
				}
			}
		}
	}
}
