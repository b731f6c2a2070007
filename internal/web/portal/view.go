package portal

import (
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/locale"
)

// View is what every page shows.
type View struct {
	Title string
	Lead  string // a sentence below the title
	Look  Look
	Store string // address of the store's first page
	Zone  string // the place whose clocks the store goes by
	Base  string // path of the portal's first screen, as the browser knows it
	Query string // what addresses of screens end with: "?locale=de"; empty: nothing
	Part  bool   // the page is a part of the store's theme
	Own   bool   // the page is on our own domain
	Tabs  []tab
	Crumb *Crumb // nil: the page belongs to none

	SignedIn bool
	Email    string // of the customer; empty: not known
	Support  *support

	Done      string // what the form before has done
	Undo      *Form  // takes it back; nil: that is not possible
	Problem   string // what is wrong with the form
	Field     string // the field that it is about; empty: none
	RequestID string
	Page      any // what the page alone shows

	sheet    string       // of a sample: all its styles; empty: the page names a file
	picture  template.URL // of a sample: its logo
	words    *locale.Printer
	token    string          // of forms
	newID    func() string   // of a request that a form makes
	known    map[string]bool // patterns of screens
	assets   assets
	pictures string             // more origins of pictures
	pages    *template.Template // nil: those of this package
}

// support says that a user of the dashboard is in as the customer.
type support struct{ By, Until string }

// tab is an entry of the navigation as a page shows it.
type tab struct {
	Name, Path string
	Here       bool
}

// T returns a text of the catalogue in the reader's language. Arguments are names and values of
// its placeholders, in turn.
func (v View) T(key string, args ...any) string { return v.words.Text(key, args...) }

// Lang returns the language of the page.
func (v View) Lang() string { return v.words.Lang() }

// Dir returns the direction in which the language is written: ltr or rtl.
func (v View) Dir() string { return v.words.Dir() }

// At returns the address of a screen, whose path is below that of the portal and may have a
// query.
func (v View) At(path string) string {
	if v.Query != "" && strings.Contains(path, "?") {
		return v.Base + path + "&" + v.Query[1:]
	}
	return v.Base + path + v.Query
}

// Hidden returns the parameters of a screen's address, for a form that leads there: browsers replace
// the query of its address by the fields.
func (v View) Hidden(path string) []Param {
	_, query, _ := strings.Cut(v.At(path), "?")
	values, _ := url.ParseQuery(query)
	var list []Param
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, Param{name, values.Get(name)})
	}
	return list
}

// Param is a parameter of an address.
type Param struct{ Name, Value string }

// Has reports whether a room has a screen, by the path of its pattern: "/s/{contract}/pause".
// Screens that lead to others ask first, because a store may be without them.
func (v View) Has(path string) bool { return v.known[path] }

// Wrong returns the problem of a field, or "".
func (v View) Wrong(field string) string {
	if v.Field != field {
		return ""
	}
	return v.Problem
}

// Banner returns the problem that is about no field, or "".
func (v View) Banner() string {
	if v.Field != "" {
		return ""
	}
	return v.Problem
}

// Styles returns the address of the style sheet.
func (v View) Styles() string {
	if v.Part {
		return v.asset(v.assets.scoped)
	}
	return v.asset(v.assets.styles)
}

// Script returns the address of the script.
func (v View) Script() string { return v.asset(v.assets.script) }

func (v View) asset(a asset) string {
	if v.Own {
		return Path + "assets/" + a.name
	}
	return v.Base + "/assets/" + a.name
}

// Form returns a form that changes a contract, as template "form" shows it. The version is that of
// the contract that its reader has seen; 0: it does not matter.
func (v View) Form(path string, version int64) Form {
	return Form{Action: v.At(path), Token: v.token, RequestID: v.newID(), Version: version}
}

// Initial returns the first letter of the store's name, which stands for its picture.
func (v View) Initial() string {
	r, size := utf8.DecodeRuneInString(v.Look.Name)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(r))
}

// Help returns where the reader gets help: a page, an e-mail address or a telephone.
func (v View) Help() template.URL {
	for _, scheme := range []string{"https:", "mailto:", "tel:"} {
		if strings.HasPrefix(v.Look.Help, scheme) {
			return template.URL(v.Look.Help) //nolint:gosec // of a scheme that runs nothing
		}
	}
	return template.URL(v.Store) //nolint:gosec // https and the store's domain
}
