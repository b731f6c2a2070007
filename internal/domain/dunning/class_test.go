package dunning

import (
	"testing"

	"github.com/perennialhq/perennial/internal/platform/schema"
)

// The platform's own list decides which codes there are.
func TestEveryPlatformCodeHasClass(t *testing.T) {
	t.Parallel()
	s, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[string]bool{ // what becomes of these is not a matter of dunning
		"BILLING_CYCLE_CHARGE_BEFORE_EXPECTED_DATE": true, "BILLING_CYCLE_SKIPPED": true, "CONTRACT_PAUSED": true, "CONTRACT_TERMINATED": true, "THROTTLED": true,
	}
	for _, enum := range []string{"SubscriptionBillingAttemptErrorCode", "BillingAttemptUserErrorCode"} {
		values := s.Types[enum].EnumValues
		if len(values) < 10 {
			t.Errorf("%s has %d values: too few to be true", enum, len(values))
		}
		for _, v := range values {
			if class, known := ClassOf(v.Name); !known && !elsewhere[v.Name] {
				t.Errorf("%s is %s without a decision", v.Name, class)
			}
		}
	}
}

func TestClassesOfCodes(t *testing.T) {
	t.Parallel()
	for want, codes := range map[Class][]string{
		Funds:     {"INSUFFICIENT_FUNDS", "AMOUNT_TOO_LARGE", "TRANSACTION_LIMIT_EXCEEDED", "insufficient_funds"},
		Issuer:    {"CARD_DECLINED", "DO_NOT_HONOR", "PAYMENT_METHOD_DECLINED", "CALL_ISSUER", "GENERIC_ERROR", "RETRY_DECLINED", "OFF_SESSION_REJECTED"},
		Transient: {"PROCESSING_ERROR", "PAYMENT_PROVIDER_ERROR", "TRANSIENT_ERROR", "UNEXPECTED_ERROR", "PAYPAL_ERROR_GENERAL"},
		Auth:      {"AUTHENTICATION_REQUIRED", "AUTHENTICATION_ERROR", "AUTHENTICATION_FAILED", "EXPIRED_BUYER_ACTION", "CONFIRMATION_REJECTED", ChallengeExpired},
		Card: {
			"EXPIRED_CARD", "EXPIRED_PAYMENT_METHOD", "INVALID_EXPIRY_DATE", "CARD_NUMBER_INCORRECT", "INCORRECT_NUMBER", "INVALID_NUMBER", "INVALID_PAYMENT_METHOD",
			"PAYMENT_METHOD_NOT_FOUND", "PAYMENT_METHOD_NOT_SPECIFIED", "PAYMENT_METHOD_UNSUPPORTED", "INVALID_CUSTOMER_BILLING_AGREEMENT",
			"BUYER_CANCELED_PAYMENT_METHOD", "CANCELLED_PAYMENT", "INCORRECT_ZIP", "INCORRECT_ADDRESS", "INVALID_BILLING_ADDRESS", "INCORRECT_CVC", "INCORRECT_PIN",
		},
		Fraud:   {"FRAUD_SUSPECTED"},
		Stock:   {"INSUFFICIENT_INVENTORY", "INVENTORY_ALLOCATIONS_NOT_FOUND"},
		Address: {"INVALID_SHIPPING_ADDRESS"},
		Merchant: {
			"PAYMENT_PROVIDER_IS_NOT_ENABLED", "PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG", "MERCHANT_ACCOUNT_ERROR", "MERCHANT_RULE", "INVALID_CURRENCY",
			"PURCHASE_TYPE_NOT_SUPPORTED", "INVALID_PURCHASE_TYPE", "NON_TEST_ORDER_LIMIT_REACHED", "TEST_MODE", "AMOUNT_TOO_SMALL", "FREE_GIFT_CARD_NOT_ALLOWED",
		},
		Done: {"INVOICE_ALREADY_PAID"},
		Gone: {"CUSTOMER_INVALID", "CUSTOMER_NOT_FOUND"},
	} {
		for _, code := range codes {
			if got, known := ClassOf(code); got != want || !known {
				t.Errorf("%s is %s, want %s", code, got, want)
			}
		}
	}
	if got, known := ClassOf("MOON_IN_RETROGRADE"); got != Issuer || known {
		t.Errorf("an unknown code is %s (known: %t), want a bank's", got, known)
	}
}
