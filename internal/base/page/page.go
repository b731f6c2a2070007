// Package page is how a list is asked for: which page of it, in which order,
// and by which criteria on its fields.
package page

// Request asks for one page of a list.
type Request struct {
	Page int // zero-based
	Size int
	Sort []Sort // empty: the list's own order
}

// Sort is one field of an order. Field is a name from the list's whitelist.
type Sort struct {
	Field string
	Desc  bool
}

// Offset returns the number of elements before the page.
func (r Request) Offset() int { return r.Page * r.Size }

// Op compares a field with the values of a criterion.
type Op string

// The comparisons, spelled as the suffixes of the interface.
const (
	Equals             Op = "equals"
	NotEquals          Op = "notEquals"
	In                 Op = "in"
	NotIn              Op = "notIn"
	Specified          Op = "specified"
	Contains           Op = "contains"
	DoesNotContain     Op = "doesNotContain"
	GreaterThan        Op = "greaterThan"
	GreaterThanOrEqual Op = "greaterThanOrEqual"
	LessThan           Op = "lessThan"
	LessThanOrEqual    Op = "lessThanOrEqual"
)

// Criterion is a condition on one field. Field is a name from the list's
// whitelist. Which of the values is set depends on the field: Texts for text,
// Numbers for numbers and for instants, in Unix milliseconds. Specified alone
// uses Present.
type Criterion struct {
	Field   string
	Op      Op
	Texts   []string
	Numbers []int64
	Present bool
}
