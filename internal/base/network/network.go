// Package network tells public addresses from those that only this machine, or its own
// network, can reach.
package network

import (
	"errors"
	"net/netip"
)

// special are the ranges that are neither private in the usual sense nor public.
func special() []netip.Prefix {
	var list []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// Public reports whether an address belongs to the internet at large: not to loopback, to
// private and link-local networks, or to a range that IANA keeps for something else.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range special() {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// ErrNotPublic says that an address is not one of the internet at large.
var ErrNotPublic = errors.New("the address is not public")

// CheckPublic refuses an address with a port that is not public. A dialer asks it after names have
// been resolved: a name that resolves differently the next time gains nothing.
func CheckPublic(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !Public(at.Addr()) {
		return ErrNotPublic
	}
	return nil
}
