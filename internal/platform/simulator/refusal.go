package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// apiError is an entry of an answer's errors.
type apiError struct {
	Message    string      `json:"message"`
	Locations  []location  `json:"locations,omitempty"`
	Path       []string    `json:"path,omitempty"`
	Extensions *extensions `json:"extensions,omitempty"`
}

type location struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// extensions are what an error says to programs. Which fields it has depends on
// the code.
type extensions struct {
	Code            string    `json:"code"`
	TypeName        string    `json:"typeName,omitempty"`
	FieldName       string    `json:"fieldName,omitempty"`
	NodeName        string    `json:"nodeName,omitempty"`
	ClassName       string    `json:"className,omitempty"`
	Name            string    `json:"name,omitempty"`
	ArgumentName    string    `json:"argumentName,omitempty"`
	Arguments       string    `json:"arguments,omitempty"`
	ArgumentType    string    `json:"argumentType,omitempty"`
	InputObjectType string    `json:"inputObjectType,omitempty"`
	VariableName    string    `json:"variableName,omitempty"`
	FragmentName    string    `json:"fragmentName,omitempty"`
	ErrorMessage    string    `json:"errorMessage,omitempty"`
	Value           any       `json:"value,omitempty"` // the variable's value as it was sent
	Problems        []problem `json:"problems,omitempty"`
	Cost            int       `json:"cost,omitempty"`
	MaxCost         int       `json:"maxCost,omitempty"`
	Documentation   string    `json:"documentation,omitempty"`
}

// Codes of errors that stand beside an answer's data.
const (
	codeParse        = "PARSE_ERROR"
	codeVariable     = "INVALID_VARIABLE"
	codeNotFound     = "RESOURCE_NOT_FOUND"
	codeBadRequest   = "BAD_REQUEST"
	codeThrottled    = "THROTTLED"
	codeMaxCost      = "MAX_COST_EXCEEDED"
	codeNotSimulated = "NOT_SIMULATED" // ours: the platform would have answered
)

const limitsPage = "https://shopify.dev/api/usage/rate-limits"

func at1(p *ast.Position) []location {
	if p == nil {
		return nil
	}
	return []location{{p.Line, p.Column}}
}

func parseError(err error) apiError {
	e := apiError{Message: err.Error(), Extensions: &extensions{Code: codeParse}}
	if g, ok := errors.AsType[*gqlerror.Error](err); ok {
		e.Message = "syntax error, " + strings.ToLower(g.Message[:1]) + g.Message[1:]
		for _, l := range g.Locations {
			e.Locations = append(e.Locations, location{l.Line, l.Column})
		}
		if len(g.Locations) > 0 {
			e.Message += fmt.Sprintf(" at [%d, %d]", g.Locations[0].Line, g.Locations[0].Column)
		}
	}
	return e
}

// notSimulated is the error for what is valid and has no answer here. It is
// meant to be noticed.
func notSimulated(f *ast.Field, parent string) *apiError {
	return &apiError{
		Message:    fmt.Sprintf("The simulator does not simulate field '%s' of type '%s': the document is valid, and the platform would answer it.", f.Name, parent),
		Locations:  at1(f.Position),
		Extensions: &extensions{Code: codeNotSimulated, TypeName: parent, FieldName: f.Name},
	}
}

// refusals words what a validator found as the platform does. What it has no
// wording for keeps the validator's own.
func (s *Simulator) refusals(q *ast.QueryDocument, found gqlerror.List) []apiError {
	w := refusalWriter{s: s, spread: map[string]bool{}, q: q}
	for _, op := range q.Operations {
		w.op = op
		w.set(op.SelectionSet, rootType(s.schema, op), []string{strings.TrimSpace(string(op.Operation) + " " + op.Name)})
	}
	if len(w.list) > 0 {
		return w.list
	}
	for _, g := range found {
		e := apiError{Message: g.Message, Extensions: &extensions{Code: ruleCodes[g.Rule]}}
		if e.Extensions.Code == "" {
			e.Extensions.Code = strings.ToLower(g.Rule[:1]) + g.Rule[1:]
		}
		for _, l := range g.Locations {
			e.Locations = append(e.Locations, location{l.Line, l.Column})
		}
		w.list = append(w.list, e)
	}
	return w.list
}

