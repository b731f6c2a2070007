package notify

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// SMS is a message as a provider of SMS gets it.
type SMS struct {
	Shop    shop.ID
	Message MessageID
	Kind    Kind
	To      string // E.164
	Text    string
	// Since is set when an earlier try may have been accepted without an answer, not before this
	// instant. The provider sends no second one if it can find the first.
	Since time.Time
}

// Receipt is what a provider answered about an SMS.
type Receipt struct {
	ID      string // the provider's, of an SMS that it accepted
	Failure error  // nil when it accepted it, and ErrRejected when it never will
}

// ErrSMSRejected marks the failure of an SMS that will never be taken, and ErrStopped that of one to a
// number that has answered STOP. Both are ErrRejected.
var (
	ErrSMSRejected error = rejection("the provider rejects the SMS")
	ErrStopped     error = rejection("the number has answered STOP")
)

// rejection is an ErrRejected in other words.
type rejection string

// Error returns the words.
func (r rejection) Error() string { return string(r) }

// Is reports whether the target is ErrRejected.
func (r rejection) Is(target error) bool { return target == ErrRejected || target == error(r) }

// SMSTransport hands SMS to a provider.
type SMSTransport interface {
	// SendSMS sends SMS one after another and returns a receipt for each, in their order.
	SendSMS(ctx context.Context, list []SMS) []Receipt
}

// sms returns the message as it is sent.
func (m Message) sms(of shop.ID, l Letter, again bool) SMS {
	s := SMS{Shop: of, Message: m.ID, Kind: m.Kind, To: m.To, Text: l.Text}
	if again {
		s.Since = m.CreatedAt
	}
	return s
}
