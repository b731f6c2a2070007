//go:build soak

package test

import "testing"

// sample returns all rows of a table.
func sample[T any](rows []T) []T { return rows }

// workersOnly has every story carried out by workers, as in production.
const workersOnly = true

// laterPaths are the stories that a soak has on PostgreSQL in addition to those of a check.
func laterPaths() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"another date":           TestChosenDateIsChargedAtStoreOrderTime,
		"a charge now":           TestImmediateChargeHappensOnceAndCounts,
		"a challenge":            TestUnansweredChallengeFails,
		"an expiry":              TestContractExpiresAfterItsLastOrder,
		"another status":         TestStatusChangeUpdatesQueue,
		"other lines":            TestLineChangesReachNextOrder,
		"discounts":              TestDiscountsAreAddedAndRemoved,
		"a delivery profile":     TestDeliveryProfileIsCreatedAndChanged,
		"a bundle":               TestBundleCanBeSentBackUnchanged,
		"the portal's limits":    TestPortalKeepsToMerchantsSettings,
		"a sign-in link":         TestMailedLinkOpensPortalOnce,
		"an explanation":         TestExplainFollowsOrderFromQueueToEnd,
		"an offer that keeps":    TestAcceptedDiscountMakesNextOrdersCheaper,
		"a prepaid cancellation": TestPrepaidCancellationInPortalWaitsForEndOfTerm,
		"customers held back":    TestSomeCustomersAreHeldBackAndCompared,
		"a year of messages":     TestMessagesAreThoseThatTheYearAsksFor,
	}
}

// yearSteps is how many steps of five days the year of messages has.
const yearSteps = 73

// yearKinds are messages that a whole year has.
var yearKinds = []string{
	"mail subscription_created", "mail upcoming_order", "mail order_skipped", "mail next_date", "mail frequency", "mail paused", "mail resumed", "mail canceled", "mail address", "mail product_added",
	"mail product_removed", "mail product_replaced", "mail price_updated", "mail expiring_card", "mail transaction_failed", "mail security_challenge", "mail out_of_stock", "mail suspension_warning",
	"mail suspension", "mail failure_digest", "sms subscription_created", "sms upcoming_order", "sms transaction_failed",
}

// yearSeed chooses what happens in the year.
var yearSeed uint64 = 1
