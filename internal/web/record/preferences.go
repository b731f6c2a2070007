package record

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// SMSConsent is what a customer has agreed to.
type SMSConsent struct {
	Offered bool         `json:"offered" doc:"Whether the store sends SMS." example:"true"`
	Agreed  bool         `json:"agreed" doc:"Whether the customer agrees to SMS at the phone number." example:"true"`
	Phone   *string      `json:"phone" doc:"Phone number, E.164; null: the customer never agreed." example:"+16135550101"`
	Since   *web.Instant `json:"since" doc:"When the customer agreed; null: never." format:"date-time" example:"2026-11-01T12:00:00.000Z"`
	Ended   *web.Instant `json:"endedAt" doc:"When the agreement ended, with STOP or in the portal; null: it holds, or there was none." format:"date-time" example:"2026-12-01T12:00:00.000Z"`
}

// NewSMSConsent returns the last consent of a store's customer.
func NewSMSConsent(of shop.Shop, c optin.Consent) SMSConsent {
	return SMSConsent{
		Offered: slices.ContainsFunc(notify.SMSKinds, of.SendsSMS), Agreed: c.Holds(), Phone: web.Some(c.Phone), Since: web.At(c.GivenAt), Ended: web.At(c.EndedAt),
	}
}

// WantedMails returns the kinds of e-mail that customers can refuse, each with whether it is wanted by one who
// refuses some, and those that are always sent.
func WantedMails(off []notify.Kind) (wanted map[string]bool, always []string) {
	wanted, always = map[string]bool{}, []string{}
	for _, k := range notify.CustomerKinds() {
		if notify.Required(k) {
			always = append(always, string(k))
		} else {
			wanted[string(k)] = !slices.Contains(off, k)
		}
	}
	return wanted, always
}
