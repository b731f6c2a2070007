package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// idList reads numbers or graph ids, separated by commas.
func idList(kind, param, text string) ([]int64, error) {
	var ids []int64
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		id, err := web.ParseID(kind, param, one)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// digitLists is what the interface allows for a list of numbers: digits, separated by
// commas.
var digitLists = regexp.MustCompile(`^(\d+(,\d+)*)?$`)

// numberList reads ids of a kind, which the interface restricts to digits and commas.
func numberList(kind, param, text string) ([]int64, error) {
	if !digitLists.MatchString(text) {
		return nil, fault.New(fault.Invalid, "parameter '%s' must be numbers separated by commas, without a graph prefix, and %q is not", param, text).Field(param)
	}
	return idList(kind, param, text)
}

// What a list of items is of.
type (
	ofProducts struct{}
	ofVariants struct{}
)

func (ofProducts) objectType() string { return "Product" }
func (ofVariants) objectType() string { return "ProductVariant" }

// itemList is a list of products or variants in a request: JSON text of objects
// with an id, or numbers or graph ids separated by commas. A real list is read too.
type itemList[Of interface{ objectType() string }] struct {
	ids []int64
	set bool // the field is there; null is an empty list
}

// Schema describes the text.
func (itemList[Of]) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Description: "JSON text of a list of objects with an id, as answers have it, or ids separated by commas. In a change it replaces the list; null empties it.",
		Examples: []any{"3001,3002"},
	}
}

// UnmarshalJSON reads the list. Its failures are Invalid.
func (l *itemList[Of]) UnmarshalJSON(text []byte) error {
	l.set, l.ids = true, nil
	switch {
	case string(text) == "null":
		return nil
	case text[0] == '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "[") {
			return l.read([]byte(s))
		}
		return l.parse(strings.Split(s, ","))
	default:
		return l.read(text)
	}
}

// counts reports whether the list was sent and names n different things.
func (l *itemList[Of]) counts(n int64) bool {
	return l.set && int64(len(slices.Compact(slices.Sorted(slices.Values(l.ids))))) == n
}

// read reads a JSON list of ids, or of objects that have one.
func (l *itemList[Of]) read(text []byte) error {
	var elements []itemID
	if err := json.Unmarshal(text, &elements); err != nil {
		return badItems(string(text))
	}
	list := make([]string, len(elements))
	for i, e := range elements {
		list[i] = string(e)
	}
	return l.parse(list)
}

func (l *itemList[Of]) parse(list []string) error {
	for _, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		var of Of
		id, err := gid.Parse(of.objectType(), s)
		if err != nil {
			return badItems(s)
		}
		l.ids = append(l.ids, id)
	}
	return nil
}

func badItems(text string) error {
	if len(text) > 80 {
		text = text[:80]
	}
	return fault.New(fault.Invalid, "%q is not a list of ids: write numbers or graph ids of their kind, separated by commas, or JSON text such as [{\"id\":3001}]", text).Code("bodyField")
}

// itemID is an id: a number, a text, or an object that has one of these.
type itemID string

// UnmarshalJSON reads it.
func (i *itemID) UnmarshalJSON(text []byte) error {
	if text[0] == '{' {
		var object struct {
			ID *itemID `json:"id"`
		}
		if err := json.Unmarshal(text, &object); err != nil || object.ID == nil {
			return errors.New("an object without an id")
		}
		*i = *object.ID
		return nil
	}
	*i = itemID(bytes.Trim(text, `"`))
	return nil
}

// planID names a selling plan: a text, which may be a number in a request.
type planID string

// Schema describes the text.
func (planID) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// UnmarshalJSON reads a text or a number; null is no id.
func (p *planID) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*p = ""
		return nil
	}
	if text[0] != '"' {
		var n json.Number
		if err := json.Unmarshal(text, &n); err != nil {
			return &json.UnmarshalTypeError{Value: "object", Type: reflect.TypeFor[planID](), Field: "id"}
		}
		*p = planID(n)
		return nil
	}
	return json.Unmarshal(text, (*string)(p))
}

// number returns the selling plan's number; 0 when there is none.
func (p planID) number(field string) (int64, error) {
	return web.ParseID("SellingPlan", field, string(p))
}

// groupItems names products and variants.
type groupItems struct {
	ProductIDs itemList[ofProducts] `json:"productIds,omitzero"`
	VariantIDs itemList[ofVariants] `json:"variantIds,omitzero"`
}

func (i *groupItems) assigned() plan.Assigned {
	if i == nil {
		return plan.Assigned{}
	}
	return plan.Assigned{Products: i.ProductIDs.ids, Variants: i.VariantIDs.ids}
}
