package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/govalues/decimal"
	"github.com/vektah/gqlparser/v2/ast"
)

// problem is what is wrong in a variable, and where.
type problem struct {
	Path        []string `json:"path"`
	Explanation string   `json:"explanation"`
}

const maxInputList = 250 // entries of a list

// variables turns the values of a request into those that an operation may use,
// or returns what the platform would refuse.
func (s *Simulator) variables(op *ast.OperationDefinition, sent map[string]any) (args, []apiError) {
	vars := args{}
	var refused []apiError
	for _, def := range op.VariableDefinitions {
		value, given := sent[def.Variable]
		if !given && def.DefaultValue != nil {
			vars[def.Variable] = s.written(def.DefaultValue, def.Type, nil)
			continue
		}
		if !given && !def.Type.NonNull {
			continue
		}
		c := coercion{s: s}
		out := c.value(value, def.Type, nil)
		if len(c.problems) > 0 {
			refused = append(refused, variableError(def, value, c.problems))
			continue
		}
		vars[def.Variable] = out
	}
	return vars, refused
}

func variableError(def *ast.VariableDefinition, value any, problems []problem) apiError {
	message := fmt.Sprintf("Variable $%s of type %s was provided invalid value", def.Variable, def.Type.String())
	var told []string
	for _, p := range problems {
		if len(p.Path) > 0 {
			told = append(told, fmt.Sprintf("%s (%s)", strings.Join(p.Path, "."), p.Explanation))
		}
	}
	if len(told) > 0 {
		message += " for " + strings.Join(told, ", ")
	}
	return apiError{Message: message, Locations: at1(def.Position), Extensions: &extensions{Code: codeVariable, Value: value, Problems: problems}}
}

type coercion struct {
	s        *Simulator
	problems []problem
}

func (c *coercion) wrong(path []string, format string, a ...any) any {
	c.problems = append(c.problems, problem{append([]string{}, path...), fmt.Sprintf(format, a...)})
	return nil
}

func (c *coercion) value(v any, t *ast.Type, path []string) any {
	if v == nil {
		if t.NonNull {
			return c.wrong(path, "Expected value to not be null")
		}
		return nil
	}
	if t.Elem != nil {
		list, ok := v.([]any)
		if !ok {
			return []any{c.value(v, t.Elem, path)}
		}
		if len(list) > maxInputList {
			return c.wrong(path, "The input array size of %d is greater than the maximum allowed of %d.", len(list), maxInputList)
		}
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = c.value(e, t.Elem, append(slices.Clone(path), strconv.Itoa(i)))
		}
		return out
	}
	def := c.s.schema.Types[t.Name()]
	switch def.Kind {
	case ast.InputObject:
		return c.object(v, def, path)
	case ast.Enum:
		name, ok := v.(string)
		if !ok || def.EnumValues.ForName(name) == nil {
			names := make([]string, len(def.EnumValues))
			for i, e := range def.EnumValues {
				names[i] = e.Name
			}
			return c.wrong(path, "Expected %q to be one of: %s", fmt.Sprint(v), strings.Join(names, ", "))
		}
		return name
	}
	out, why := coerceScalar(def.Name, v)
	if why != "" {
		return c.wrong(path, "%s", why)
	}
	return out
}

func (c *coercion) object(v any, def *ast.Definition, path []string) any {
	given, ok := v.(map[string]any)
	if !ok {
		return c.wrong(path, "Expected %s to be a key-value object.", written(v))
	}
	out := args{}
	for _, f := range def.Fields {
		value, has := given[f.Name]
		switch {
		case has || (f.Type.NonNull && f.DefaultValue == nil):
			out[f.Name] = c.value(value, f.Type, append(slices.Clone(path), f.Name))
		case f.DefaultValue != nil:
			out[f.Name] = c.s.written(f.DefaultValue, f.Type, nil)
		}
	}
	for name := range given {
		if def.Fields.ForName(name) == nil {
			c.wrong(append(slices.Clone(path), name), "Field is not defined on %s", def.Name)
		}
	}
	if def.Directives.ForName("oneOf") != nil && len(given) != 1 {
		c.wrong(path, "'%s' requires exactly one argument, but %d were provided.", def.Name, len(given))
	}
	return out
}

func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// coerceScalar returns a scalar as resolvers read it: string, bool, int64 or
// float64. Custom scalars stay text. Otherwise it says what is wrong.
func coerceScalar(name string, v any) (any, string) {
	bad := fmt.Sprintf("Could not coerce value %s to %s", written(v), name)
	switch name {
	case "Int":
		n, ok := v.(json.Number)
		if i, err := strconv.ParseInt(string(n), 10, 32); ok && err == nil {
			return i, ""
		}
		return nil, bad
	case "Float":
		n, ok := v.(json.Number)
		if f, err := n.Float64(); ok && err == nil {
			return f, ""
		}
		return nil, bad
	case "Boolean":
		if b, ok := v.(bool); ok {
			return b, ""
		}
		return nil, bad
	}
	text, ok := v.(string)
	if n, number := v.(json.Number); number && name != "String" && name != "DateTime" && name != "URL" {
		text, ok = string(n), true
	}
	if !ok {
		return nil, bad
	}
	switch name {
	case "ID":
		if !isGlobalID(text) {
			return nil, "Invalid global id '" + text + "'"
		}
	case "DateTime":
		if _, err := parseTime(text); err != nil {
			return nil, bad
		}
	case "Decimal", "Money":
		if _, err := decimal.Parse(text); err != nil {
			return nil, bad
		}
	case "UnsignedInt64":
		if _, err := strconv.ParseUint(text, 10, 64); err != nil {
			return nil, bad
		}
	}
	return text, ""
}

func isGlobalID(s string) bool {
	rest, ok := strings.CutPrefix(s, "gid://shopify/")
	kind, tail, found := strings.Cut(rest, "/")
	return ok && found && kind != "" && tail != ""
}

// parseTime reads the forms of an instant that the platform takes.
func parseTime(s string) (time.Time, error) {
	var err error
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly} {
		var t time.Time
		if t, err = time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, err
}

// written returns the value of a literal that was checked, with the defaults of
// input objects and with variables in their places.
func (s *Simulator) written(v *ast.Value, t *ast.Type, vars args) any {
	switch v.Kind {
	case ast.Variable:
		if value, ok := vars[v.Raw]; ok {
			return value
		}
		return nil
	case ast.NullValue:
		return nil
	case ast.ListValue:
		out := make([]any, len(v.Children))
		for i, c := range v.Children {
			out[i] = s.written(c.Value, elem(t), vars)
		}
		return out
	}
	if t.Elem != nil {
		return []any{s.written(v, t.Elem, vars)}
	}
	switch v.Kind {
	case ast.ObjectValue:
		out := args{}
		for _, f := range s.schema.Types[t.Name()].Fields {
			c := v.Children.ForName(f.Name)
			switch {
			case c != nil:
				if c.Kind == ast.Variable {
					if _, ok := vars[c.Raw]; !ok && f.DefaultValue == nil {
						continue // not given
					}
				}
				out[f.Name] = s.written(c, f.Type, vars)
			case f.DefaultValue != nil:
				out[f.Name] = s.written(f.DefaultValue, f.Type, nil)
			}
		}
		return out
	case ast.BooleanValue:
		return v.Raw == "true"
	case ast.IntValue, ast.FloatValue:
		if out, why := coerceScalar(t.Name(), json.Number(v.Raw)); why == "" {
			return out
		}
	}
	return v.Raw
}

func elem(t *ast.Type) *ast.Type {
	if t.Elem != nil {
		return t.Elem
	}
	return t
}
