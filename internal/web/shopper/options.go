package shopper

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Options are what the interface needs. Each line is served by a handler of its own.
type Options struct {
	Line  shop.Line
	Frame web.Frame
	Gate  web.Gate

	Portal     Portal
	Prices     Prices
	Links      Links
	Points     Points
	Book       Book
	Sold       record.Catalogues
	OneOffBook billing.OneOffBook
	Mails      record.Mails
	Retention  Retention
	Cancelling Cancelling
	Consents   Consents
}

// Consents keeps to which phone number shoppers agreed to SMS. Failures are faults.
type Consents interface {
	Consent(ctx context.Context, of shop.ID, customer int64) (optin.Consent, error)
	Set(ctx context.Context, of shop.ID, w optin.Wish) (optin.Consent, error)
}

// Prices knows what variants cost. Failures are faults.
type Prices interface {
	VariantPrice(ctx context.Context, of shop.ID, cmd amend.Command, variant int64) (contractedit.VariantPrice, error)
}

// Links sends links with which to sign in. Failures are faults.
type Links interface {
	RequestLink(ctx context.Context, of shop.ID, email, clientIP string) error
}

// Points keeps the points of the loyalty programme. Failures are faults.
type Points interface {
	Member(ctx context.Context, of shop.Shop, who loyalty.CustomerRef, rewards loyalty.RewardStatus) (loyalty.Member, error)
	Redeem(ctx context.Context, of shop.ID, cmd loyalty.RedeemCommand) (loyalty.Member, error)
	Enrol(ctx context.Context, of shop.ID, cmd loyalty.EnrolCommand) (loyalty.Member, error)
}

// Book reads attempts and contracts of one customer.
type Book interface {
	billing.Book
	Search(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) ([]contract.Contract, int, error)
	ContractsOf(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.Contract, error)
}

// Retention keeps what shoppers did about leaving. Failures are faults.
type Retention interface {
	Record(ctx context.Context, of shop.ID, cmd retention.Command) (retention.Activity, error)
}

// Cancelling takes shoppers through the store's flow of cancelling. Failures are faults.
type Cancelling interface {
	Shown(ctx context.Context, of shop.ID, cmd session.Command) (session.View, error)
	Start(ctx context.Context, of shop.ID, cmd session.Command) (session.View, error)
	Session(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Answer(ctx context.Context, of shop.ID, cmd session.Answer) (session.View, error)
	Accept(ctx context.Context, of shop.ID, cmd session.Acceptance) (session.View, error)
	Decline(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Back(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Keep(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Confirm(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Comment(ctx context.Context, of shop.ID, cmd session.Answer) (session.View, error)
}
