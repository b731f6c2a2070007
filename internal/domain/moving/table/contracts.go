package table

import (
	"fmt"
	"iter"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/moving"
)

// maxLines is how many lines a contract can have.
const maxLines = 500

// Row is a contract of a file.
type Row struct {
	Line     int // of the file, from 1; the first of several
	Contract moving.Contract
	Findings []moving.Finding
	Raw      []string // cells of that line; nil when they cannot be read
}

// Twice reports whether the file has a contract of that ID before.
func (r Row) Twice() bool {
	return slices.ContainsFunc(r.Findings, func(f moving.Finding) bool { return f.Code == contractTwice })
}

// Contracts reads contracts. Adjacent rows with the same ID are the lines of one contract. Rows
// that cannot be read are passed on with findings that say why; an error ends the sequence, and
// means that the rest of the file cannot be read or that the mapping does not fit.
//
// A contract whose ID comes again later has been passed on by then: only the later ones have a
// finding. About 8 bytes of each contract are kept to find them.
func Contracts(f *File, m Mapping, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		c, err := columnsOf(ContractRows, f, m, o)
		if err != nil {
			yield(Row{}, err)
			return
		}
		a := assembly{columns: c, yield: yield, seen: make(map[int64]struct{})}
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
	seen  map[int64]struct{} // numbers of contracts

	open  bool
	id    string
	is    Row
	first row
	gap   int // line of the row before, when it may have been one of the next contract; 0: none
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
	if _, twice := a.seen[is.ID]; twice {
		c.find(moving.Stays, contractTwice,
			"id", "contract %.60q is in the file before: put its rows next to each other, or remove them", id)
	}
	a.seen[is.ID] = struct{}{}
	a.open, a.id, a.first, a.gap = true, id, c.row, 0
	a.is = Row{Line: c.row.line, Contract: is, Findings: c.findings, Raw: c.cells}
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

// flush passes on the contract that is open. It reports whether more are wanted.
func (a *assembly) flush() bool {
	if !a.open {
		return true
	}
	a.open = false
	return a.yield(a.is, nil)
}
