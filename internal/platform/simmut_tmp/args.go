package simulator

import (
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// args are the coerced arguments of a field, the fields of an input object or
// the variables of an operation: string, bool, int64, float64, []any or args.
// An explicit null is present and nil.
type args map[string]any

// arguments returns the arguments of a field.
func (s *Simulator) arguments(f *ast.Field, vars args) args {
	if len(f.Definition.Arguments) == 0 {
		return nil
	}
	out := make(args, len(f.Definition.Arguments))
	for _, def := range f.Definition.Arguments {
		if a := f.Arguments.ForName(def.Name); a != nil {
			if a.Value.Kind == ast.Variable {
				if v, ok := vars[a.Value.Raw]; ok {
					out[def.Name] = v
					continue
				}
			} else {
				out[def.Name] = s.written(a.Value, def.Type, vars)
				continue
			}
		}
		if def.DefaultValue != nil {
			out[def.Name] = s.written(def.DefaultValue, def.Type, nil)
		}
	}
	return out
}

// has reports whether a value other than null was given.
func (a args) has(name string) bool { return a[name] != nil }

// given reports whether a value was given, be it null.
func (a args) given(name string) bool { _, ok := a[name]; return ok }

func (a args) text(name string) string {
	v, _ := a[name].(string)
	return v
}

func (a args) flag(name string) bool {
	v, _ := a[name].(bool)
	return v
}

func (a args) int(name string) int {
	v, _ := a[name].(int64)
	return int(v)
}

func (a args) float(name string) float64 {
	v, _ := a[name].(float64)
	return v
}

// time returns an instant in whole seconds; zero when none was given.
func (a args) time(name string) time.Time {
	t, err := parseTime(a.text(name))
	if err != nil {
		return time.Time{}
	}
	return t.Truncate(time.Second)
}

// number returns the number of a graph id, whatever its type; 0 when none was
// given.
func (a args) number(name string) int64 { return gid.Number(a.text(name)) }

// tail returns what follows the type in a graph id.
func (a args) tail(name string) string {
	_, tail, _ := strings.Cut(strings.TrimPrefix(a.text(name), "gid://shopify/"), "/")
	return tail
}

// amount returns a decimal as an amount of a currency; it was checked to be one.
func (a args) amount(name string, c money.Currency) money.Amount {
	m, err := money.Parse(a.text(name), c)
	if err != nil {
		return money.Amount{Currency: c}
	}
	return m
}

func (a args) object(name string) args {
	v, _ := a[name].(args)
	return v
}

func (a args) objects(name string) []args {
	list, _ := a[name].([]any)
	out := make([]args, 0, len(list))
	for _, v := range list {
		if o, ok := v.(args); ok {
			out = append(out, o)
		}
	}
	return out
}

func (a args) texts(name string) []string {
	list, _ := a[name].([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
