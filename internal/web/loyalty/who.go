package loyalty

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web"
)

// maxEmail is how long an address can be, in characters.
const maxEmail = 320

// graphID is an id in a body: a number, a text of digits or a graph id.
type graphID struct{ text string }

// UnmarshalJSON keeps the id as a text, to be parsed where its type is known.
func (g *graphID) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	var s string
	if err := json.Unmarshal(text, &s); err == nil {
		g.text = s
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(text, &n); err != nil {
		return fault.New(fault.Invalid, "an id must be a number or a graph id, and %s is neither", text).Keyed("bodyField")
	}
	g.text = n.String()
	return nil
}

// Schema describes the id.
func (graphID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger, Format: "int64"}, {Type: huma.TypeString}}}
}

// Named is how a body names the customer. The document only shows what it embeds
// when that is exported.
type Named struct {
	Shop     string  `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	Customer graphID `json:"customerId,omitempty" doc:"The customer: number or graph id. This or customerEmail is required." example:"7001"`
	Email    string  `json:"customerEmail,omitempty" maxLength:"320" doc:"The customer's e-mail address, in any letter case." example:"ada@shopper.example"`
}

func (b Named) who(caller web.Caller) (loyalty.Who, error) {
	if err := ownShop(b.Shop, caller); err != nil {
		return loyalty.Who{}, err
	}
	return whoOf("field", "customerId", b.Customer.text, b.Email)
}

// whoOf returns the customer that is named. The number counts when both are
// given.
func whoOf(kind, param, customer, email string) (loyalty.Who, error) {
	id, err := web.ParseID("Customer", param, customer)
	if err != nil {
		return loyalty.Who{}, err
	}
	email = strings.TrimSpace(email)
	switch {
	case id != 0:
		return loyalty.Who{Customer: id}, nil
	case email == "" && kind == "field":
		return loyalty.Who{}, fault.New(fault.Invalid, "field 'customerId' or 'customerEmail' is required").Keyed("bodyField").At("customerId")
	case email == "":
		return loyalty.Who{}, web.MissingParameter("customerId", "Long")
	case utf8.RuneCountInString(email) > maxEmail || !strings.Contains(email, "@"):
		return loyalty.Who{}, fault.New(fault.Invalid, "%q is not an e-mail address", shorten(email)).Keyed("emailInvalid").At("customerEmail")
	}
	return loyalty.Who{Email: email}, nil
}

func shorten(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// ownShop refuses another store than the caller's.
func ownShop(given string, caller web.Caller) error {
	if given == "" || strings.EqualFold(given, caller.Shop.Domain) {
		return nil
	}
	return fault.New(fault.Invalid, "shop %q is not the store of the API key, which is %s", shorten(given), caller.Shop.Domain).Keyed("shopMismatch").At("shop")
}
