package dashboard

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// cookie is the cookie that holds a session.
func (d *dashboard) cookie() web.SessionCookie {
	return web.SessionCookie{Name: "dashboard", Life: staff.SessionLife, Secure: d.Secure}
}

// said are the sentences of what a form has done.
var said = map[string]string{
	"reset": "Your password was changed. Sign in with the new one.", "joined": "You have joined the store. Sign in.",
}

// page answers with a page of people who are not signed in.
func (d *dashboard) page(show func(w http.ResponseWriter, r *http.Request, v View) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := parseForm(r)
		if err == nil {
			err = show(w, r, View{Done: d.said[r.URL.Query().Get("done")]})
		}
		if err != nil {
			d.renderer.fail(w, r, d.outside(r), err)
		}
	}
}

// inStore answers with a page of a store to users with a permission.
func (d *dashboard) inStore(pages *template.Template, route Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v Visit
		file, err := parseUpload(w, r, route.Upload)
		if err == nil {
			err = parseForm(r)
		}
		if err == nil {
			v, err = d.enter(w, r)
		}
		v.View.pages, v.Upload = pages, file
		switch {
		case err != nil:
		case v.Shop.ID == 0: // enter has answered
			return
		case !v.Role.May(route.Need):
			err = fault.New(fault.Forbidden, "your role %s does not permit this: ask an owner of the store", RoleName(v.Role)).Code("roleForbidden")
		default:
			err = route.Show(w, r, v)
		}
		if err != nil {
			d.renderer.fail(w, r, v.View, err)
		}
	}
}

func parseForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return fault.Because(fault.Invalid, err, "the form could not be read")
	}
	for name, values := range r.PostForm {
		for _, value := range values {
			if err := web.CheckText("the form", name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter lets a user into the store that the path names. With neither a user nor an error it
// has answered.
func (d *dashboard) enter(w http.ResponseWriter, r *http.Request) (Visit, error) {
	handle := r.PathValue("shop")
	if !login.IsHandle(handle) {
		return Visit{}, fault.New(fault.NotFound, "store not found").Code("shopNotFound")
	}
	if d.embedded(r) {
		return d.enterEmbedded(w, r, handle)
	}
	user, err := d.Staff.Authenticate(r.Context(), d.cookie().Read(r))
	if fault.Is(err, fault.Unauthenticated) && !isPart(r) {
		to := Path + "/signin"
		if r.Method == http.MethodGet {
			to += "?next=" + r.URL.EscapedPath()
		}
		return Visit{}, Redirect(w, to)
	}
	if err != nil {
		return Visit{}, err
	}
	v := Visit{User: user}
	var stores int
	if v.Shop, v.Role, stores, err = d.Staff.Enter(r.Context(), user, handle); err != nil {
		return v, err
	}
	v.View.Stores = stores
	return d.layout(r, v, "")
}

// layout fills in what every page of a store shows.
func (d *dashboard) layout(r *http.Request, v Visit, query string) (Visit, error) {
	calendar, err := v.Shop.Calendar()
	if err != nil {
		return v, err
	}
	base := Path + "/stores/" + login.Handle(v.Shop.Domain)
	v.renderer, v.Zone = d.renderer, calendar.Zone
	v.View = View{
		Shop: v.Shop.Domain, Base: base, Query: query, User: v.User.User.Known(), Role: v.Role, Stores: v.View.Stores, Embedded: query != "",
		Done: d.said[r.URL.Query().Get("done")], Nav: navigation(d.menu, strings.TrimPrefix(r.URL.Path, base), v.Role), Finds: d.finds, Sought: r.URL.Query().Get("find"),
	}
	if d.Notice != nil {
		v.View.Notice = d.Notice(calendar.Zone)
	}
	return v, nil
}
