package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

const pointsTag = "Membership and rewards"

func (o Options) points(api *web.API) {
	web.Register(api, o.operation("getMembership", http.MethodGet, "/membership/status", pointsTag, "Whether the shopper is a member",
		"The shopper's contracts of the membership line that have not ended."), o.membership)

	account := o.operation("getLoyalty", http.MethodGet, "/loyalty", pointsTag, "The shopper's points",
		"Points, tier and rewards. 404 for a shopper who takes no part in the programme.")
	account.Errors = []int{http.StatusNotFound}
	web.Register(api, account, o.loyalty)

	redeem := o.operation("redeemPoints", http.MethodPost, "/loyalty/redeem", pointsTag, "Redeem points for a reward",
		"Spends points on a reward by one of the programme's rules. Answers as GET loyalty does. Send an Idempotency-Key so that the request can be repeated.")
	redeem.Body, redeem.Once, redeem.Errors = redeemBody{}, true, append(redeem.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, redeem, o.redeem)

	join := o.operation("joinLoyalty", http.MethodPost, "/loyalty/join", pointsTag, "Take part in the programme",
		"Makes the shopper a member of the store's loyalty programme; one who had left takes part again. A member stays one. Answers as GET loyalty does. 400 customerExcluded for a shopper that the merchant has excluded.")
	web.Register(api, join, o.join)
}

// membership is the shopper's membership.
type membership struct {
	Customer  int64              `json:"customerId" doc:"The platform's number of the customer." example:"7001"`
	Member    bool               `json:"member" doc:"Whether the shopper has an active membership." example:"true"`
	Contracts []membershipStatus `json:"memberships" nullable:"false" doc:"The memberships that have not ended, newest first."`
}

// membershipStatus is one membership.
type membershipStatus struct {
	ContractID int64        `json:"contractId" doc:"Number of the contract." example:"9001"`
	Status     string       `json:"status" enum:"ACTIVE,PAUSED,FAILED" doc:"How it stands." example:"ACTIVE"`
	Plan       *string      `json:"planName" doc:"Name of the selling plan; null when not known." example:"Oak, yearly"`
	Since      *web.Instant `json:"memberSince" format:"date-time" doc:"When it began." example:"2026-01-31T08:00:00Z"`
	Renews     *web.Instant `json:"renewsOn" format:"date-time" doc:"When it is charged next; null when it is not." example:"2026-12-31T14:00:00Z"`
	Ends       *web.Instant `json:"endsOn" format:"date-time" doc:"When it ends; null when no end is known." example:"2026-12-31T14:00:00Z"`
	Lifelong   bool         `json:"lifetime" doc:"Whether it was paid for life: it is never charged again." example:"false"`
}

type membershipOut struct{ Body membership }

func (o Options) membership(ctx context.Context, _ *struct{}) (*membershipOut, error) {
	caller := web.CallerOf(ctx)
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	theirs, err := o.Book.ContractsOf(ctx, caller.Shop.ID, shop.Memberships, caller.Actor.Customer)
	if err != nil {
		return nil, err
	}
	body := membership{Customer: caller.Actor.Customer, Contracts: []membershipStatus{}}
	for _, c := range theirs {
		if c.Terminated() {
			continue
		}
		m := membershipStatus{ContractID: int64(c.ID), Status: string(c.Status), Since: web.At(c.CreatedAt), Renews: web.At(c.NextBillingDate), Ends: web.At(c.End(cal)), Lifelong: c.Lifelong}
		if len(c.Lines) > 0 {
			m.Plan = web.Some(c.Lines[0].SellingPlanName)
		}
		body.Member = body.Member || c.Status == contract.Active
		body.Contracts = append(body.Contracts, m)
	}
	return &membershipOut{body}, nil
}

// pointsAccount is what the shopper has in the loyalty programme.
type pointsAccount struct {
	Customer  int64        `json:"customerId" doc:"The platform's number of the customer." example:"7001"`
	Status    string       `json:"customerStatus" enum:"ACTIVE,INACTIVE,EXCLUDED,EXCLUDED_BY_CUSTOMER" doc:"Whether the customer takes part." example:"ACTIVE"`
	Available float64      `json:"availablePoints" doc:"Points that can be spent. Below zero when more was taken back than was there." example:"1840"`
	Pending   float64      `json:"pendingPoints" doc:"Points that were earned and cannot be spent yet." example:"96"`
	Expiring  float64      `json:"expiringPointsAmount" doc:"Points that expire at pointsExpireAt." example:"120"`
	ExpiresAt *web.Instant `json:"pointsExpireAt" format:"date-time" doc:"When points expire next; null when none do." example:"2026-01-31T08:00:00Z"`
	Tier      *string      `json:"currentVipTier" doc:"Name of the tier that was reached; null without one." example:"Oak"`
	NextTier  *string      `json:"nextVipTier" doc:"Name of the next tier; null at the highest or without tiers." example:"Elm"`
	Credit    float64      `json:"storeCreditBalance" doc:"Store credit that was given, in the store's currency." example:"7.5"`
	Referral  string       `json:"referralLink" format:"uri" doc:"Link by which the customer brings others." example:"https://demo.myshopify.com/?ref=k3j9x2"`
	Rewards   []rewardView `json:"rewards" nullable:"false" doc:"What was redeemed, newest first."`
}

