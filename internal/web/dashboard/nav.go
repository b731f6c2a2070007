package dashboard

import "github.com/perennialhq/perennial/internal/domain/staff"

// noPage is the path of a section that has no page of its own.
const noPage = "-"

// section is an entry of the main navigation, with the pages below it.
type section struct {
	Name  string
	Icon  string
	Path  string // below the store's; noPage: that of the first of Pages
	Pages []entry
	Here  bool // it is the page that is shown
	Open  bool // one of Pages is
}

// entry is a page below a section.
type entry struct {
	Name string
	Path string
	Here bool

	need staff.Permission
}

// sections are the main navigation. A page is added when it exists.
var sections = []section{
	{Name: "Home", Icon: "home", Path: ""},
	{Name: "Settings", Icon: "gear", Path: noPage, Pages: []entry{
		{Name: "Charging", Path: "/charging", need: staff.ReadStore},
		{Name: "Users", Path: "/users", need: staff.ManageUsers},
		{Name: "Personal data", Path: "/personal-data", need: staff.ManageStore},
	}},
}
