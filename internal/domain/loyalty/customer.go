package loyalty

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Who names a customer: by number, or else by e-mail address. Where both are
// given the number says who it is, and the address must not say otherwise.
type Who struct {
	Customer int64
	Email    string
}

// agree refuses a number and an address of which it is known that they are not
// of the same customer.
func (w Who) agree(p Person) error {
	if w.Customer == 0 || w.Email == "" || p.Email == "" || strings.EqualFold(w.Email, p.Email) {
		return nil
	}
	return fault.New(fault.Invalid, "customer %d has another e-mail address than %q", w.Customer, w.Email).Entity(entity).Code("emailMismatch").Field("customerEmail")
}
