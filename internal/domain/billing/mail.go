package billing

import (
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

// MailKey is the deduplication key of the nth e-mail of a kind about an attempt.
func MailKey(kind notify.Kind, a Attempt, nth int) string {
	return fmt.Sprintf("%s:%d:%d:%d", kind, a.Contract, a.Cycle, nth)
}

// LastMails returns the keys of the last e-mails about an attempt, by kind.
func (a Attempt) LastMails() map[notify.Kind]string {
	keys := map[notify.Kind]string{notify.UpcomingOrder: notify.UpcomingKey(a.Contract, a.Cycle, a.BillingDate, 0)}
	if n := a.Dunning.DeclineMails; n > 0 {
		keys[notify.TransactionFailed] = MailKey(notify.TransactionFailed, a, n)
	}
	if n := a.Dunning.ConfirmationMails; n > 0 {
		keys[notify.SecurityChallenge] = MailKey(notify.SecurityChallenge, a, n)
	}
	return keys
}

// MessageKeys returns the keys of the last e-mails about an attempt, and of the SMS beside them.
func (a Attempt) MessageKeys() []string {
	var keys []string
	for _, key := range a.LastMails() {
		keys = append(keys, key, notify.SMSKey(key))
	}
	return keys
}

// Mailed sets what became of the messages about the attempt, which is given by key.
func (r *Record) Mailed(status map[string]notify.Result) {
	r.Mails, r.SMS = nil, nil
	set := func(in *map[notify.Kind]notify.Result, kind notify.Kind, is notify.Result) {
		if is.Status == "" {
			return
		}
		if *in == nil {
			*in = make(map[notify.Kind]notify.Result)
		}
		(*in)[kind] = is
	}
	for kind, key := range r.LastMails() {
		is := notify.ResultsUnder(status, key)
		set(&r.Mails, kind, is.Mail)
		if slices.Contains(notify.SMSKinds, kind) {
			set(&r.SMS, kind, is.SMS)
		}
	}
}
