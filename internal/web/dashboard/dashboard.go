package dashboard

import (
	"net/http"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// New returns the handler of Path and everything below it.
func New(o Options) (http.Handler, error) {
	d := &dashboard{Options: o}
	if o.Embed != nil {
		u, err := url.Parse(o.Embed.Bridge)
		if err != nil {
			return nil, err
		}
		d.bridge = u.Scheme + "://" + u.Host
	}
	var err error
	if d.pages, err = parsePages(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+stylesPath, asset(styles, "text/css; charset=utf-8"))
	mux.HandleFunc("GET "+scriptPath, asset(script, "text/javascript; charset=utf-8"))
	d.handleEntrance(mux)
	d.handleStore(mux)
	unknown := func(w http.ResponseWriter, r *http.Request) { d.fail(w, r, view{}, pathNotFound()) }
	mux.HandleFunc("/", unknown)
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.fail(w, r, view{}, fault.New(fault.Forbidden, "another site sent this form, so nothing was done").Code("crossOrigin"))
	}))
	return withoutSecret(o.Frame.Around(cross.Handler(web.Tidy(mux, unknown)))), nil
}

// handleEntrance registers the pages of people who are not signed in.
func (d *dashboard) handleEntrance(mux *http.ServeMux) {
	mux.HandleFunc("GET /admin", d.page(d.start))
	mux.HandleFunc("GET /admin/signin", d.page(d.showSignIn))
	mux.HandleFunc("POST /admin/signin", d.page(d.signIn))
	mux.HandleFunc("GET /admin/code", d.page(d.showCode))
	mux.HandleFunc("POST /admin/code", d.page(d.enterCode))
	mux.HandleFunc("POST /admin/signout", d.page(d.signOut))
	mux.HandleFunc("GET /admin/reset", d.page(d.showReset))
	mux.HandleFunc("POST /admin/reset", d.page(d.requestReset))
	mux.HandleFunc("GET /admin/reset/link", d.page(d.showNewPassword))
	mux.HandleFunc("POST /admin/reset/link", d.page(d.setNewPassword))
	mux.HandleFunc("GET /admin/invitation/{shop}", d.page(d.showInvitation))
	mux.HandleFunc("POST /admin/invitation/{shop}", d.page(d.acceptInvitation))
}

// handleStore registers the pages of a store.
func (d *dashboard) handleStore(mux *http.ServeMux) {
	const at = " /admin/stores/{shop}"
	mux.HandleFunc("GET"+at, d.inStore(staff.ReadStore, d.home))
	mux.HandleFunc("GET"+at+"/charging", d.inStore(staff.ReadStore, d.charging))
	mux.HandleFunc("POST"+at+"/charging", d.inStore(confirmCharging, d.confirmCharges))
	mux.HandleFunc("GET"+at+"/personal-data", d.inStore(staff.ManageStore, d.personal))
	mux.HandleFunc("POST"+at+"/personal-data/{request}", d.inStore(staff.ManageStore, d.download))
	mux.HandleFunc("GET"+at+"/users", d.inStore(staff.ManageUsers, d.users))
	mux.HandleFunc("POST"+at+"/users/invite", d.inStore(staff.ManageUsers, d.invite))
	mux.HandleFunc("POST"+at+"/users/withdraw", d.inStore(staff.ManageUsers, d.withdraw))
	mux.HandleFunc("POST"+at+"/users/role", d.inStore(staff.ManageUsers, d.changeRole))
	mux.HandleFunc("GET"+at+"/users/{user}/remove", d.inStore(staff.ManageUsers, d.confirmRemoval))
	mux.HandleFunc("POST"+at+"/users/{user}/remove", d.inStore(staff.ManageUsers, d.remove))
	mux.HandleFunc("GET"+at+"/account", d.inAccount(d.account))
	mux.HandleFunc("POST"+at+"/account/password", d.inAccount(d.changePassword))
	mux.HandleFunc("GET"+at+"/account/two-step", d.inAccount(d.showTwoStep))
	mux.HandleFunc("POST"+at+"/account/two-step", d.inAccount(d.turnTwoStepOn))
	mux.HandleFunc("POST"+at+"/account/two-step/off", d.inAccount(d.turnTwoStepOff))
	mux.HandleFunc("POST"+at+"/account/sessions", d.inAccount(d.revoke))
}
