package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// Parameters that the platform adds to what it sends a browser to.
const (
	paramHMAC      = "hmac"
	paramSignature = "signature" // older; never part of the message
	paramShop      = "shop"
	paramCode      = "code"
	paramState     = "state"
	paramTime      = "timestamp"
)

// tolerance is how far the platform's clock may be from ours, and how long a redirect may
// be on its way.
const tolerance = 90 * time.Second

// maxParam is the longest parameter that is used, in bytes.
const maxParam = 1024

// OpenCallback checks the signature first: until it is known to be the platform's,
// nothing else of the query is looked at.
func (a *App) OpenCallback(query url.Values, now time.Time) (platform.Callback, error) {
	shop, err := a.OpenLaunch(query, now)
	if err != nil {
		return platform.Callback{}, err
	}
	c := platform.Callback{Shop: shop, Code: query.Get(paramCode), State: query.Get(paramState)}
	for name, value := range map[string]string{paramCode: c.Code, paramState: c.State} {
		if value == "" || len(value) > maxParam {
			return platform.Callback{}, notGenuine("the parameter %q of the callback is missing or too long", name).Code("callbackParameter").Field(name)
		}
	}
	return c, nil
}

// OpenLaunch checks what every query of the platform to an app has: the signature, that no parameter is given twice, the time and the
// store.
func (a *App) OpenLaunch(query url.Values, now time.Time) (string, error) {
	if !a.genuine(query) {
		return "", notGenuine("the signature of the request is missing or wrong").Code("signatureInvalid").Field(paramHMAC)
	}
	for name, values := range query {
		if len(values) != 1 {
			return "", notGenuine("the parameter %.64q is given %d times", name, len(values)).Code("callbackParameter").Field(name)
		}
	}
	signed, err := strconv.ParseInt(query.Get(paramTime), 10, 64)
	if err != nil {
		return "", notGenuine("the timestamp of the request is not a number").Code("callbackParameter").Field(paramTime)
	}
	if away := now.Sub(time.Unix(signed, 0)); away > tolerance || away < -tolerance {
		return "", notGenuine("the request was signed more than %d s ago, or ahead", int(tolerance.Seconds())).Code("signatureExpired").Field(paramTime)
	}
	shop, ok := platform.ParseDomain(query.Get(paramShop))
	if !ok {
		return "", notGenuine("the shop of the request is not a store's domain").Code("callbackParameter").Field(paramShop)
	}
	return shop, nil
}

// genuine reports whether the signature is that of all other parameters, in a time that
// does not depend on how much of it is right.
func (a *App) genuine(query url.Values) bool {
	return a.secret != "" && hmac.Equal([]byte(query.Get(paramHMAC)), []byte(a.sign(query)))
}

// sign returns the signature of all parameters but the signatures: as they are written in
// a URL, sorted by name.
func (a *App) sign(query url.Values) string {
	names := make([]string, 0, len(query))
	for name := range query {
		if name != paramHMAC && name != paramSignature {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var message strings.Builder
	for i, name := range names {
		if i > 0 {
			message.WriteByte('&')
		}
		message.WriteString(escape(name))
		message.WriteByte('=')
		message.WriteString(escape(strings.Join(query[name], ",")))
	}
	mac := hmac.New(sha256.New, []byte(a.secret))
	mac.Write([]byte(message.String()))
	return hex.EncodeToString(mac.Sum(nil))
}

const upperHex = "0123456789ABCDEF"

// escape encodes a name or value as browsers encode forms, with %20 for a space.
// url.QueryEscape differs in the asterisk and the tilde.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '*', c == '-', c == '.', c == '_':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		}
	}
	return b.String()
}
