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

// ParseDomain returns the domain of the store that a request names: by its domain, in
// any case and with slashes at the end, or by its address in the platform's admin.
func ParseDomain(s string) (domain string, ok bool) {
	if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", false // some letters have an ASCII lower case
	}
	domain = strings.ToLower(s)
	if name, admin := strings.CutPrefix(domain, adminStores); admin {
		domain = name + domainSuffix
	} else {
		domain = strings.TrimRight(domain, "/")
	}
	return domain, ValidDomain(domain)
}
