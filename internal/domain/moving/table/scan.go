package table

import (
	"fmt"
	"maps"
	"strings"
)

// Scan is the result of a first reading of a file, for facts that only all rows together show: how the
// values of a column are written, which contracts have rows apart from each other, and which customers
// contradict each other. The second reading then judges every row, also one that came before the row that
// contradicts it.
//
// Rows are read one by one and not kept. While a file is scanned, about 25 bytes stay of each contract, and
// twice as many of each customer with a number and an e-mail address; a file has at most maxRows of them.
// Afterwards only the lines in doubt stay.
type Scan struct {
	kind    Kind
	mapping Mapping
	columns columns
}

// Fits reports whether the scan was made with a mapping.
func (s *Scan) Fits(m Mapping) bool { return maps.Equal(s.mapping, m) }

// Scan reads all rows. It fails with Invalid when the mapping does not fit, or a part of the file cannot be
// read.
func (f *File) Scan(kind Kind, m Mapping) (*Scan, error) {
	if missing := m.Check(kind, f.Header); len(missing) > 0 {
		return nil, invalid("%s", strings.Join(missing, "; ")).Code("mappingInvalid")
	}
	s := &Scan{kind: kind, mapping: maps.Clone(m), columns: columnsOf(f, m)}
	formats := newFormats(kind)
	names := mentions{first: make(map[int64]mention), doubts: make(map[int64][]int)}
	contract := ""
	for r, err := range f.all() {
		if err != nil {
			return nil, err
		}
		c := &cells{columns: &s.columns, row: r}
		if !c.readable() {
			contract = ""
			continue
		}
		formats.add(c)
		before := contract
		if kind == ContractRows {
			contract = c.contractID()
		}
		if kind != ContractRows || contract != before {
			names.add(kind, c, contract)
		}
	}
	s.columns.signs, s.columns.orders = formats.decided()
	s.columns.doubts = names.doubts
	return s, nil
}

// formats are how the values of columns are written, by field.
type formats struct {
	signs  map[string]*written[decimal]
	orders map[string]*written[order]
}

func newFormats(kind Kind) formats {
	f := formats{make(map[string]*written[decimal]), make(map[string]*written[order])}
	for _, field := range Fields(kind) {
		switch field.form {
		case numbers:
			f.signs[field.Name] = &written[decimal]{}
		case dates:
			f.orders[field.Name] = &written[order]{}
		}
	}
	return f
}

func (f formats) add(c *cells) {
	for field, w := range f.signs {
		w.add(writtenWith(c.text(field)))
	}
	for field, w := range f.orders {
		w.add(orderOf(c.text(field)))
	}
}

func (f formats) decided() (map[string]decimal, map[string]order) {
	signs, orders := make(map[string]decimal), make(map[string]order)
	for field, w := range f.signs {
		signs[field] = w.decided()
	}
	for field, w := range f.orders {
		orders[field] = w.decided()
	}
	return signs, orders
}

// written is how the values of a column are written, when some of them say so and none says something else.
type written[T comparable] struct {
	as       T // the zero value: no value says it
	contrary bool
}

func (w *written[T]) add(says T) {
	var none T
	switch {
	case says == none:
	case w.as == none:
		w.as = says
	case w.as != says:
		w.contrary = true
	}
}

func (w *written[T]) decided() T {
	var none T
	if w.contrary {
		return none
	}
	return w.as
}

// mentions finds names that come with different values.
type mentions struct {
	first  map[int64]mention
	doubts map[int64][]int // lines, the first one first, by key
}

// mention is the first line that has a name, and a hash of the value beside it.
type mention struct{ value, line uint32 }

// shownLines is how many lines a finding names.
const shownLines = 5

// note notes that a line has a name with a value.
func (m *mentions) note(key, value int64, line int) {
	is := mention{uint32(value), uint32(line)} //nolint:gosec // the low bits of a hash; a file has fewer lines
	switch before, known := m.first[key]; {
	case !known:
		m.first[key] = is
	case before.value == is.value:
	case len(m.doubts[key]) == 0:
		m.doubts[key] = []int{int(before.line), line}
	case len(m.doubts[key]) <= shownLines:
		m.doubts[key] = append(m.doubts[key], line)
	}
}

// add notes the names in a row: a contract or a customer must come once, and a customer's number always with
// the same e-mail address, and the reverse.
func (m *mentions) add(kind Kind, c *cells, contract string) {
	who := Person{}
	who.ID, who.Email = c.customer()
	switch {
	case kind == ContractRows && contract != "":
		m.note(contractKey(numberOf(contract)), int64(c.line), c.line)
	case kind != ContractRows && who != (Person{}):
		m.note(who.key(), int64(c.line), c.line)
	}
	if who.ID != 0 && who.Email != "" {
		m.note(customerKey(who.ID), hash(lower(who.Email)), c.line)
		m.note(emailKey(who.Email), hash(fmt.Sprint(who.ID)), c.line)
	}
}

func contractKey(number int64) int64 { return hash(fmt.Sprint("contract ", number)) }
func customerKey(number int64) int64 { return hash(fmt.Sprint("customer ", number)) }
func emailKey(address string) int64  { return hash("address " + lower(address)) }
func lower(address string) string    { return strings.ToLower(address) }

// key names the row of a customer, who has one.
func (p Person) key() int64 {
	if p.ID != 0 {
		return hash(fmt.Sprint("row of ", p.ID))
	}
	return hash("row of " + lower(p.Email))
}

// lines lists lines in words.
func lines(list []int) string {
	var b strings.Builder
	for i, line := range list {
		switch {
		case i == shownLines:
			b.WriteString(" and others")
			return b.String()
		case i > 0 && i == len(list)-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, line)
	}
	return b.String()
}
