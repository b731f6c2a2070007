//go:build soak

package test

import "testing"

// sample returns all rows of a table.
func sample[T any](rows []T) []T { return rows }

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
	}
}
