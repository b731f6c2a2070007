package liquid_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/liquid"
)

// plain turns numbers of JSON that are whole into int64.
func plain(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// The outputs in testdata are those of another implementation of the language, LiquidJS
// 10.30.1.
func TestOutputIsThatOfAnotherImplementation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var judged struct {
		Data  map[string]any
		Cases []struct{ Source, Want string }
	}
	if err := json.Unmarshal(text, &judged); err != nil {
		t.Fatal(err)
	}
	data := plain(judged.Data).(map[string]any)
	data["missing"] = nil // LiquidJS is not strict
	for _, one := range judged.Cases {
		tpl, err := (&liquid.Engine{}).Parse("case", one.Source)
		if err != nil {
			t.Errorf("%s: %v", one.Source, err)
			continue
		}
		if got, err := tpl.Render(data); err != nil || got != one.Want {
			t.Errorf("%s\ngave %q, %v\nwant %q", one.Source, got, err, one.Want)
		}
	}
}

// Where the other implementation departs from the platform's, the platform's documents
// say what is right: whole numbers divide to whole numbers, rounded down, and nil is null.
func TestOutputIsThePlatforms(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"{{ 3 | divided_by: 2 }} {{ 10 | divided_by: 4 }} {{ 7 | divided_by: -2 }}": "1 2 -4",
		"{{ 10 | divided_by: 5.0 }} {{ 4 | times: 1.0 }}":                           "2.0 4.0",
		"{{ nil | json }}": "null",
		"{% for i in (1..2) %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ j }} {% endfor %}{% endfor %}": "11 12 21 22 ",
		`{{ "<b a='1'>" | escape }}`: "&lt;b a=&#39;1&#39;&gt;",
	} {
		tpl, err := (&liquid.Engine{}).Parse("case", source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tpl.Render(nil); err != nil || got != want {
			t.Errorf("%s gave %q, %v, want %q", source, got, err, want)
		}
	}
}

// product is a host's object.
var product = &liquid.Object{Name: "product", Properties: map[string]any{"title": "Tea", "price": int64(900)}}

