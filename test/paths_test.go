package test

import (
	"strings"
	"testing"
)

// paths names a story for each way through the service: where the two databases could
// differ, one story shows that they do not. The rules behind a story are the same code on
// both, and what the SQL must do is in internal/store/storetest.
func paths() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"a renewal":               TestNewContractQueuesSixOrdersAndChargesOnDate,
		"a skip":                  TestSkippedCycleIsNotChargedAndCanBeUnskipped,
		"another date":            TestChosenDateIsChargedAtStoreOrderTime,
		"a charge now":            TestImmediateChargeHappensOnceAndCounts,
		"retries":                 TestInsufficientFundsAreRetriedOnPaydaysThenPause,
		"a challenge":             TestUnansweredChallengeFails,
		"a pause":                 TestPauseWithDateEndsAutomatically,
		"a cancellation":          TestCancellationKeepsPaidDeliveries,
		"an expiry":               TestContractExpiresAfterItsLastOrder,
		"another status":          TestStatusChangeUpdatesQueue,
		"other lines":             TestLineChangesReachNextOrder,
		"discounts":               TestDiscountsAreAddedAndRemoved,
		"a creation and a split":  TestContractIsCreatedWithoutCheckoutAndSplit,
		"a swap":                  TestPermanentRuleChangesContractFromFirstMatch,
		"a one-off":               TestOneOffComesWithOneOrder,
		"plan groups":             TestMembershipGroupsContractsStayMemberships,
		"a delivery profile":      TestDeliveryProfileIsCreatedAndChanged,
		"a bundle":                TestBundleCanBeSentBackUnchanged,
		"points":                  TestOrdersAndRenewalsEarnPointsForACode,
		"webhooks of a contract":  TestWebhooksReportContractLifecycle,
		"webhooks of a charge":    TestWebhooksReportImmediateCharges,
		"the portal":              TestPortalSkipsMovesAndTriggersOrders,
		"the portal's changes":    TestPortalChangesContract,
		"the portal's limits":     TestPortalKeepsToMerchantsSettings,
		"a sign-in link":          TestMailedLinkOpensPortalOnce,
		"a partner":               TestApplicationConnectsAndDisconnects,
		"API keys":                TestKeysAreManagedOverHTTP,
		"an explanation":          TestExplainFollowsOrderFromQueueToEnd,
		"an order of another app": TestOrderOfAnotherApplicationIsAdopted,
		"a merge of customers":    TestMergedCustomersBecomeOne,
		"an action on many":       TestContractsAreMovedByADayOnceThoughTheServiceRestarts,
		"an offer that keeps":     TestAcceptedDiscountMakesNextOrdersCheaper,
		"a prepaid cancellation":  TestPrepaidCancellationInPortalWaitsForEndOfTerm,
		"customers held back":     TestSomeCustomersAreHeldBackAndCompared,
	}
}

func TestPathsOnPostgres(t *testing.T) {
	t.Parallel()
	for name, story := range paths() {
		t.Run(name, story)
	}
}

// onPostgres reports whether a story runs on PostgreSQL.
func onPostgres(t *testing.T) bool {
	t.Helper()
	return strings.HasPrefix(t.Name(), "TestPathsOnPostgres/")
}
