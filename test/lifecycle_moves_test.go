package test

import (
	"fmt"
	"net/http"
	"testing"
)

// A cancellation leaves one entry, from every status and by every actor, and nothing
// is charged any more.
func TestCancelWorksFromEveryStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		from    string
		bring   func(s *subscription)
		entries []string
	}{
		{"PAUSED", func(s *subscription) { s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2026-12-20") }, []string{paused, scheduled}},
		{"FAILED", func(s *subscription) { s.staff("Fail"); s.pass("PT1M") }, []string{"SHOPIFY_EVENT SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"}},
	} {
		t.Run(row.from, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			row.bring(s)
			s.wantPlatform(row.from)
			s.cancel(http.StatusNoContent, "")
			s.until("2027-01-12")
			s.wantPlatform("CANCELLED")
			s.wantOrderDays("[]")
			s.wantEntries(append(append([]string{created}, row.entries...), cancelled)...)
		})
	}
}

// staff changes the contract's status at the platform.
func (s *subscription) staff(verb string) {
	s.t.Helper()
	s.mutate(fmt.Sprintf(`mutation { subscriptionContract%s(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { contract { id } userErrors { message } } }`, verb, s.id))
}

// What the store's own staff does at the platform has the same entries, from there.
func TestPlatformStatusChangesAreRecorded(t *testing.T) {
	t.Parallel()
	const there = "SHOPIFY_EVENT "
	for _, row := range []struct {
		name    string
		do      func(s *subscription)
		status  string
		orders  string // until January 12
		entries []string
	}{
		{"paused", func(s *subscription) { s.staff("Pause") }, "paused", "[]", []string{there + "CONTRACT_PAUSED SUCCESS"}},
		{"paused and activated", func(s *subscription) { s.staff("Pause"); s.until("2026-11-12"); s.staff("Activate") }, "active", "[12-11 01-11]",
			[]string{there + "CONTRACT_PAUSED SUCCESS", there + "CONTRACT_ACTIVATED SUCCESS", requeued, charged, charged}},
		{"cancelled", func(s *subscription) { s.staff("Cancel") }, "cancelled", "[]", []string{there + "CONTRACT_CANCELLED SUCCESS"}},
		{"expired", func(s *subscription) { s.staff("Expire") }, "expired", "[]", []string{there + "SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"}},
		{"failed", func(s *subscription) { s.staff("Fail") }, "failed", "[]", []string{there + "SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"}},
		{"paused here and cancelled there", func(s *subscription) { s.status(http.StatusNoContent, "PAUSED"); s.staff("Cancel") }, "cancelled", "[]",
			[]string{paused, there + "CONTRACT_CANCELLED SUCCESS"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			row.do(s)
			s.until("2027-01-12")
			if got := s.phase().Status; got != row.status {
				t.Errorf("the contract is %s, want %s", got, row.status)
			}
			s.wantOrderDays(row.orders)
			s.wantEntries(append([]string{created}, row.entries...)...)
		})
	}
}
