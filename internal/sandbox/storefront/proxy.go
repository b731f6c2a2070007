package storefront

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// Parameters that the platform adds to a forwarded request.
const (
	paramShop      = "shop"
	paramCustomer  = "logged_in_customer_id"
	paramPrefix    = "path_prefix"
	paramTime      = "timestamp"
	paramSignature = "signature"
)

// Sign returns the signature of a forwarded request's query: every parameter but
// the signature as name=value, the values of a repeated one joined by commas,
// sorted by their bytes and written one after the other without anything
// between them.
func Sign(secret string, query url.Values) string {
	var parts []string
	for name, values := range query {
		if name != paramSignature {
			parts = append(parts, name+"="+strings.Join(values, ","))
		}
	}
	slices.Sort(parts)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(mac.Sum(nil))
}

// signed adds to a shopper's query what the platform adds. Parameters that the
// shopper gave the same names stay beside them and are signed with them: whether
// the platform removes them is not known, so the worse case is played.
func signed(secret string, query url.Values, shop, customer, prefix string, now time.Time) url.Values {
	query.Del(paramSignature)
	for name, value := range map[string]string{
		paramShop: shop, paramCustomer: customer, paramPrefix: prefix, paramTime: strconv.FormatInt(now.Unix(), 10),
	} {
		query[name] = append(query[name], value)
	}
	query.Set(paramSignature, Sign(secret, query))
	return query
}

// withheld are headers that do not pass between shopper and app, either way.
var withheld = []string{
	"Cookie", "Set-Cookie", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Host",
}

// forward sends a shopper's request below /apps/{line}/ to the app. Who asks for the
// app's first page and is not signed in is redirected to the sign-in page: the app
// has nothing to show without a customer.
func (s *Store) forward(w http.ResponseWriter, r *http.Request) {
	line := r.PathValue("line")
	base, known := map[string]string{"subscriptions": s.Subscriptions, "memberships": s.Memberships}[line]
	secret := s.AppSecret
	if line == "memberships" && s.MembershipsSecret != "" {
		secret, known = s.MembershipsSecret, s.HasMemberships()
	}
	if !known {
		web.WriteError(w, r, fault.New(fault.NotFound, "the store has no app at /apps/%s", line).Code("pathNotFound"))
		return
	}
	customer := s.session(r)
	if customer == "" && r.Method == http.MethodGet && strings.TrimSuffix(r.URL.Path, "/") == "/apps/"+line {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		web.WriteError(w, r, fault.Because(fault.Invalid, err, "the query cannot be read"))
		return
	}
	query = signed(secret, query, s.Shop, customer, "/apps/"+line, s.Clock.Now())
	req, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.EscapedPath()+"?"+query.Encode(), r.Body)
	if err != nil {
		web.WriteError(w, r, fault.Because(fault.Invalid, err, "the request cannot be forwarded"))
		return
	}
	pass(req.Header, r.Header)
	req.ContentLength = r.ContentLength
	req.Header.Set("X-Forwarded-Host", r.Host)
	req.Header.Set("X-Forwarded-Proto", "https")
	res, err := s.client.Do(req) // follows redirects, as the platform does
	if err != nil {
		web.WriteError(w, r, fault.Because(fault.Unavailable, err, "the app does not answer"))
		return
	}
	defer res.Body.Close()
	pass(w.Header(), res.Header)
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the shopper may be gone
}

func pass(to, from http.Header) {
	for name, values := range from {
		if !slices.Contains(withheld, name) {
			to[name] = values
		}
	}
}
