package dashboard

import (
	"net/http"
	"path"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

// start sends a user to the only store, or lets the user choose one.
func (d *dashboard) start(w http.ResponseWriter, r *http.Request, v View) error {
	if d.embedded(r) {
		return d.startEmbedded(w, r)
	}
	user, err := d.Staff.Authenticate(r.Context(), d.cookie().Read(r))
	if fault.Is(err, fault.Unauthenticated) {
		return Redirect(w, Path+"/signin")
	}
	if err != nil {
		return err
	}
	stores, err := d.Staff.Stores(r.Context(), user)
	if err != nil {
		return err
	}
	if len(stores) == 1 {
		return Redirect(w, Path+"/stores/"+login.Handle(stores[0].Domain))
	}
	type row struct {
		Domain, Path string
		Role         string
	}
	var rows []row
	for _, m := range stores {
		rows = append(rows, row{m.Domain, Path + "/stores/" + login.Handle(m.Domain), RoleName(m.Role)})
	}
	v.Title, v.User, v.Page = "Choose a store", user.User.Known(), rows
	return d.renderer.render(w, http.StatusOK, "stores", v)
}

// signInPage is what the page of signing in shows.
type signInPage struct {
	Email string
	Next  string
}

// nextOf returns the page to which a user goes who has signed in: a page of a store, or "".
func nextOf(r *http.Request) string {
	next := r.FormValue("next")
	if !strings.HasPrefix(next, Path+"/stores/") || path.Clean(next) != next || strings.ContainsAny(next, "\\?#%\x00\r\n") {
		return ""
	}
	return next
}

func (d *dashboard) showSignIn(w http.ResponseWriter, r *http.Request, v View) error {
	v.Title, v.Page = "Sign in", signInPage{Next: nextOf(r)}
	return d.renderer.render(w, http.StatusOK, "signin", v)
}

func (d *dashboard) signIn(w http.ResponseWriter, r *http.Request, v View) error {
	p := signInPage{Email: r.PostForm.Get("email"), Next: nextOf(r)}
	value, pending, err := d.Staff.SignIn(r.Context(), p.Email, r.PostForm.Get("password"), ClientOf(r))
	if err != nil {
		v.Title, v.Page = "Sign in", p
		return d.renderer.again(w, r, "signin", v, err)
	}
	http.SetCookie(w, d.cookie().Of(value))
	if pending {
		to := Path + "/code"
		if p.Next != "" {
			to += "?next=" + p.Next
		}
		return Redirect(w, to)
	}
	return d.onward(w, p.Next)
}

// onward sends on a user who has signed in.
func (d *dashboard) onward(w http.ResponseWriter, next string) error {
	if next == "" {
		next = Path
	}
	return Redirect(w, next)
}

func (d *dashboard) showCode(w http.ResponseWriter, r *http.Request, v View) error {
	pending, err := d.Staff.Pending(r.Context(), d.cookie().Read(r))
	if err != nil {
		return err
	}
	if !pending {
		return Redirect(w, Path+"/signin")
	}
	v.Title, v.Page = "Two-step sign-in", signInPage{Next: nextOf(r)}
	return d.renderer.render(w, http.StatusOK, "code", v)
}

func (d *dashboard) enterCode(w http.ResponseWriter, r *http.Request, v View) error {
	value, err := d.Staff.Confirm(r.Context(), d.cookie().Read(r), r.PostForm.Get("code"), ClientOf(r))
	if err != nil {
		if pending, err := d.Staff.Pending(r.Context(), d.cookie().Read(r)); err == nil && !pending {
			return Redirect(w, Path+"/signin")
		}
		v.Title, v.Page = "Two-step sign-in", signInPage{Next: nextOf(r)}
		return d.renderer.again(w, r, "code", v, err)
	}
	http.SetCookie(w, d.cookie().Of(value))
	return d.onward(w, nextOf(r))
}

func (d *dashboard) signOut(w http.ResponseWriter, r *http.Request, _ View) error {
	if err := d.Staff.SignOut(r.Context(), d.cookie().Read(r)); err != nil {
		return err
	}
	http.SetCookie(w, d.cookie().Of(""))
	return Redirect(w, Path+"/signin")
}

// resetPage is what the page of asking for a new password shows.
type resetPage struct {
	Email string
	Sent  bool
}

func (d *dashboard) showReset(w http.ResponseWriter, _ *http.Request, v View) error {
	v.Title, v.Page = "Set a new password", resetPage{}
	return d.renderer.render(w, http.StatusOK, "reset", v)
}

// requestReset answers the same whether a user has the address or not.
func (d *dashboard) requestReset(w http.ResponseWriter, r *http.Request, v View) error {
	p := resetPage{Email: r.PostForm.Get("email")}
	v.Title = "Set a new password"
	if err := d.Staff.RequestReset(r.Context(), p.Email, ClientOf(r)); err != nil {
		v.Page = p
		return d.renderer.again(w, r, "reset", v, err)
	}
	p.Sent = true
	v.Title, v.Page = "Check your e-mail", p
	return d.renderer.render(w, http.StatusOK, "reset", v)
}

// newPasswordPage is what the page of a link or an invitation shows.
type newPasswordPage struct {
	Action  string // address of the form
	Invited staff.Invited
	Role    string
	Name    string
}

func (d *dashboard) showNewPassword(w http.ResponseWriter, r *http.Request, v View) error {
	if err := d.Staff.CheckReset(r.Context(), secretOf(r)); err != nil {
		return err
	}
	v.Title, v.Page = "Set a new password", newPasswordPage{Action: Path + "/reset/" + secretOf(r)}
	return d.renderer.render(w, http.StatusOK, "newpassword", v)
}

func (d *dashboard) setNewPassword(w http.ResponseWriter, r *http.Request, v View) error {
	if err := d.Staff.ResetPassword(r.Context(), secretOf(r), r.PostForm.Get("password"), ClientOf(r)); err != nil {
		v.Title, v.Page = "Set a new password", newPasswordPage{Action: Path + "/reset/" + secretOf(r)}
		return d.renderer.again(w, r, "newpassword", v, err)
	}
	http.SetCookie(w, d.cookie().Of(""))
	return Redirect(w, Path+"/signin?done=reset")
}

func (d *dashboard) invitation(r *http.Request, v *View) error {
	i, err := d.Staff.Invitation(r.Context(), r.PathValue("shop"), secretOf(r))
	v.Title = "Join " + i.Shop.Domain
	v.Page = newPasswordPage{Action: Path + "/invitation/" + r.PathValue("shop") + "/" + secretOf(r), Invited: i, Role: RoleName(i.Role), Name: r.PostForm.Get("name")}
	return err
}

func (d *dashboard) showInvitation(w http.ResponseWriter, r *http.Request, v View) error {
	if err := d.invitation(r, &v); err != nil {
		return err
	}
	return d.renderer.render(w, http.StatusOK, "invitation", v)
}

func (d *dashboard) acceptInvitation(w http.ResponseWriter, r *http.Request, v View) error {
	password := r.PostForm.Get("password")
	email, err := d.Staff.Accept(r.Context(), r.PathValue("shop"), secretOf(r), r.PostForm.Get("name"), password, ClientOf(r))
	if err != nil {
		if err := d.invitation(r, &v); err != nil {
			return err
		}
		return d.renderer.again(w, r, "invitation", v, err)
	}
	value, pending, err := d.Staff.SignIn(r.Context(), email, password, ClientOf(r))
	if err != nil {
		return Redirect(w, Path+"/signin?done=joined")
	}
	http.SetCookie(w, d.cookie().Of(value))
	if pending {
		return Redirect(w, Path+"/code")
	}
	return Redirect(w, Path)
}
