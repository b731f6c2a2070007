package portal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// formKey signs what forms carry, so that only pages of ours can have made them.
type formKey []byte

// tokenField is the field of a form that carries its token.
const tokenField = "token"

// day is how long a token is new. It is taken for one day more: who opens a page before midnight
// may send its form after it.
const day = 24 * time.Hour

// token returns that of the forms of a customer on a day.
func (k formKey) token(who login.Principal, at time.Time) string {
	mac := hmac.New(sha256.New, k)
	fmt.Fprintf(mac, "portal form\n%d\n%d\n%d", who.Shop, who.Customer, at.Unix()/int64(day/time.Second))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// check refuses a form that none of our pages has made for the customer.
func (k formKey) check(who login.Principal, given string, now time.Time) error {
	for _, at := range []time.Time{now, now.Add(-day)} {
		if hmac.Equal([]byte(given), []byte(k.token(who, at))) {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "the form is too old, or none of our pages has made it").Code("formToken")
}

// Seal returns what proves that the portal has made an offer to its reader, such as to take back a change:
// the address of a screen in which anyone else has written an offer is without it. It holds as long as
// the day's token of forms.
func (v View) Seal(offer string) string {
	mac := hmac.New(sha256.New, []byte(v.token))
	fmt.Fprintf(mac, "portal offer\n%s", offer)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// Sealed reports whether a seal is that of an offer to the reader.
func (v View) Sealed(offer, seal string) bool {
	return v.token != "" && hmac.Equal([]byte(seal), []byte(v.Seal(offer)))
}

// fromPageOf reports whether a request that changes something comes from a page of the store's
// domain, and not from another site in whose pages the reader's browser sends it along. The
// platform names the host that was asked when it hands a request on. Browsers without fetch
// metadata send the origin.
func fromPageOf(r *http.Request, domain string) bool {
	if r.Header.Get("HX-Request") == "true" { // other sites may not send the header
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && (origin.Host == r.Header.Get("X-Forwarded-Host") || origin.Host == domain)
}
