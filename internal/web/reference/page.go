package reference

import "strings"

// Page is what a page of the reference shows.
type Page struct {
	Template string // that shows it
	Missing  bool   // it says that there is no such page

	Root, Title, Version, Description string
	Keyed                             bool // callers hold keys

	Heading    string // of the page
	Slug       string // of the page's entry in Nav
	Query      string // the search; empty: none
	Nav        []group
	Groups     []group // operations that the page lists
	Operations []operation
	Shapes     []shape // that the page lists
	Shape      *shape
	Repeat     string // what is said of Idempotency-Key; empty: no operation of the page takes one
}

// group is the operations of a resource.
type group struct {
	Name, Slug string
	Count      int
	Operations []operation
}

// operation is one of a resource.
type operation struct {
	ID, Method, Path, Summary, Description, Scope, Curl string
	Parameters                                          []field
	Filters                                             []filter
	Inputs                                              []input
	Sample                                              string // a body to begin with; empty: none
	Body                                                *shape
	Answer                                              typeName // of the body of the answer; empty: it has none
	Errors                                              []string
	Repeat                                              string // what is said of Idempotency-Key; empty: it takes none
}

// shape is an object, or a set of values, of requests and answers.
type shape struct {
	Name, Description string
	Fields            []field
	Values            []string
}

// input is a parameter that a reader can send.
type input struct {
	Name, In, Value string
	Required        bool
}

// field is a parameter of an operation or a field of a shape.
type field struct {
	Name, In, Description string
	Type                  typeName
	Required              bool
}

// filter is a field that a list can be filtered by.
type filter struct {
	Name      string
	Type      typeName
	Operators string
}

// typeName is a type in words; some words link to a shape.
type typeName []word

// word is a part of a type.
type word struct {
	Text  string
	Shape string // path of the shape's page; empty: the word links to nothing
}

func (t typeName) String() string {
	var b strings.Builder
	for _, w := range t {
		b.WriteString(w.Text)
	}
	return b.String()
}
