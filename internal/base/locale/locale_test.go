package locale_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/base/locale/localetest"
	"github.com/perennialhq/perennial/internal/base/money"
)

// files returns a file system of catalogues by name.
func files(pairs ...string) fstest.MapFS {
	all := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return all
}

const english = `{
	"home.title": "Your subscriptions",
	"home.greeting": "Hello {name}",
	"order.items": {"one": "{n} item from {shop}", "other": "{n} items from {shop}"},
	"order.price": "You pay {amount} on {date}"
}`

const german = `{
	"home.title": "Ihre Abos",
	"order.items": {"one": "{n} Artikel von {shop}", "other": "{n} Artikel bei {shop}"},
	"order.price": "Am {date} zahlen Sie {amount}"
}`

func load(t *testing.T, pairs ...string) *locale.Catalogue {
	t.Helper()
	c, err := locale.Load(files(pairs...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// all is a catalogue whose languages are those that the product ships.
func all(t *testing.T) *locale.Catalogue {
	t.Helper()
	return load(t, "en.json", english, "de.json", german, "fr.json", "{}", "es.json", "{}", "it.json", "{}", "nl.json", "{}", "pt-BR.json", "{}", "ja.json", "{}")
}

func TestTextIsWrittenInLanguageOfReader(t *testing.T) {
	t.Parallel()
	c := all(t)
	for _, row := range []struct {
		tag, key string
		args     []any
		want     string
	}{
		{"de", "home.title", nil, "Ihre Abos"},
		{"de-AT", "home.title", nil, "Ihre Abos"},
		{"de", "home.greeting", []any{"name", "Ada"}, "Hello Ada"}, // missing in German
		{"de", "order.items", []any{"n", 1, "shop", "Teehaus"}, "1 Artikel von Teehaus"},
		{"de", "order.items", []any{"n", int64(12345), "shop", "{n}"}, "12.345 Artikel bei {n}"},
		{"en", "order.items", []any{"n", 0, "shop", "a & b <b>"}, "0 items from a & b <b>"},
		{"fr", "order.items", []any{"n", 0, "shop", "x"}, "0 items from x"}, // missing: English text and form
		{"de", "order.price", []any{"amount", money.Amount{Minor: 123450, Currency: "EUR"}, "date", "Freitag"}, "Am Freitag zahlen Sie 1.234,50\u00a0€"},
		{"xx-nonsense", "home.title", nil, "Your subscriptions"},
		{"", "home.title", nil, "Your subscriptions"},
		{"en", "home.greeting", nil, "Hello {name}"}, // a value that was forgotten is seen
		{"en", "no.such", nil, "no.such"},
	} {
		if got := c.Printer(row.tag, nil).Text(row.key, row.args...); got != row.want {
			t.Errorf("%s %s %v: %q, want %q", row.tag, row.key, row.args, got, row.want)
		}
	}
}

func TestPluralFormIsThatOfLanguage(t *testing.T) {
	t.Parallel()
	c := load(t, "en.json", `{"k": {"one": "one", "other": "other"}}`, "fr.json", `{"k": {"one": "un", "other": "autres"}}`,
		"ja.json", `{"k": {"other": "個"}}`, "ar-XB.json", `{"k": {"zero": "0", "one": "1", "two": "2", "few": "3-10", "many": "11-99", "other": "100"}}`)
	for _, row := range []struct {
		tag  string
		n    int64
		want string
	}{
		{"en", 0, "other"},
		{"en", 1, "one"},
		{"en", -1, "one"},
		{"en", 1_000_001, "other"},
		{"fr", 0, "un"},
		{"fr", 2, "autres"},
		{"fr", 5_000_000_000_000, "autres"},
		{"ja", 1, "個"},
		{"ar-XB", 0, "0"},
		{"ar-XB", 2, "2"},
		{"ar-XB", 110, "3-10"},
		{"ar-XB", 1<<62 + 11, "11-99"},
		{"ar-XB", -1 << 63, "3-10"},
	} {
		if got := c.Printer(row.tag, nil).Text("k", "n", row.n); got != row.want {
			t.Errorf("%s %d: %s, want %s", row.tag, row.n, got, row.want)
		}
	}
	if got := c.Printer("en", nil).Text("k"); got != "other" {
		t.Errorf("without a number: %s", got)
	}
	for tag, want := range map[string]string{"en": "one other", "ja": "other", "pt-BR": "one other", "ar-XB": "zero one two few many other"} {
		if got := strings.Join(locale.Forms(tag), " "); got != want {
			t.Errorf("%s has the forms %s, want %s", tag, got, want)
		}
	}
}

func TestOverrideReplacesText(t *testing.T) {
	t.Parallel()
	c := all(t)
	overrides := map[string]string{
		"home.title": "Teeabo", "home.greeting": "Servus {name}", "order.items#other": "{n} Packungen", "order.price": "{gone} kostet {amount}", "no.such": "x",
	}
	p := c.Printer("de", overrides)
	for key, want := range map[string]string{"home.title": "Teeabo", "home.greeting": "Servus Ada", "no.such": "no.such"} {
		if got := p.Text(key, "name", "Ada"); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if got := p.Text("order.items", "n", 1, "shop", "T"); got != "1 Artikel von T" {
		t.Errorf("the form without an override: %q", got)
	}
	if got := p.Text("order.items", "n", 3, "shop", "T"); got != "3 Packungen" {
		t.Errorf("the form with an override: %q", got)
	}
	if got := p.Text("order.price", "amount", "5", "date", "heute"); got != "Am heute zahlen Sie 5" {
		t.Errorf("an override with a placeholder that the text no longer has: %q", got)
	}
}

func TestDateIsWrittenByLanguageAndRegion(t *testing.T) {
	t.Parallel()
	c := all(t)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.March, 1, 15, 4, 0, 0, time.UTC)
	for _, row := range []struct{ tag, date, short, clock string }{
		{"en", "Sunday, March 1, 2026", "Mar 1, 2026", "3:04\u202fPM"},
		{"en-CA", "Sunday, March 1, 2026", "Mar 1, 2026", "3:04\u202fPM"},
		{"en-GB", "Sunday 1 March 2026", "1 Mar 2026", "15:04"},
		{"de", "Sonntag, 1. März 2026", "01.03.2026", "15:04"},
		{"fr", "dimanche 1er mars 2026", "1er mars 2026", "15:04"},
		{"es-MX", "domingo, 1 de marzo de 2026", "1 mar 2026", "15:04"},
		{"it", "domenica 1 marzo 2026", "1 mar 2026", "15:04"},
		{"nl", "zondag 1 maart 2026", "1 mrt 2026", "15:04"},
		{"pt-BR", "domingo, 1 de março de 2026", "1 de mar. de 2026", "15:04"},
		{"ja", "2026年3月1日日曜日", "2026/03/01", "15:04"},
	} {
		p := c.Printer(row.tag, nil)
		if got := [3]string{p.Date(at), p.ShortDate(at), p.Time(at)}; got != [3]string{row.date, row.short, row.clock} {
			t.Errorf("%s: %q", row.tag, got)
		}
	}
	if got := c.Printer("en", nil).Date(at.In(tokyo)); got != "Monday, March 2, 2026" {
		t.Errorf("in Tokyo: %s", got)
	}
	if got := c.Printer("fr", nil).Date(at.AddDate(0, 0, 1)); got != "lundi 2 mars 2026" {
		t.Errorf("the second of a month: %s", got)
	}
}

func TestAmountIsWrittenByLanguageAndCurrency(t *testing.T) {
	t.Parallel()
	c := all(t)
	for _, row := range []struct {
		tag   string
		minor int64
		of    money.Currency
		want  string
	}{
		{"en", 123456, "USD", "$1,234.56"},
		{"en", -500, "USD", "-$5.00"},
		{"en", 1000, "CAD", "CA$10.00"},
		{"en-CA", 1000, "CAD", "$10.00"},
		{"en-GB", 1000, "USD", "US$10.00"},
		{"de", 123456, "USD", "1.234,56\u00a0$"},
		{"de-CH", 123456, "CHF", "CHF\u00a01'234.56"},
		{"fr", 123456, "EUR", "1\u202f234,56\u00a0€"},
		{"es", 123456, "EUR", "1234,56\u00a0€"},
		{"it", 1234567, "EUR", "12.345,67\u00a0€"},
		{"nl", 123456, "EUR", "€\u00a01.234,56"},
		{"pt-BR", 123456, "BRL", "R$\u00a01.234,56"},
		{"ja", 1234, "JPY", "￥1,234"},
		{"ja", 123456, "USD", "$1,234.56"},
		{"en", 1234, "KWD", "KWD\u00a01.234"},
		{"en", 1234, "ISK", "ISK\u00a01,234"},
		{"en", 5, "XQQ", "0.05\u00a0XQQ"}, // a code that is no currency
	} {
		if got := c.Printer(row.tag, nil).Money(money.Amount{Minor: row.minor, Currency: row.of}); got != row.want {
			t.Errorf("%s %d %s: %q, want %q", row.tag, row.minor, row.of, got, row.want)
		}
	}
}

func TestNumberPercentAndListAreWrittenByLanguage(t *testing.T) {
	t.Parallel()
	c := all(t)
	for _, row := range []struct{ tag, number, percent, two, three string }{
		{"en", "-12,345", "12.5%", "a and b", "a, b, and c"},
		{"en-GB", "-12,345", "12.5%", "a and b", "a, b and c"},
		{"de", "-12.345", "12,5\u00a0%", "a und b", "a, b und c"},
		{"fr", "-12\u202f345", "12,5\u202f%", "a et b", "a, b et c"},
		{"es", "-12.345", "12,5\u00a0%", "a y b", "a, b y c"},
		{"it", "-12.345", "12,5%", "a e b", "a, b e c"},
		{"nl", "-12.345", "12,5%", "a en b", "a, b en c"},
		{"pt-BR", "-12.345", "12,5%", "a e b", "a, b e c"},
		{"ja", "-12,345", "12.5%", "a、b", "a、b、c"},
	} {
		p := c.Printer(row.tag, nil)
		if got := [4]string{p.Number(-12345), p.Percent(12.5), p.List([]string{"a", "b"}), p.List([]string{"a", "b", "c"})}; got != [4]string{row.number, row.percent, row.two, row.three} {
			t.Errorf("%s: %q", row.tag, got)
		}
	}
	es := c.Printer("es", nil)
	for _, row := range [][3]string{{"Té", "Infusión", "Té e Infusión"}, {"Té", "Hielo", "Té y Hielo"}, {"Té", "Higos", "Té e Higos"}} {
		if got := es.List(row[:2]); got != row[2] {
			t.Errorf("%q, want %q", got, row[2])
		}
	}
	if p := c.Printer("en", nil); p.List(nil) != "" || p.List([]string{"a"}) != "a" || p.Percent(20) != "20%" {
		t.Error("an empty list, one part, or a whole percentage")
	}
}

func TestMatchFollowsRankOfWishes(t *testing.T) {
	t.Parallel()
	c := all(t)
	for _, row := range []struct {
		wishes []string
		want   string
	}{
		{[]string{"", "de", "fr", "ja"}, "de"},
		{[]string{"fr-CA", "de"}, "fr-CA"},
		{[]string{"pl", "pl-PL", "nl-BE;q=0.4, it;q=0.8", "ja"}, "it"},
		{[]string{"", "", "pl, sv;q=0.9", "es-MX"}, "es-MX"},
		{[]string{"pt"}, "pt-BR"},
		{[]string{"pt-PT"}, "pt-PT"},
		{[]string{"de_CH"}, "de-CH"},
		{[]string{"en-GB,en;q=0.9"}, "en-GB"},
		{[]string{"*"}, "en"},
		{[]string{"de-u-ca-buddhist"}, "de"},
		{[]string{"<script>", "\x00", "de"}, "de"},
		{[]string{strings.Repeat("de,", 400), "fr"}, "fr"},
		{nil, "en"},
	} {
		if got := c.Match(row.wishes...); got != row.want {
			t.Errorf("%q: %s, want %s", row.wishes, got, row.want)
		}
	}
	p := c.Printer("pt-PT", nil)
	if p.Lang() != "pt-BR" || p.Dir() != "ltr" {
		t.Errorf("%s %s", p.Lang(), p.Dir())
	}
}

func TestTranslationThatDoesNotFitIsLeftOut(t *testing.T) {
	t.Parallel()
	c := load(t, "en.json", english, "de.json", `{
		"home.title": {"one": "a", "other": "b"},
		"home.greeting": "Hallo {nome}",
		"order.items": {"other": "{n} Artikel bei {shop}"},
		"order.gone": "weg"
	}`)
	want := []locale.Problem{
		{"de", "home.greeting", locale.Unfit, "the placeholders are {nome}; English has {name}"},
		{"de", "home.title", locale.Unfit, "one of this text and the English one has plural forms"},
		{"de", "order.gone", locale.Unfit, "English has no such key"},
		{"de", "order.items", locale.Unfit, `the plural form "one" is missing`},
		{"de", "order.price", locale.Missing, ""},
	}
	got := c.Problems()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if text := c.Printer("de", nil).Text("home.greeting", "name", "Ada"); text != "Hello Ada" {
		t.Errorf("readers see %q", text)
	}
}

func TestCatalogueThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for name, pairs := range map[string][]string{
		"no English":          {"de.json", "{}"},
		"no JSON":             {"en.json", `{"a": `},
		"a list":              {"en.json", `["a"]`},
		"a key twice":         {"en.json", `{"a": "x", "a": "y"}`},
		"an empty text":       {"en.json", `{"a": ""}`},
		"a number":            {"en.json", `{"a": 1}`},
		"a lone brace":        {"en.json", `{"a": "x { y"}`},
		"a closing brace":     {"en.json", `{"a": "x } y"}`},
		"a bad name":          {"en.json", `{"a": "{first name}"}`},
		"a bad key":           {"en.json", `{"a b": "x"}`},
		"an unknown form":     {"en.json", `{"a": {"some": "x", "other": "y"}}`},
		"a form twice":        {"en.json", `{"a": {"one": "x", "one": "y", "other": "z"}}`},
		"no form other":       {"en.json", `{"a": {"one": "x"}}`},
		"English without one": {"en.json", `{"a": {"other": "x"}}`},
		"more after the end":  {"en.json", `{} {}`},
		"no UTF-8":            {"en.json", "{\"a\": \"\xff\"}"},
		"no language":         {"en.json", "{}", "texts.json", "{}"},
		"another spelling":    {"en.json", "{}", "pt-br.json", "{}"},
		"no formats":          {"en.json", "{}", "pl.json", "{}"},
	} {
		if _, err := locale.Load(files(pairs...)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestOverrideIsChecked(t *testing.T) {
	t.Parallel()
	c := all(t)
	for _, row := range []struct{ tag, key, form, text, field string }{
		{"de", "home.title", "", "Teeabo", ""},
		{"ja", "order.items", "other", "{n}個", ""},
		{"de", "order.items", "one", "ein Artikel", ""},
		{"de-AT", "home.title", "", "x", "language"},
		{"de", "home.nothing", "", "x", "key"},
		{"ja", "order.items", "one", "x", "form"},
		{"de", "order.items", "", "x", "form"},
		{"de", "home.title", "one", "x", "form"},
		{"de", "home.title", "", " \n", "text"},
		{"de", "home.title", "", "{name}", "text"},
		{"de", "home.greeting", "", "Hallo {Name}", "text"},
		{"de", "home.greeting", "", "Hallo {name", "text"},
	} {
		err := c.CheckOverride(row.tag, row.key, row.form, row.text)
		f, _ := errors.AsType[*fault.Error](err)
		if (row.field == "") != (err == nil) || err != nil && (f.Kind != fault.Invalid || f.Param != row.field) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestPseudoLanguageIsWrittenFromRightToLeft(t *testing.T) {
	t.Parallel()
	c, err := locale.Load(localetest.WithPseudo(t, files("en.json", english, "de.json", german)))
	if err != nil {
		t.Fatal(err)
	}
	p := c.Printer(locale.Pseudo, nil)
	if p.Dir() != "rtl" || p.Lang() != locale.Pseudo {
		t.Errorf("%s %s", p.Lang(), p.Dir())
	}
	if got := p.Text("order.items", "n", 2, "shop", "T"); !strings.Contains(got, "\u20682\u2069 items from \u2068T\u2069") || !strings.HasPrefix(got, "\u2067") {
		t.Errorf("%q", got)
	}
	if p.Money(money.Amount{Minor: 100, Currency: "USD"}) != "$1.00" {
		t.Error("the pseudo language has formats of its own")
	}
	for _, problem := range c.Problems() {
		if problem.Language == locale.Pseudo {
			t.Errorf("%+v", problem)
		}
	}
}
