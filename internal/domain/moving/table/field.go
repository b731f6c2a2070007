package table

import "slices"

// Kind says what the rows of a file are.
type Kind string

// The kinds.
const (
	ContractRows Kind = "CONTRACTS" // a line of a contract in each row
	CustomerRows Kind = "CUSTOMERS"
	PointRows    Kind = "POINTS" // a customer's points in each row
)

// Kinds lists them.
var Kinds = []Kind{ContractRows, CustomerRows, PointRows}

// Field is what a column can hold.
type Field struct {
	Name     string
	Label    string
	About    string
	Required bool
	Example  string

	form      form
	spellings []string // other names of its column, as spell writes them
}

// form is how the values of a field are written.
type form int

const (
	texts   form = iota
	numbers      // with decimals
	dates
)

// Fields returns the fields of a kind. Where one of two fields is enough, neither is required and
// Check says that both are missing.
func Fields(kind Kind) []Field {
	switch kind {
	case ContractRows:
		return slices.Concat(contractFields, customerFields, scheduleFields, lineFields, discountFields, deliveryFields)
	case CustomerRows:
		return slices.Concat(customerFields, personFields)
	case PointRows:
		return slices.Concat(customerFields[:2], pointFields)
	}
	return nil
}

// alternatives are the pairs of fields of a kind that one of is enough of.
var alternatives = map[Kind][][2]string{
	ContractRows: {{"customerId", "email"}, {"variantId", "sku"}},
	CustomerRows: {{"customerId", "email"}},
	PointRows:    {{"customerId", "email"}},
}
