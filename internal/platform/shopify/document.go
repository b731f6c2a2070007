package shopify

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// What a document is thought to cost before the platform has said so.
const (
	guessCost     = 50
	guessQuestion = 30 // each of a batch of cycle questions
	guessCharge   = 16 // each of a batch of charges
)

// document is a GraphQL document, ready to be sent.
type document struct {
	name  string
	text  string
	head  string       // the request's body up to the variables
	reads bool         // it is a query, which changes nothing
	cost  atomic.Int64 // points that the platform asked for it last
}

func newDocument(name, text string, guess int) *document {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	d := &document{name: name, text: text, head: `{"query":` + string(quoted) + `,"variables":`, reads: isQuery(text)}
	d.cost.Store(int64(guess))
	return d
}

// isQuery reports whether a document's operation is a query: the generator and
// this package write the operation first and with its kind.
func isQuery(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "query ") }

// body returns the request's body with the given variables, a JSON object.
func (d *document) body(variables []byte) []byte {
	b := make([]byte, 0, len(d.head)+len(variables)+1)
	b = append(b, d.head...)
	b = append(b, variables...)
	return append(b, '}')
}

// learn remembers what the document costs. An answer that says that it was not
// carried out may raise the price, but is not trusted to lower it.
func (d *document) learn(c cost) {
	requested := int64(math.Ceil(c.Requested))
	if c.Actual != nil && requested > 0 || requested > d.cost.Load() {
		d.cost.Store(requested)
	}
}

// repeat returns the operation with all its fields and variables n times,
// distinguished by a number at the end of their names, and its fragments once. The
// operation is one that the generator printed: the variables on the first line,
// the fields with one tab and an alias each.
func repeat(operation string, n int) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(operation), ") {\n")
	kind, parameters, _ := strings.Cut(head, "(")
	body, fragments, _ := strings.Cut(rest, "\n}\n")
	variable := regexp.MustCompile(`\$\w+`)
	alias := regexp.MustCompile(`(?m)^\t(\w+):`)
	var params, fields strings.Builder
	for i := range n {
		number := strconv.Itoa(i)
		if i > 0 {
			params.WriteString(", ")
		}
		params.WriteString(variable.ReplaceAllString(parameters, "${0}"+number))
		numbered := variable.ReplaceAllString(body, "${0}"+number)
		fields.WriteString(alias.ReplaceAllString(numbered, "\t${1}"+number+":"))
		fields.WriteByte('\n')
	}
	return kind + "(" + params.String() + ") {\n" + fields.String() + "}\n" + fragments
}

// variables builds the JSON object of a batch's variables.
type variables struct {
	json []byte
	err  error
}

// add appends the i-th variable of the given name.
func (v *variables) add(name string, i int, value any) {
	encoded, err := json.Marshal(value)
	if err != nil && v.err == nil {
		v.err = fmt.Errorf("encode variable %s: %w", name, err)
	}
	if len(v.json) == 0 {
		v.json = append(v.json, '{')
	} else {
		v.json = append(v.json, ',')
	}
	v.json = append(v.json, '"')
	v.json = append(v.json, name...)
	v.json = strconv.AppendInt(v.json, int64(i), 10)
	v.json = append(v.json, '"', ':')
	v.json = append(v.json, encoded...)
}

// object returns the finished object.
func (v *variables) object() ([]byte, error) { return append(v.json, '}'), v.err }
