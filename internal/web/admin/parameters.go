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

// intoOwn reads a body that may name the caller's shop, which named points to, and refuses
// that of another shop.
func intoOwn(in *web.JSONBody, caller web.Caller, body any, named *string) error {
	if err := in.Into(body); err != nil {
		return err
	}
	return ownShop(*named, caller, "shop")
}

// intoChecked reads a body and refuses a text that is longer than its field allows.
func intoChecked[T any](in *web.JSONBody, body *T) error {
	if err := in.Into(body); err != nil {
		return err
	}
	return web.CheckLengths(*body)
}

// differ is the failure that two spellings of a parameter say different things.
func differ(param, other string) error {
	return fault.New(fault.Invalid, "parameters '%s' and '%s' differ: give one of them", param, other).Field(param)
}

// required is the failure that a field is absent. what says what the field holds.
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
