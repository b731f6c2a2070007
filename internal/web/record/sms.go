package record

import "github.com/perennialhq/perennial/internal/domain/notify"

// smsNotSent is the interface's word for why an SMS was not sent. STOP_FROM_CONTRACT and the words for
// paused and cancelled contracts are of some fields only: others answer what stands under otherwise.
var smsNotSent = map[string]struct {
	word      string
	only      map[notify.Kind]string // by the kind of the field; nil: all have the word
	otherwise string
}{
	notify.SMSDisabled: {word: "SMS_SETTINGS_DISABLED"},
	notify.NoPhone:     {word: "PHONE_NUMBER_EMPTY"},
	notify.NoPayment:   {word: "CUSTOMER_PAYMENT_EMPTY"},
	notify.SMSEnded:    {only: map[notify.Kind]string{notify.UpcomingOrder: "STOP_FROM_CONTRACT"}, otherwise: "PHONE_NUMBER_EMPTY"},
	notify.ContractPaused: {
		only: map[notify.Kind]string{notify.UpcomingOrder: "CONTRACT_PAUSED", notify.SubscriptionCreated: "CONTRACT_PAUSED_STATUS"}, otherwise: emailUnsent,
	},
	notify.ContractCancelled: {
		only: map[notify.Kind]string{notify.UpcomingOrder: "CONTRACT_CANCELLED", notify.TransactionFailed: "CONTRACT_CANCELLED"}, otherwise: emailUnsent,
	},
}

// smsStatus returns what became of an SMS of a kind, in the words that the interface has for it.
func smsStatus(kind notify.Kind, is notify.Result) string {
	switch is.Status {
	case notify.Sent:
		return "SENT"
	case notify.Failed:
		return "FAILED"
	case notify.Suppressed:
		why, known := smsNotSent[is.Reason]
		switch {
		case !known:
			return emailUnsent
		case why.only == nil:
			return why.word
		case why.only[kind] != "":
			return why.only[kind]
		}
		return why.otherwise
	case notify.Queued, notify.Sending:
	}
	return emailUnsent
}
