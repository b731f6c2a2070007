package simulator

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

//go:embed admin.html
var adminPages string

//go:embed bridge.js
var bridgeScript string

//go:embed admin.js
var adminScript string

var adminTemplates = sync.OnceValue(func() *template.Template { return template.Must(template.New("admin").Parse(adminPages)) })

// adminUser is the user of every store's admin.
const adminUser = 101

// adminApp is an app in the list of a store's apps.
type adminApp struct {
	AppSettings
	Path      string
	Installed bool
}

// adminView is what a page of the admin shows.
type adminView struct {
	Title     string
	App       AppSettings
	Shop      string
	Base      string // path of the store
	Shops     []string
	Apps      []adminApp
	Installed bool
	Scopes    []string // asked for
	New       []string // of these, not granted yet
	Query     url.Values
	Frame     string
	Problem   string
}

// Site answers what Handler does and, for browsers, with the pages of the stores' admin
// below /store/{shop}/admin, and plays App Bridge at /app-bridge.js. There is no sign-in:
// every visitor is the owner of every store, and any of its customers.
func (s *Simulator) Site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /store", s.adminStores)
	mux.HandleFunc("GET /store/{shop}/admin", s.adminStore)
	mux.HandleFunc("GET /store/{shop}/admin/apps/{client}", s.adminOpen)
	mux.HandleFunc("GET /store/{shop}/admin/oauth/authorize", s.adminConsent)
	mux.HandleFunc("POST /store/{shop}/admin/oauth/authorize", s.adminAgree)
	mux.HandleFunc("POST /store/{shop}/admin/apps/{client}/session-token", s.adminSession)
	mux.HandleFunc("POST /store/{shop}/admin/apps/{client}/uninstall", s.adminUninstall)
	mux.HandleFunc("POST /store/{shop}/admin/apps/{client}/reduce-scopes", s.adminReduce)
	mux.HandleFunc("GET /app-bridge.js", adminFile(bridgeScript))
	mux.HandleFunc("GET /admin.js", adminFile(adminScript))
	mux.Handle("/", s.Handler())
	sameSite := http.NewCrossOriginProtection()
	for _, path := range []string{"/oauth/token", "/customer/api/{version}/graphql"} { // clients of customer accounts name their origin
		sameSite.AddInsecureBypassPattern("POST " + accountPaths + path)
	}
	return sameSite.Handler(mux)
}

func adminFile(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write([]byte(text)) // a reader that has gone away is no concern of ours
	}
}

// view returns what is shown of the store that a path names, and of the app with a client
// id; "": of none.
func (s *Simulator) view(r *http.Request, client string) (adminView, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(r.PathValue("shop"))
	if err != nil {
		return adminView{}, false
	}
	v := adminView{Shop: sh.Domain, Base: "/store/" + sh.Domain + "/admin", Query: r.URL.Query()}
	v.Scopes = strings.FieldsFunc(v.Query.Get("scope"), func(c rune) bool { return c == ',' })
	for _, app := range s.apps() {
		i, _ := s.at(sh, app.ClientID)
		v.Apps = append(v.Apps, adminApp{app, v.Base + "/apps/" + app.ClientID, i.installed()})
	}
	if client == "" {
		return v, true
	}
	i, known := s.at(sh, client)
	if !known {
		return v, false
	}
	v.App, v.Installed = i.app, i.installed()
	for _, name := range v.Scopes {
		if !v.Installed || !slices.Contains(i.grants.Scopes, name) {
			v.New = append(v.New, name)
		}
	}
	return v, true
}

func (s *Simulator) adminStores(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	v := adminView{Title: "Stores"}
	for name := range s.state.shops {
		v.Shops = append(v.Shops, name)
	}
	s.mu.Unlock()
	slices.Sort(v.Shops)
	showAdmin(w, http.StatusOK, "stores", v)
}

func (s *Simulator) adminStore(w http.ResponseWriter, r *http.Request) {
	v, ok := s.view(r, "")
	if !ok {
		notInAdmin(w)
		return
	}
	v.Title = "Apps of " + v.Shop
	showAdmin(w, http.StatusOK, "store", v)
}

