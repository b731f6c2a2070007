package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
)

// Kind says what a field of a list holds and so how it can be compared.
type Kind int

// The kinds of field.
const (
	Number Kind = iota
	Date
	Text
	Enum
)

// Field is a field on which criteria can be set.
type Field struct {
	Name   string // on the wire, and in the criterion
	Kind   Kind
	Values []string // of an Enum
	Shape  string   // of an Enum: the name of its shape in the document
}

// maxChoices is how many values a criterion can list.
const maxChoices = 500

var (
	equality = []page.Op{page.Equals, page.NotEquals, page.In, page.NotIn, page.Specified}
	order    = []page.Op{page.GreaterThan, page.GreaterThanOrEqual, page.LessThan, page.LessThanOrEqual}
	search   = []page.Op{page.Contains, page.DoesNotContain}

	operations = map[Kind][]page.Op{
		Number: slices.Concat(equality, order),
		Date:   slices.Concat(equality, order),
		Text:   slices.Concat(equality, search),
		Enum:   equality,
	}
)

// ParseCriteria reads the conditions on the fields out of a query, in the order
// of the fields. Days are taken in the given zone. Parameters that do not begin
// with the name of a field are not looked at.
func ParseCriteria(query url.Values, fields []Field, zone *time.Location) ([]page.Criterion, error) {
	var where []page.Criterion
	for _, f := range fields {
		if err := f.checkSuffixes(query); err != nil {
			return nil, err
		}
		for _, op := range operations[f.Kind] {
			given, ok := query[f.parameter(op)]
			if !ok {
				continue
			}
			criteria, err := f.criteria(op, given, zone)
			if err != nil {
				return nil, err
			}
			where = append(where, criteria...)
		}
	}
	return where, nil
}

func (f Field) parameter(op page.Op) string { return f.Name + "." + string(op) }

func (f Field) checkSuffixes(query url.Values) error {
	for name := range query {
		suffix, ok := strings.CutPrefix(name, f.Name+".")
		if ok && !slices.Contains(operations[f.Kind], page.Op(suffix)) {
			return fault.New(fault.Invalid, "'%s' cannot be filtered by %q: use %s", f.Name, suffix, f.suffixes()).Code("criterion").Field(name)
		}
	}
	return nil
}

func (f Field) suffixes() string {
	var names []string
	for _, op := range operations[f.Kind] {
		names = append(names, string(op))
	}
	return strings.Join(names, ", ")
}

// criteria reads one condition. It becomes two when a whole day is meant.
func (f Field) criteria(op page.Op, given []string, zone *time.Location) ([]page.Criterion, error) {
	param := f.parameter(op)
	many := op == page.In || op == page.NotIn
	if len(given) > 1 && !many {
		return nil, fault.New(fault.Invalid, "parameter '%s' is given %d times: give it once", param, len(given)).Field(param)
	}
	if many {
		given = strings.Split(strings.Join(given, ","), ",")
	}
	if len(given) > maxChoices {
		return nil, fault.New(fault.Invalid, "parameter '%s' lists %d values: at most %d are allowed", param, len(given), maxChoices).Field(param)
	}
	c := page.Criterion{Field: f.Name, Op: op}
	if op == page.Specified {
		present, err := strconv.ParseBool(given[0])
		if err != nil {
			return nil, fault.New(fault.Invalid, "parameter '%s' must be true or false, and %q is neither", param, given[0]).Field(param)
		}
		c.Present = present
		return []page.Criterion{c}, nil
	}
	for _, value := range given {
		if value == "" {
			return nil, fault.New(fault.Invalid, "parameter '%s' has an empty value", param).Field(param)
		}
		switch f.Kind {
		case Number:
			n, err := ParseInt(param, value)
			if err != nil {
				return nil, err
			}
			c.Numbers = append(c.Numbers, n)
		case Date:
			m, err := ParseMoment(param, value, zone)
			if err != nil {
				return nil, err
			}
			if m.IsDay {
				return f.day(op, m)
			}
			c.Numbers = append(c.Numbers, m.From.UnixMilli())
		case Enum:
			known, err := ParseEnum(param, value, f.Values)
			if err != nil {
				return nil, err
			}
			c.Texts = append(c.Texts, known)
		case Text:
			c.Texts = append(c.Texts, value)
		}
	}
	return []page.Criterion{c}, nil
}

// day compares with a whole day: after it, before it, or within it.
func (f Field) day(op page.Op, m Moment) ([]page.Criterion, error) {
	from, to := []int64{m.From.UnixMilli()}, []int64{m.To.UnixMilli()}
	switch op {
	case page.Equals:
		return []page.Criterion{
			{Field: f.Name, Op: page.GreaterThanOrEqual, Numbers: from},
			{Field: f.Name, Op: page.LessThanOrEqual, Numbers: to},
		}, nil
	case page.GreaterThan, page.LessThanOrEqual:
		return []page.Criterion{{Field: f.Name, Op: op, Numbers: to}}, nil
	case page.GreaterThanOrEqual, page.LessThan:
		return []page.Criterion{{Field: f.Name, Op: op, Numbers: from}}, nil
	}
	return nil, fault.New(fault.Invalid, "'%s' needs dates with a time, like 2025-01-31T08:00:00Z", f.parameter(op)).Field(f.parameter(op))
}

// meaning says in words what a condition asks of a field.
var meaning = map[page.Op]string{
	page.Equals:             "is the value",
	page.NotEquals:          "is not the value",
	page.In:                 "is one of the values, which have commas between them",
	page.NotIn:              "is none of the values, which have commas between them",
	page.Specified:          "has a value; with false, those that have none",
	page.Contains:           "contains the text, in any letter case",
	page.DoesNotContain:     "does not contain the text, in any letter case",
	page.GreaterThan:        "is more than the value",
	page.GreaterThanOrEqual: "is the value or more",
	page.LessThan:           "is less than the value",
	page.LessThanOrEqual:    "is the value or less",
}

// CriteriaParameters describes the conditions that the fields allow.
func CriteriaParameters(schemas huma.Registry, fields []Field) []*huma.Param {
	var params []*huma.Param
	for _, f := range fields {
		for _, op := range operations[f.Kind] {
			value := f.schema(schemas)
			switch op {
			case page.Specified:
				value = &huma.Schema{Type: huma.TypeBoolean, Description: "Whether the field has a value."}
			case page.In, page.NotIn:
				value = &huma.Schema{Type: huma.TypeArray, Items: value}
			}
			explode := false
			params = append(params, &huma.Param{
				Name: f.parameter(op), In: "query", Explode: &explode, Schema: value, Description: "Only those whose " + f.Name + " " + meaning[op] + ".",
			})
		}
	}
	return params
}

func (f Field) schema(schemas huma.Registry) *huma.Schema {
	switch f.Kind {
	case Number:
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	case Date:
		return &huma.Schema{Type: huma.TypeString, Description: "ISO 8601 with a zone, or YYYY-MM-DD in the store's zone."}
	case Enum:
		return EnumSchema(schemas, f.Shape, f.Values)
	}
	return &huma.Schema{Type: huma.TypeString}
}

// EnumSchema names a set of values in the document and returns a reference.
func EnumSchema[T ~string](schemas huma.Registry, name string, values []T) *huma.Schema {
	if schemas.Map()[name] == nil {
		s := &huma.Schema{Type: huma.TypeString}
		for _, v := range values {
			s.Enum = append(s.Enum, string(v))
		}
		schemas.Map()[name] = s
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}
