package test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

func TestFinalActionSkipsOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 2, "everyDays": 3, "finalAction": "SKIP"})
	s.declines("INSUFFICIENT_FUNDS", 3)
	s.pass("P45D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+decline, "Nov 15 "+warned, "Nov 17 "+decline, "Nov 17 DUNNING_SKIPPED SUCCESS", "Dec 11 "+paid)
	s.wantOrders(2)
	if past := s.past(); past[1].Status != "SKIPPED_DUNNING_MGMT" || s.row().Status != "active" {
		t.Errorf("past %+v of a contract that is %s", past, s.row().Status)
	}
}

func TestFinalActionCancelsContract(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.settings(map[string]any{"mode": "SIMPLE", "finalAction": "CANCEL"})
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P45D")
	s.wantStory("Nov 11 "+decline, "Nov 11 DUNNING_CANCELLED SUCCESS", "Nov 11 CONTRACT_CANCELLED SUCCESS", "Nov 11 "+mailedEnd)
	s.wantOrders()
	if past := s.past(); len(past) != 1 || past[0].Status != "SKIPPED_DUNNING_MGMT" || s.contract(s.id).Status != "CANCELLED" {
		t.Errorf("past %+v of a contract that is %s", past, s.contract(s.id).Status)
	}
}

// What was paid before goes on until the order's own day, on which it is charged again.
func TestEarlyDeclinedOrderIsNotAbandonedBeforeItsDay(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.settings(map[string]any{"mode": "SIMPLE", "finalAction": "CANCEL"})
	s.declines("INSUFFICIENT_FUNDS", 2)
	if got := s.trigger(s.upcoming()[0].ID); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("P9D")
	if c := s.contract(s.id); c.Status != "ACTIVE" {
		t.Errorf("the contract is %s before its order is due", c.Status)
	}
	s.pass("P30D")
	s.wantTries("Nov 1 07h 1", "Nov 11 09h 1")
	s.wantStory("Nov 1 BILLING_ATTEMPT_TRIGGERED INFO", "Nov 1 "+decline, "Nov 1 "+mailed, "Nov 9 "+warned, "Nov 11 "+decline, "Nov 11 DUNNING_CANCELLED SUCCESS", "Nov 11 CONTRACT_CANCELLED SUCCESS", "Nov 11 "+mailedEnd)
}

func TestSimplePlanNeverRetriesUnusableCard(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"paymentMethod": "expired"})
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 4, "everyDays": 2})
	s.pass("P30D")
	s.wantTries("Nov 11 09h 1")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+mailed, "Nov 17 "+warned, "Nov 19 DUNNING_PAUSED SUCCESS", "Nov 19 CONTRACT_PAUSED SUCCESS", "Nov 19 "+mailedEnd)
}

func TestPausedOrCancelledContractIsNotRetried(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{"PAUSED": "FAILURE", "CANCELLED": "SKIPPED_DUNNING_MGMT"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.begin()
			s.declines("INSUFFICIENT_FUNDS", 2)
			s.pass("P13D")
			if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, status), nil, nil); got != http.StatusNoContent {
				t.Fatalf("answered %d", got)
			}
			s.pass("P60D")
			s.wantTries("Nov 11 09h 1", "Nov 13 09h 1")
			s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 13 "+decline, "Nov 14 "+left, "Nov 14 CONTRACT_"+status+" SUCCESS")
			if past := s.past(); len(past) != 1 || past[0].Status != want || s.standing() != nil {
				t.Errorf("past %+v", past)
			}
		})
	}
}

func TestRetryInFlightDuringPauseIsTheLast(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	s.declines("CARD_DECLINED", 1)
	s.declines("CHALLENGE", 1)
	s.pass("P12D")
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=PAUSED", s.id), nil, nil); got != http.StatusNoContent {
		t.Fatalf("answered %d", got)
	}
	s.pass("P30D")
	s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 12 BILLING_ATTEMPT_UPDATED INFO", "Nov 12 "+mailedAuth, "Nov 13 CONTRACT_PAUSED SUCCESS", "Nov 14 "+decline, "Nov 14 "+left)
	s.wantTries("Nov 11 09h 1", "Nov 12 09h 1")
	if s.standing() != nil {
		t.Errorf("the contract still shows %+v", s.standing())
	}
}

func TestLostAnswerToFinalPauseIsRepaired(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"timeout_after", "timeout_before", "http_500", "connection_reset"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, nil)
			s.declines("EXPIRED_CARD", 1)
			s.pass("P24D") // the contract is paused two hours later
			s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{kind}, "seed": 3, "for": "PT2H30M"}, nil)
			s.pass("PT2H15M")
			if d := s.standing(); d == nil || d.State != "ENDING" || d.FinalAction != "PAUSE" {
				t.Errorf("while the platform does not answer the contract shows %+v", d)
			}
			s.pass("P1D")
			if got := s.contract(s.id).Status; got != "PAUSED" {
				t.Errorf("the contract is %s at the platform", got)
			}
			var list []struct{ EventType string }
			s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &list)
			count := make(map[string]int)
			for _, e := range list {
				count[e.EventType]++
			}
			if count["DUNNING_PAUSED"] != 1 || count["CONTRACT_PAUSED"] != 1 || count["SEND_SUSPENSION_EMAIL"] != 1 {
				t.Errorf("entries %v", count)
			}
			s.wantOrders()
		})
	}
}

