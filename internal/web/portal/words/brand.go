package words

import "strings"

// kinds are the keys of payment methods that are no cards.
var kinds = map[string]string{
	"CustomerPaypalBillingAgreement": "payment.paypal", "CustomerShopPayAgreement": "payment.shopPay",
}

// brands are the cards whose names are not written as the platform does.
var brands = map[string]string{
	"visa": "Visa", "mastercard": "Mastercard", "american_express": "American Express", "amex": "American Express", "discover": "Discover", "diners_club": "Diners Club",
	"jcb": "JCB", "maestro": "Maestro", "unionpay": "UnionPay",
}

// Brand returns the name of a card as it is written on it.
func Brand(name string) string {
	if known, ok := brands[strings.ToLower(strings.ReplaceAll(name, " ", "_"))]; ok {
		return known
	}
	return name
}
