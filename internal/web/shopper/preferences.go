package shopper

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (o Options) preferences(api *web.API) {
	settings := o.operation("getPortalSettings", http.MethodGet, "/customer-portal-settings/{id}", customerTag, "What the store allows",
		"What the merchant has set about the portal: which actions there are, their limits, and how the shopper reaches the store.")
	web.Register(api, settings, o.portalSettings)

	web.Register(api, o.operation("getPreferences", http.MethodGet, "/preferences", customerTag, "The shopper's preferences",
		"The language and the e-mails that the shopper wants."), o.getPreferences)

	set := o.operation("setPreferences", http.MethodPut, "/preferences", customerTag, "Set the preferences",
		"Replaces the preferences. Kinds of e-mail that are left out stay as they are. An e-mail of a kind that is not wanted is not sent, also when it waits already. "+
			"An agreement to SMS needs a box that the shopper ticks beside the phone number, and words about costs and about STOP; without sms it stays as it is.")
	set.Body, set.Errors = preferencesBody{}, append(set.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, set, o.setPreferences)

	link := o.operation("requestMagicLink", http.MethodPost, "/magic-link", customerTag, "Send a link to sign in",
		"E-mails a link with which to sign in on the service's own address, if the address is a subscriber's; the answer does not say whether it is. Also for shoppers who are not signed in. 204.")
	link.Body, link.Public, link.Status, link.Errors = magicLinkBody{}, true, http.StatusNoContent, []int{http.StatusRequestEntityTooLarge}
	web.Register(api, link, o.requestLink)
}

