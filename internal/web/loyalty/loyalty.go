// Package loyalty is the loyalty interface for servers: members' points, what
// they earned and what they redeemed, asked and changed with an API key.
package loyalty

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Base is the path under which the operations live. They have no version of
// their own.
const Base = "/api/external"

// Points asks and changes what members have. Failures are faults.
type Points interface {
	Member(ctx context.Context, of shop.Shop, who loyalty.CustomerRef, rewards loyalty.RewardStatus) (loyalty.Member, error)
	Top(ctx context.Context, of shop.ID, p page.Request) ([]loyalty.Account, int, error)
	History(ctx context.Context, of shop.ID, who loyalty.CustomerRef, p page.Request) ([]loyalty.Entry, int, error)
	Program(ctx context.Context, of shop.ID) (loyalty.Program, error)

	Enrol(ctx context.Context, of shop.ID, cmd loyalty.EnrolCommand) (loyalty.Member, error)
	Add(ctx context.Context, of shop.ID, cmd loyalty.PointsCommand) (loyalty.Member, error)
	Remove(ctx context.Context, of shop.ID, cmd loyalty.PointsCommand) (loyalty.Member, error)
	Redeem(ctx context.Context, of shop.ID, cmd loyalty.RedeemCommand) (loyalty.Member, error)
	AddCredit(ctx context.Context, of shop.ID, cmd loyalty.CreditCommand) (loyalty.Member, error)
	SetReward(ctx context.Context, of shop.ID, cmd loyalty.RewardCommand) (loyalty.Member, error)
	Approve(ctx context.Context, of shop.ID, cmd loyalty.ApproveCommand) (loyalty.Member, error)
}

// Options are what the interface needs.
type Options struct {
	Frame  web.Frame
	Gate   web.Gate
	Points Points
}

// interfaceVersion is the version of the reference that the interface follows.
const interfaceVersion = "0.0.1"

const about = "Loyalty points of a store's customers. Every request carries a key of the store in the X-API-Key header; reading needs the scope loyalty:read, changing loyalty:write. " +
	"A customer is named by customerId (number or graph id) or by customerEmail. Points are numbers with at most two decimals, money is in main units of the store's currency. " +
	"A customer who is not a member is answered 404 with the errorKey customerNotEnrolled. Every operation that changes something answers with the member as it is then, " +
	"and takes an Idempotency-Key, which makes it safe to send the request again. Lists are bare arrays with X-Total-Count and Link headers. " +
	"Unknown parameters and fields are ignored. Enum values are read in any letter case. Dates are ISO 8601 in UTC."

// documents are what the services of a process say of the interface.
var documents web.Documents

// New returns the handler.
func New(o Options) http.Handler { return newAPI(o).Handler(o.Frame) }

// newAPI lists the operations in the order of the reference.
func newAPI(o Options) *web.API {
	return web.NewAPI(web.Info{Title: "Perennial loyalty interface", Version: interfaceVersion, Description: about}, o.Gate, &documents, func(api *web.API) {
		o.members(api)
		o.lists(api)
		o.changes(api)
		o.rewards(api)
	})
}
