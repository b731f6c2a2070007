package dashboard

import "github.com/perennialhq/perennial/internal/domain/shop"

// Line is a line of business as pages with data of one line name it.
type Line struct {
	Name  string // in addresses and forms
	Title string
	Of    shop.Line
}

// Lines are the lines of business.
var Lines = []Line{{"subscriptions", "Subscriptions", shop.Subscriptions}, {"memberships", "Memberships", shop.Memberships}}

// LineNamed returns the line with a name, or subscriptions.
func LineNamed(name string) Line {
	for _, l := range Lines {
		if l.Name == name {
			return l
		}
	}
	return Lines[0]
}

// LineTabs returns a tab for each line, on the page at a path below the store's.
func (v Visit) LineTabs(path string, here Line) []Tab {
	tabs := make([]Tab, len(Lines))
	for i, l := range Lines {
		tabs[i] = Tab{Name: l.Title, Path: v.At(path + "?line=" + l.Name), Here: l == here}
	}
	return tabs
}
