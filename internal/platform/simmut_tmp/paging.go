package simulator

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
)

// entry is a node of a connection and its place in the order.
type entry struct {
	sort int64
	id   int64
	node object
}

func (e entry) compare(f entry) int {
	return cmp.Or(cmp.Compare(e.sort, f.sort), cmp.Compare(e.id, f.id))
}

// page is a connection's answer.
type page struct {
	kind        string // of the nodes
	entries     []entry
	next, prior bool
}

// cursorText is what a cursor holds.
type cursorText struct {
	LastID    int64  `json:"last_id"`
	LastValue string `json:"last_value"`
}

func (e entry) cursor() string {
	text, err := json.Marshal(cursorText{e.id, strconv.FormatInt(e.sort, 10)})
	if err != nil {
		panic(err) // two plain fields
	}
	return base64.StdEncoding.EncodeToString(text)
}

func parseCursor(s string) (entry, bool) {
	text, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return entry{}, false
	}
	var c cursorText
	if err := json.Unmarshal(text, &c); err != nil {
		return entry{}, false
	}
	sort, err := strconv.ParseInt(c.LastValue, 10, 64)
	return entry{sort: sort, id: c.LastID}, err == nil
}

// paginate cuts the asked part out of a connection's entries, in any order.
func (x *exec) paginate(kind string, entries []entry, a args) *page {
	slices.SortFunc(entries, entry.compare)
	if a.flag("reverse") {
		slices.Reverse(entries)
	}
	before := func(e, f entry) bool {
		if a.flag("reverse") {
			e, f = f, e
		}
		return e.compare(f) < 0
	}
	p := &page{kind: kind}
	if a.has("after") {
		mark, ok := parseCursor(a.text("after"))
		if !ok {
			x.fail(codeBadRequest, "Invalid cursor for current pagination sort.")
			return p
		}
		n := len(entries)
		entries = slices.DeleteFunc(entries, func(e entry) bool { return !before(mark, e) })
		p.prior = len(entries) < n
	}
	if a.has("before") {
		mark, ok := parseCursor(a.text("before"))
		if !ok {
			x.fail(codeBadRequest, "Invalid cursor for current pagination sort.")
			return p
		}
		n := len(entries)
		entries = slices.DeleteFunc(entries, func(e entry) bool { return !before(e, mark) })
		p.next = len(entries) < n
	}
	if a.has("first") {
		if n := a.int("first"); len(entries) > n {
			entries, p.next = entries[:n], true
		}
	} else if n := a.int("last"); len(entries) > n {
		entries, p.prior = entries[len(entries)-n:], true
	}
	p.entries = entries
	return p
}

// page writes a connection and returns its cost.
func (x *exec) page(g *group, p *page) int {
	cost := connectionCost
	x.out = append(x.out, '{')
	for i, f := range x.below(g, p.kind+"Connection") {
		x.comma(i)
		x.name(f.alias)
		switch f.field.Name {
		case "nodes":
			cost += x.nodes(f, p)
		case "edges":
			cost += x.edges(f, p)
		case "pageInfo":
			x.pageInfo(f, p)
		case "__typename":
			x.string(p.kind + "Connection")
		default:
			x.errors = append(x.errors, *notSimulated(f.field, p.kind+"Connection"))
			x.broken = true
			x.null()
		}
	}
	x.out = append(x.out, '}')
	return cost
}

func (x *exec) nodes(f *group, p *page) int {
	dearest := 0
	x.out = append(x.out, '[')
	for i, e := range p.entries {
		x.comma(i)
		dearest = max(dearest, x.object(f, e.node))
	}
	x.out = append(x.out, ']')
	return pageWeight(len(p.entries)) * dearest
}

func (x *exec) edges(f *group, p *page) int {
	dearest := 1
	x.out = append(x.out, '[')
	for i, e := range p.entries {
		x.comma(i)
		x.out = append(x.out, '{')
		for j, part := range x.below(f, p.kind+"Edge") {
			x.comma(j)
			x.name(part.alias)
			switch part.field.Name {
			case "node":
				dearest = max(dearest, x.object(part, e.node))
			case "cursor":
				x.string(e.cursor())
			default:
				x.string(p.kind + "Edge")
			}
		}
		x.out = append(x.out, '}')
	}
	x.out = append(x.out, ']')
	return pageWeight(len(p.entries)) * dearest
}

func (x *exec) pageInfo(g *group, p *page) {
	x.out = append(x.out, '{')
	for i, f := range x.below(g, "PageInfo") {
		x.comma(i)
		x.name(f.alias)
		switch {
		case f.field.Name == "hasNextPage":
			x.value(f, p.next)
		case f.field.Name == "hasPreviousPage":
			x.value(f, p.prior)
		case f.field.Name == "__typename":
			x.string("PageInfo")
		case len(p.entries) == 0:
			x.null()
		case f.field.Name == "startCursor":
			x.string(p.entries[0].cursor())
		default:
			x.string(p.entries[len(p.entries)-1].cursor())
		}
	}
	x.out = append(x.out, '}')
}
