package portal

import (
	"fmt"
	"html/template"
)

// Tone is the colour of a chip or banner, which never says alone what is meant.
type Tone string

// The tones.
const (
	Good    Tone = "ok"
	Hold    Tone = "warn"
	Bad     Tone = "crit"
	Neutral Tone = ""
)

// Chip is a status: words and a shape. Template "chip" shows it.
type Chip struct {
	Tone Tone
	Text string
}

// Action is a button or link: to a screen, or to the question before an action.
type Action struct {
	Text  string
	About string // what follows the text for those who do not see where it stands; empty: nothing
	Icon  string // a symbol of icons.html; empty: none
	Path  string // below that of the portal
	Asks  bool   // the screen is a question: scripts open it in a dialog
	Main  bool   // the one filled button of the page
}

// Banner is something that needs the reader's attention. Template "banner" shows it, with what
// dict "View" . "Banner" gives.
type Banner struct {
	Tone    Tone
	Title   string
	Text    string
	Actions []Action
}

// Item is a product of an order. Template "item" shows it.
type Item struct {
	Title  string
	About  string // variant and quantity
	Image  string // https address; empty: there is none
	Price  string
	Before string // the price without the subscription; empty: the same
	Note   string // that it is in this order only, or what it takes the place of; empty: neither
}

// Pick is a product that may be chosen.
type Pick struct {
	Item
	Link Action // to what choosing it would do
	Off  string // why it cannot be chosen; empty: it can
}

// Picker is a page of products to choose from. Template "picker" shows it.
type Picker struct {
	Path   string // of the page, below that of the portal
	Search string // what was searched for
	Picks  []Pick
	None   string // what is said without any
	Pages  []Action
}

// Sum is a line of a bill. Template "bill" shows a list of them.
type Sum struct {
	Name, Amount string
	Total        bool
}

// Fact is a name and what it is, with a link that changes it. Template "facts" shows a list of them,
// with what dict "View" . "Facts" gives.
type Fact struct {
	Name, Text string
	Link       *Action // nil: it cannot be changed
}

// Step is an order in a row of what changes. Template "steps" shows a list of them.
type Step struct {
	Name, Day, Amount string
	Kind              string // off: it does not come; now: the one that is meant; or empty
}

// Form is what every form that changes something has. Template "form" shows its unseen fields.
type Form struct {
	Action    string
	Token     string
	RequestID string
	Version   int64 // of the contract that its reader has seen; 0: it does not matter
	Text      string
	About     string
}

// Crumb is the page that another one belongs to.
type Crumb struct{ Name, Path string }

// Question is a page that says what an action would do before it is done. Its form is sent to
// Path.
type Question struct {
	Title   string
	Lead    string   // when, and how much
	Back    *Crumb   // the screen to go back to
	Email   string   // of the customer
	Steps   []Step   // the orders that it is about
	Counted *Counted // what the fields make of the order; nil: its cost does not depend on them
	Says    []string // more sentences
	Items   []Item   // what the order has that it is about
	Bill    []Sum    // what that order comes to
	Need    *Need    // what must be done first; nil: nothing
	Fields  []Field  // what the action needs to know
	Path    string   // below that of the portal
	Version int64    // of the contract
	Button  string   // verb and noun; empty: nothing can be done
	Keep    string   // the link back, named by its effect: "Keep this order"
	Equal   bool     // both choices weigh the same: neither button is filled
}

// Need is what must be done before an action can be, and the full address where.
type Need struct{ Text, Address string }

// Counted is what an order costs with what the fields of a form have. It stands in the form, which
// sends back what its reader has seen.
type Counted struct {
	Of    string // tells it from others of the page; empty: there is one
	Steps []Step // what the order costs now and then; empty: the fields have nothing that could be counted
	Total int64  // what it costs then, in minor units
}

// Field is an input of a form. Template "field" shows it with its problem, with what
// dict "View" . "Field" gives.
type Field struct {
	Name, Label string
	// Type is that of the input, or select, textarea or radio: one of the choices, all of them
	// shown. A checkbox is something to agree to. Empty: text.
	Type     string
	Value    string
	Hint     string
	Choices  []Choice // of a select or radio
	Required bool
	Max      int    // characters; 0: as many as fit
	Min      string // the smallest date or number; empty: any
	Limit    string // the largest; empty: any
	Complete string // what browsers may fill in: "email"; empty: nothing
}

// Choice is a value that a field offers.
type Choice struct {
	Value, Name string
	About       string // of a radio: a sentence below the name; empty: none
	Price       string // of a radio
	Selected    bool
}

// functions are what templates may call.
var functions = template.FuncMap{
	// icon draws one of the symbols of icons.html.
	"icon": func(name string) template.HTML {
		return template.HTML(`<svg class="i" aria-hidden="true"><use href="#i-` + template.HTMLEscapeString(name) + `"/></svg>`)
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
}
