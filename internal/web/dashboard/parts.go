package dashboard

import (
	"fmt"
	"html/template"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Layouts of days and instants, in the zone of the store.
const (
	DayLayout     = "2 Jan 2006"
	InstantLayout = "2 Jan 2006, 15:04 MST"
)

// Tone is the colour of a badge or banner, which never says alone what is meant.
type Tone string

// The tones.
const (
	Good    Tone = "ok"
	Info    Tone = "info"
	Warning Tone = "warn"
	Bad     Tone = "crit"
	Neutral Tone = "neutral"
)

// Badge is a status: a word and a dot. Template "badge" shows it.
type Badge struct {
	Tone   Tone
	Text   string
	Hollow bool // a ring instead of the dot: nothing follows without a person
}

// Pager says which rows of a list are shown, with links to those around them. Template
// "pager" shows it.
type Pager struct {
	From, To int
	Total    int    // 0: not counted
	What     string // the rows: "contracts that match"
	Prev     string // address of the rows before; empty: there are none
	Next     string // address of the rows after; empty: there are none
}

// PagerOf returns the pager of a list in pages of the same size, on which the page with a
// number, from 0, shows some rows. turn returns the address of another page.
func PagerOf(what string, number, size, shown, total int, turn func(number int) string) Pager {
	p := Pager{Total: total, What: what}
	if shown > 0 {
		p.From, p.To = number*size+1, number*size+shown
	}
	if number > 0 {
		p.Prev = turn(min(number-1, max(0, (total-1)/size)))
	}
	if (number+1)*size < total {
		p.Next = turn(number + 1)
	}
	return p
}

// Empty is shown in place of a list without rows. Template "empty" shows it.
type Empty struct {
	Icon, Title, Text string
	Action, Path      string // what to do about it, and the full address where; empty: nothing
}

// Tab is a choice among views of a page. Template "tabs" shows a list of them.
type Tab struct {
	Name  string
	Count string // empty: not counted
	Path  string // full address
	Here  bool
}

// Choice is a value that a field offers.
type Choice struct {
	Value, Name string
	Selected    bool
}

// Field is an input of a form. Template "field" shows it with its problem: call it with
// dict "View" . "Field" the field.
type Field struct {
	Name, Label string
	// Type is that of the input, or select, textarea or checkbox. Empty: text.
	Type     string
	Value    string // of a checkbox: "on" when it is ticked
	Hint     string
	Instead  string   // what stands in the field, as a placeholder, while it is empty
	Choices  []Choice // of a select
	Required bool
	Plain    bool // all fields of its form are optional, and the form says so
	Max      int  // characters; 0: as many as fit
	// Min and Limit are the smallest and the largest date or number; empty: any.
	Min, Limit string
}

// Question is a page that says what an action would do before it is done. Its form is sent to
// Path.
type Question struct {
	Title  string
	Back   string            // path below the store's of the page to go back to
	Says   []string          // sentences: what happens, when, to how much
	Rows   []Row             // the orders that it is about, with their sum
	Fields []Field           // what the action needs to know
	Need   *Need             // what must be done first; nil: nothing
	Counts bool              // what an order costs depends on the fields
	Total  *Total            // what it costs with them; nil: they have nothing that could be counted
	Hidden map[string]string // what the form sends unseen
	Path   string            // below the store's
	Button string            // verb and noun
	Keep   string            // the link back, named by its effect: "Keep the contract"
	Grave  bool              // it cannot be undone: the button is red
}

// Total is what an order costs with what the fields of a form have. The form sends back what its reader
// has seen.
type Total struct {
	Says  string
	Minor int64 // in minor units
}

// Need is what must be done before an action can be, and the path below the store's where.
type Need struct{ Text, Path string }

// Row is a name and an amount.
type Row struct{ Name, Amount string }

// Money returns an amount as pages show it: "79.92 USD".
func Money(a money.Amount) string { return a.String() + " " + string(a.Currency) }

// Count returns a number and its noun: "1 order", "2 orders".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// functions are what templates may call.
var functions = template.FuncMap{
	// icon draws one of the symbols of icons.svg.
	"icon": func(name string) template.HTML {
		return template.HTML(`<svg class="i" aria-hidden="true"><use href="` + icons.path + "#" + template.HTMLEscapeString(name) + `"/></svg>`)
	},
	// dict makes one argument of several: names and values in turn.
	"dict": func(pairs ...any) (map[string]any, error) {
		if len(pairs)%2 != 0 {
			return nil, fmt.Errorf("dict needs names and values in turn")
		}
		made := make(map[string]any, len(pairs)/2)
		for i := 0; i < len(pairs); i += 2 {
			name, ok := pairs[i].(string)
			if !ok {
				return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
			}
			made[name] = pairs[i+1]
		}
		return made, nil
	},
	"money": Money,
	"count": Count,
}
