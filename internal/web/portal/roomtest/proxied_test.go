package roomtest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// formRoom is a room whose one form notes that it was carried out.
type formRoom struct{ times int }

func (p *formRoom) room() portal.Room {
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /form", Show: func(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
				return v.Ask(w, r, portal.Question{Title: "Do it?", Back: &portal.Crumb{}, Path: "/form", Button: "Do it", Keep: "Leave it"}, nil)
			}},
			{Pattern: "POST /form", Show: func(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
				p.times++
				return v.Go(w, "", "")
			}},
		},
	}
}

func openProxied(t *testing.T) (*portaltest.Site, *formRoom) {
	t.Helper()
	p := &formRoom{}
	s := portaltest.Open(t, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), p.room()}
	})
	s.Put(s.First, []contract.Contract{portaltest.Subscription(1)}, portaltest.Orders(1, 3)...)
	return s, p
}

func TestProxiedRequestNeedsSignatureOfPlatform(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	good := func() url.Values { return portaltest.Signed(portaltest.Now, s.First.Domain, portaltest.Maya, nil) }
	for name, row := range map[string]struct {
		change func(url.Values)
		status int
	}{
		"as the platform signs it":                     {func(url.Values) {}, http.StatusOK},
		"with a parameter of the customer's":           {func(q url.Values) { q.Set("locale", "en"); portaltest.Sign(q) }, http.StatusOK},
		"without a signature":                          {func(q url.Values) { q.Del("signature") }, http.StatusUnauthorized},
		"with another signature":                       {func(q url.Values) { q.Set("signature", strings.Repeat("0", 64)) }, http.StatusUnauthorized},
		"with another customer than was signed":        {func(q url.Values) { q.Set("logged_in_customer_id", "7002") }, http.StatusUnauthorized},
		"with another store than was signed":           {func(q url.Values) { q.Set("shop", s.Second.Domain) }, http.StatusUnauthorized},
		"89 seconds old":                               {func(q url.Values) { q.Set("timestamp", fmt.Sprint(portaltest.Now.Unix()-89)); portaltest.Sign(q) }, http.StatusOK},
		"91 seconds old":                               {func(q url.Values) { q.Set("timestamp", fmt.Sprint(portaltest.Now.Unix()-91)); portaltest.Sign(q) }, http.StatusUnauthorized},
		"91 seconds ahead":                             {func(q url.Values) { q.Set("timestamp", fmt.Sprint(portaltest.Now.Unix()+91)); portaltest.Sign(q) }, http.StatusUnauthorized},
		"with two customers, the customer's own first": {func(q url.Values) { q["logged_in_customer_id"] = []string{"7002", "7001"}; portaltest.Sign(q) }, http.StatusUnauthorized},
		"with two stores":                              {func(q url.Values) { q["shop"] = []string{s.Second.Domain, s.First.Domain}; portaltest.Sign(q) }, http.StatusUnauthorized},
		"with two prefixes":                            {func(q url.Values) { q.Add("path_prefix", "/apps/other"); portaltest.Sign(q) }, http.StatusUnauthorized},
		"with a prefix that is no path":                {func(q url.Values) { q.Set("path_prefix", `/apps/{{shop.secret}}`); portaltest.Sign(q) }, http.StatusUnauthorized},
		"with a prefix that leads to another site":     {func(q url.Values) { q.Set("path_prefix", "//evil.example/x"); portaltest.Sign(q) }, http.StatusUnauthorized},
		"of a store that is not here":                  {func(q url.Values) { q.Set("shop", "third.myshopify.com"); portaltest.Sign(q) }, http.StatusUnauthorized},
		"with a query that is not well formed":         {func(q url.Values) { q.Set("%zz", "1") }, http.StatusUnauthorized},
	} {
		query := good()
		row.change(query)
		p := s.Do(s.Request(http.MethodGet, s.Store.URL+portaltest.Proxied+"?"+query.Encode()))
		if p.Status != row.status {
			t.Errorf("a request %s is answered %d, want %d", name, p.Status, row.status)
		}
		if shown := strings.Contains(p.Text, "House Blend Coffee"); shown != (row.status == http.StatusOK) {
			t.Errorf("a request %s shows the subscription: %v", name, shown)
		}
		if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") || p.Header.Get("Set-Cookie") != "" || p.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a request %s is answered %v", name, p.Header)
		}
	}
}

func TestSignedOutVisitorIsLedToStore(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	p := s.Through(0, "/form", nil)
	s.Want(p, http.StatusUnauthorized, "Sign in to see your subscriptions", `href="/account/login?return_url=%2Fapps%2Fsubscriptions%2Fcp%2Fform"`)
	if strings.Contains(p.Text, "House Blend") || strings.HasPrefix(strings.TrimSpace(p.Text), "{") {
		t.Errorf("the page shows:\n%s", p.Text)
	}
}

