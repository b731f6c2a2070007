package simulator

import (
	"crypto/rand"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/perennialhq/perennial/internal/base/fault"
)

//go:embed accounts.html
var accountPages string

var accountTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("admin").Parse(adminPages)).New("accounts").Parse(accountPages))
})

// accountsShown is how many customers the page of a sign-in lists.
const accountsShown = 60

// accountView is what the page of a sign-in shows.
type accountView struct {
	adminView
	People []Customer
	Search string
	Cancel string // address to which the browser goes back without a sign-in
}

// accountCookie keeps who is signed in to a store at the platform.
func accountCookie(sh *store, value string) *http.Cookie {
	c := &http.Cookie{Name: "platform-account-" + itoa(sh.ID), Value: value, Path: "/authentication/" + itoa(sh.ID), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// accountAuthorize asks who signs in. Who is signed in already is not asked again.
func (s *Simulator) accountAuthorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	sh, err := s.accountAsked(r, query)
	if err != nil {
		s.mu.Unlock()
		accountProblem(w, err)
		return
	}
	if c, err := r.Cookie(accountCookie(sh, "").Name); err == nil && query.Get("prompt") != "login" {
		if id, err := strconv.ParseInt(c.Value, 10, 64); err == nil {
			if to, err := s.accountBack(sh, query, id); err == nil {
				s.mu.Unlock()
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
		}
	}
	v := accountView{adminView: adminView{Title: "Sign in to " + sh.Domain, Shop: sh.Domain, Base: "/store/" + sh.Domain + "/admin", Query: query}, Search: query.Get("q")}
	v.People = accountPeople(sh, v.Search)
	v.Cancel = backTo(query.Get("redirect_uri"), url.Values{"error": {"access_denied"}, "state": {query.Get("state")}})
	s.mu.Unlock()
	v.Query.Del("q")
	showAccounts(w, http.StatusOK, "pick", v)
}

// accountPeople returns customers of a store, those with subscriptions first.
func accountPeople(sh *store, search string) []Customer {
	var list []Customer
	for _, c := range sh.customers.order {
		if strings.Contains(strings.ToLower(c.displayName()+" "+c.Email+" "+itoa(c.ID)), strings.ToLower(strings.TrimSpace(search))) {
			list = append(list, Customer{ID: c.ID, Email: c.Email, FirstName: c.displayName(), Contracts: make([]int64, len(c.contracts))})
		}
	}
	slices.SortStableFunc(list, func(a, b Customer) int { return min(len(b.Contracts), 1) - min(len(a.Contracts), 1) })
	return list[:min(len(list), accountsShown)]
}

// accountAsked checks what a client asks for, and returns the store. The caller holds the lock.
func (s *Simulator) accountAsked(r *http.Request, query url.Values) (*store, error) {
	sh, err := s.accountStore(r)
	if err != nil {
		return nil, err
	}
	c := sh.Accounts
	switch {
	case query.Get("client_id") != c.ID:
		return nil, fault.New(fault.Invalid, "the store has no client of customer accounts with this client id")
	case !slices.Contains(c.Redirects, query.Get("redirect_uri")):
		return nil, fault.New(fault.Invalid, "the redirect address is not one of the client's: %s", query.Get("redirect_uri"))
	case query.Get("response_type") != "code":
		return nil, fault.New(fault.Invalid, "response_type must be code")
	case !slices.Contains(strings.Fields(query.Get("scope")), "openid"):
		return nil, fault.New(fault.Invalid, "the scope must have openid")
	case query.Get("state") == "" || query.Get("nonce") == "":
		return nil, fault.New(fault.Invalid, "state and nonce are needed")
	case c.Secret == "" && query.Get("code_challenge") == "", query.Get("code_challenge") != "" && query.Get("code_challenge_method") != "S256":
		return nil, fault.New(fault.Invalid, "a code challenge of the method S256 is needed")
	}
	return sh, nil
}

// accountPick signs in the customer who was chosen on the page.
func (s *Simulator) accountPick(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if err := r.ParseForm(); err != nil {
		accountProblem(w, err)
		return
	}
	s.mu.Lock()
	to, cookie, err := s.accountPicked(r)
	s.mu.Unlock()
	if err != nil {
		accountProblem(w, err)
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, to, http.StatusFound)
}

func (s *Simulator) accountPicked(r *http.Request) (string, *http.Cookie, error) {
	sh, err := s.accountAsked(r, r.PostForm)
	if err != nil {
		return "", nil, err
	}
	id, _ := strconv.ParseInt(r.PostForm.Get("customer"), 10, 64)
	to, err := s.accountBack(sh, r.PostForm, id)
	return to, accountCookie(sh, itoa(id)), err
}

// accountBack returns the address to which the browser goes with a code for a customer.
func (s *Simulator) accountBack(sh *store, query url.Values, id int64) (string, error) {
	if _, known := sh.customers.get(id); !known {
		return "", fault.New(fault.NotFound, "%s has no customer %d", sh.Domain, id)
	}
	code := rand.Text()
	if s.signIns.codes == nil {
		s.signIns.codes = map[string]accountGrant{}
	}
	s.signIns.codes[code] = accountGrant{
		shop: sh.ID, customer: id, client: sh.Accounts.ID, redirect: query.Get("redirect_uri"), nonce: query.Get("nonce"), challenge: query.Get("code_challenge"),
		until: s.opts.Clock.Now().Add(accountCodeLife),
	}
	return backTo(query.Get("redirect_uri"), url.Values{"code": {code}, "state": {query.Get("state")}}), nil
}

// accountSignOut signs the customer of a browser out, and sends it back to where the client may.
func (s *Simulator) accountSignOut(w http.ResponseWriter, r *http.Request) {
	back := r.URL.Query().Get("post_logout_redirect_uri")
	s.mu.Lock()
	sh, err := s.accountStore(r)
	switch {
	case err != nil:
	case !s.accountIssued(r.URL.Query().Get("id_token_hint")):
		err = fault.New(fault.Invalid, "id_token_hint is no ID token of this store")
	case !slices.Contains(sh.Accounts.SignOuts, back):
		err = fault.New(fault.Invalid, "the address after signing out is not one of the client's: %s", back)
	}
	s.mu.Unlock()
	if err != nil {
		accountProblem(w, err)
		return
	}
	http.SetCookie(w, accountCookie(sh, ""))
	http.Redirect(w, r, back, http.StatusFound)
}

// backTo returns an address with parameters.
func backTo(address string, with url.Values) string {
	mark := "?"
	if strings.Contains(address, "?") {
		mark = "&"
	}
	return address + mark + with.Encode()
}

func accountProblem(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if fault.Is(err, fault.NotFound) {
		status = http.StatusNotFound
	}
	showAccounts(w, status, "problem", accountView{adminView: adminView{Title: "This sign-in is not valid", Problem: err.Error()}})
}

func showAccounts(w http.ResponseWriter, status int, page string, v accountView) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = accountTemplates().ExecuteTemplate(w, page, v) // a reader that has gone away is no concern of ours
}
