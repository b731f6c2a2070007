package table

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/currency"

	"github.com/perennialhq/perennial/internal/base/sheet"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// Columns reads all rows and returns what each column of the header holds. It keeps a few numbers of each column.
func (f *File) Columns() ([]moving.Column, error) {
	counts := make([]tally, len(f.Header))
	for r, err := range f.all() {
		if err != nil {
			return nil, err
		}
		if r.reason != "" {
			continue
		}
		for i := range min(len(r.cells), len(counts)) {
			counts[i].add(sheet.Text(trim(r.cells[i])))
		}
	}
	list := make([]moving.Column, len(f.Header))
	for i, t := range counts {
		list[i] = moving.Column{Values: t.values, Looks: t.looks(f.Header[i])}
	}
	return list, nil
}

// tally counts the values of a column by what they look like.
type tally struct {
	values  int
	digits  int // with a digit
	money   int
	numbers int // whole and small
	dates   int
}

func (t *tally) add(text string) {
	if text == "" {
		return
	}
	t.values++
	if !strings.ContainsAny(text, "0123456789") {
		return
	}
	t.digits++
	switch {
	case isSmall(text):
		t.numbers++
	case isDate(text):
		t.dates++
	case isMoney(text):
		t.money++
	}
}

// looks returns what a column with a name holds: what most values look like, or else what its name says when most
// values have a digit. Small numbers say little: they count something unless the name says that they are labels.
func (t *tally) looks(name string) moving.Looks {
	most := max(1, (t.values+1)/2)
	says, label := looksOfName(name)
	switch {
	case t.digits < most:
		return ""
	case t.dates >= most:
		return moving.Date
	case t.money >= most:
		return moving.Money
	case says != "":
		return says
	case t.money > 0 && t.money+t.numbers >= most:
		return moving.Money
	case t.numbers >= most && !label:
		return moving.Quantity
	}
	return ""
}

// smallDigits is how many digits a whole number has at most that counts something.
const smallDigits = 3

// isSmall reports whether a value may be a quantity. Longer numbers name something more often.
func isSmall(text string) bool {
	whole := strings.TrimSuffix(text, ".0")
	return len(whole) <= smallDigits && digits(whole) && (whole[0] != '0' || whole == "0")
}

func isDate(text string) bool {
	if _, isSerial := serial(text, time.UTC); isSerial {
		return false
	}
	_, _, ok := parseTime(text, unknown, time.UTC)
	return ok
}

// isMoney reports whether a value is an amount or a percentage: a number with decimals, or one with a currency or a
// percent sign.
func isMoney(text string) bool {
	number, unit := apart(text)
	_, asPoint := point.plain(number)
	_, asComma := comma.plain(number)
	if !asPoint && !asComma {
		return false
	}
	if unit == "%" || strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) {
		return true
	}
	if unit != "" {
		if _, err := currency.ParseISO(strings.ToUpper(unit)); err == nil {
			return true
		}
	}
	return abbreviates(unit) && strings.ContainsAny(number, ".,")
}

// namePart is a part of the name of a column that says what the column holds.
type namePart struct {
	looks moving.Looks
	parts []string        // within words
	words map[string]bool // whole words
}

// nameParts are in the languages that intervals are read in.
var nameParts = []namePart{
	{
		moving.Quantity, strings.Fields("quantity quantité cantidad quantidade quantità menge anzahl stück aantal pieces cycles"),
		wordSet("qty count units pcs items orders charges"),
	},
	{
		moving.Money,
		strings.Fields("price amount total revenue spent discount deposit shipping balance credit preis betrag summe rabatt " +
			"montant remise precio importe monto descuento preço desconto prezzo importo sconto bedrag korting"),
		wordSet("sum value cost costs fee fees tax taxes vat mrr arr ltv paid rate percent off coupon prix prijs gebühr kosten"),
	},
	{
		moving.Date, strings.Fields("datum birth fecha giorno termin expir renewal"),
		wordSet("date dates day at on since until due time month year start end dob jour"),
	},
}

// labels are last words of names whose numbers name something.
var labels = wordSet("id ids no nr number code zip plz postcode sku ean gtin barcode phone type name title method zone " +
	"currency unit status interval frequency country province city url email address address1 address2 note")

// looksOfName returns what the name of a column says that it holds, by its last word that says it, and whether it says
// that the values are labels.
func looksOfName(name string) (says moving.Looks, label bool) {
	words := nameWords(name)
	if len(words) > 0 && labels[words[len(words)-1]] {
		return "", true
	}
	for _, word := range slices.Backward(words) {
		for _, n := range nameParts {
			if n.words[word] || slices.ContainsFunc(n.parts, func(part string) bool { return strings.Contains(word, part) }) {
				return n.looks, false
			}
		}
	}
	return "", false
}

// nameWords splits the name of a column into words in lower case. A capital letter after a small one begins a word.
func nameWords(name string) []string {
	var b strings.Builder
	small := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && small:
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
