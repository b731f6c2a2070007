package table

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/moving"
)

// maxLines is how many lines a contract can have.
const maxLines = 500

// Row is a contract of a file.
type Row struct {
	Line     int  // of the file, from 1; the first of several
	Again    bool // the file has rows of that contract before, apart from these
	Contract moving.Contract
	Findings []moving.Finding
	Raw      []string // cells of that line; nil when they cannot be read
}

// moneyFields are the fields that decide what an order costs.
var moneyFields = []string{"", "id", "currency", "quantity", "price", "deliveryPrice", "discountAmount", "discountPercent"}

// Priced reports whether the amount of an order follows from the rows.
func (r Row) Priced() bool {
	return !slices.ContainsFunc(r.Findings, func(f moving.Finding) bool {
		return f.Fit == moving.Stays && f.Code != contractTwice && f.Code != rowTwice && slices.Contains(moneyFields, f.Field)
	})
}

// Contracts reads contracts. Adjacent rows with the same ID are the lines of one contract. Rows
// that cannot be read are passed on with findings that say why; an error ends the sequence, and
// means that the rest of the file cannot be read. The file is opened again after its scan.
//
// Only the rows of one contract are kept at a time.
func Contracts(f *File, s *Scan, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		a := assembly{columns: s.with(o), yield: yield}
		for r, err := range f.all() {
			if err != nil {
				if a.flush() {
					yield(Row{}, err)
				}
				return
			}
			if !a.add(r) {
				return
			}
		}
		a.flush()
	}
}

// assembly joins adjacent rows to contracts.
type assembly struct {
	*columns

	yield func(Row, error) bool

	open  bool
	id    string
	is    Row
	first row
	rows  map[int64]int // lines of the rows of the contract, by their cells; nil: there is only the first
	alike int           // rows of the contract that repeat another one
	gap   int           // line of the row before, when it may have been one of the next contract; 0: none
}

// add takes a row. It reports whether more are wanted.
func (a *assembly) add(r row) bool {
	c := &cells{columns: a.columns, row: r}
	id := ""
	if c.readable() {
		if id = c.contractID(); id == "" && len(c.findings) == 0 {
			c.find(moving.Stays, valueMissing, "id", "the contract is missing: write what names it")
		}
	}
	switch {
	case id == "":
		return a.unnamed(c)
	case a.open && id == a.id:
		a.join(c)
		return true
	}
	if !a.flush() {
		return false
	}
	a.begin(c, id)
	return true
}

// unnamed passes on a row that names no contract. It may have been a line of the contract before
// it, or of the one after it.
func (a *assembly) unnamed(c *cells) bool {
	if a.open {
		a.is.Findings = append(a.is.Findings, beside(c.row.line))
	}
	if !a.flush() {
		return false
	}
	a.gap = c.row.line
	return a.yield(Row{Line: c.row.line, Findings: c.findings, Raw: c.cells}, nil)
}

func beside(line int) moving.Finding {
	return moving.Finding{
		Fit: moving.Stays, Code: rowUnreadable,
		Text: fmt.Sprintf("line %d cannot be read, and may be a line of this contract: correct it", line),
	}
}

func (a *assembly) begin(c *cells, id string) {
	is := c.contract(id)
	is.Lines = []moving.Line{c.lineItem(1, is.Currency)}
	if a.gap != 0 {
		c.findings = append(c.findings, beside(a.gap))
	}
	list := a.doubts[contractKey(is.ID)]
	if len(list) > 0 {
		c.find(moving.Stays, contractTwice, "id",
			"rows of contract %.60q begin in lines %s, apart from each other: put them next to each other, or remove those "+
				"that are too many", id, lines(list))
	}
	a.open, a.id, a.first, a.gap = true, id, c.row, 0
	a.rows, a.alike = nil, 0
	a.is = Row{Line: c.row.line, Again: len(list) > 0 && list[0] != c.line, Contract: is, Findings: c.findings, Raw: c.cells}
}

// contents returns a hash of the values of a row.
func contents(cells []string) int64 {
	values := make([]string, len(cells))
	for i, cell := range cells {
		values[i] = trim(cell)
	}
	return hash(strings.TrimRight(strings.Join(values, "\x00"), "\x00")) // no readable row has a NUL byte
}

// contractColumns are the fields that a contract has once.
var contractColumns = slices.Concat(contractFields[1:], customerFields, scheduleFields, discountFields, deliveryFields)

// join adds a row to the contract that is open.
func (a *assembly) join(c *cells) {
	is := &a.is.Contract
	if len(is.Lines) == maxLines {
		if !slices.ContainsFunc(a.is.Findings, func(f moving.Finding) bool { return f.Code == tooManyLines }) {
			c.find(moving.Stays, tooManyLines, "", "the contract has more than %d lines: make several contracts of it", maxLines)
			a.is.Findings = append(a.is.Findings, c.findings...)
		}
		return
	}
	a.compare(c)
	for _, f := range contractColumns {
		here, before := c.text(f.Name), a.value(a.first.cells, f.Name)
		if here != "" && here != before {
			c.find(moving.Stays, contractDiffers, f.Name,
				"the contract has %.60q here and %.60q in line %d: make them alike", here, before, a.first.line)
		}
	}
	is.Lines = append(is.Lines, c.lineItem(len(is.Lines)+1, is.Currency))
	a.is.Findings = append(a.is.Findings, c.findings...)
}

// compare records a row that repeats another one of the contract that is open.
func (a *assembly) compare(c *cells) {
	if a.rows == nil {
		a.rows = map[int64]int{contents(a.first.cells): a.first.line}
	}
	is := contents(c.cells)
	before, twice := a.rows[is]
	if !twice {
		a.rows[is] = c.line
		return
	}
	if a.alike++; a.alike <= shownLines {
		c.find(moving.Stays, rowTwice, "id",
			"the row is the same as that in line %d: remove one of them, or write both quantities in one row", before)
	}
}

// flush passes on the contract that is open. It reports whether more are wanted.
func (a *assembly) flush() bool {
	if !a.open {
		return true
	}
	a.open = false
	return a.yield(a.is, nil)
}