// adminOpen opens an app in a frame. In a store that does not have it, the browser goes to
// the app's own address, as from a listing of apps: the app then asks for consent.
func (s *Simulator) adminOpen(w http.ResponseWriter, r *http.Request) {
	v, ok := s.view(r, r.PathValue("client"))
	if !ok || v.App.URL == "" {
		notInAdmin(w)
		return
	}
	q := url.Values{}
	if v.Installed {
		q.Set("embedded", "1")
		q.Set("locale", "en")
	}
	address := v.App.URL + "?" + s.signed(v.App, v.Shop, q).Encode()
	if !v.Installed {
		http.Redirect(w, r, address, http.StatusFound)
		return
	}
	v.Title, v.Frame = v.App.Name, address
	showAdmin(w, http.StatusOK, "app", v)
}

// adminConsent asks the merchant. What was granted already is not asked again.
func (s *Simulator) adminConsent(w http.ResponseWriter, r *http.Request) {
	v, ok := s.view(r, "")
	if !ok {
		notInAdmin(w)
		return
	}
	s.mu.Lock()
	sh, err := s.store(v.Shop)
	if err == nil {
		_, err = s.checkConsent(sh, v.Query)
	}
	s.mu.Unlock()
	if err != nil {
		v.Title, v.Problem = "This request is not valid", err.Error()
		showAdmin(w, http.StatusBadRequest, "problem", v)
		return
	}
	v, _ = s.view(r, v.Query.Get("client_id"))
	if v.Installed && len(v.New) == 0 {
		s.agree(w, r, v)
		return
	}
	v.Title = "Install " + v.App.Name
	if v.Installed {
		v.Title = v.App.Name + " asks for more"
	}
	showAdmin(w, http.StatusOK, "consent", v)
}

func (s *Simulator) adminAgree(w http.ResponseWriter, r *http.Request) {
	v, ok := s.view(r, "")
	if !ok || r.ParseForm() != nil {
		notInAdmin(w)
		return
	}
	v.Query = r.PostForm
	s.agree(w, r, v)
}

func (s *Simulator) agree(w http.ResponseWriter, r *http.Request, v adminView) {
	back, err := s.Consent(v.Shop, v.Query)
	if err != nil {
		v.Title, v.Problem = "This request is not valid", err.Error()
		showAdmin(w, http.StatusBadRequest, "problem", v)
		return
	}
	http.Redirect(w, r, back, http.StatusFound)
}

// adminSession answers the frame's script, which the parent page has asked for it.
func (s *Simulator) adminSession(w http.ResponseWriter, r *http.Request) {
	token, err := s.SessionTokenOf(r.PathValue("client"), r.PathValue("shop"), adminUser)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"token": token})
}

func (s *Simulator) adminUninstall(w http.ResponseWriter, r *http.Request) {
	if err := s.UninstallApp(r.PathValue("shop"), r.PathValue("client")); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	http.Redirect(w, r, "/store/"+url.PathEscape(r.PathValue("shop"))+"/admin", http.StatusSeeOther)
}

// adminReduce makes the store grant less to the first app, as it did to an earlier version.
func (s *Simulator) adminReduce(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("client") != s.App().ClientID {
		notInAdmin(w)
		return
	}
	if err := s.SetScopes(r.PathValue("shop"), []string{"write_own_subscription_contracts", "read_customers", "read_customer_payment_methods", "read_products"}); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	http.Redirect(w, r, "/store/"+url.PathEscape(r.PathValue("shop"))+"/admin", http.StatusSeeOther)
}

func notInAdmin(w http.ResponseWriter) {
	showAdmin(w, http.StatusNotFound, "problem", adminView{Title: "Not found", Problem: "The store or the app does not exist."})
}

func showAdmin(w http.ResponseWriter, status int, page string, v adminView) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = adminTemplates().ExecuteTemplate(w, page, v) // a reader that has gone away is no concern of ours
}
