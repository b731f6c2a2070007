package shopper

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// into reads a body and refuses texts that are too long.
func into[T any](in *web.JSONBody, body *T) error {
	if err := in.Into(body); err != nil {
		return err
	}
	return web.CheckLengths(*body)
}

// required returns the number that a field holds.
func required(id web.AnyID, objectType, field string) (int64, error) {
	n, err := id.Parse(objectType, field)
	if err == nil && n == 0 {
		err = missingField(field)
	}
	return n, err
}

func missingField(field string) error {
	return fault.New(fault.Invalid, "field '%s' is required", field).Code("bodyField").Field(field)
}

// sameStore refuses a body that names another store than the shopper's.
func sameStore(given string, caller web.Caller) error {
	if given == "" || strings.EqualFold(given, caller.Shop.Domain) {
		return nil
	}
	return fault.New(fault.Invalid, "shop %.80q is not the store at which the shopper is", given).Code("shopMismatch").Field("shop")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
