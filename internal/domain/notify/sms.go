package notify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Channel is how a message travels.
type Channel string

// The channels.
const (
	ByMail Channel = ""
	BySMS  Channel = "sms"
)

// Delivery is what a provider reported of an SMS that it accepted; empty: nothing yet.
type Delivery string

// The reports.
const (
	Delivered   Delivery = "delivered"
	Undelivered Delivery = "failed"
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

// ForCustomer returns what a customer is sent of a message that is due at once: an e-mail if the
// address is valid, and an SMS if the store sends those of its kind. The phone number of the SMS is looked up
// when it is sent, for a consent may end until then.
func ForCustomer(m Message, of shop.Shop, now time.Time) ([]Message, error) {
	var list []Message
	if CheckAddress("", m.To) == nil {
		mail, err := New(m, now)
		if err != nil {
			return nil, err
		}
		list = append(list, mail)
	}
	if of.SendsSMS(m.Kind) && m.Customer != 0 {
		m.Channel, m.To, m.DedupeKey = BySMS, "", SMSKey(m.DedupeKey)
		text, err := New(m, now)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

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

// Result returns what became of a message.
func (m Message) Result() Result {
	if m.Status == Sent && m.Delivery == Undelivered {
		return Result{Failed, m.DeliveryError}
	}
	return Result{m.Status, m.LastError}
}

// sms returns the message as it is sent.
func (m Message) sms(of shop.ID, l Letter, again bool) SMS {
	s := SMS{Shop: of, Message: m.ID, Kind: m.Kind, To: m.To, Text: l.Text}
	if again {
		s.Since = m.CreatedAt
	}
	return s
}

// addressed sets to which phone numbers the SMS of a batch go, and returns the consents of their
// customers.
func addressed(ctx context.Context, tx Tx, messages []Message) (map[int64]optin.Consent, error) {
	var customers []int64
	for _, m := range messages {
		if m.Channel == BySMS {
			customers = append(customers, m.Customer)
		}
	}
	if len(customers) == 0 {
		return nil, nil
	}
	consents, err := tx.SMSConsents(ctx, customers)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		if m := &messages[i]; m.Channel == BySMS {
			m.To = ""
			if c := consents[m.Customer]; c.Holds() {
				m.To = c.Phone
			}
		}
	}
	return consents, nil
}

// smsVerdict is verdict for an SMS.
func (c checker) smsVerdict(m Message) (why string, later time.Time) {
	consent := c.consents[m.Customer]
	switch {
	case !c.shop.SendsSMS(m.Kind):
		return SMSDisabled, later
	case consent.Phone == "":
		return NoPhone, later
	case !consent.Holds():
		return SMSEnded, later
	case !c.smsOpensAt.IsZero():
		return "", c.smsOpensAt
	case c.received[m.To] >= mostLetters && slices.Contains(OptionalKinds, m.Kind):
		return "", c.now.Add(capDelay)
	}
	return "", later
}

// stop ends the consents of customers whose numbers a provider refuses.
func stop(ctx context.Context, tx Tx, m Message, failure error, now time.Time) error {
	if !errors.Is(failure, ErrStopped) {
		return nil
	}
	consents, err := tx.SMSConsents(ctx, []int64{m.Customer})
	if err != nil || consents[m.Customer].Phone != m.To {
		return err
	}
	return tx.EndSMSConsent(ctx, m.Customer, now, optin.ByProvider)
}

// Report is what a provider says of an SMS that it accepted.
type Report struct {
	Message    MessageID
	ProviderID string
	Delivery   Delivery
	Error      string // why it was not delivered
}

// Reported takes over what a provider says of an SMS. A report that is repeated, and one of another
// SMS than the one that the message became, changes nothing. It fails with NotFound for a message
// that does not exist.
func (s *Service) Reported(ctx context.Context, of shop.ID, r Report) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		found, err := tx.Messages(ctx, []MessageID{r.Message})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Channel != BySMS {
			return fault.New(fault.NotFound, "SMS %d does not exist", r.Message).Entity("message").Code("messageNotFound")
		}
		m := found[0]
		if m.ProviderID != "" && m.ProviderID != r.ProviderID {
			return nil
		}
		m.Delivery, m.DeliveryError = r.Delivery, r.Error
		if err := tx.PutDelivery(ctx, m); err != nil || r.Delivery == Delivered {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(m.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: traits[m.Kind].event, Status: activity.Failure,
			Actor: m.Actor, At: s.Clock.Now(), Info: activity.Details(outcome{Kind: m.Kind, Channel: m.Channel, Reason: r.Error}),
		})
	})
}
