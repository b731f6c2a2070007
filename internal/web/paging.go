package web

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
)

// Paging is how every list is asked for a page. Both spellings mean the same.
type Paging struct {
	Page         Opt[int64] `query:"page" minimum:"0" maximum:"2147483647" doc:"Zero-based page. Default 0."`
	Size         Opt[int64] `query:"size" minimum:"1"`
	Sort         []string   `query:"sort,explode"`
	PageablePage Opt[int64] `query:"pageable.page" minimum:"0" maximum:"2147483647" doc:"Another spelling of page."`
	PageableSize Opt[int64] `query:"pageable.size" minimum:"1" doc:"Another spelling of size."`
	PageableSort []string   `query:"pageable.sort,explode" doc:"Another spelling of sort."`
}

// List is what a list allows to be asked for.
type List struct {
	Default, Max int
	Fields       []string // by which it can be sorted; none: it has an order of its own
}

// maxSorts is how many fields can order a list.
const maxSorts = 5

// describe says in a document how long the list's pages can be, and by which
// fields they can be sorted.
func (l List) describe(params []*huma.Param) {
	for _, p := range params {
		switch p.Name {
		case "size":
			p.Description = fmt.Sprintf("Elements in a page, at most %d. Default %d.", l.Max, l.Default)
		case "sort":
			p.Description = "The list has an order of its own: leave it out."
			if len(l.Fields) > 0 {
				p.Description = fmt.Sprintf("A field and a direction, such as %s,desc. May be repeated, up to %d times. Fields: %s.", l.Fields[0], maxSorts, strings.Join(l.Fields, ", "))
			}
		}
	}
}

// Request returns the page that is asked for.
func (p Paging) Request(l List) (page.Request, error) {
	number, err := either("page", p.Page, p.PageablePage, 0)
	if err != nil {
		return page.Request{}, err
	}
	size, err := either("size", p.Size, p.PageableSize, int64(l.Default))
	if err != nil {
		return page.Request{}, err
	}
	if size > int64(l.Max) {
		return page.Request{}, fault.New(fault.Invalid, "parameter 'size' is %d and must be at most %d", size, l.Max).Code("pageTooLarge").Field("size")
	}
	sorts, err := parseSorts(slices.Concat(p.Sort, p.PageableSort), l.Fields)
	return page.Request{Page: int(number), Size: int(size), Sort: sorts}, err
}

func either(name string, a, b Opt[int64], otherwise int64) (int64, error) {
	switch {
	case a.Set && b.Set && a.Value != b.Value:
		return 0, fault.New(fault.Invalid, "parameters '%s' and 'pageable.%s' differ: give one of them", name, name).Field(name)
	case a.Set:
		return a.Value, nil
	case b.Set:
		return b.Value, nil
	}
	return otherwise, nil
}

// parseSorts reads "field", "field,dir" and "field,field,dir". A field may be
// written in snake_case or camelCase.
func parseSorts(texts, allowed []string) ([]page.Sort, error) {
	var sorts []page.Sort
	for _, text := range texts {
		names := strings.Split(text, ",")
		if names[0] == "" && text != "" {
			return nil, fault.New(fault.Invalid, "parameter 'sort' is %q and names no field: write a field and a direction, such as id,asc", text).Code("sortField").Field("sort")
		}
		desc := false
		if last := names[len(names)-1]; len(names) > 1 && (strings.EqualFold(last, "asc") || strings.EqualFold(last, "desc")) {
			desc = strings.EqualFold(last, "desc")
			names = names[:len(names)-1]
		}
		for _, name := range names {
			if name == "" {
				continue
			}
			if len(allowed) == 0 {
				return nil, fault.New(fault.Invalid, "the list has an order of its own: leave 'sort' out").Code("sortField").Field("sort")
			}
			field, ok := matchField(name, allowed)
			if !ok {
				return nil, fault.New(fault.Invalid, "the list cannot be sorted by %q: use %s", name, strings.Join(allowed, ", ")).Code("sortField").Field("sort")
			}
			if !slices.ContainsFunc(sorts, func(s page.Sort) bool { return s.Field == field }) {
				sorts = append(sorts, page.Sort{Field: field, Desc: desc})
			}
		}
	}
	if len(sorts) > maxSorts {
		return nil, fault.New(fault.Invalid, "a list can be sorted by at most %d fields", maxSorts).Code("sortField").Field("sort")
	}
	return sorts, nil
}

// matchField finds the field that is meant. The interface spells the date on which
// something was made createAt in some records and createdAt in others: either is
// understood for both.
func matchField(name string, allowed []string) (string, bool) {
	fold := func(s string) string {
		s = strings.ToLower(strings.ReplaceAll(s, "_", ""))
		if s == "createdat" {
			return "createat"
		}
		return s
	}
	i := slices.IndexFunc(allowed, func(field string) bool { return fold(field) == fold(name) })
	if i < 0 {
		return "", false
	}
	return allowed[i], true
}

// ListHeaders say how long a list is and where its other pages are.
type ListHeaders struct {
	Total int    `header:"X-Total-Count" doc:"Elements on all pages."`
	Link  string `header:"Link" doc:"Where the first, last, next and previous pages are, with the parameters of the request that the operation knows. Absent when it would be longer than 8 KiB."`
}

// maxLink is how long a Link header can be, in bytes.
const maxLink = 8 << 10

// Whole returns the headers of a list that has one page.
func Whole(ctx context.Context, total int) ListHeaders {
	return Paged(ctx, page.Request{Size: max(1, total)}, total)
}

// Paged returns the headers of a page of a list with so many elements. Links are
// whole addresses, on the host that was asked, save in a store's front, where they are
// relative to it. They hold only parameters that the operation knows, and never a key.
// A header that would be longer than maxLink is left out: proxies and clients limit
// the headers of an answer.
func Paged(ctx context.Context, p page.Request, total int) ListHeaders {
	last := max(0, (total-1)/p.Size)
	t := traceOf(ctx)
	asked := t.url
	query := asked.Query()
	query.Del("pageable.page")
	maps.DeleteFunc(query, func(name string, _ []string) bool { return t.known != nil && !t.known[name] })
	link := func(number int, rel string) string {
		query.Set("page", strconv.Itoa(number))
		u := *asked
		u.RawQuery = query.Encode()
		return "<" + u.String() + `>; rel="` + rel + `"`
	}
	links := []string{link(0, "first"), link(last, "last")}
	if p.Page < last {
		links = append(links, link(p.Page+1, "next"))
	}
	if p.Page > 0 {
		links = append(links, link(min(p.Page-1, last), "prev"))
	}
	header := strings.Join(links, ", ")
	if len(header) > maxLink {
		header = ""
	}
	return ListHeaders{Total: total, Link: header}
}
