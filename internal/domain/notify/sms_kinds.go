package notify

import (
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// SMSKinds lists the kinds that a store may also send as SMS.
var SMSKinds = []Kind{SubscriptionCreated, UpcomingOrder, TransactionFailed}

// CheckSMSKinds says whether all of a list, in a field of a request, are kinds of SMS.
func CheckSMSKinds(field string, list []Kind) error {
	for _, k := range list {
		if !slices.Contains(SMSKinds, k) {
			names := make([]string, len(SMSKinds))
			for i, k := range SMSKinds {
				names[i] = string(k)
			}
			return fault.New(fault.Invalid, "%q is not a kind of SMS: use %s", k, strings.Join(names, ", ")).Entity("shop").Code("smsKind").Field(field)
		}
	}
	return nil
}

// SMSKey is the deduplication key of the SMS beside an e-mail.
func SMSKey(mail string) string { return "sms:" + mail }

// Results are what became of an e-mail and of the SMS beside it. The zero value of either is a message
// that does not exist.
type Results struct{ Mail, SMS Result }

// ResultsUnder returns the results of the e-mail with a deduplication key, of those of messages by
// key. Without an SMS beside an e-mail the store sent none of its kind then.
func ResultsUnder(results map[string]Result, mail string) Results {
	r := Results{results[mail], results[SMSKey(mail)]}
	if r.Mail.Status != "" && r.SMS.Status == "" {
		r.SMS = Result{Suppressed, SMSDisabled}
	}
	return r
}

// Why SMS are suppressed.
const (
	SMSDisabled = "the store does not send SMS of this kind"
	NoPhone     = "the subscriber has not agreed to SMS"
	SMSEnded    = "the subscriber has ended SMS"
)