// ruleCodes are the platform's codes for rules whose findings are not reworded.
var ruleCodes = map[string]string{
	"NoUndefinedVariables": "variableNotDefined", "NoUnusedVariables": "variableNotUsed",
	"VariablesInAllowedPosition": "variableMismatch", "KnownFragmentNames": "useAndDefineFragments",
	"NoUnusedFragments": "useAndDefineFragments", "KnownTypeNames": "undefinedType",
	"OverlappingFieldsCanBeMerged": "fieldConflict", "KnownDirectives": "undefinedDirective",
	"PossibleFragmentSpreads": "cannotSpreadFragment", "UniqueArgumentNames": "argumentNotUnique",
	"ValuesOfCorrectType": "argumentLiteralsIncompatible", "FragmentsOnCompositeTypes": "fragmentOnNonCompositeType",
}

func rootType(schema *ast.Schema, op *ast.OperationDefinition) *ast.Definition {
	if op.Operation == ast.Mutation {
		return schema.Mutation
	}
	return schema.Query
}

type refusalWriter struct {
	s      *Simulator
	q      *ast.QueryDocument
	op     *ast.OperationDefinition
	spread map[string]bool // fragments that are being walked
	list   []apiError
}

func (w *refusalWriter) add(p *ast.Position, path []string, x extensions, format string, args ...any) {
	w.list = append(w.list, apiError{Message: fmt.Sprintf(format, args...), Locations: at1(p), Path: slices.Clone(path), Extensions: &x})
}

func (w *refusalWriter) set(set ast.SelectionSet, parent *ast.Definition, path []string) {
	if parent == nil {
		return
	}
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			w.field(sel, parent, path)
		case *ast.InlineFragment:
			on := parent
			if sel.TypeCondition != "" {
				on = w.s.schema.Types[sel.TypeCondition]
			}
			w.set(sel.SelectionSet, on, append(slices.Clone(path), "... on "+sel.TypeCondition))
		case *ast.FragmentSpread:
			if f := w.q.Fragments.ForName(sel.Name); f != nil && !w.spread[sel.Name] {
				w.spread[sel.Name] = true
				w.set(f.SelectionSet, w.s.schema.Types[f.TypeCondition], []string{"fragment " + f.Name})
			}
		}
	}
}

func (w *refusalWriter) field(f *ast.Field, parent *ast.Definition, path []string) {
	path = append(slices.Clone(path), f.Alias)
	if strings.HasPrefix(f.Name, "__") {
		return
	}
	def := parent.Fields.ForName(f.Name)
	if def == nil {
		w.add(f.Position, path, extensions{Code: "undefinedField", TypeName: parent.Name, FieldName: f.Name},
			"Field '%s' doesn't exist on type '%s'", f.Name, parent.Name)
		return
	}
	w.arguments(f, def, path)
	kind := w.s.schema.Types[def.Type.Name()]
	switch {
	case kind.IsLeafType() && len(f.SelectionSet) > 0:
		w.add(f.Position, path, extensions{Code: "selectionMismatch", NodeName: "field '" + f.Name + "'", TypeName: kind.Name},
			"Selections can't be made on %ss (field '%s' returns %s but has selections)", strings.ToLower(string(kind.Kind)), f.Name, kind.Name)
	case !kind.IsLeafType() && len(f.SelectionSet) == 0:
		w.add(f.Position, path, extensions{Code: "selectionMismatch", NodeName: "field '" + f.Name + "'", TypeName: kind.Name},
			"Field must have selections (field '%s' returns %s but has no selections. Did you mean '%s { ... }'?)", f.Name, kind.Name, f.Name)
	}
	w.set(f.SelectionSet, kind, path)
}

