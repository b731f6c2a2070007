package loyalty

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// CustomerRef identifies a customer by the platform's id, or by e-mail address. When
// both are given, the id identifies the customer and the address must match it.
type CustomerRef struct {
	Customer int64
	Email    string
}

// checkEmail fails when both an id and an address are given and the customer is known
// to have another address.
func (w CustomerRef) checkEmail(p Person) error {
	if w.Customer == 0 || w.Email == "" || p.Email == "" || strings.EqualFold(w.Email, p.Email) {
		return nil
	}
	return fault.New(fault.Invalid, "customer %d has another e-mail address than %q", w.Customer, w.Email).Entity(entity).Code("emailMismatch").Field("customerEmail")
}
