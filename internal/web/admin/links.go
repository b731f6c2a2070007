package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Links lets subscribers into the portal. Failures are faults.
type Links interface {
	SendLink(ctx context.Context, of shop.ID, who login.CustomerRef, by activity.Actor) error
	NewLink(ctx context.Context, of shop.ID, who login.CustomerRef) (login.Credential, error)
	NewToken(ctx context.Context, of shop.ID, who login.CustomerRef) (login.Credential, error)
}

func (o Options) links(api *web.API) {
	open := web.Operation{Method: http.MethodGet, Tag: "Portal access", Scope: access.PortalLink}

	mail := open
	mail.ID, mail.Path, mail.Summary = "emailMagicLink", base+"/subscription-contracts-email-magic-link", "E-mail a sign-in link"
	mail.Description = "Sends a subscriber an e-mail with a link to the portal, which works once within two hours. At most five in an hour go to one address; beyond that the answer is 429. " +
		"An address that nobody with a contract of this host has, and a store that has switched the e-mail off, are answered 400."
	web.Register(api, mail, o.emailMagicLink)

	link := open
	link.Errors = []int{http.StatusNotFound}
	link.ID, link.Path, link.Summary = "createManageSubscriptionLink", base+"/manage-subscription-link", "Make a sign-in link"
	link.Description = "Makes a link to the portal, which works once within two hours, for you to hand on. Whoever has it can change the customer's subscriptions."
	web.Register(api, link, o.manageSubscriptionLink)

	of := link
	of.ID, of.Path, of.Summary = "createManageSubscriptionLinkOfCustomer", base+"/manage-subscription-link/{customerId}", "Make a sign-in link for a customer"
	web.Register(api, of, o.manageSubscriptionLinkOf)

	token := open
	token.Errors = []int{http.StatusNotFound}
	token.ID, token.Path, token.Summary = "createCustomerPortalToken", base+"/customer-portal-token", "Make a portal token"
	token.Description = "Makes a token that opens the portal of this store for one customer for two hours, sent as Authorization: Bearer."
	web.Register(api, token, o.customerPortalToken)
}

type mailQuery struct {
	Email string `query:"email" required:"true" maxLength:"254" example:"ada@shopper.example" doc:"The subscriber's e-mail address, in any letter case."`
}

type textOut struct {
	Body string `example:"Email triggered successfully." doc:"Says that the e-mail is on its way."`
}

// mailed is what integrations look for.
const mailed = "Email triggered successfully."

func (o Options) emailMagicLink(ctx context.Context, in *mailQuery) (*textOut, error) {
	caller := web.CallerOf(ctx)
	if err := o.Links.SendLink(ctx, caller.Shop.ID, login.CustomerRef{Line: o.Line, Email: in.Email}, caller.Actor); err != nil {
		return nil, err
	}
	return &textOut{mailed}, nil
}

// subscriberQuery names a customer one way or the other.
type subscriberQuery struct {
	Customer string `query:"customerId" doc:"The customer: number or graph id. This or email is required."`
	Email    string `query:"email" maxLength:"254" example:"ada@shopper.example" doc:"The customer's e-mail address. With customerId it must be that customer's."`
}

func (o Options) subscriber(q *subscriberQuery) (login.CustomerRef, error) {
	if q.Customer == "" && q.Email == "" {
		return login.CustomerRef{}, web.MissingParameter("customerId", "Long")
	}
	customer, err := web.ParseID("Customer", "customerId", q.Customer)
	return login.CustomerRef{Line: o.Line, Customer: customer, Email: q.Email}, err
}

// portalToken is the answer that holds a token.
type portalToken struct {
	Customer int64  `json:"customerId" doc:"The customer for whom it opens the portal." example:"7001"`
	Token    string `json:"token" doc:"Sent as Authorization: Bearer. Valid for two hours." example:"u3xY0l7yX1F0t7wVJYt0rW0mFz1pQw6oQm2sVb8cK9E"`
}

type tokenOut struct {
	Body portalToken
}

func (o Options) customerPortalToken(ctx context.Context, in *subscriberQuery) (*tokenOut, error) {
	who, err := o.subscriber(in)
	if err != nil {
		return nil, err
	}
	made, err := o.Links.NewToken(ctx, web.CallerOf(ctx).Shop.ID, who)
	if err != nil {
		return nil, err
	}
	return &tokenOut{portalToken{made.Customer, made.Value}}, nil
}

// manageLink is the answer that holds a link.
type manageLink struct {
	Customer int64       `json:"customerId" doc:"The customer for whom it opens the portal." example:"7001"`
	Link     string      `json:"manageSubscriptionLink" format:"uri" doc:"Address of the portal. It works once." example:"https://subscriptions.example.com/p/demo/l/u3xY0l7yX1F0t7wVJYt0rW0mFz1pQw6oQm2sVb8cK9E"`
	Expires  web.Instant `json:"tokenExpirationTime" format:"date-time" doc:"When it ends: two hours after it was made." example:"2025-01-31T14:00:00Z"`
}

type linkOut struct {
	Body manageLink
}

func (o Options) manageSubscriptionLink(ctx context.Context, in *subscriberQuery) (*linkOut, error) {
	who, err := o.subscriber(in)
	if err != nil {
		return nil, err
	}
	return o.makeLink(ctx, who)
}

type customerPath struct {
	Customer string `path:"customerId" doc:"The customer: number or graph id."`
	Email    string `query:"email" maxLength:"254" example:"ada@shopper.example" doc:"The customer's e-mail address. When given it must be that customer's."`
}

func (o Options) manageSubscriptionLinkOf(ctx context.Context, in *customerPath) (*linkOut, error) {
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	return o.makeLink(ctx, login.CustomerRef{Line: o.Line, Customer: customer, Email: in.Email})
}

func (o Options) makeLink(ctx context.Context, who login.CustomerRef) (*linkOut, error) {
	made, err := o.Links.NewLink(ctx, web.CallerOf(ctx).Shop.ID, who)
	if err != nil {
		return nil, err
	}
	return &linkOut{manageLink{made.Customer, made.Value, web.Instant(made.ExpiresAt)}}, nil
}
