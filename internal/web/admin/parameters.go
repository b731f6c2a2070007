package admin

import (
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// ownShop refuses the name of another shop than the key's.
func ownShop(domain string, caller web.Caller, param string) error {
	if domain != "" && domain != caller.Shop.Domain {
		return fault.New(fault.Invalid, "shop must be %s, the store that the API key belongs to", caller.Shop.Domain).Code("shopMismatch").Field(param)
	}
	return nil
}

// differ is the failure that two spellings of a parameter say different things.
func differ(param, other string) error {
	return fault.New(fault.Invalid, "parameters '%s' and '%s' differ: give one of them", param, other).Field(param)
}

func required(field, what string) error {
	return fault.New(fault.Invalid, "field '%s' is required: %s", field, what).Code("bodyField").Field(field)
}

// noteOf returns the note that is sent as orderNote, as note, or as both.
func noteOf(given web.Given, orderNote, note string) (string, error) {
	switch {
	case given.Has("orderNote") && given.Has("note") && orderNote != note:
		return "", differ("orderNote", "note")
	case given.Has("orderNote"):
		return orderNote, nil
	case given.Has("note"):
		return note, nil
	}
	return "", web.MissingParameter("orderNote", "String")
}
