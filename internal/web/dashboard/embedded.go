package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// embeddedQuery is what the addresses of embedded pages end with.
const embeddedQuery = "?embedded=1"

// embedded reports whether a page is asked for in the platform's admin. Then cookies are not
// looked at.
func (d *dashboard) embedded(r *http.Request) bool {
	return d.Embed != nil && (r.URL.Query().Get("embedded") == "1" || tokenOf(r) != "")
}

// outside returns what a failure is shown with when no user has entered a store. In the
// platform's admin the page may be in its frame: a browser shows nothing of one that may not.
func (d *dashboard) outside(r *http.Request) View {
	path, found := strings.CutPrefix(r.URL.Path, Path+"/stores/")
	handle, _, _ := strings.Cut(path, "/")
	if !found {
		handle = login.Handle(r.URL.Query().Get("shop"))
	}
	if !d.embedded(r) || !login.IsHandle(handle) {
		return View{}
	}
	return View{Shop: login.Domain(handle), Embedded: true}
}

// tokenOf returns the session token of a request, or "".
func tokenOf(r *http.Request) string {
	if token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		return token
	}
	if token := r.PostForm.Get("id_token"); token != "" {
		return token
	}
	return r.URL.Query().Get("id_token")
}

// enterEmbedded lets in the user of a session token, which every request has to bring. A page that is asked for without one is answered with a page whose
// script gets one and asks again.
func (d *dashboard) enterEmbedded(w http.ResponseWriter, r *http.Request, handle string) (Visit, error) {
	token := tokenOf(r)
	if token == "" && r.Method == http.MethodGet && !isPart(r) {
		return Visit{}, d.renderer.render(w, http.StatusOK, "bring", View{Title: "Opening the app", Shop: login.Domain(handle), Embedded: true})
	}
	domain, user, err := d.Embed.Verify(token)
	if err != nil {
		return Visit{View: d.outside(r)}, err
	}
	if domain != login.Domain(handle) {
		return Visit{View: d.outside(r)}, fault.New(fault.NotFound, "store not found").Code("shopNotFound")
	}
	var v Visit
	if v.Shop, v.User, v.Role, err = d.Staff.EnterByPlatform(r.Context(), domain, user, ClientOf(r)); err != nil {
		return Visit{View: View{Shop: domain, Embedded: true}}, err
	}
	return d.layout(r, v, embeddedQuery)
}

// startEmbedded sends a user of the platform's admin to the store of the session token.
func (d *dashboard) startEmbedded(w http.ResponseWriter, r *http.Request) error {
	token := tokenOf(r)
	if token == "" {
		handle := login.Handle(r.URL.Query().Get("shop"))
		if !login.IsHandle(handle) {
			return fault.New(fault.NotFound, "store not found").Code("shopNotFound")
		}
		return Redirect(w, Path+"/stores/"+handle+embeddedQuery)
	}
	domain, _, err := d.Embed.Verify(token)
	if err != nil {
		return err
	}
	return Redirect(w, Path+"/stores/"+login.Handle(domain)+embeddedQuery+"&id_token="+url.QueryEscape(token))
}
