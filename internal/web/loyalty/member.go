package loyalty

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web"
)

// member is the loyalty customer record. What is not known is null.
type member struct {
	Shop               string       `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	CustomerID         int64        `json:"customerId" doc:"The platform's number of the customer." example:"7001"`
	CustomerEmail      *string      `json:"customerEmail" doc:"The customer's e-mail address." example:"ada@shopper.example"`
	CustomerStatus     string       `json:"customerStatus" enum:"ACTIVE,INACTIVE,EXCLUDED,EXCLUDED_BY_CUSTOMER" doc:"Whether the customer takes part." example:"ACTIVE"`
	AvailablePoints    float64      `json:"availablePoints" doc:"Points that can be spent. Below zero when more was taken back than was there." example:"1840"`
	PendingPoints      float64      `json:"pendingPoints" doc:"Points that were earned and cannot be spent yet." example:"96"`
	CreditedPoints     float64      `json:"creditedPoints" doc:"All points that ever became available." example:"3120"`
	SpentAmount        float64      `json:"spentAmount" doc:"Money spent on orders that were counted, in the store's currency: a renewal as it was charged, with taxes and delivery, and of a checkout the prices of what was subscribed to, before discounts. An order that is refunded or cancelled at the platform later stays in it: the platform tells the service of neither." example:"412.5"`
	StoreCreditBalance float64      `json:"storeCreditBalance" doc:"Store credit that was given, in the store's currency." example:"7.5"`
	ExpiringPoints     float64      `json:"expiringPointsAmount" doc:"Points that expire at pointsExpireAt." example:"120"`
	PointsExpireAt     *web.Instant `json:"pointsExpireAt" format:"date-time" doc:"When points expire next; null when none do." example:"2026-01-31T08:00:00Z"`
	CurrentVIPTier     *string      `json:"currentVipTier" doc:"Name of the tier that was reached." example:"Oak"`
	VIPTierExpiredAt   *web.Instant `json:"vipTierExpiredAt" format:"date-time" doc:"When the tier ends; null when it does not." example:"2026-01-31T08:00:00Z"`
	AchievableTierID   *int64       `json:"achievableTierId" doc:"The next tier; null at the highest or without tiers." example:"2"`
	ReferralLink       string       `json:"referralLink" format:"uri" doc:"Link by which the customer brings others." example:"https://demo.myshopify.com/?ref=k3j9x2"`
	ReferredCompleted  int64        `json:"referredCompleted" minimum:"0" doc:"Referrals for which points were given." example:"1"`
	CreateAt           *web.Instant `json:"createAt" format:"date-time" doc:"When the customer became a member." example:"2026-01-31T08:00:00Z"`
	DOB                *string      `json:"dob" format:"date" doc:"Date of birth." example:"1990-02-28"`

	RewardedForFacebook          bool `json:"rewardedForFacebook" doc:"Points were given for liking the store on Facebook."`
	RewardedForInstagram         bool `json:"rewardedForInstagram" doc:"Points were given for following on Instagram."`
	RewardedForTwitter           bool `json:"rewardedForTwitter" doc:"Points were given for following on X."`
	RewardedForPinterest         bool `json:"rewardedForPinterest" doc:"Points were given for following on Pinterest."`
	RewardedForYoutube           bool `json:"rewardedForYoutube" doc:"Points were given for subscribing on YouTube."`
	RewardedForTiktok            bool `json:"rewardedForTiktok" doc:"Points were given for following on TikTok."`
	RewardedForNewsLetter        bool `json:"rewardedForNewsLetter" doc:"Points were given for subscribing to the newsletter."`
	RewardedForSMS               bool `json:"rewardedForSms" doc:"Points were given for subscribing to text messages."`
	RewardedForCreatingAccount   bool `json:"rewardedForCreatingAccount" doc:"Points were given for becoming a member."`
	RewardedForSharingOnFacebook bool `json:"rewardedForSharingOnFacebook" doc:"Points were given for sharing on Facebook."`
	RewardedForSharingOnX        bool `json:"rewardedForSharingOnX" doc:"Points were given for sharing on X."`

	Rewards []reward `json:"rewards" nullable:"false" doc:"What was redeemed, newest first."`
}

// reward is something that a member took for points.
type reward struct {
	ID             int64        `json:"id" minimum:"1" doc:"The service's number." example:"31"`
	Shop           string       `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	CustomerID     int64        `json:"customerId" doc:"The customer." example:"7001"`
	DiscountCode   *string      `json:"discountCode" doc:"The code; null until the platform has it, and for store credit." example:"LOYAL-K3J9X2ABCD"`
	Description    string       `json:"description" doc:"What it is." example:"5 off an order"`
	Status         string       `json:"status" enum:"UNUSED,USED,REFUNDED,EXPIRED" doc:"What became of it."`
	Amount         float64      `json:"amount" doc:"Its value in the store's currency, or its percentage." example:"5"`
	CreateAt       *web.Instant `json:"createAt" format:"date-time" doc:"When it was redeemed." example:"2026-01-31T08:00:00Z"`
	UsedAt         *web.Instant `json:"usedAt" format:"date-time" doc:"When it was used." example:"2026-01-31T08:00:00Z"`
	ExpireDate     *web.Instant `json:"expireDate" format:"date-time" doc:"When its code ends; null when it does not." example:"2026-01-31T08:00:00Z"`
	TransactionID  int64        `json:"pointTransactionId" doc:"The transaction that spent the points." example:"12"`
	RedeemRuleID   int64        `json:"pointRedeemRuleId" doc:"The rule by which it was redeemed." example:"1"`
	OrderID        *int64       `json:"orderId" doc:"The order on which it was used." example:"5004"`
	OrderName      *string      `json:"orderName" doc:"That order's name." example:"#1004"`
	VariantID      *int64       `json:"variantId" doc:"The product that it gives; null for money off." example:"4001"`
	DiscountCodeID *string      `json:"discountCodeId" doc:"Graph id of the discount at the platform." example:"gid://shopify/DiscountCodeNode/31"`
	UsageCount     int          `json:"usageCount" minimum:"0" doc:"How often it was used." example:"1"`
}

