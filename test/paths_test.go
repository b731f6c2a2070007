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
		"a renewal":               TestANewContractHasAQueueOfSixAndIsChargedOnItsDate,
		"a skip":                  TestASkippedCycleIsNotChargedAndCanBeTakenBack,
		"another date":            TestADateThatAPersonChoseIsChargedAtTheStoresOrderTime,
		"a charge now":            TestAnImmediateChargeIsMadeOnceAndCounted,
		"retries":                 TestLackOfFundsIsTriedAgainOnPaydaysAndPausesInTheEnd,
		"a challenge":             TestAChallengeThatNobodyAnswersFails,
		"a pause":                 TestAPauseWithADateEndsByItself,
		"a cancellation":          TestACancellationTakesNothingFromWhatIsPaid,
		"an expiry":               TestAContractExpiresAfterItsLastOrder,
		"another status":          TestTheStatusIsSetAndTheQueueFollows,
		"other lines":             TestLinesChangeAndTheNextOrderHasThem,
		"discounts":               TestDiscountsComeAndGo,
		"a creation and a split":  TestAContractIsMadeWithoutACheckoutAndSplit,
		"a swap":                  TestARuleChangesTheContractFromTheFirstOrderThatItMeets,
		"a one-off":               TestAOneTimeProductIsOrderedWithOneOrder,
		"plan groups":             TestContractsOnAMembershipGroupsPlansAreMembershipsEvenAfterIt,
		"a delivery profile":      TestADeliveryProfileIsMadeAndChanged,
		"a bundle":                TestABundleGoesAroundAsItIs,
		"points":                  TestOrdersAndRenewalsEarnPointsAndPointsBecomeACode,
		"webhooks of a contract":  TestWebhooksTellOfAContractsLife,
		"webhooks of a charge":    TestWebhooksTellOfImmediateCharges,
		"the portal":              TestThePortalSkipsMovesAndOrdersNow,
		"a sign-in link":          TestAMailedLinkOpensThePortalOnce,
		"a partner":               TestAnApplicationConnectsAndLeaves,
		"API keys":                TestKeysAreManagedOverHTTP,
		"an explanation":          TestAnOrderIsExplainedFromTheQueueToItsEnd,
		"an order of another app": TestAnOrderThatSomebodyElseMadeIsAdopted,
		"a merge of customers":    TestCustomersWhoAreMergedAreOne,
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
