package locale

import (
	"fmt"
	"strconv"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Printer writes the texts of a catalogue, dates and amounts for one reader. It does
// not change and can be used by many goroutines.
type Printer struct {
	texts, english map[string]entry
	overrides      map[string]string
	variant        string       // what texts are preferred for; empty: nothing
	language       language.Tag // of the texts
	formats        formats
	money          *currency.Formatter
}

// Printer returns the printer for a reader's tag, such as "de-AT": texts are those of the
// language that suits it best, dates and amounts those of its region. A tag that no
// language suits gets English.
//
// Overrides are a merchant's own texts for that language by key, and a plural form's by
// FormKey. One that does not fit the text of this version is ignored.
func (c *Catalogue) Printer(tag string, overrides map[string]string) *Printer {
	reader := language.Make(c.Match(tag))
	_, index, _ := c.matcher.Match(reader)
	p := &Printer{
		texts: c.texts[c.languages[index]], english: c.texts[Fallback],
		overrides: overrides, language: c.tags[index],
	}
	p.formats, _ = formatsOf(reader)
	numbers := reader
	if reader.String() == Pseudo {
		numbers = language.English
	}
	p.money = currency.NewFormatter(currency.NewLocale(numbers.String()))
	return p
}

// For returns a printer that prefers texts written for a variant: where the catalogue has
// "KEY.variant", that text instead of the one of KEY.
func (p *Printer) For(variant string) *Printer {
	other := *p
	other.variant = variant
	return &other
}

// FormKey is the key under which overrides have a plural form of a text; without a form
// it is the text's key.
func FormKey(key, form string) string {
	if form == "" {
		return key
	}
	return key + "#" + form
}

// Lang returns the tag of the texts' language, as the attribute lang has it.
func (p *Printer) Lang() string { return p.language.String() }

// Dir returns the direction of the language, "ltr" or "rtl", as the attribute dir has it.
func (p *Printer) Dir() string {
	script, _ := p.language.Script()
	switch script.String() {
	case "Adlm", "Arab", "Hebr", "Nkoo", "Syrc", "Thaa":
		return "rtl"
	}
	return "ltr"
}

// Text returns the text of a key. Args are pairs of a placeholder's name and its value:
// texts are taken as they are, whole numbers and amounts written as the language does,
// others by fmt.Sprint. A whole number that is named "n" chooses the plural form. A key
// that English lacks is returned itself.
func (p *Printer) Text(key string, args ...any) string {
	if variant := key + "." + p.variant; p.variant != "" && p.english[variant] != nil {
		key = variant
	}
	english := p.english[key]
	if english == nil {
		return key
	}
	n, counted := count(args)
	if own, has := p.own(key, english, n, counted); has {
		return p.fill(own, args)
	}
	if e := p.texts[key]; e != nil {
		return p.fill(e.form(p.language, n, counted), args)
	}
	return p.fill(english.form(language.English, n, counted), args)
}

// own returns the merchant's text of a key, where there is one that fits.
func (p *Printer) own(key string, english entry, n int64, counted bool) (string, bool) {
	form := ""
	switch {
	case english.isPlural() && counted:
		form = formOf(p.language, n)
	case english.isPlural():
		form = other
	}
	own, has := p.overrides[FormKey(key, form)]
	return own, has && fits(own, english) == nil
}

// fill replaces the placeholders of a text by the values of args.
func (p *Printer) fill(text string, args []any) string {
	return fill(text, func(name string) (string, bool) {
		for i := 0; i+1 < len(args); i += 2 {
			if args[i] == name {
				return p.isolated(p.value(args[i+1])), true
			}
		}
		return "", false
	})
}

// isolated puts the marks around a value that keep it from changing the order of the words
// beside it, in a language that is written from right to left.
func (p *Printer) isolated(value string) string {
	if p.Dir() == "ltr" {
		return value
	}
	return "\u2068" + value + "\u2069"
}

// count returns the value of the pair that is named "n".
func count(args []any) (int64, bool) {
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "n" {
			return whole(args[i+1])
		}
	}
	return 0, false
}

// whole returns a value that is a whole number.
func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// value writes the value of a placeholder.
func (p *Printer) value(v any) string {
	if n, ok := whole(v); ok {
		return p.Number(n)
	}
	switch v := v.(type) {
	case string:
		return v
	case money.Amount:
		return p.Money(v)
	}
	return fmt.Sprint(v)
}

// Money writes an amount with its currency's decimals and the symbol that the language
// has for it; the code where it has none.
func (p *Printer) Money(a money.Amount) string {
	shown, err := currency.NewAmount(a.String(), string(a.Currency))
	if err != nil { // a currency that the library does not know
		return a.String() + "\u00a0" + string(a.Currency)
	}
	f := *p.money
	f.MinDigits = uint8(a.Currency.Exponent()) //nolint:gosec // 0 to 3
	f.MaxDigits = f.MinDigits
	return f.Format(shown)
}

// Number writes a whole number with the separators of the language.
func (p *Printer) Number(n int64) string { return p.decimal(strconv.FormatInt(n, 10)) }

// Percent writes a percentage: 12.5 is "12.5%" in English.
func (p *Printer) Percent(percent float64) string {
	number := p.decimal(strconv.FormatFloat(percent, 'f', -1, 64))
	return fill(p.formats.percent, func(string) (string, bool) { return number, true })
}

// decimal writes a decimal number, given as strconv does, with at most six decimals.
func (p *Printer) decimal(n string) string {
	shown, err := currency.NewAmount(n, "USD") // the currency is not shown
	if err != nil {
		return n // infinity, and what is no number
	}
	f := *p.money
	f.CurrencyDisplay, f.MinDigits = currency.DisplayNone, 0
	return f.Format(shown)
}