func newMember(domain string, m loyalty.Member) member {
	given := func(o loyalty.SourceType) bool { return m.Sums.Rewarded[o] > 0 }
	out := member{
		Shop: domain, CustomerID: m.Person.Customer, CustomerEmail: web.Some(m.Person.Email), CustomerStatus: string(m.Status),
		AvailablePoints: m.Sums.Available.Float(), PendingPoints: m.Sums.Pending.Float(), CreditedPoints: m.Sums.Credited.Float(),
		SpentAmount: m.Spent.Float(), StoreCreditBalance: m.Credit.Float(), ExpiringPoints: m.Expiring.Float(), PointsExpireAt: web.At(m.ExpiresAt),
		ReferralLink: "https://" + domain + "/?ref=" + m.ReferralCode, ReferredCompleted: m.Sums.Rewarded[loyalty.Referral],
		CreateAt: web.At(m.EnrolledAt), DOB: web.Some(m.Born),
		RewardedForFacebook: given(loyalty.Facebook), RewardedForInstagram: given(loyalty.Instagram), RewardedForTwitter: given(loyalty.Twitter),
		RewardedForPinterest: given(loyalty.Pinterest), RewardedForYoutube: given(loyalty.YouTube), RewardedForTiktok: given(loyalty.TikTok),
		RewardedForNewsLetter: given(loyalty.NewsLetter), RewardedForSMS: given(loyalty.SMS), RewardedForCreatingAccount: given(loyalty.CreateAccount),
		RewardedForSharingOnFacebook: given(loyalty.ShareFacebook), RewardedForSharingOnX: given(loyalty.ShareX),
		Rewards: make([]reward, len(m.Rewards)),
	}
	if m.Tier != nil {
		out.CurrentVIPTier = &m.Tier.Name
	}
	if m.Next != nil {
		out.AchievableTierID = &m.Next.ID
	}
	for i, r := range m.Rewards {
		out.Rewards[i] = newReward(domain, r)
	}
	return out
}

