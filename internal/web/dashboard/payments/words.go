package payments

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// group is declines about which the same can be done.
type group struct {
	name    string // in addresses
	title   string
	about   string
	icon    string
	tone    dashboard.Tone
	classes []dunning.Class
}

// groups are in the order of the tabs.
var groups = []group{
	{"later", "May work later", "Not enough money, or the bank declined without a reason that lasts. The order is charged again by plan.", "clock", dashboard.Info, []dunning.Class{dunning.Funds, dunning.Issuer, dunning.Transient}},
	{"card", "Needs a new card", "The card has expired or was replaced. Charging it again cannot work until it is changed.", "card", dashboard.Warning, []dunning.Class{dunning.Card}},
	{"confirm", "Customer must confirm", "The bank asks for a confirmation. The customer got the link by e-mail.", "user", dashboard.Info, []dunning.Class{dunning.Auth}},
	{"goods", "Stock or address", "A product is out of stock, or the order cannot be delivered to the address.", "box", dashboard.Warning, []dunning.Class{dunning.Stock, dunning.Address}},
	{"yours", "Waits for you", "Your store could not take the payment. Nothing happens until you have solved it and charge the order.", "alert", dashboard.Bad, []dunning.Class{dunning.Merchant, dunning.Done}},
	{"never", "Do not retry", "Suspected fraud, or a customer who no longer exists. The order is not charged again, which protects your standing with banks.", "stop", dashboard.Bad, []dunning.Class{dunning.Fraud, dunning.Gone}},
}

// groupOf returns the group of a class.
func groupOf(c dunning.Class) group {
	for _, g := range groups {
		for _, of := range g.classes {
			if of == c {
				return g
			}
		}
	}
	return groups[0]
}

// classWords are the classes in plain words.
var classWords = map[dunning.Class]string{
	dunning.Funds: "Not enough money", dunning.Issuer: "Declined by the bank", dunning.Transient: "The bank had a fault",
	dunning.Auth: "The bank asks for a confirmation", dunning.Card: "The card cannot be charged", dunning.Fraud: "Suspected fraud",
	dunning.Stock: "Out of stock", dunning.Address: "The address cannot be delivered to", dunning.Merchant: "The store cannot take the payment",
	dunning.Gone: "The customer no longer exists", dunning.Done: "Already paid",
}

// codeWords are codes that say more than their class.
var codeWords = map[string]string{
	"AMOUNT_TOO_LARGE": "More than the card permits", "TRANSACTION_LIMIT_EXCEEDED": "Over the card’s limit", "CALL_ISSUER": "The customer has to call the bank",
	"PAYMENT_PROVIDER_ERROR": "The payment provider had a fault", "AUTHENTICATION_FAILED": "The confirmation failed", dunning.ChallengeExpired: "Not confirmed in time",
	dunning.EarlierChargeOpen: "An earlier charge still waits for the customer", "EXPIRED_CARD": "The card has expired", "EXPIRED_PAYMENT_METHOD": "The payment method has expired",
	"CARD_NUMBER_INCORRECT": "The card number is wrong", "INCORRECT_NUMBER": "The card number is wrong", "INVALID_NUMBER": "The card number is wrong",
	"INCORRECT_CVC": "The security code is wrong", "INVALID_CVC": "The security code is wrong", "INVALID_PAYMENT_METHOD": "The payment method cannot be charged",
	"PAYMENT_METHOD_NOT_FOUND": "The payment method was removed", "PAYMENT_METHOD_NOT_SPECIFIED": "There is no payment method",
	"BUYER_CANCELED_PAYMENT_METHOD": "The customer withdrew the payment method", "INVALID_BILLING_ADDRESS": "The billing address is wrong",
	"INCORRECT_ZIP": "The postal code is wrong", "PAYMENT_PROVIDER_IS_NOT_ENABLED": "The payment provider is not switched on",
	"MERCHANT_ACCOUNT_ERROR": "Your payment account has a fault", "TEST_MODE": "The payment provider is in test mode",
}

// reason returns a decline in plain words.
func reason(code string, class dunning.Class) string {
	if words, known := codeWords[strings.ToUpper(code)]; known {
		return words
	}
	return classWords[class]
}

// finalWords say what happens when no retry is left, and pastWords while it does.
var (
	finalWords = map[dunning.Action]string{dunning.Pause: "the contract is paused", dunning.Skip: "the order is skipped", dunning.Cancel: "the contract is cancelled"}
	endWords   = map[dunning.Action]string{dunning.Pause: "The contract is being paused", dunning.Skip: "The order is being skipped", dunning.Cancel: "The contract is being cancelled"}
)
