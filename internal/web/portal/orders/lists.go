package orders

import (
	"fmt"
	"net/http"
	"strconv"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// list is what a page of orders shows.
type list struct {
	Rows  []words.Row
	Empty string
	Older *portal.Action // nil: there are none
	Newer *portal.Action // the newest ones; nil: these are they
}

// upcoming shows the orders to come.
func (m room) upcoming(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	s, err := m.Orders.Sheet(r.Context(), v.Caller(r), id, 0)
	if err != nil {
		return err
	}
	page := pageOf(v, s, "upcoming.title", "upcoming.text")
	page.Undo = words.Undo(v, s, r.URL.Query())
	page.Content = list{Rows: words.Upcoming(v, s, do.MaxUpcoming), Empty: v.T("facts.none")}
	return v.Answer(w, page)
}

// past shows the orders that have passed, newest first.
func (m room) past(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	before, err := strconv.Atoi(r.URL.Query().Get("before"))
	if err != nil || before < 0 {
		before = 0
	}
	s, err := m.Orders.Past(r.Context(), v.Caller(r), id, before)
	if err != nil {
		return err
	}
	is := list{Empty: v.T("past.empty")}
	for _, a := range s.Past {
		is.Rows = append(is.Rows, words.PastRow(v, s.Contract, a))
	}
	at := words.Path(s.Contract.ID) + "/orders"
	if s.MorePast {
		is.Older = &portal.Action{Text: v.T("past.older"), Path: fmt.Sprintf("%s?before=%d", at, s.Past[len(s.Past)-1].Cycle)}
	}
	if before > 0 {
		is.Newer = &portal.Action{Text: v.T("past.newest"), Path: at}
	}
	page := pageOf(v, s, "past.title", "past.text")
	page.Content = is
	return v.Answer(w, page)
}

// pageOf returns the page of a list of a contract's orders, by the keys of its texts.
func pageOf(v portal.Visit, s overview.Sheet, title, lead string) portal.Page {
	name := words.Name(v, s.Contract)
	return portal.Page{
		Name: "orders", Title: v.T(title), Lead: v.T(lead, "product", name), Email: s.Contract.Customer.Email,
		Crumb: &portal.Crumb{Name: name, Path: words.Path(s.Contract.ID)},
	}
}