func (w *refusalWriter) arguments(f *ast.Field, def *ast.FieldDefinition, path []string) {
	var missing []string
	for _, a := range def.Arguments {
		if given := f.Arguments.ForName(a.Name); given == nil && a.Type.NonNull && a.DefaultValue == nil {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		names := strings.Join(missing, ", ")
		w.add(f.Position, path, extensions{Code: "missingRequiredArguments", ClassName: "Field", Name: f.Name, Arguments: names},
			"Field '%s' is missing required arguments: %s", f.Name, names)
	}
	for _, a := range f.Arguments {
		argPath := append(slices.Clone(path), a.Name)
		ad := def.Arguments.ForName(a.Name)
		if ad == nil {
			w.add(a.Position, argPath, extensions{Code: "argumentNotAccepted", Name: f.Name, TypeName: "Field", ArgumentName: a.Name},
				"Field '%s' doesn't accept argument '%s'", f.Name, a.Name)
			continue
		}
		w.value(literal{f.Name, "Field", a.Name, a.Position}, a.Value, ad.Type, argPath)
	}
}

// literal says where a written value stands.
type literal struct {
	owner, ownerKind, name string
	position               *ast.Position
}

// value reports a literal that does not fit its type.
func (w *refusalWriter) value(at literal, v *ast.Value, t *ast.Type, path []string) {
	wrong := func() {
		w.add(at.position, path, extensions{Code: "argumentLiteralsIncompatible", TypeName: at.ownerKind, ArgumentName: at.name},
			"Argument '%s' on %s '%s' has an invalid value (%s). Expected type '%s'.", at.name, at.ownerKind, at.owner, v.String(), t.String())
	}
	def := w.s.schema.Types[t.Name()]
	switch {
	case v.Kind == ast.Variable:
		w.variable(at, v, t, path)
	case v.Kind == ast.NullValue:
		if t.NonNull {
			wrong()
		}
	case t.Elem != nil:
		if v.Kind != ast.ListValue {
			w.value(at, v, t.Elem, path)
			return
		}
		for _, c := range v.Children {
			w.value(at, c.Value, t.Elem, path)
		}
	case def.Kind == ast.InputObject:
		if v.Kind != ast.ObjectValue {
			wrong()
			return
		}
		w.object(v, def, path)
	case !fitsLiteral(def, v):
		wrong()
	}
}

// object reports the fields of a written input object that are missing, unknown
// or wrong.
func (w *refusalWriter) object(v *ast.Value, def *ast.Definition, path []string) {
	for _, f := range def.Fields {
		if v.Children.ForName(f.Name) == nil && f.Type.NonNull && f.DefaultValue == nil {
			w.add(v.Position, append(slices.Clone(path), f.Name), extensions{Code: "missingRequiredInputObjectAttribute", ArgumentName: f.Name, ArgumentType: f.Type.String(), InputObjectType: def.Name},
				"Argument '%s' on InputObject '%s' is required. Expected type %s", f.Name, def.Name, f.Type.String())
		}
	}
	for _, c := range v.Children {
		childPath := append(slices.Clone(path), c.Name)
		f := def.Fields.ForName(c.Name)
		if f == nil {
			w.add(c.Position, childPath, extensions{Code: "argumentNotAccepted", Name: def.Name, TypeName: "InputObject", ArgumentName: c.Name},
				"InputObject '%s' doesn't accept argument '%s'", def.Name, c.Name)
			continue
		}
		w.value(literal{def.Name, "InputObject", c.Name, c.Position}, c.Value, f.Type, childPath)
	}
}

// variable reports a variable that is not declared or whose type does not fit.
func (w *refusalWriter) variable(at literal, v *ast.Value, t *ast.Type, path []string) {
	def := w.op.VariableDefinitions.ForName(v.Raw)
	switch {
	case def == nil:
		name := w.op.Name
		if name == "" {
			name = "anonymous " + string(w.op.Operation)
		}
		w.add(at.position, path, extensions{Code: "variableNotDefined", VariableName: v.Raw}, "Variable $%s is used by %s but not declared", v.Raw, name)
	case !assignable(def, t):
		w.add(at.position, path, extensions{Code: "variableMismatch", VariableName: v.Raw, TypeName: def.Type.String(), ArgumentName: at.name, ErrorMessage: "Type mismatch"},
			"Type mismatch on variable $%s and argument %s (%s / %s)", v.Raw, at.name, def.Type.String(), t.String())
	}
}

// assignable reports whether a variable may stand where a type is wanted.
func assignable(def *ast.VariableDefinition, t *ast.Type) bool {
	have := def.Type
	if t.NonNull && !have.NonNull && def.DefaultValue != nil {
		copied := *have
		copied.NonNull = true
		have = &copied
	}
	return have.IsCompatible(t)
}

// fitsLiteral reports whether a written value fits a scalar or an enum.
func fitsLiteral(def *ast.Definition, v *ast.Value) bool {
	if def.Kind == ast.Enum {
		return v.Kind == ast.EnumValue && def.EnumValues.ForName(v.Raw) != nil
	}
	text := v.Kind == ast.StringValue || v.Kind == ast.BlockValue
	switch def.Name {
	case "Int":
		return v.Kind == ast.IntValue
	case "Float":
		return v.Kind == ast.IntValue || v.Kind == ast.FloatValue
	case "Boolean":
		return v.Kind == ast.BooleanValue
	case "String", "URL", "HTML", "DateTime", "Date":
		return text
	case "ID":
		return text || v.Kind == ast.IntValue
	}
	return v.Kind != ast.EnumValue
}
