package platform

import (
	"strings"
	"unicode"
)

// domainSuffix ends the domain of every store.
const domainSuffix = ".myshopify.com"

// maxDomain is the longest host name.
const maxDomain = 253

const (
	nameStarts = "abcdefghijklmnopqrstuvwxyz0123456789"
	nameParts  = nameStarts + "-_"
)

// ValidDomain reports whether s is a store's domain in lower case: nothing else may
// become part of a URL.
func ValidDomain(s string) bool {
	name, ok := strings.CutSuffix(s, domainSuffix)
	return ok && name != "" && len(s) <= maxDomain && strings.Contains(nameStarts, name[:1]) && strings.Trim(name, nameParts) == ""
}

// adminStores begins a store's address in the platform's admin, after the scheme.
const adminStores = "admin.shopify.com/store/"

// ParseDomain returns the domain of the store that a request names: by its domain, with
// its name in any case and slashes at the end, or by its address in the platform's admin.
func ParseDomain(s string) (domain string, ok bool) {
	name, admin := strings.CutPrefix(s, adminStores)
	if !admin {
		if name, ok = strings.CutSuffix(strings.TrimRight(s, "/"), domainSuffix); !ok {
			return "", false
		}
	}
	domain = LowerDomain(name) + domainSuffix
	return domain, ValidDomain(domain)
}

// LowerDomain returns a domain in lower case. One with letters that are not ASCII is
// returned as it is: the lower case of some is ASCII.
func LowerDomain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return s
	}
	return strings.ToLower(s)
}