// portalSettings is what the merchant has set.
type portalSettings struct {
	Shop          string  `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	Skip          bool    `json:"allowSkip" doc:"Whether an order may be skipped." example:"true"`
	Reschedule    bool    `json:"allowReschedule" doc:"Whether an order may be moved." example:"true"`
	OrderNow      bool    `json:"allowOrderNow" doc:"Whether an order may be charged before its day." example:"true"`
	OrderNote     bool    `json:"allowOrderNote" doc:"Whether an order may have a note." example:"true"`
	OneTime       bool    `json:"enableOneTimeProducts" doc:"Whether one-time products may be added." example:"true"`
	Swap          bool    `json:"allowProductSwap" doc:"Whether a product may be swapped." example:"true"`
	Quantity      bool    `json:"allowQuantityChange" doc:"Whether quantities may be changed." example:"true"`
	AddProduct    bool    `json:"allowAddProduct" doc:"Whether products may be added to all orders." example:"true"`
	RemoveProduct bool    `json:"allowRemoveProduct" doc:"Whether products may be removed from all orders." example:"true"`
	Frequency     bool    `json:"allowFrequencyChange" doc:"Whether the frequency may be changed." example:"true"`
	Pause         bool    `json:"allowPause" doc:"Whether a contract may be paused." example:"true"`
	Restart       bool    `json:"allowRestart" doc:"Whether a contract that has ended may be started again." example:"true"`
	Address       bool    `json:"allowAddressEdit" doc:"Whether the address may be changed." example:"true"`
	Payment       bool    `json:"allowPaymentMethodUpdate" doc:"Whether the payment method may be changed." example:"true"`
	Discount      bool    `json:"allowDiscountCode" doc:"Whether discount codes may be redeemed." example:"true"`
	Cancel        bool    `json:"allowCancellation" doc:"Whether a contract may be cancelled. Always true." example:"true"`
	Reason        bool    `json:"requireCancellationReason" doc:"Whether a cancellation needs a cancellationFeedback." example:"false"`
	SkipMax       *int32  `json:"skipMax" doc:"Orders in a row that may be skipped; null: no limit." example:"2"`
	PauseMaxDays  *int32  `json:"pauseMaxDays" doc:"Days that a pause may last; null: no limit." example:"90"`
	RescheduleMin int32   `json:"rescheduleMinDays" minimum:"0" doc:"Days from today to the earliest day to which an order may be moved." example:"0"`
	RescheduleMax int32   `json:"rescheduleMaxDays" minimum:"1" doc:"Days from today to the latest one." example:"365"`
	Upcoming      int32   `json:"upcomingCount" minimum:"1" doc:"Orders to come that pages show." example:"6"`
	Freeze        bool    `json:"freezeUntilMinCycles" doc:"Whether subscribers too are held to the orders that they committed to; members always are." example:"false"`
	SwapFrozen    bool    `json:"allowSwapWhenFrozen" doc:"Whether they may swap products all the same." example:"false"`
	CutoffDays    int32   `json:"cutoffDays" minimum:"0" doc:"Days before an order from which on it cannot be changed; 0: it can until it is charged." example:"0"`
	Email         *string `json:"supportEmail" doc:"Where shoppers write to; null when not set." example:"help@demo.example"`
	Phone         *string `json:"supportPhone" doc:"Where they call; null when not set." example:"+16135550101"`
	URL           *string `json:"supportUrl" doc:"The store's help page; null when not set." example:"https://demo.example/help"`
	Version       int64   `json:"version" minimum:"0" doc:"Version of the settings; 0: the default ones." example:"3"`
}

type settingsQuery struct {
	ID string `path:"id" maxLength:"64" example:"1" doc:"Does not matter: a store has one set of settings."`
}

type settingsOut struct{ Body portalSettings }

func (o Options) portalSettings(ctx context.Context, _ *settingsQuery) (*settingsOut, error) {
	of := web.CallerOf(ctx).Shop
	s, err := o.Portal.Settings(ctx, of.ID)
	if err != nil {
		return nil, err
	}
	return &settingsOut{portalSettings{
		Shop: of.Domain, Skip: s.Allows(portal.AllowSkip), Reschedule: s.Allows(portal.AllowReschedule), OrderNow: s.Allows(portal.AllowOrderNow) && of.Settings.ImmediateOrders,
		OrderNote: s.Allows(portal.AllowOrderNote), OneTime: s.Allows(portal.EnableOneTimeProducts), Swap: s.Allows(portal.AllowProductSwap),
		Quantity: s.Allows(portal.AllowQuantityChange), AddProduct: s.Allows(portal.AllowAddProduct), RemoveProduct: s.Allows(portal.AllowRemoveProduct),
		Frequency: s.Allows(portal.AllowFrequencyChange), Pause: s.Allows(portal.AllowPause), Restart: s.Allows(portal.AllowRestart), Address: s.Allows(portal.AllowAddressEdit),
		Payment: s.Allows(portal.AllowPaymentMethodUpdate), Discount: s.Allows(portal.AllowDiscountCode), Cancel: true, Reason: s.ReasonRequired,
		SkipMax: web.Some(int32(s.SkipMax)), PauseMaxDays: web.Some(int32(s.PauseMaxDays)), RescheduleMin: int32(s.RescheduleMin), RescheduleMax: int32(s.LatestDay()),
		Upcoming: int32(s.Shown()), Freeze: of.Settings.FreezeUntilMinCycles, SwapFrozen: s.SwapWhenFrozen, CutoffDays: int32(s.CutoffDays),
		Email: web.Some(s.Support.Email), Phone: web.Some(s.Support.Phone), URL: web.Some(s.Support.URL), Version: s.Version,
	}}, nil
}

// preferencesBody is what a shopper sets.
type preferencesBody struct {
	Language *string         `json:"language,omitempty" nullable:"true" maxLength:"35" doc:"Language tag, such as en or pt-BR; null or empty: the store's." example:"de"`
	Emails   map[string]bool `json:"emails,omitempty" doc:"Kinds of e-mail, each with whether it is wanted."`
	SMS      *smsBody        `json:"sms,omitempty" doc:"Whether the shopper agrees to SMS, and to which number. Absent: as before."`
	Version  int64           `json:"version,omitempty" minimum:"0" doc:"Version that the shopper has seen. 409 changedMeanwhile when there is another one now. Absent: not compared." example:"2"`
}

// smsBody is whether a shopper agrees to SMS.
type smsBody struct {
	Agreed bool    `json:"agreed" doc:"Whether the shopper agrees." example:"true"`
	Phone  *string `json:"phone,omitempty" nullable:"true" maxLength:"40" doc:"Phone number with its country code. Needed to agree: 400 phoneInvalid without one." example:"+16135550101"`
}

// preferences is what a shopper has set.
type preferences struct {
	Language *string           `json:"language" doc:"Language tag; null: the store's." example:"de"`
	Emails   map[string]bool   `json:"emails" doc:"The kinds of e-mail that can be switched off, each with whether it is wanted."`
	Always   []string          `json:"alwaysSent" nullable:"false" doc:"The kinds that are always sent."`
	SMS      record.SMSConsent `json:"sms" doc:"SMS."`
	Version  int64             `json:"version" minimum:"0" doc:"Version of the preferences; 0: the default ones." example:"2"`
}

type preferencesOut struct{ Body preferences }

// written writes preferences, with the shopper's agreement to SMS.
func (o Options) written(ctx context.Context, p portal.Preferences, err error) (*preferencesOut, error) {
	if err != nil {
		return nil, err
	}
	who := o.who(ctx)
	consent, err := o.Consents.Consent(ctx, who.Shop.ID, who.Actor.Customer)
	if err != nil {
		return nil, err
	}
	out := preferences{Language: web.Some(p.Language), SMS: record.NewSMSConsent(who.Shop, consent), Version: p.Version}
	out.Emails, out.Always = record.WantedMails(p.Off)
	return &preferencesOut{out}, nil
}

func (o Options) getPreferences(ctx context.Context, _ *struct{}) (*preferencesOut, error) {
	is, err := o.Portal.Preferences(ctx, o.who(ctx))
	return o.written(ctx, is, err)
}

type preferencesIn struct{ web.JSONBody }

func (o Options) setPreferences(ctx context.Context, in *preferencesIn) (*preferencesOut, error) {
	var body preferencesBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	who := o.who(ctx)
	want, err := o.Portal.Preferences(ctx, who)
	if err != nil {
		return nil, err
	}
	want.Version = body.Version
	if body.Language != nil {
		want.Language = strings.TrimSpace(*body.Language)
	}
	for kind, wanted := range body.Emails {
		want.Off = slices.DeleteFunc(want.Off, func(k notify.Kind) bool { return string(k) == kind })
		if !wanted {
			want.Off = append(want.Off, notify.Kind(kind))
		}
	}
	wish := optin.Wish{Actor: who.Actor}
	if body.SMS != nil {
		if wish.Agreed = body.SMS.Agreed; body.SMS.Phone != nil {
			wish.Phone = *body.SMS.Phone
		}
		if wish.Agreed { // before anything is changed
			if _, err := optin.ParsePhone("phone", wish.Phone); err != nil {
				return nil, err
			}
		}
	}
	set, err := o.Portal.SetPreferences(ctx, who, want)
	if err == nil && body.SMS != nil {
		_, err = o.Consents.Set(ctx, who.Shop.ID, wish)
	}
	return o.written(ctx, set, err)
}

// magicLinkBody names who wants to sign in.
type magicLinkBody struct {
	Email string `json:"email" minLength:"3" maxLength:"320" doc:"E-mail address of the subscriber." example:"ada@shopper.example"`
}

func (o Options) requestLink(ctx context.Context, in *preferencesIn) (*struct{}, error) {
	var body magicLinkBody
	if err := into(&in.JSONBody, &body); err != nil {
		return nil, err
	}
	return nil, o.Links.RequestLink(ctx, web.CallerOf(ctx).Shop.ID, strings.TrimSpace(body.Email), web.ClientIP(ctx))
}
