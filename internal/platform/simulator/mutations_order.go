package simulator

import (
	"slices"
	"strings"
)

// changeTags answers the mutations that add tags to an object and remove them.
func changeTags(kind string, change func(have, tags []string) []string) fieldFunc {
	return func(x *exec, _ any, a args) any {
		node := x.node(a.text("id"))
		if x.failed != nil {
			return nil
		}
		tags := a.texts("tags")
		switch v := node.val.(type) {
		case *customer:
			v.Tags, v.UpdatedAt = change(v.Tags, tags), x.s.now()
			x.s.save(v)
		case *order:
			v.Tags, v.UpdatedAt = change(v.Tags, tags), x.s.now()
			x.s.save(v)
		case *product:
			v.Tags, v.UpdatedAt = change(v.Tags, tags), x.s.now()
			x.s.save(v)
		case nil:
			return done(kind, &userError{Field: []string{"id"}, Message: "Node does not exist"}, part{"node", nil})
		default:
			x.fail(codeNotSimulated, "The simulator does not simulate tags of %s.", node.kind)
			return nil
		}
		return done(kind, nil, part{"node", node})
	}
}

// sameTag compares tags as the platform does, whatever their letters' case.
func sameTag(tag string) func(string) bool {
	return func(have string) bool { return strings.EqualFold(have, tag) }
}

// union returns what either list has. Tags that are there stay as they are.
func union(have, more []string) []string {
	out := slices.Clone(have)
	for _, t := range more {
		if !slices.ContainsFunc(out, sameTag(t)) {
			out = append(out, t)
		}
	}
	return out
}

// without returns what the second list lacks.
func without(have, less []string) []string {
	return slices.DeleteFunc(slices.Clone(have), func(t string) bool { return slices.ContainsFunc(less, sameTag(t)) })
}

// updateOrder changes an order's note, attributes and tags; what is not given
// stays as it is.
func updateOrder(x *exec, _ any, a args) any {
	const kind = "OrderUpdatePayload"
	in := a.object("input")
	n, ok := x.id(in, "id", "Order")
	if !ok {
		return nil
	}
	o, known := x.shop.orders.get(n)
	if !known {
		return done(kind, &userError{Field: []string{"id"}, Message: "Order does not exist"}, part{"order", nil})
	}
	for name := range in {
		if !slices.Contains([]string{"id", "note", "customAttributes", "tags"}, name) {
			x.fail(codeNotSimulated, "The simulator does not simulate changes of an order's %s.", name)
			return nil
		}
	}
	if in.given("note") {
		o.Note = in.text("note")
	}
	if in.has("customAttributes") {
		o.Attributes = attributesInput(in.objects("customAttributes"))
	}
	if in.has("tags") {
		o.Tags = union(nil, in.texts("tags"))
	}
	o.UpdatedAt = x.s.now()
	x.s.save(o)
	return done(kind, nil, part{"order", typed("Order", o)})
}
