package words

import (
	"strings"

	"github.com/perennialhq/perennial/internal/domain/dunning"
)

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

// Decline returns a decline in plain words.
func Decline(code string, class dunning.Class) string {
	if words, known := codeWords[strings.ToUpper(code)]; known {
		return words
	}
	return classWords[class]
}

// DeclineClass returns a class of declines in plain words.
func DeclineClass(c dunning.Class) string { return classWords[c] }
