package contracts

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// by returns the user as views know them.
func by(v dashboard.Visit) savedview.User { return savedview.User{ID: v.User.User.ID, Role: v.Role} }

// savedBar is what can be done about the saved view that is shown.
type savedBar struct {
	Name     string
	Shared   bool
	Path     string // below the store's
	Update   string // query that the view would get; empty: it is as it was saved
	MayAlter bool
}

func barOf(view savedview.View, l listQuery, user savedview.User) *savedBar {
	b := &savedBar{Name: view.Name, Shared: view.Shared, Path: "/views/" + strconv.FormatInt(int64(view.ID), 10), MayAlter: user.MayChange(view)}
	if query := l.saved(); query != view.Query {
		b.Update = query
	}
	return b
}

// viewFields are the fields of the form of a view.
func viewFields(d savedview.Draft, may bool) []dashboard.Field {
	fields := []dashboard.Field{{Name: "name", Label: "Name", Value: d.Name, Required: true, Max: savedview.MaxName}}
	if may {
		shared := dashboard.Field{Name: "shared", Label: "Show it to all users of the store", Type: "checkbox"}
		if d.Shared {
			shared.Value = "on"
		}
		fields = append(fields, shared)
	}
	return fields
}

// draftOf reads the form of a view.
func (m *room) draftOf(r *http.Request, v dashboard.Visit) (savedview.Draft, error) {
	d := savedview.Draft{Name: r.PostForm.Get("name"), Query: r.PostForm.Get("query"), Shared: r.PostForm.Get("shared") == "on"}
	if d.Query == "" {
		return d, nil
	}
	query, err := m.canonical(d.Query, v)
	d.Query = query
	return d, err
}

// canonical returns the query of a list as views keep it, or why it is none.
func (m *room) canonical(query string, v dashboard.Visit) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fault.Because(fault.Invalid, err, "the query of the search cannot be read")
	}
	l, err := parseQuery(values)
	if err == nil {
		_, err = m.Search(l.filters.Encode(), v.Zone)
	}
	return l.saved(), err
}

func (m *room) askView(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	query, err := m.canonical(r.URL.Query().Get("query"), v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, newView(savedview.Draft{Query: query}, v), nil)
}

func newView(d savedview.Draft, v dashboard.Visit) dashboard.Question {
	back := "/contracts"
	if d.Query != "" {
		back += "?" + d.Query
	}
	return dashboard.Question{
		Title: "Save view", Says: []string{"The view keeps the filters, the order and the columns of the list, and shows the contracts that match whenever it is opened."},
		Fields: viewFields(d, by(v).MayShare()), Hidden: map[string]string{"query": d.Query}, Path: "/views", Button: "Save view", Back: back, Keep: "Back to the list",
	}
}

func (m *room) createView(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	d, err := m.draftOf(r, v)
	if err != nil {
		return err
	}
	view, err := m.Views.Create(r.Context(), v.Shop.ID, by(v), d)
	if err != nil {
		q := newView(d, v)
		return v.Ask(w, r, q, atField(err, q.Fields))
	}
	return v.Go(w, pathOf(view), "view-saved")
}

// pathOf returns the address of a view, below the store's.
func pathOf(view savedview.View) string {
	mark := ""
	if view.Query != "" {
		mark = view.Query + "&"
	}
	return "/contracts?" + mark + "view=" + strconv.FormatInt(int64(view.ID), 10)
}

// view returns the view that the path names, if the user sees it.
func (m *room) view(r *http.Request, v dashboard.Visit) (savedview.View, error) {
	id, err := strconv.ParseInt(r.PathValue("view"), 10, 64)
	if err != nil {
		return savedview.View{}, savedview.NotFound()
	}
	list, err := m.Views.List(r.Context(), v.Shop.ID, by(v))
	if err != nil {
		return savedview.View{}, err
	}
	at := slices.IndexFunc(list, func(view savedview.View) bool { return view.ID == savedview.ID(id) })
	if at < 0 {
		return savedview.View{}, savedview.NotFound()
	}
	return list[at], nil
}

func (m *room) askChange(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	view, err := m.view(r, v)
	if err != nil {
		return err
	}
	d := savedview.Draft{Name: view.Name, Shared: view.Shared}
	if query := r.URL.Query(); query.Has("query") {
		if d.Query, err = m.canonical(query.Get("query"), v); err != nil {
			return err
		}
	}
	return v.Ask(w, r, changedView(view, d, v), nil)
}

func changedView(view savedview.View, d savedview.Draft, v dashboard.Visit) dashboard.Question {
	q := dashboard.Question{
		Title: "Rename view", Fields: viewFields(d, view.Shared || by(v).MayShare()), Hidden: map[string]string{"query": d.Query},
		Path: "/views/" + strconv.FormatInt(int64(view.ID), 10), Button: "Save changes", Back: pathOf(view), Keep: "Keep the view",
	}
	if d.Query != "" {
		q.Title, q.Says = "Change view", []string{"The view gets the filters, the order and the columns that the list has now, in place of those that it has."}
	}
	if view.Shared {
		q.Says = append(q.Says, "All users of the store see it.")
	}
	return q
}

func (m *room) changeView(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	view, err := m.view(r, v)
	if err != nil {
		return err
	}
	d, err := m.draftOf(r, v)
	if err != nil {
		return err
	}
	changed, err := m.Views.Change(r.Context(), v.Shop.ID, by(v), view.ID, d)
	if err != nil {
		q := changedView(view, d, v)
		return v.Ask(w, r, q, atField(err, q.Fields))
	}
	return v.Go(w, pathOf(changed), "view-changed")
}

func (m *room) askDelete(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	view, err := m.view(r, v)
	if err != nil {
		return err
	}
	q := dashboard.Question{
		Title: "Delete view", Says: []string{"The view " + view.Name + " is deleted. Contracts are not changed."},
		Path: "/views/" + strconv.FormatInt(int64(view.ID), 10) + "/delete", Button: "Delete view", Grave: true, Back: pathOf(view), Keep: "Keep the view",
	}
	if view.Shared {
		q.Says = append(q.Says, "No user of the store sees it any more.")
	}
	return v.Ask(w, r, q, nil)
}

func (m *room) deleteView(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	view, err := m.view(r, v)
	if err != nil {
		return err
	}
	if err := m.Views.Delete(r.Context(), v.Shop.ID, by(v), view.ID); err != nil {
		return err
	}
	return v.Go(w, "/contracts", "view-deleted")
}
