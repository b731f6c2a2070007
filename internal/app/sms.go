package app

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/inbound"
)

// smsProvider returns the provider of SMS of the settings, or nil when they name none. public is the
// address at which it reaches the service.
func smsProvider(s config.SMS, public string) *deliver.Twilio {
	if s.SMSProvider == "" {
		return nil
	}
	return deliver.NewTwilio(deliver.TwilioOptions{
		BaseURL: s.SMSURL, Account: s.SMSAccount, Token: string(s.SMSToken), From: s.SMSFrom, Timeout: s.SMSTimeout,
		StatusURL: strings.TrimSuffix(public, "/") + inbound.SMSPath + inbound.SMSStatus,
	})
}

// sendSMS has SMS sent by the provider of the settings, if they name one.
func (a *App) sendSMS() {
	if a.sms = smsProvider(a.options.Settings.SMS, a.options.Settings.PublicURL); a.sms == nil {
		return
	}
	a.Notify.SMS = a.sms
	a.Store.SendsSMS()
	a.callers = append(a.callers, a.sms)
}

// texts takes what people and the provider of SMS answer; nil when none is set.
func (a *App) texts(frame web.Frame) http.Handler {
	if a.sms == nil {
		return nil
	}
	return inbound.NewSMS(inbound.SMSOptions{
		Frame: frame, PublicURL: strings.TrimSuffix(a.options.Settings.PublicURL, "/"), Genuine: a.sms.Genuine,
		Answered: a.Consents.Answered, Reported: a.Notify.Reported,
		Reply: func(ctx context.Context, word optin.Word, to optin.Owner) (string, error) {
			return a.Letters.Reply(ctx, to.Shop, to.Customer, word)
		},
	})
}