// rewardView is something that the shopper took for points.
type rewardView struct {
	ID          int64        `json:"id" minimum:"1" doc:"The service's number." example:"31"`
	Description string       `json:"description" doc:"What it is." example:"5 off an order"`
	Code        *string      `json:"discountCode" doc:"The code; null until the platform has it, and for store credit." example:"LOYAL-K3J9X2ABCD"`
	Points      float64      `json:"points" doc:"What it cost." example:"500"`
	Status      string       `json:"status" enum:"UNUSED,USED,REFUNDED,EXPIRED" doc:"What became of it." example:"UNUSED"`
	ExpiresAt   *web.Instant `json:"expireDate" format:"date-time" doc:"When its code ends; null when it does not." example:"2026-01-31T08:00:00Z"`
}

type pointsOut struct{ Body pointsAccount }

func newPoints(domain string, m loyalty.Member) *pointsOut {
	body := pointsAccount{
		Customer: m.Person.Customer, Status: string(m.Status), Available: m.Sums.Available.Float(), Pending: m.Sums.Pending.Float(), Expiring: m.Expiring.Float(),
		ExpiresAt: web.At(m.ExpiresAt), Credit: m.Credit.Float(), Referral: "https://" + domain + "/?ref=" + m.ReferralCode, Rewards: []rewardView{},
	}
	if m.Tier != nil {
		body.Tier = web.Some(m.Tier.Name)
	}
	if m.Next != nil {
		body.NextTier = web.Some(m.Next.Name)
	}
	for _, r := range m.Rewards {
		body.Rewards = append(body.Rewards, rewardView{
			ID: int64(r.ID), Description: r.Description, Code: web.Some(r.Code), Points: r.Points.Float(), Status: string(r.Status()), ExpiresAt: web.At(r.ExpiresAt),
		})
	}
	return &pointsOut{body}
}

func (o Options) loyalty(ctx context.Context, _ *struct{}) (*pointsOut, error) {
	caller := web.CallerOf(ctx)
	m, err := o.Points.Member(ctx, caller.Shop, loyalty.CustomerRef{Customer: caller.Actor.Customer}, "")
	if err != nil {
		return nil, err
	}
	return newPoints(caller.Shop.Domain, m), nil
}

// redeemBody names a reward.
type redeemBody struct {
	Rule   int64   `json:"pointRedeemRuleId,omitempty" minimum:"1" doc:"The rule by which points are redeemed. Absent: the one that costs the points." example:"1"`
	Points float64 `json:"points,omitempty" minimum:"0" doc:"How many points, for rules that let the shopper choose." example:"500"`
}

type redeemIn struct{ web.JSONBody }

func (o Options) redeem(ctx context.Context, in *redeemIn) (*pointsOut, error) {
	var body redeemBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if body.Rule == 0 && body.Points == 0 {
		return nil, fault.New(fault.Invalid, "send pointRedeemRuleId or points").Code("bodyField").Field("pointRedeemRuleId")
	}
	var points loyalty.Points
	if body.Points != 0 {
		var err error
		if points, err = loyalty.ParsePoints("points", body.Points); err != nil {
			return nil, err
		}
	}
	caller := web.CallerOf(ctx)
	m, err := o.Points.Redeem(ctx, caller.Shop.ID, loyalty.RedeemCommand{
		Who: loyalty.CustomerRef{Customer: caller.Actor.Customer}, Rule: loyalty.RuleID(body.Rule), Points: points, Actor: caller.Actor, IdempotencyKey: web.RequestName(ctx),
	})
	if err != nil {
		return nil, err
	}
	return newPoints(caller.Shop.Domain, m), nil
}

func (o Options) join(ctx context.Context, _ *struct{}) (*pointsOut, error) {
	caller := web.CallerOf(ctx)
	m, err := o.Points.Enrol(ctx, caller.Shop.ID, loyalty.EnrolCommand{Who: loyalty.CustomerRef{Customer: caller.Actor.Customer}, Actor: caller.Actor})
	if err != nil {
		return nil, err
	}
	return newPoints(caller.Shop.Domain, m), nil
}