func TestTemplateErrorsNameTheirLine(t *testing.T) {
	t.Parallel()
	engine := &liquid.Engine{Snippets: func(name string) (string, error) {
		source, known := map[string]string{"bad": "\n{{ product.cost }}", "self": "{% render 'self' %}"}[name]
		if !known {
			return "", errors.New("no such file")
		}
		return source, nil
	}}
	for name, row := range map[string]struct{ source, want string }{
		"a tag that does not exist":           {"a\n{% incude 'x' %}", `page:2: there is no tag "incude"`},
		"a filter that does not exist":        {"{{ product.title | shout }}", `page:1: there is no filter "shout"`},
		"an object that does not exist":       {"\n\n{{ prodct.title }}", `page:3: there is no object "prodct"`},
		"a property that does not exist":      {"{% if product.cost > 1 %}{% endif %}", `page:1: product has no property "cost"`},
		"a property that a snippet reads":     {"{% render 'bad' %}", `bad:2: product has no property "cost"`},
		"a snippet that does not exist":       {"{% render 'none' %}", `page:1: there is no snippet "none"`},
		"a snippet that renders itself":       {"{% render 'self' %}", `self:1: snippets render each other without end`},
		"a tag that is not closed":            {"{% if product.title %}x", `page:1: endif is missing at the end`},
		"an inner tag that is not closed":     {"{% if product.title %}x\n\n{% for i in (1..2) %}\n", `page:3: endfor is missing at the end`},
		"braces that are not closed":          {"x\n{{ product.title", `page:2: {{ is not closed`},
		"words after a value":                 {"{{ product.title 'x' }}", `page:1: unexpected "'x'"`},
		"a division by nothing":               {"{{ 1 | divided_by: 0 }}", `page:1: filter divided_by: divided by 0`},
		"a comparison of a text and a number": {"{% if product.title > 3 %}{% endif %}", `page:1: "Tea" and 3 cannot be compared`},
		"a filter with too many arguments":    {"{{ 'a' | upcase: 1 }}", `page:1: filter upcase: it has the wrong number of arguments`},
		"a loop that takes too long":          {"{% for i in (1..2000) %}{% for j in (1..2000) %}{% endfor %}{% endfor %}", `page:1: the template does not end: more than 200000 steps`},
		"a variable of the page in a snippet": {"{% assign x = 1 %}{% render 'bad' %}", `bad:2: product has no property "cost"`},
		"a loop's variable behind the loop":   {"{% for x in (1..2) %}{% endfor %}{{ x }}", `page:1: there is no object "x"`},
		"an end without a beginning":          {"{% endif %}", `page:1: there is no tag "endif"`},
		"a leap out of no loop":               {"{% break %}", "break outside a loop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tpl, err := engine.Parse("page", row.source)
			if err == nil {
				_, err = tpl.Render(map[string]any{"product": product})
			}
			if err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestHostAddsFiltersTagsAndSnippets(t *testing.T) {
	t.Parallel()
	engine := &liquid.Engine{
		Filters: map[string]liquid.Filter{"t": func(c *liquid.Context, in any, _ []any, named map[string]any) (any, error) {
			return strings.ReplaceAll(liquid.Text(in), "{{ n }}", liquid.Text(named["n"])) + "@" + liquid.Text(c.Object("lang")), nil
		}},
		Blocks: map[string]liquid.Block{"form": func(_ *liquid.Context, args []any, named map[string]any, body func() (string, error)) (string, error) {
			inside, err := body()
			return "<form " + liquid.Text(args[0]) + " " + liquid.Text(named["class"]) + ">" + inside + "</form>", err
		}},
		Snippets: func(string) (string, error) { return "[{{ lang }} {{ it.title }}{% if more %}+{% endif %}]", nil },
	}
	tpl, err := engine.Parse("page", `{% form 'product', class: 'f' %}{{ 'x' | t: n: 2 }}{% render 'one', it: product, more: true %}{% endform %}{% schema %}{"name": "{{ raw }}"}{% endschema %}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tpl.Render(map[string]any{"product": product, "lang": "de"})
	if want := "<form product f>x@de[de Tea+]</form>"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if tpl.Schema != `{"name": "{{ raw }}"}` {
		t.Errorf("the schema is %s", tpl.Schema)
	}
}

// What people type never panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{{ a | plus: 1 }}", "{% for x in (1..3) %}{{ x }}{% endfor %}", "{%- liquid\nassign a = 1\n-%}", "{% case a %}{% when 1 %}{% endcase %}"} {
		f.Add(s)
	}
	engine := &liquid.Engine{}
	f.Fuzz(func(_ *testing.T, source string) {
		if tpl, err := engine.Parse("fuzz", source); err == nil {
			_, _ = tpl.Render(map[string]any{"a": int64(1), "list": []any{"x"}})
		}
	})
}

func TestFencedTemplates(t *testing.T) {
	t.Parallel()
	fenced := &liquid.Engine{Escape: true, Limits: liquid.Limits{Output: 1000, Text: 500, Range: 100, Time: 50 * time.Millisecond}}
	values := map[string]any{"name": `<b>"Tea"`, "block": liquid.HTML("<i>ok</i>")}
	for name, test := range map[string]struct{ source, want, problem string }{
		"a value is escaped":                     {source: "{{ name }}", want: "&lt;b&gt;&quot;Tea&quot;"},
		"and not twice":                          {source: "{{ name | escape }}", want: "&lt;b&gt;&quot;Tea&quot;"},
		"HTML of the host is not":                {source: "{{ block }}", want: "<i>ok</i>"},
		"what was captured is not escaped again": {source: "{% capture x %}<p>{{ name }}</p>{% endcapture %}{{ x }}", want: "<p>&lt;b&gt;&quot;Tea&quot;</p>"},
		"line breaks stay, values do not":        {source: "{{ name | append: '\n' | newline_to_br }}", want: "&lt;b&gt;&quot;Tea&quot;<br />\n"},
		"a filter makes HTML a text":             {source: "{{ block | upcase }}", want: "&lt;I&gt;OK&lt;/I&gt;"},
		"it prints too much":                     {source: "{% for i in (1..90) %}0123456789ab{% endfor %}", problem: "longer than 1000 bytes"},
		"it captures too much":                   {source: "{% capture x %}{% for i in (1..90) %}0123456789ab{% endfor %}{% endcapture %}", problem: "longer than 1000 bytes"},
		"a text doubles":                         {source: "{% assign s = 'ab' %}{% for i in (1..90) %}{% assign s = s | append: s %}{% endfor %}", problem: "page:1: the text is longer than 500 bytes"},
		"a range is too long":                    {source: "a\n{% for i in (1..1000) %}{% endfor %}", problem: "page:2: (1..1000) has more than 100 numbers"},
		"a range overflows":                      {source: "{% for i in (-9000000000000000000..9000000000000000000) %}{% endfor %}", problem: "more than 100 numbers"},
		"it loops in loops":                      {source: strings.Repeat("{% for i in (1..90) %}", 6) + strings.Repeat("{% endfor %}", 6), problem: "the template"},
		"it divides by zero":                     {source: "{{ 1 | divided_by: 0 }}", problem: "page:1: filter divided_by: divided by 0"},
		"it reads a file":                        {source: "{% render 'x' %}", problem: "snippet"},
		"it includes a file":                     {source: "{% include 'x' %}", problem: "include"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			page, err := fenced.Parse("page", test.source)
			if err == nil {
				got, err = page.Render(values)
			}
			if test.problem == "" && (err != nil || got != test.want) || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("%q, %v; want %q or an error with %q", got, err, test.want, test.problem)
			}
		})
	}
}
