package keys

import (
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// permission is a scope that can be ticked.
type permission struct {
	words.Permission

	Ticked bool
}

// formPage is what the form of a new key shows.
type formPage struct {
	Name        dashboard.Field
	Ends        dashboard.Field
	Full        bool // all is permitted
	Permissions []permission
}

func (m *room) askNew(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.form(w, r, v, nil)
}

// form shows the form of a new key, with what is wrong with what was sent.
func (m *room) form(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	p := formPage{
		Name: dashboard.Field{
			Name: "name", Label: "Name", Value: r.PostForm.Get("name"), Hint: "For your team: who uses this key, and for what.", Required: true, Max: access.MaxDistinctName,
		},
		Ends: dashboard.Field{
			Name: "ends", Label: "Ends on", Type: "date", Value: r.PostForm.Get("ends"), Hint: "The key works to the end of this day.",
			Min: m.Clock.Now().In(v.Zone).Format(time.DateOnly),
		},
		Full: r.PostForm.Get("access") != "chosen",
	}
	for _, one := range words.Permissions {
		if one.Scope != access.All {
			p.Permissions = append(p.Permissions, permission{one, slices.Contains(r.PostForm["scope"], string(one.Scope))})
		}
	}
	page := dashboard.Page{Name: "key-new", Title: "Create key", Crumb: &dashboard.Crumb{Name: "API keys", Path: "/keys"}, Content: p}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

// asked reads the form of a new key.
func asked(r *http.Request, v dashboard.Visit) (access.NewKey, error) {
	n := access.NewKey{Name: r.PostForm.Get("name"), Distinct: true, Actor: v.Actor(r)}
	if r.PostForm.Get("access") == "chosen" {
		var err error
		if n.Scopes, err = access.ParseScopes(r.PostForm["scope"]); err != nil {
			return n, err
		}
		if len(n.Scopes) == 0 {
			return n, fault.New(fault.Invalid, "choose at least one permission").Field("scopes")
		}
	}
	if day := r.PostForm.Get("ends"); day != "" {
		begins, err := time.ParseInLocation(time.DateOnly, day, v.Zone)
		if err != nil {
			return n, fault.New(fault.Invalid, "the end must be a day such as 2027-01-31").Field("ends")
		}
		n.Ends = begins.AddDate(0, 0, 1)
	}
	return n, nil
}

// create makes a key. A form that is sent again makes no other one, since its name is taken.
func (m *room) create(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	n, err := asked(r, v)
	if err != nil {
		return m.form(w, r, v, err)
	}
	value, key, err := m.Keys.Create(r.Context(), v.Shop.ID, n)
	if err != nil {
		return m.form(w, r, v, err)
	}
	return show(w, v, value, key, "")
}

// madePage is what is shown of a key, once.
type madePage struct {
	Value string
	May   string
	Ends  string
	Note  string // about the key that it replaces; empty: none
}

// show answers with the value of a key that was made, which no other page has.
func show(w http.ResponseWriter, v dashboard.Visit, value string, k access.Key, note string) error {
	w.Header().Set("Cache-Control", "no-store")
	p := madePage{Value: value, May: words.Scopes(k.Scopes), Ends: "Never", Note: note}
	if !k.RevokedAt.IsZero() {
		p.Ends = v.Instant(k.RevokedAt)
	}
	return v.Answer(w, dashboard.Page{Name: "key-made", Title: "Key “" + k.Name + "” is ready", Crumb: &dashboard.Crumb{Name: "API keys", Path: "/keys"}, Content: p})
}

func (*room) stored(w http.ResponseWriter, _ *http.Request, v dashboard.Visit) error {
	return v.Go(w, "/keys", "key-stored")
}
