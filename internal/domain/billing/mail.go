package billing

import (
	"fmt"

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

// Mailed sets what became of the e-mails about the attempt, which is given by key.
func (r *Record) Mailed(status map[string]notify.Result) {
	r.Mails = nil
	for kind, key := range r.LastMails() {
		if is, ok := status[key]; ok {
			if r.Mails == nil {
				r.Mails = make(map[notify.Kind]notify.Result)
			}
			r.Mails[kind] = is
		}
	}
}
