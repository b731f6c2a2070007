package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Preferences keeps which e-mails customers want. Failures are faults.
type Preferences interface {
	PreferencesOf(ctx context.Context, of shop.ID, who portal.CustomerRef) (portal.Preferences, error)
	ChooseMails(ctx context.Context, of shop.ID, c portal.MailChoice) (portal.Preferences, error)
}

// Consents shows which customers have agreed to SMS.
type Consents interface {
	Consent(ctx context.Context, of shop.ID, customer int64) (optin.Consent, error)
}

// preferenceHandlers show and change which messages customers want.
type preferenceHandlers struct {
	line        shop.Line
	preferences Preferences
	consents    Consents
}

func (h preferenceHandlers) register(api *web.API) {
	op := web.Operation{
		ID: "getNotificationPreferences", Method: http.MethodGet, Path: base + "/notification-preferences/{customerId}", Tag: "Notifications", Scope: access.ContractsRead,
		Errors: []int{http.StatusNotFound}, Summary: "Messages that a customer wants",
		Description: "Which kinds of e-mail a customer refuses, and whether the customer has agreed to SMS: what the customer sets in the portal, or with the link in an e-mail. 404 for a customer without a contract on this host.",
	}
	web.Register(api, op, h.get)

	set := op
	set.ID, set.Method, set.Summary, set.Scope = "setNotificationPreferences", http.MethodPut, "Change the e-mails that a customer wants", access.ContractsWrite
	set.Description = "Kinds that are left out stay as they are. An e-mail of a kind that is refused is not sent, also when it waits already. 400 for a kind that is always sent. " +
		"Only the customer can agree to SMS: the agreement is not changed."
	set.Body, set.Errors = notificationChoice{}, []int{http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge}
	web.Register(api, set, h.set)
}

// notificationPreferences are which messages a customer wants.
type notificationPreferences struct {
	Customer  int64             `json:"customerId" doc:"The customer." example:"7001"`
	Emails    map[string]bool   `json:"emails" doc:"The kinds of e-mail that can be refused, each with whether the customer wants it."`
	Always    []string          `json:"alwaysSent" nullable:"false" doc:"The kinds that are always sent." example:"[\"transaction_failed\"]"`
	SMS       record.SMSConsent `json:"sms" doc:"Whether the customer has agreed to SMS. Only the customer can."`
	UpdatedAt *web.Instant      `json:"updatedAt" doc:"When the preferences were changed last, in UTC; null when never." format:"date-time" example:"2026-01-31T08:00:00Z"`
	Version   int64             `json:"version" minimum:"0" doc:"Version of the preferences; 0: the default ones." example:"2"`
}

// notificationChoice is the body of a change.
type notificationChoice struct {
	Emails  map[string]bool `json:"emails" required:"true" doc:"Kinds of e-mail that can be refused, each with whether the customer wants it."`
	Version int64           `json:"version,omitempty" minimum:"0" doc:"Version that the caller has seen. 409 changedMeanwhile when there is another one now. Absent: not compared." example:"2"`
}

type preferencesOut struct{ Body notificationPreferences }

// preferencesOut returns preferences, with the customer's agreement to SMS.
func (h preferenceHandlers) preferencesOut(ctx context.Context, p portal.Preferences, err error) (*preferencesOut, error) {
	if err != nil {
		return nil, err
	}
	of := web.CallerOf(ctx).Shop
	consent, err := h.consents.Consent(ctx, of.ID, p.Customer)
	if err != nil {
		return nil, err
	}
	out := &preferencesOut{notificationPreferences{Customer: p.Customer, SMS: record.NewSMSConsent(of, consent), UpdatedAt: web.At(p.UpdatedAt), Version: p.Version}}
	out.Body.Emails, out.Body.Always = record.WantedMails(p.Off)
	return out, nil
}

func (h preferenceHandlers) customer(id string) (portal.CustomerRef, error) {
	customer, err := web.ParseID("Customer", "customerId", id)
	return portal.CustomerRef{Line: h.line, Customer: customer}, err
}

func (h preferenceHandlers) get(ctx context.Context, in *ofCustomer) (*preferencesOut, error) {
	who, err := h.customer(in.Customer)
	if err != nil {
		return nil, err
	}
	is, err := h.preferences.PreferencesOf(ctx, web.CallerOf(ctx).Shop.ID, who)
	return h.preferencesOut(ctx, is, err)
}

type choiceIn struct {
	web.JSONBody
	Customer string `path:"customerId" format:"id" example:"7001" doc:"The customer: number or graph id, percent-encoded."`
}

func (h preferenceHandlers) set(ctx context.Context, in *choiceIn) (*preferencesOut, error) {
	who, err := h.customer(in.Customer)
	if err != nil {
		return nil, err
	}
	var body notificationChoice
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if len(body.Emails) == 0 {
		return nil, required("emails", "kinds of e-mail, each with whether the customer wants it")
	}
	if body.Version < 0 {
		return nil, fault.New(fault.Invalid, "field 'version' must be at least 0").Code("bodyField").Field("version")
	}
	choice := portal.MailChoice{CustomerRef: who, Wanted: map[notify.Kind]bool{}, Version: body.Version}
	for kind, wanted := range body.Emails {
		choice.Wanted[notify.Kind(kind)] = wanted
	}
	set, err := h.preferences.ChooseMails(ctx, web.CallerOf(ctx).Shop.ID, choice)
	return h.preferencesOut(ctx, set, err)
}