// A final action that the platform refuses is recorded, and the customer gets no e-mail that
// it was done. Here the store's staff has ended the contract, and that event was lost.
func TestRefusedFinalActionIsRecorded(t *testing.T) {
	t.Parallel()
	for action, entry := range map[string]string{"PAUSE": "DUNNING_PAUSED", "CANCEL": "DUNNING_CANCELLED"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, nil)
			s.t = t
			s.settings(map[string]any{"finalAction": action})
			s.declines("EXPIRED_CARD", 1)
			s.pass("P24DT1H45M") // the action is due a quarter of an hour later
			s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 1}, nil)
			s.mutate(fmt.Sprintf(`mutation { subscriptionContractExpire(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
			s.pass("P3D")
			s.wantStory("Nov 11 "+decline, "Nov 11 "+mailed, "Nov 14 "+mailed, "Nov 18 "+mailed, "Nov 23 "+warned, "Nov 25 "+entry+" FAILURE", "Nov 26 SUBSCRIPTION_CONTRACT_UPDATED SUCCESS")
			if d := s.standing(); d != nil {
				t.Errorf("the contract shows %+v", d)
			}
			s.wantOrders()
		})
	}
}

// A customer may confirm a payment long after it was given up, and word of it may be
// lost.
func TestChallengeMetAfterEndOfCaseIsAdopted(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.settings(map[string]any{"mode": "SIMPLE", "retries": 0, "finalAction": "SKIP"})
	s.declines("CHALLENGE", 1)
	s.pass("P20D")
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_lost"}, "seed": 1, "for": "P2D"}, nil)
	s.ended("SUCCESS")
	s.pass("P1D")
	s.wantStory("Nov 11 BILLING_ATTEMPT_UPDATED INFO", "Nov 11 "+mailedAuth, "Nov 13 "+decline, "Nov 13 DUNNING_SKIPPED SUCCESS", "Nov 22 "+paid)
	s.wantOrders(1)
	if past := s.past(); len(past) != 1 || past[0].Status != "SUCCESS" || past[0].OrderID == nil {
		t.Errorf("past %+v, want the order that was paid late", past)
	}
}

// Whatever is lost on the way, what is charged in the end is the same.
func TestRetriesUnderFaultsMakeTheSameOrders(t *testing.T) {
	t.Parallel()
	story := func(t *testing.T, rate float64, seed int) []int {
		t.Helper()
		s := subscribeChecked(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
		for _, cycle := range []int{1, 4, 6} {
			for range 4 {
				s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "cycles": []int{cycle}, "code": "CARD_DECLINED"}, nil)
			}
		}
		if rate > 0 {
			s.call("POST", "/platform/faults", map[string]any{"rate": rate, "seed": seed, "for": "P60D"}, nil)
		}
		s.pass("P63D")
		var cycles []int
		for _, o := range s.orders() {
			cycles = append(cycles, o.Cycle)
		}
		for i, cycle := range cycles {
			if slices.Contains(cycles[:i], cycle) {
				t.Errorf("cycle %d has two orders: %v", cycle, cycles)
			}
		}
		return cycles
	}
	peace := story(t, 0, 0)
	if len(peace) < 5 {
		t.Errorf("orders of the cycles %v: too few to prove anything", peace)
	}
	for _, seed := range sample([]int{1, 2, 3}) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			if got := story(t, 0.2, seed); !slices.Equal(got, peace) {
				t.Errorf("orders of the cycles %v, in peace %v", got, peace)
			}
		})
	}
}

func TestDunningSettingsAreValidatedAndShown(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for _, bad := range []map[string]any{
		{"mode": "CLEVER"}, {"mode": "SIMPLE", "retries": 11, "everyDays": 1}, {"mode": "SIMPLE", "retries": 1}, {"finalAction": "SUE"},
		{"outOfStock": map[string]any{"everyDays": 99}},
	} {
		if got := s.send("POST", s.urls.Control+"/settings", "", map[string]any{"dunning": bad}, nil); got != http.StatusBadRequest {
			t.Errorf("%v answered %d", bad, got)
		}
	}
	var shown struct {
		Dunning struct {
			Mode, FinalAction string
			OutOfStock        struct {
				Retries, EveryDays int
				FinalAction        string
			}
		}
	}
	s.call("POST", "/settings", map[string]any{"dunning": map[string]any{"outOfStock": map[string]any{"retries": 2}}}, &shown)
	if d := shown.Dunning; d.Mode != "SMART" || d.FinalAction != "PAUSE" || d.OutOfStock.Retries != 2 || d.OutOfStock.EveryDays != 1 || d.OutOfStock.FinalAction != "SKIP" {
		t.Errorf("shown are %+v", d)
	}
}