// Every request at the store's domain has the store's cookie, also one that a page of another site
// sends: a form must be one of ours, and come from a page of the store.
func TestProxiedFormMustComeFromPageOfStore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		headers []string
		token   func(right string) string
		done    bool
	}{
		"from a page of the store":                               {[]string{"Sec-Fetch-Site", "same-origin"}, nil, true},
		"from a script of ours":                                  {[]string{"HX-Request", "true"}, nil, true},
		"from a browser without fetch metadata":                  {[]string{"Origin", "https://shop.example", "X-Forwarded-Host", "shop.example"}, nil, true},
		"from a browser without fetch metadata, at the platform": {[]string{"Origin", "https://first.myshopify.com"}, nil, true},
		"from another site":                                      {[]string{"Sec-Fetch-Site", "cross-site"}, nil, false},
		"from a neighbour of the store":                          {[]string{"Sec-Fetch-Site", "same-site"}, nil, false},
		"from an address that was typed":                         {[]string{"Sec-Fetch-Site", "none"}, nil, false},
		"from another origin":                                    {[]string{"Origin", "https://evil.example", "X-Forwarded-Host", "shop.example"}, nil, false},
		"from an origin that hides":                              {[]string{"Origin", "null", "X-Forwarded-Host", "shop.example"}, nil, false},
		"that does not say where it comes from":                  {nil, nil, false},
		"without a token":                                        {[]string{"Sec-Fetch-Site", "same-origin"}, func(string) string { return "" }, false},
		"with another token":                                     {[]string{"Sec-Fetch-Site", "same-origin"}, func(right string) string { return "A" + right[1:] + "x" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, room := openProxied(t)
			token := hiddenField(t, s.Through(portaltest.Maya, "/form", nil), "token")
			if row.token != nil {
				token = row.token(token)
			}
			p := s.Do(proxiedPost(s, portaltest.Maya, token, row.headers...))
			if done := room.times == 1; done != row.done {
				t.Errorf("the form was carried out: %v, and answered %d", done, p.Status)
			}
			if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[row.done]; p.Status != want {
				t.Errorf("answered %d, want %d", p.Status, want)
			}
			if row.done && !strings.Contains(p.Text, `url=/apps/subscriptions/cp"`) {
				t.Errorf("the answer does not lead on:\n%s", p.Text)
			}
		})
	}
}

// proxiedPost returns a form at the store's domain.
func proxiedPost(s *portaltest.Site, customer int64, token string, headers ...string) *http.Request {
	req := s.Request(http.MethodPost, s.Store.URL+portaltest.Proxied+"/form?"+portaltest.Signed(s.Clock.Now(), s.First.Domain, customer, nil).Encode(), "token", token)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func TestTokenIsOfCustomerAndDay(t *testing.T) {
	t.Parallel()
	s, room := openProxied(t)
	token := hiddenField(t, s.Through(portaltest.Maya, "/form", nil), "token")
	if p := s.Do(proxiedPost(s, portaltest.Noah, token, "HX-Request", "true")); p.Status != http.StatusForbidden || room.times != 0 {
		t.Errorf("another customer's is answered %d", p.Status)
	}
	s.Clock.Set(portaltest.Now.Add(24 * time.Hour))
	if p := s.Do(proxiedPost(s, portaltest.Maya, token, "HX-Request", "true")); p.Status != http.StatusOK || room.times != 1 {
		t.Errorf("the next day it is answered %d", p.Status)
	}
	s.Clock.Set(portaltest.Now.Add(48 * time.Hour))
	p := s.Do(proxiedPost(s, portaltest.Maya, token, "HX-Request", "true"))
	s.Want(p, http.StatusForbidden, "This page was open for too long.")
	if room.times != 1 {
		t.Error("a form of the day before yesterday was carried out")
	}
}

// What the platform renders in a theme is the same for everybody: it evaluates Liquid in it.
func TestAnswerInThemeIsConstant(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	s.Look.Design.InTheme = true
	var shells []string
	for _, customer := range []int64{portaltest.Maya, portaltest.Noah, 0} {
		for _, path := range []string{"", "/form"} {
			p := s.Through(customer, path, url.Values{"note": {"{{ shop.secret }}"}})
			if !strings.HasPrefix(p.Header.Get("Content-Type"), "application/liquid") || p.Status != http.StatusOK {
				t.Fatalf("%s is answered %d %s", path, p.Status, p.Header.Get("Content-Type"))
			}
			shells = append(shells, p.Text)
		}
	}
	for _, text := range shells {
		if text != shells[0] || strings.Contains(text, "{{") {
			t.Errorf("the answers differ:\n%s\n%s", shells[0], text)
		}
	}
	part := s.Through(portaltest.Maya, "", url.Values{"part": {"1"}})
	s.Want(part, http.StatusOK, "House Blend Coffee")
	if strings.Contains(part.Text, "<html") || !strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the part is a page of its own:\n%s", part.Text)
	}
	own := s.Through(portaltest.Maya, "", url.Values{"page": {"1"}})
	s.Want(own, http.StatusOK, "<!doctype html>", "House Blend Coffee", `href="/apps/subscriptions/cp?page=1"`)
}

func TestPathOfProxyLeadsToFirstScreen(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	p := s.Do(s.Request(http.MethodGet, s.Store.URL+"/apps/subscriptions/?"+portaltest.Signed(portaltest.Now, s.First.Domain, 0, nil).Encode()))
	s.Want(p, http.StatusOK, `http-equiv="refresh" content="0; url=/apps/subscriptions/cp"`)
}

func TestUnknownPathAtStoreIsPage(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	for path, want := range map[string]int{"/nothing": http.StatusNotFound, "/assets/nothing.css": http.StatusNotFound} {
		if p := s.Through(portaltest.Maya, path, nil); p.Status != want || !strings.Contains(p.Text, "Page not found") {
			t.Errorf("%s is answered %d:\n%s", path, p.Status, p.Text)
		}
	}
	p := s.Do(s.Request(http.MethodGet, s.Store.URL+"/apps/gifts/cp?"+portaltest.Signed(portaltest.Now, s.First.Domain, portaltest.Maya, nil).Encode()))
	s.Want(p, http.StatusNotFound, "Page not found")
}
