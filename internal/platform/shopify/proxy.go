package shopify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
)

// Parameters that the platform adds to a request that it hands on.
const (
	proxyShop      = "shop"
	proxyCustomer  = "logged_in_customer_id"
	proxyPrefix    = "path_prefix"
	proxyTime      = "timestamp"
	proxySignature = "signature"
)

var proxyParams = []string{proxyShop, proxyCustomer, proxyPrefix, proxyTime, proxySignature}

// proxyTolerance is how far the platform's clock may be from ours, and how long a
// request may be on its way.
const proxyTolerance = 90 * time.Second

// Proxy opens requests of the app proxy. It implements platform.Proxy.
type Proxy struct {
	Secret string // the app's client secret; with none, nothing is genuine
}

// Open checks the signature first: until it is known to be the platform's, nothing
// else of a request is looked at. A parameter of the platform that occurs twice was
// also given by the shopper, and the two cannot be distinguished.
func (p Proxy) Open(query url.Values, named bool, now time.Time) (platform.Visit, error) {
	if !p.genuine(query) {
		return platform.Visit{}, unproven("the request's signature is missing or wrong: it must come through the store's own domain").Code("signatureInvalid").Field(proxySignature)
	}
	for _, name := range proxyParams {
		if n := len(query[name]); n != 1 && !(named && name == proxyShop && n > 1) {
			return platform.Visit{}, unproven("parameter '%s' is given %d times: it is the platform's to give, once", name, n).Code("proxyParameter").Field(name)
		}
	}
	signed, err := strconv.ParseInt(query.Get(proxyTime), 10, 64)
	if err != nil {
		return platform.Visit{}, unproven("the request's timestamp is no number").Code("proxyParameter").Field(proxyTime)
	}
	if away := now.Sub(time.Unix(signed, 0)); away > proxyTolerance || away < -proxyTolerance {
		return platform.Visit{}, unproven("the request was signed more than %d s ago, or ahead", int(proxyTolerance.Seconds())).Code("signatureExpired").Field(proxyTime)
	}
	v := platform.Visit{Shop: platform.LowerDomain(query.Get(proxyShop)), Prefix: query.Get(proxyPrefix), Query: maps.Clone(query)}
	maps.DeleteFunc(v.Query, func(name string, _ []string) bool { return slices.Contains(proxyParams, name) })
	v.Elsewhere = slices.ContainsFunc(query[proxyShop], func(s string) bool { return !strings.EqualFold(s, v.Shop) })
	if !validDomain(v.Shop) {
		return platform.Visit{}, unproven("the request's shop is not a store's domain").Code("proxyParameter").Field(proxyShop)
	}
	if who := query.Get(proxyCustomer); who != "" {
		if v.Customer, err = strconv.ParseInt(who, 10, 64); err != nil || v.Customer < 1 || v.Customer > gid.Max {
			return platform.Visit{}, unproven("the request's customer is no customer's number").Code("proxyParameter").Field(proxyCustomer)
		}
	}
	return v, nil
}

func unproven(format string, args ...any) *fault.Error {
	return fault.New(fault.Unauthenticated, format, args...).Entity("customer")
}

// genuine reports whether the signature is that of all other parameters, in a time
// that does not depend on how much of it is right.
func (p Proxy) genuine(query url.Values) bool {
	return p.Secret != "" && hmac.Equal([]byte(query.Get(proxySignature)), []byte(p.signature(query)))
}

// signature returns that of all other parameters: each as name=value, the values of
// a repeated one joined by commas, sorted by their bytes and written one after the
// other without anything between them.
func (p Proxy) signature(query url.Values) string {
	parts := make([]string, 0, len(query))
	for name, values := range query {
		if name != proxySignature {
			parts = append(parts, name+"="+strings.Join(values, ","))
		}
	}
	slices.Sort(parts)
	mac := hmac.New(sha256.New, []byte(p.Secret))
	for _, part := range parts {
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil))
}
