package web

import (
	"math"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// checkParameters refuses a request whose parameters are not what its operation
// describes. The library then finds nothing to complain of, in words that are
// not the interface's.
func checkParameters(ctx huma.Context, next func(huma.Context)) {
	if err := checkRequest(ctx); err != nil {
		r, w := humago.Unwrap(ctx)
		WriteError(w, r, err)
		return
	}
	known := map[string]bool{}
	for _, p := range ctx.Operation().Parameters {
		known[p.Name] = known[p.Name] || p.In == "query"
	}
	traceOf(ctx.Context()).known = known
	next(ctx)
}

// checkRequest checks the path, the query and the parameters of a request.
func checkRequest(ctx huma.Context) error {
	r, _ := humago.Unwrap(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.Because(fault.Invalid, err, "the query is not well formed: percent-encode names and values")
	}
	if err := CheckText("the path", "", r.URL.Path); err != nil {
		return err
	}
	for name, values := range query {
		if err := CheckText("the name of a parameter", "", name); err != nil {
			return err
		}
		for _, v := range values {
			if err := CheckText("parameter '"+name+"'", name, v); err != nil {
				return err
			}
		}
	}
	for _, p := range ctx.Operation().Parameters {
		if p.In == "header" { // the code that reads it checks it
			continue
		}
		values := query[p.Name]
		if p.In == "path" {
			values = []string{ctx.Param(p.Name)}
		}
		if err := checkParameter(p, values); err != nil {
			return err
		}
	}
	// The library takes a name without a value for the value true; this writes
	// it as an empty one, which is absent.
	r.URL.RawQuery = query.Encode()
	return nil
}

func checkParameter(p *huma.Param, values []string) error {
	if p.Schema == nil || p.Schema.Type == huma.TypeArray {
		return nil
	}
	if len(values) > 1 {
		return fault.New(fault.Invalid, "parameter '%s' is given %d times: give it once", p.Name, len(values)).Field(p.Name)
	}
	if len(values) == 0 || values[0] == "" {
		if p.Required {
			return MissingParameter(p.Name, typeName(p.Schema))
		}
		return nil
	}
	return checkValue(p.Name, p.Schema, values[0])
}

func checkValue(name string, s *huma.Schema, value string) error {
	switch s.Type {
	case huma.TypeInteger:
		n, err := ParseInt(name, value)
		if err != nil {
			return err
		}
		return checkRange(name, s, float64(n), value)
	case huma.TypeNumber:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fault.New(fault.Invalid, "parameter '%s' must be a number, and %q is not", name, value).Field(name)
		}
		return checkRange(name, s, f, value)
	case huma.TypeBoolean:
		if _, err := strconv.ParseBool(value); err != nil {
			return fault.New(fault.Invalid, "parameter '%s' must be true or false, and %q is neither", name, value).Field(name)
		}
	case huma.TypeString:
		if s.MaxLength != nil && utf8.RuneCountInString(value) > *s.MaxLength {
			return fault.New(fault.Invalid, "parameter '%s' is longer than %d characters", name, *s.MaxLength).Field(name)
		}
	}
	return nil
}

func checkRange(name string, s *huma.Schema, n float64, value string) error {
	if s.Minimum != nil && n < *s.Minimum {
		return fault.New(fault.Invalid, "parameter '%s' is %s and must be at least %s", name, value, decimal(*s.Minimum)).Field(name)
	}
	if s.Maximum != nil && n > *s.Maximum {
		return fault.New(fault.Invalid, "parameter '%s' is %s and must be at most %s", name, value, decimal(*s.Maximum)).Field(name)
	}
	return nil
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func typeName(s *huma.Schema) string {
	switch {
	case s.Format == IDFormat:
		return "Long"
	case s.Type == huma.TypeInteger && s.Format == "int32":
		return "Integer"
	case s.Type == huma.TypeInteger:
		return "Long"
	case s.Type == huma.TypeNumber:
		return "Double"
	case s.Type == huma.TypeBoolean:
		return "Boolean"
	}
	return "String"
}
