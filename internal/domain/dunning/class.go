// Package dunning holds the rules about declined charges: when to try again, how
// to notify the customer, and which final action to take. It does no I/O.
package dunning

import "strings"

// Class groups declines by what may help.
type Class string

// The classes of declines.
const (
	Funds     Class = "FUNDS"     // insufficient funds
	Issuer    Class = "ISSUER"    // the bank declines without a reason
	Transient Class = "TRANSIENT" // a system failed on the way to the bank
	Auth      Class = "AUTH"      // the customer must confirm the payment
	Card      Class = "CARD"      // the payment method cannot be charged
	Fraud     Class = "FRAUD"     // suspected fraud
	Stock     Class = "STOCK"     // a product is out of stock
	Address   Class = "ADDRESS"   // the order cannot be delivered to the address
	Merchant  Class = "MERCHANT"  // the store itself cannot take the payment
	Gone      Class = "GONE"      // the customer or contract no longer exists
	Done      Class = "DONE"      // the order is already paid
)

// Classes lists the classes, those that a retry may help first.
var Classes = []Class{Funds, Issuer, Transient, Auth, Card, Address, Stock, Fraud, Merchant, Gone, Done}

// codes is the error codes of each class: the platform's codes of billing attempts (enum
// SubscriptionBillingAttemptErrorCode), its refusals to make one (enum
// BillingAttemptUserErrorCode) and the service's own.
var codes = map[Class][]string{
	Funds: {"INSUFFICIENT_FUNDS", "AMOUNT_TOO_LARGE", "TRANSACTION_LIMIT_EXCEEDED"},
	Issuer: {
		"CARD_DECLINED", "DO_NOT_HONOR", "PAYMENT_METHOD_DECLINED", "CALL_ISSUER", "GENERIC_ERROR", "RETRY_DECLINED", "OFF_SESSION_REJECTED",
	},
	Transient: {"PROCESSING_ERROR", "PAYMENT_PROVIDER_ERROR", "TRANSIENT_ERROR", "UNEXPECTED_ERROR", "PAYPAL_ERROR_GENERAL", "PROCESSING_FAILED"},
	Auth: {
		"AUTHENTICATION_REQUIRED", "AUTHENTICATION_ERROR", "AUTHENTICATION_FAILED", "EXPIRED_BUYER_ACTION", "CONFIRMATION_REJECTED",
		ChallengeExpired, EarlierChargeOpen,
	},
	Card: {
		"EXPIRED_CARD", "EXPIRED_PAYMENT_METHOD", "INVALID_EXPIRY_DATE", "CARD_NUMBER_INCORRECT", "INCORRECT_NUMBER", "INVALID_NUMBER",
		"INCORRECT_CVC", "INVALID_CVC", "INCORRECT_PIN", "INVALID_PAYMENT_METHOD", "PAYMENT_METHOD_NOT_FOUND", "PAYMENT_METHOD_NOT_SPECIFIED",
		"PAYMENT_METHOD_UNSUPPORTED", "INVALID_CUSTOMER_BILLING_AGREEMENT", "BUYER_CANCELED_PAYMENT_METHOD", "CANCELLED_PAYMENT",
		"INCORRECT_ZIP", "INCORRECT_ADDRESS", "INVALID_BILLING_ADDRESS",
	},
	Fraud:   {"FRAUD_SUSPECTED"},
	Stock:   {"INSUFFICIENT_INVENTORY", "INVENTORY_ALLOCATIONS_NOT_FOUND"},
	Address: {"INVALID_SHIPPING_ADDRESS"},
	Merchant: {
		"PAYMENT_PROVIDER_IS_NOT_ENABLED", "PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG", "MERCHANT_ACCOUNT_ERROR", "MERCHANT_RULE",
		"INVALID_CURRENCY", "PURCHASE_TYPE_NOT_SUPPORTED", "INVALID_PURCHASE_TYPE", "NON_TEST_ORDER_LIMIT_REACHED", "TEST_MODE",
		"AMOUNT_TOO_SMALL", "INVALID_AMOUNT", "INVALID_REQUEST", "FREE_GIFT_CARD_NOT_ALLOWED",
		// The platform refused the request; the customer is not the cause.
		"CONTRACT_UNDER_REVIEW", "INVALID", "BLANK", "CYCLE_INDEX_OUT_OF_RANGE", "CYCLE_START_DATE_OUT_OF_RANGE",
		"UPCOMING_CYCLE_LIMIT_EXCEEDED", "ORIGIN_TIME_BEFORE_CONTRACT_CREATION", "ORIGIN_TIME_OUT_OF_RANGE",
	},
	Gone: {"CUSTOMER_INVALID", "CUSTOMER_NOT_FOUND", "CONTRACT_NOT_FOUND"},
	Done: {"INVOICE_ALREADY_PAID"},
}

// Codes of declines that the service detects.
const (
	ChallengeExpired  = "CHALLENGE_EXPIRED"   // the customer did not confirm the payment in time
	EarlierChargeOpen = "EARLIER_CHARGE_OPEN" // a charge of the same order has not ended
)

var classes = func() map[string]Class {
	m := make(map[string]Class)
	for class, list := range codes {
		for _, code := range list {
			m[code] = class
		}
	}
	return m
}()

// ClassOf returns the class of an error code. An unknown code counts as a bank's decline
// and is reported as unknown.
func ClassOf(code string) (c Class, known bool) {
	if c, known = classes[strings.ToUpper(code)]; !known {
		c = Issuer
	}
	return c, known
}

// FromBank reports whether the card's bank or network has answered: such a decline
// counts against the card.
func (c Class) FromBank() bool {
	switch c {
	case Stock, Address, Merchant, Gone, Done:
		return false
	}
	return true
}

// retried reports whether an order is retried automatically after such a decline.
func (c Class) retried() bool {
	switch c {
	case Card, Fraud, Merchant, Gone:
		return false
	}
	return true
}

// Remedy is a change that may allow an order to be charged.
type Remedy int

// The remedies.
const (
	NewPayment Remedy = iota // the payment method
	NewAddress               // where the order goes
)

// Helps reports whether a remedy may help against declines of a class.
func (r Remedy) Helps(c Class) bool {
	if r == NewAddress {
		return c == Address
	}
	return c.FromBank()
}

// NeedsStaff reports whether the merchant's staff must be notified at once.
func (c Class) NeedsStaff() bool { return c == Merchant || c == Fraud || c == Gone }
