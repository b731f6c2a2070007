package record

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

// Whatever became of a message, the interface has a word for it.
func TestEveryEndOfMessageHasWord(t *testing.T) {
	t.Parallel()
	words := func(of any, field string) []string {
		f, _ := reflect.TypeOf(of).FieldByName(field)
		return strings.Split(f.Tag.Get("enum"), ",")
	}
	attempt, created := words(BillingAttempt{}, "UpcomingOrderEmailStatus"), words(ContractRow{}, "SubscriptionCreatedEmailStatus")
	results := []notify.Result{{}, {Status: notify.Queued}, {Status: notify.Sending}, {Status: notify.Sent}, {Status: notify.Failed, Reason: "it came back"}}
	for _, reason := range []string{
		notify.Disabled, notify.Refused, notify.NoLongerTrue, notify.ContractCancelled, notify.ContractPaused, notify.NoPayment, notify.Bounced, notify.Complained,
		"", // erased with its customer
	} {
		results = append(results, notify.Result{Status: notify.Suppressed, Reason: reason})
	}
	for _, is := range results {
		if word := mailStatus(is); !slices.Contains(attempt, word) {
			t.Errorf("%+v is %q in an attempt", is, word)
		}
		if word := createdStatus(is); !slices.Contains(created, word) {
			t.Errorf("%+v is %q in a contract", is, word)
		}
	}
	if got := mailStatus(notify.Result{Status: notify.Suppressed, Reason: notify.Bounced}); got != "FAILED" {
		t.Errorf("a message to an address without a mailbox is %s", got)
	}
}