func newReward(domain string, r loyalty.Reward) reward {
	out := reward{
		ID: int64(r.ID), Shop: domain, CustomerID: r.Customer, Description: r.Description, Status: string(r.Status()), Amount: r.Value.Float(),
		CreateAt: web.At(r.CreatedAt), UsedAt: web.At(r.UsedAt), ExpireDate: web.At(r.ExpiresAt), TransactionID: int64(r.Entry), RedeemRuleID: int64(r.Rule),
		OrderID: web.Some(r.Order), OrderName: web.Some(r.OrderName), DiscountCodeID: web.Some(r.PlatformID), UsageCount: r.Uses,
	}
	if r.Percent > 0 {
		out.Amount = float64(r.Percent)
	}
	if r.PlatformID != "" {
		out.DiscountCode = web.Some(r.Code)
	}
	return out
}

// memberOut answers with a member.
type memberOut struct {
	Body member
}

func newMemberOut(caller web.Caller, m loyalty.Member, err error) (*memberOut, error) {
	if err != nil {
		return nil, err
	}
	return &memberOut{newMember(caller.Shop.Domain, m)}, nil
}

func (o Options) members(api *web.API) {
	web.Register(api, web.Operation{
		ID: "getCustomerLoyalty", Method: http.MethodGet, Path: Base + "/customer-loyalty", Tag: "Members", Scope: access.LoyaltyRead,
		Summary: "A customer's loyalty", Description: "Points, tier, what was earned for, and rewards of one customer.", Errors: []int{http.StatusNotFound},
	}, o.customerLoyalty)
}

type memberQuery struct {
	Shop          string `query:"shop" doc:"Must be the key's store." example:"demo.myshopify.com"`
	Customer      string `query:"customerId" doc:"The customer: number or graph id. This or customerEmail is required; both must be of the same customer." example:"7001"`
	CustomerSnake string `query:"customer_id" doc:"Another spelling of customerId."`
	Email         string `query:"customerEmail" maxLength:"320" doc:"The customer's e-mail address, in any letter case."`
	EmailSnake    string `query:"customer_email" maxLength:"320" doc:"Another spelling of customerEmail."`
	Status        string `query:"status" doc:"Rewards of this status alone: UNUSED, USED, REFUNDED or EXPIRED."`
}

func (o Options) customerLoyalty(ctx context.Context, in *memberQuery) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	if err := ownShop(in.Shop, caller); err != nil {
		return nil, err
	}
	customer, err := either("customerId", "customer_id", in.Customer, in.CustomerSnake)
	if err != nil {
		return nil, err
	}
	email, err := either("customerEmail", "customer_email", in.Email, in.EmailSnake)
	if err != nil {
		return nil, err
	}
	who, err := whoOf("parameter", "customerId", customer, email)
	if err != nil {
		return nil, err
	}
	var standing loyalty.RewardStatus
	if in.Status != "" {
		if standing, err = web.ParseEnum("status", in.Status, loyalty.RewardStatuses); err != nil {
			return nil, err
		}
	}
	m, err := o.Points.Member(ctx, caller.Shop, who, standing)
	return newMemberOut(caller, m, err)
}

// either returns the value that one of two spellings of a parameter gives.
func either(name, other, a, b string) (string, error) {
	if a != "" && b != "" && a != b {
		return "", fault.New(fault.Invalid, "parameters '%s' and '%s' differ: give one of them", name, other).Field(name)
	}
	if a == "" {
		return b, nil
	}
	return a, nil
}
