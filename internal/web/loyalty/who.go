package loyalty

import (
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web"
)

// maxEmail is how long an address can be, in characters.
const maxEmail = 320

// Named is how a body names the customer. The document only shows what it embeds
// when that is exported.
type Named struct {
	Shop     string    `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	Customer web.AnyID `json:"customerId,omitempty" doc:"The customer: number or graph id. This or customerEmail is required; both must be of the same customer." example:"7001"`
	Email    string    `json:"customerEmail,omitempty" maxLength:"320" doc:"The customer's e-mail address, in any letter case." example:"ada@shopper.example"`
}

func (b Named) who(caller web.Caller) (loyalty.CustomerRef, error) {
	if err := ownShop(b.Shop, caller); err != nil {
		return loyalty.CustomerRef{}, err
	}
	return whoOf("field", "customerId", string(b.Customer), b.Email)
}

// whoOf returns the customer that is named: by number, by address, or by both.
func whoOf(kind, param, customer, email string) (loyalty.CustomerRef, error) {
	id, err := web.ParseID("Customer", param, customer)
	if err != nil {
		return loyalty.CustomerRef{}, err
	}
	email = strings.TrimSpace(email)
	switch {
	case id == 0 && email == "" && kind == "field":
		return loyalty.CustomerRef{}, fault.New(fault.Invalid, "field 'customerId' or 'customerEmail' is required").Code("bodyField").Field("customerId")
	case id == 0 && email == "":
		return loyalty.CustomerRef{}, web.MissingParameter("customerId", "Long")
	case email != "" && !strings.Contains(email, "@"), utf8.RuneCountInString(email) > maxEmail:
		return loyalty.CustomerRef{}, notAnAddress(email)
	}
	return loyalty.CustomerRef{Customer: id, Email: email}, nil
}

// shownText is how many characters of a value a refusal repeats.
const shownText = 80

func notAnAddress(email string) error {
	return fault.New(fault.Invalid, "%q is not an e-mail address", shorten.Text(email, shownText)).Code("emailInvalid").Field("customerEmail")
}

// ownShop refuses another store than the caller's.
func ownShop(given string, caller web.Caller) error {
	if given == "" || strings.EqualFold(given, caller.Shop.Domain) {
		return nil
	}
	return fault.New(fault.Invalid, "shop %q is not the store of the API key, which is %s", shorten.Text(given, shownText), caller.Shop.Domain).Code("shopMismatch").Field("shop")
}
