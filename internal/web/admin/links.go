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

// linkHandlers make sign-in links and tokens of the portal.
type linkHandlers struct {
	line  shop.Line
	links Links
}

func (h linkHandlers) register(api *web.API) {
	open := web.Operation{Method: http.MethodGet, Tag: "Portal access", Scope: access.PortalLink}

	mail := open
	mail.ID, mail.Path, mail.Summary = "emailMagicLink", base+"/subscription-contracts-email-magic-link", "E-mail a sign-in link"
	mail.Description = "Sends a subscriber an e-mail with a link to the portal, which works once within two hours. At most five in an hour go to one address; beyond that the answer is 429. " +
		"400 for an address without a contract on this host, and for a store that has switched the e-mail off."
	web.Register(api, mail, h.emailMagicLink)

	link := open
	link.Errors = []int{http.StatusNotFound}
	link.ID, link.Path, link.Summary = "createManageSubscriptionLink", base+"/manage-subscription-link", "Make a sign-in link"
	link.Description = "Makes a link to the portal for you to pass on. It works once within two hours and lets its bearer change the customer's subscriptions."
	web.Register(api, link, h.manageSubscriptionLink)

	of := link
	of.ID, of.Path, of.Summary = "createManageSubscriptionLinkOfCustomer", base+"/manage-subscription-link/{customerId}", "Make a sign-in link for a customer"
	web.Register(api, of, h.manageSubscriptionLinkOf)

	token := open
	token.Errors = []int{http.StatusNotFound}
	token.ID, token.Path, token.Summary = "createCustomerPortalToken", base+"/customer-portal-token", "Make a portal token"
	token.Description = "Makes a token that opens the portal of this store for one customer for two hours, sent as Authorization: Bearer."
	web.Register(api, token, h.customerPortalToken)
}

type mailQuery struct {
	Email string `query:"email" required:"true" maxLength:"254" example:"ada@shopper.example" doc:"The subscriber's e-mail address, in any letter case."`
}

type textOut struct {
	Body string `example:"Email triggered successfully." doc:"Says that the e-mail is on its way."`
}

// mailed is what integrations look for.
const mailed = "Email triggered successfully."

func (h linkHandlers) emailMagicLink(ctx context.Context, in *mailQuery) (*textOut, error) {
	caller := web.CallerOf(ctx)
	if err := h.links.SendLink(ctx, caller.Shop.ID, login.CustomerRef{Line: h.line, Email: in.Email}, caller.Actor); err != nil {
		return nil, err
	}
	return &textOut{mailed}, nil
}

// subscriberQuery names a customer one way or the other.
type subscriberQuery struct {
	Customer string `query:"customerId" doc:"The customer: number or graph id. This or email is required."`
	Email    string `query:"email" maxLength:"254" example:"ada@shopper.example" doc:"The customer's e-mail address. With customerId it must be that customer's."`
}

func (h linkHandlers) subscriber(q *subscriberQuery) (login.CustomerRef, error) {
	if q.Customer == "" && q.Email == "" {
		return login.CustomerRef{}, web.MissingParameter("customerId", "Long")
	}
	customer, err := web.ParseID("Customer", "customerId", q.Customer)
	return login.CustomerRef{Line: h.line, Customer: customer, Email: q.Email}, err
}

// portalToken is the answer that holds a token.
type portalToken struct {
	Customer int64  `json:"customerId" doc:"The customer whose portal it opens." example:"7001"`
	Token    string `json:"token" doc:"Sent as Authorization: Bearer. Valid for two hours." example:"u3xY0l7yX1F0t7wVJYt0rW0mFz1pQw6oQm2sVb8cK9E"`
}

type tokenOut struct {
	Body portalToken
}

func (h linkHandlers) customerPortalToken(ctx context.Context, in *subscriberQuery) (*tokenOut, error) {
	who, err := h.subscriber(in)
	if err != nil {
		return nil, err
	}
	made, err := h.links.NewToken(ctx, web.CallerOf(ctx).Shop.ID, who)
	if err != nil {
		return nil, err
	}
	return &tokenOut{portalToken{made.Customer, made.Value}}, nil
}

// manageLink is the answer that holds a link.
type manageLink struct {
	Customer int64       `json:"customerId" doc:"The customer whose portal it opens." example:"7001"`
	Link     string      `json:"manageSubscriptionLink" format:"uri" doc:"Address of the portal. It works once." example:"https://subscriptions.example.com/p/demo/l/u3xY0l7yX1F0t7wVJYt0rW0mFz1pQw6oQm2sVb8cK9E"`
	Expires  web.Instant `json:"tokenExpirationTime" format:"date-time" doc:"When it ends: two hours after it was made." example:"2025-01-31T14:00:00Z"`
}

type linkOut struct {
	Body manageLink
}

func (h linkHandlers) manageSubscriptionLink(ctx context.Context, in *subscriberQuery) (*linkOut, error) {
	who, err := h.subscriber(in)
	if err != nil {
		return nil, err
	}
	return h.makeLink(ctx, who)
}

type customerPath struct {
	Customer string `path:"customerId" doc:"The customer: number or graph id."`
	Email    string `query:"email" maxLength:"254" example:"ada@shopper.example" doc:"The customer's e-mail address. When given it must be that customer's."`
}

func (h linkHandlers) manageSubscriptionLinkOf(ctx context.Context, in *customerPath) (*linkOut, error) {
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	return h.makeLink(ctx, login.CustomerRef{Line: h.line, Customer: customer, Email: in.Email})
}

func (h linkHandlers) makeLink(ctx context.Context, who login.CustomerRef) (*linkOut, error) {
	made, err := h.links.NewLink(ctx, web.CallerOf(ctx).Shop.ID, who)
	if err != nil {
		return nil, err
	}
	return &linkOut{manageLink{made.Customer, made.Value, web.Instant(made.ExpiresAt)}}, nil
}
