package test

import (
	"maps"
	"strings"
	"testing"
)

// paths names a story for each way through the service: where the two databases could
// differ, one story shows that they do not. The rules behind a story are the same code on
// both, and what the SQL must do is in internal/store/storetest. A soak has more of them.
func paths() map[string]func(*testing.T) {
	all := map[string]func(*testing.T){
		"a renewal":               TestNewContractQueuesSixOrdersAndChargesOnDate,
		"a skip":                  TestSkippedCycleIsNotChargedAndCanBeUnskipped,
		"retries":                 TestInsufficientFundsAreRetriedOnPaydaysThenPause,
		"a pause":                 TestPauseWithDateEndsAutomatically,
		"a cancellation":          TestCancellationKeepsPaidDeliveries,
		"a creation and a split":  TestContractIsCreatedWithoutCheckoutAndSplit,
		"a swap":                  TestPermanentRuleChangesContractFromFirstMatch,
		"a one-off":               TestOneOffComesWithOneOrder,
		"plan groups":             TestMembershipGroupsContractsStayMemberships,
		"points":                  TestOrdersAndRenewalsEarnPointsForACode,
		"webhooks of a contract":  TestWebhooksReportContractLifecycle,
		"webhooks of a charge":    TestWebhooksReportImmediateCharges,
		"events":                  TestEventsAreWhatWebhooksReport,
		"the portal":              TestPortalSkipsMovesAndTriggersOrders,
		"the portal's changes":    TestPortalChangesContract,
		"a partner":               TestApplicationConnectsAndDisconnects,
		"API keys":                TestKeysAreManagedOverHTTP,
		"an order of another app": TestOrderOfAnotherApplicationIsAdopted,
		"SMS":                     TestSMSGoToCustomersWhoAgree,
		"a merge of customers":    TestMergedCustomersBecomeOne,
		"an action on many":       TestContractsAreMovedByADayOnceThoughTheServiceRestarts,
	}
	maps.Copy(all, laterPaths())
	return all
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
