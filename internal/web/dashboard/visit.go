package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// cookie is the cookie that holds a session.
func (d *dashboard) cookie() web.SessionCookie {
	return web.SessionCookie{Name: "dashboard", Life: staff.SessionLife, Secure: d.Secure}
}

func clientOf(r *http.Request) staff.Client {
	return staff.Client{IP: web.ClientIP(r.Context()), Agent: r.UserAgent()}
}

// visit is a user in a store.
type visit struct {
	user staff.Principal
	role staff.Role
	shop shop.Shop
	view view
}

func (v visit) acting(r *http.Request) staff.Acting { return v.user.Acting(clientOf(r)) }

// actor is the user as the activity log names them.
func (v visit) actor(r *http.Request) activity.Actor { return v.user.Actor(clientOf(r)) }

// at returns an address in the store.
func (v visit) at(path string) string { return v.view.Base + path + v.view.Query }

// done returns an address in the store, whose page says what was done.
func (v visit) done(path, what string) string {
	if v.view.Query != "" {
		return v.view.Base + path + v.view.Query + "&done=" + what
	}
	return v.view.Base + path + "?done=" + what
}

// said are the sentences of what a form has done.
var said = map[string]string{
	"invited": "The invitation was sent.", "withdrawn": "The invitation was withdrawn.", "role": "The role was changed.", "removed": "The user was removed.",
	"password": "Your password was changed. Your other sessions have ended.", "two-step-off": "Two-step sign-in is off.", "sessions": "The session has ended.",
	"charging": "Orders are charged from now on.",
	"reset":    "Your password was changed. Sign in with the new one.", "joined": "You have joined the store. Sign in.",
}

// page answers with a page of people who are not signed in.
func (d *dashboard) page(show func(w http.ResponseWriter, r *http.Request, v view) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := parseForm(r)
		if err == nil {
			err = show(w, r, view{Done: said[r.URL.Query().Get("done")]})
		}
		if err != nil {
			d.fail(w, r, view{}, err)
		}
	}
}

// inStore answers with a page of a store to users with a permission.
func (d *dashboard) inStore(need staff.Permission, show func(w http.ResponseWriter, r *http.Request, v visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v visit
		err := parseForm(r)
		if err == nil {
			v, err = d.enter(w, r)
		}
		switch {
		case err != nil:
		case v.shop.ID == 0: // enter has answered
			return
		case !v.role.May(need):
			err = fault.New(fault.Forbidden, "your role %s does not permit this: ask an owner of the store", roleWords[v.role].name).Code("roleForbidden")
		default:
			err = show(w, r, v)
		}
		if err != nil {
			d.fail(w, r, v.view, err)
		}
	}
}

// inAccount answers with a page of the user's own account. In the platform's admin there is
// none: the platform says who the user is, and knows no password of ours.
func (d *dashboard) inAccount(show func(w http.ResponseWriter, r *http.Request, v visit) error) http.HandlerFunc {
	return d.inStore(staff.ReadStore, func(w http.ResponseWriter, r *http.Request, v visit) error {
		if v.view.Embedded {
			return pathNotFound()
		}
		return show(w, r, v)
	})
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
func (d *dashboard) enter(w http.ResponseWriter, r *http.Request) (visit, error) {
	handle := r.PathValue("shop")
	if !login.IsHandle(handle) {
		return visit{}, fault.New(fault.NotFound, "store not found").Code("shopNotFound")
	}
	if d.embedded(r) {
		return d.enterEmbedded(w, r, handle)
	}
	user, err := d.Staff.Authenticate(r.Context(), d.cookie().Read(r))
	if fault.Is(err, fault.Unauthenticated) {
		to := Path + "/signin"
		if r.Method == http.MethodGet {
			to += "?next=" + r.URL.EscapedPath()
		}
		return visit{}, redirect(w, to)
	}
	if err != nil {
		return visit{}, err
	}
	v := visit{user: user}
	var stores int
	if v.shop, v.role, stores, err = d.Staff.Enter(r.Context(), user, handle); err != nil {
		return v, err
	}
	v.view = d.layout(r, v, "")
	v.view.Stores = stores
	return v, nil
}

// layout returns what every page of a store shows.
func (d *dashboard) layout(r *http.Request, v visit, query string) view {
	base := Path + "/stores/" + login.Handle(v.shop.Domain)
	shown := view{
		Shop: v.shop.Domain, Base: base, Query: query, User: v.user.User.Known(), Role: v.role, Embedded: query != "", Done: said[r.URL.Query().Get("done")],
	}
	for _, s := range sections {
		s.Pages = slices.DeleteFunc(slices.Clone(s.Pages), func(p entry) bool { return !v.role.May(p.need) })
		if s.Path == noPage && len(s.Pages) == 0 {
			continue
		}
		at := strings.TrimPrefix(r.URL.Path, base)
		s.Here = at == s.Path
		for i := range s.Pages {
			s.Pages[i].Here = at == s.Pages[i].Path || strings.HasPrefix(at, s.Pages[i].Path+"/")
			s.Open = s.Open || s.Pages[i].Here
		}
		if s.Path == noPage && len(s.Pages) > 0 {
			s.Path = s.Pages[0].Path
		}
		shown.Nav = append(shown.Nav, s)
	}
	return shown
}
