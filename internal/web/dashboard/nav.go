package dashboard

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/staff"
)

// Section is a part of the main navigation.
type Section string

// The sections.
const (
	Subscriptions Section = "Subscriptions"
	Plans         Section = "Plans"
	Analytics     Section = "Analytics"
	Settings      Section = "Settings"
	Developers    Section = "Developers"
)

// order is that of the sections, below the link to the first page.
var order = []struct {
	name Section
	icon string
}{{Subscriptions, "loop"}, {Plans, "plan"}, {Analytics, "chart"}, {Settings, "gear"}, {Developers, "code"}}

// Entry is a page in the main navigation.
type Entry struct {
	Section Section
	Name    string
	Path    string // below the store's
	Need    staff.Permission
}

// part is a section as a page shows it.
type part struct {
	Name  string
	Icon  string
	Path  string // below the store's, of its first page
	Pages []link
	Here  bool // it is the page that is shown
	Open  bool // one of Pages is
}

// link is a page as the navigation shows it.
type link struct {
	Name, Path string
	Here       bool
}

// navigation returns the main navigation as a user with a role sees it on the page at a path
// below the store's.
func navigation(menu []Entry, at string, role staff.Role) []part {
	here := "" // the entry whose path is the longest that at begins with
	for _, e := range menu {
		if (at == e.Path || strings.HasPrefix(at, e.Path+"/")) && len(e.Path) > len(here) {
			here = e.Path
		}
	}
	parts := []part{{Name: "Home", Icon: "home", Here: at == ""}}
	for _, section := range order {
		p := part{Name: string(section.name), Icon: section.icon}
		for _, e := range menu {
			if e.Section != section.name || !role.May(e.Need) {
				continue
			}
			l := link{e.Name, e.Path, e.Path == here}
			p.Open = p.Open || l.Here
			p.Pages = append(p.Pages, l)
		}
		if len(p.Pages) > 0 {
			p.Path = p.Pages[0].Path
			parts = append(parts, p)
		}
	}
	return parts
}
