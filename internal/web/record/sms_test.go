package record

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

func TestSMSStatusIsAWordOfItsField(t *testing.T) {
	t.Parallel()
	words := func(of any, field string) []string {
		f, found := reflect.TypeOf(of).FieldByName(field)
		if !found {
			t.Fatalf("there is no field %s", field)
		}
		return strings.Split(f.Tag.Get("enum"), ",")
	}
	allowed := map[notify.Kind][]string{
		notify.SubscriptionCreated: words(ContractRow{}, "SubscriptionCreatedSmsStatus"), notify.UpcomingOrder: words(BillingAttempt{}, "UpcomingOrderSmsSentStatus"),
		notify.TransactionFailed: words(BillingAttempt{}, "TransactionFailedSmsSentStatus"),
	}
	for kind, list := range allowed {
		for reason, want := range map[string]string{
			notify.SMSDisabled: "SMS_SETTINGS_DISABLED", notify.NoPhone: "PHONE_NUMBER_EMPTY", notify.NoPayment: "CUSTOMER_PAYMENT_EMPTY", notify.NoLongerTrue: "UNSENT",
			notify.SMSEnded: "", notify.ContractPaused: "", notify.ContractCancelled: "", "another reason": "UNSENT",
		} {
			got := smsStatus(kind, notify.Result{Status: notify.Suppressed, Reason: reason})
			if want != "" && got != want || !slices.Contains(list, got) {
				t.Errorf("%s, %s: %q", kind, reason, got)
			}
		}
		for status, want := range map[notify.Status]string{"": "UNSENT", notify.Queued: "UNSENT", notify.Sending: "UNSENT", notify.Sent: "SENT", notify.Failed: "FAILED"} {
			if got := smsStatus(kind, notify.Result{Status: status}); got != want {
				t.Errorf("%s: %q is answered as %q, want %q", kind, status, got, want)
			}
		}
	}
	ended := notify.Result{Status: notify.Suppressed, Reason: notify.SMSEnded}
	if got := smsStatus(notify.UpcomingOrder, ended); got != "STOP_FROM_CONTRACT" {
		t.Errorf("after STOP the field of the reminder is %q", got)
	}
}
