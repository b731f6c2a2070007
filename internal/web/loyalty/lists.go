package loyalty

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Page sizes of the lists.
const (
	defaultSize = 20
	maxTop      = 100
	maxSize     = 2000
)

var (
	topList = web.List{Default: defaultSize, Max: maxTop, Fields: []string{
		loyalty.FieldCustomer, loyalty.FieldFirstName, loyalty.FieldLastName, loyalty.FieldEarned, loyalty.FieldActivities,
	}}
	historyList = web.List{Default: defaultSize, Max: maxSize, Fields: []string{"id", "createAt"}}
	ruleLists   = web.List{Default: maxTop, Max: maxSize}
)

func (o Options) lists(api *web.API) {
	list := web.Operation{Method: http.MethodGet, Tag: "Lists", Scope: access.LoyaltyRead}

	top := list
	top.ID, top.Path, top.Summary = "listTopCustomers", Base+"/top-customers", "Top customers"
	top.Description = "Members by what they have earned, highest first, or by another of the fields. Excluded customers are left out. At most 100 in a page."
	top.List = &topList
	web.Register(api, top, o.topCustomers)

	history := list
	history.ID, history.Path, history.Summary = "listPointTransactions", Base+"/point-transaction-history/{id}", "A customer's transactions"
	history.Description = "Everything that moved a customer's points, newest first. At most 2000 in a page."
	history.Errors = []int{http.StatusNotFound}
	history.List = &historyList
	web.Register(api, history, o.history)

	earn := list
	earn.ID, earn.Path, earn.Summary = "listPointEarnRules", Base+"/point-earn-rules", "Earn rules"
	earn.Description = "What points are given for. Those for an order that is refunded or cancelled at the platform later stay, for the platform tells the service of neither: removePoints takes back what a transaction earned."
	earn.List = &ruleLists
	web.Register(api, earn, o.earnRules)

	redeem := list
	redeem.ID, redeem.Path, redeem.Summary = "listPointRedeemRules", Base+"/point-redeem-rules", "Redeem rules"
	redeem.Description = "What points can be redeemed for."
	redeem.List = &ruleLists
	web.Register(api, redeem, o.redeemRules)
}

// topCustomer is an entry of the list of top customers.
type topCustomer struct {
	CustomerID          int64   `json:"customerId" doc:"The platform's number of the customer." example:"7001"`
	FirstName           string  `json:"firstName" example:"Ada" doc:"First name; empty when not known."`
	LastName            string  `json:"lastName" example:"Khan" doc:"Last name; empty when not known."`
	PointsEarned        float64 `json:"pointsEarned" doc:"Points that were earned and not taken back; points added by hand do not count." example:"3120"`
	ActivitiesCompleted int64   `json:"activitiesCompleted" minimum:"0" doc:"How often they were earned." example:"14"`
}

type listQuery struct{ web.Paging }

type topOut struct {
	web.ListHeaders
	Body []topCustomer
}

func (o Options) topCustomers(ctx context.Context, in *listQuery) (*topOut, error) {
	p, err := in.Request(topList)
	if err != nil {
		return nil, err
	}
	members, total, err := o.Points.Top(ctx, web.CallerOf(ctx).Shop.ID, p)
	if err != nil {
		return nil, err
	}
	out := &topOut{ListHeaders: web.Paged(ctx, p, total), Body: make([]topCustomer, len(members))}
	for i, m := range members {
		out.Body[i] = topCustomer{
			CustomerID: m.Person.Customer, FirstName: m.Person.FirstName, LastName: m.Person.LastName,
			PointsEarned: m.Sums.Earned.Float(), ActivitiesCompleted: m.Sums.Activities,
		}
	}
	return out, nil
}

// transaction is one line of a member's ledger.
type transaction struct {
	ID              int64        `json:"id" minimum:"1" doc:"The service's number." example:"29"`
	Shop            string       `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	CustomerID      int64        `json:"customerId" doc:"The customer." example:"7001"`
	TransactionType string       `json:"transactionType" enum:"EARN,EARN_PENDING,RELEASE,SPEND,EXPIRE,ADJUST,REVERSE,REFUND_SPEND" doc:"What was done."`
	Activity        string       `json:"activity" doc:"What it was for, such as PURCHASE, MANUAL or REWARD." example:"PURCHASE"`
	Points          float64      `json:"points" doc:"Change of the available points." example:"25"`
	PendingPoints   float64      `json:"pendingPoints" doc:"Change of the pending points." example:"0"`
	Description     string       `json:"description" doc:"For the customer." example:"Placed an order"`
	Note            *string      `json:"note" doc:"For the store." example:"Goodwill"`
	ActivityBy      *string      `json:"activityBy" doc:"Who did it; null for what the service does by itself." example:"API key Warehouse"`
	EarnRuleID      *int64       `json:"pointEarnRuleId" doc:"The rule that gave the points." example:"1"`
	RewardID        *int64       `json:"rewardId" doc:"The reward that was taken or given back." example:"21"`
	AvailableAt     *web.Instant `json:"availableAt" format:"date-time" doc:"When the points can be spent; null when they wait for approval, and for what takes points." example:"2026-01-31T08:00:00Z"`
	ExpireAt        *web.Instant `json:"expireAt" format:"date-time" doc:"When the points expire; null when they do not." example:"2026-01-31T08:00:00Z"`
	OccurredAt      *web.Instant `json:"occurredAt" format:"date-time" doc:"When what it was for happened." example:"2026-01-31T08:00:00Z"`
	CreateAt        *web.Instant `json:"createAt" format:"date-time" doc:"When it was written down." example:"2026-01-31T08:00:00Z"`
}

type historyQuery struct {
	web.Paging
	ID string `path:"id" doc:"The customer: number or graph id." example:"7001"`
}

type historyOut struct {
	web.ListHeaders
	Body []transaction
}

func (o Options) history(ctx context.Context, in *historyQuery) (*historyOut, error) {
	caller := web.CallerOf(ctx)
	customer, err := web.ParseID("Customer", "id", in.ID)
	if err != nil {
		return nil, err
	}
	p, err := in.Request(historyList)
	if err != nil {
		return nil, err
	}
	entries, total, err := o.Points.History(ctx, caller.Shop.ID, loyalty.CustomerRef{Customer: customer}, p)
	if err != nil {
		return nil, err
	}
	out := &historyOut{ListHeaders: web.Paged(ctx, p, total), Body: make([]transaction, len(entries))}
	for i, e := range entries {
		out.Body[i] = newTransaction(caller.Shop.Domain, customer, e)
	}
	return out, nil
}

func newTransaction(domain string, customer int64, e loyalty.Entry) transaction {
	return transaction{
		ID: int64(e.ID), Shop: domain, CustomerID: customer, TransactionType: string(e.Kind), Activity: string(e.Source.Type),
		Points: e.Available.Float(), PendingPoints: e.Pending.Float(), Description: e.Description, Note: web.Some(e.Note), ActivityBy: web.Some(e.Actor),
		EarnRuleID: web.Some(int64(e.Rule)), RewardID: web.Some(int64(e.Reward)), AvailableAt: web.At(e.AvailableAt), ExpireAt: web.At(e.ExpiresAt),
		OccurredAt: web.At(e.OccurredAt), CreateAt: web.At(e.RecordedAt),
	}
}

// earnRule is a rule that gives points.
type earnRule struct {
	ID        int64        `json:"id" minimum:"1" doc:"Number of the rule." example:"1"`
	Shop      string       `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	Name      string       `json:"name" example:"Place an order" doc:"Name of the rule, as customers read it."`
	RuleType  string       `json:"ruleType" doc:"What points are given for." example:"PURCHASE"`
	Status    string       `json:"status" enum:"ACTIVE,INACTIVE" doc:"Whether it gives points."`
	Points    float64      `json:"points" doc:"Points for the activity, or for each unit of money." example:"1"`
	EarnType  string       `json:"earnType" enum:"FIXED,PER_CURRENCY_UNIT" doc:"Whether points are for the activity or for each unit of the store's currency. What is paid in another currency gives none by unit."`
	MinPoints *float64     `json:"minPoints" doc:"What it gives at least." example:"10"`
	MaxPoints *float64     `json:"maxPoints" doc:"What it gives at most." example:"500"`
	StartsAt  *web.Instant `json:"startsAt" format:"date-time" doc:"Since when it gives points; null: always did." example:"2026-01-31T08:00:00Z"`
	EndsAt    *web.Instant `json:"endsAt" format:"date-time" doc:"Until when; null: no end." example:"2026-01-31T08:00:00Z"`
	Steps     []step       `json:"steps" nullable:"false" doc:"Further points for certain renewals."`
}

// step gives further points for one renewal.
type step struct {
	Cycle  int     `json:"cycle" minimum:"1" doc:"Billing cycle of the contract." example:"6"`
	Points float64 `json:"points" doc:"Points besides the rule's." example:"250"`
}

type earnRulesOut struct {
	web.ListHeaders
	Body []earnRule
}

func (o Options) earnRules(ctx context.Context, in *listQuery) (*earnRulesOut, error) {
	caller := web.CallerOf(ctx)
	p, program, err := o.ruleList(ctx, caller.Shop.ID, in)
	if err != nil {
		return nil, err
	}
	rules := program.Terms.Earn
	out := &earnRulesOut{ListHeaders: web.Paged(ctx, p, len(rules)), Body: []earnRule{}}
	for _, r := range cut(rules, p) {
		rule := earnRule{
			ID: int64(r.ID), Shop: caller.Shop.Domain, Name: r.Name, RuleType: string(r.For), Status: status(r.Active), Points: r.Points.Float(), EarnType: "FIXED",
			MinPoints: web.Some(r.Min.Float()), MaxPoints: web.Some(r.Max.Float()), StartsAt: web.At(r.From), EndsAt: web.At(r.To), Steps: make([]step, len(r.Ladder)),
		}
		if r.PerUnit {
			rule.EarnType = "PER_CURRENCY_UNIT"
		}
		for i, s := range r.Ladder {
			rule.Steps[i] = step{s.Cycle, s.Points.Float()}
		}
		out.Body = append(out.Body, rule)
	}
	return out, nil
}

// redeemRule is a rule that offers a reward.
type redeemRule struct {
	ID             int64    `json:"id" minimum:"1" doc:"Number of the rule." example:"1"`
	Shop           string   `json:"shop" doc:"The store." example:"demo.myshopify.com"`
	Name           string   `json:"name" example:"5 off an order" doc:"Name of the reward, as customers read it."`
	RuleType       string   `json:"ruleType" enum:"DISCOUNT_CODE,DYNAMIC_DISCOUNT,STORE_CREDIT" doc:"What the reward is."`
	Status         string   `json:"status" enum:"ACTIVE,INACTIVE" doc:"Whether it can be redeemed."`
	Points         float64  `json:"points" doc:"What it costs; of DYNAMIC_DISCOUNT what discountValue costs." example:"500"`
	DiscountType   string   `json:"discountType" enum:"FIXED_AMOUNT,PERCENTAGE" doc:"How discountValue is meant."`
	DiscountValue  float64  `json:"discountValue" doc:"In the store's currency, or in percent." example:"5"`
	MinPoints      *float64 `json:"minPoints" doc:"The least that DYNAMIC_DISCOUNT takes." example:"100"`
	MaxPoints      *float64 `json:"maxPoints" doc:"The most that DYNAMIC_DISCOUNT takes." example:"2000"`
	MinPurchase    *float64 `json:"minimumPurchaseAmount" doc:"Amount that an order must have, in the store's currency." example:"20"`
	CodePrefix     *string  `json:"discountCodePrefix" doc:"How its codes begin." example:"LOYAL"`
	ExpireInDays   *int     `json:"expireInDays" doc:"Days after which a code ends; null: never." example:"90"`
	CombinesWithIt bool     `json:"combinesWithOtherDiscounts" doc:"Whether a code works beside discounts of products and of shipping."`
}

type redeemRulesOut struct {
	web.ListHeaders
	Body []redeemRule
}

func (o Options) redeemRules(ctx context.Context, in *listQuery) (*redeemRulesOut, error) {
	caller := web.CallerOf(ctx)
	p, program, err := o.ruleList(ctx, caller.Shop.ID, in)
	if err != nil {
		return nil, err
	}
	rules := program.Terms.Redeem
	out := &redeemRulesOut{ListHeaders: web.Paged(ctx, p, len(rules)), Body: []redeemRule{}}
	for _, r := range cut(rules, p) {
		rule := redeemRule{
			ID: int64(r.ID), Shop: caller.Shop.Domain, Name: r.Name, RuleType: string(r.Type), Status: status(r.Active), Points: r.Points.Float(),
			DiscountType: "FIXED_AMOUNT", DiscountValue: thousandths(r.Value), MinPoints: web.Some(r.Min.Float()), MaxPoints: web.Some(r.Max.Float()),
			MinPurchase: web.Some(thousandths(r.MinPurchase)), CodePrefix: web.Some(r.Prefix), ExpireInDays: web.Some(r.ValidDays), CombinesWithIt: r.WithProducts,
		}
		if r.Percent > 0 {
			rule.DiscountType, rule.DiscountValue = "PERCENTAGE", float64(r.Percent)
		}
		out.Body = append(out.Body, rule)
	}
	return out, nil
}

// ruleList returns the page that is asked for and the programme.
func (o Options) ruleList(ctx context.Context, of shop.ID, in *listQuery) (page.Request, loyalty.Program, error) {
	p, err := in.Request(ruleLists)
	if err != nil {
		return page.Request{}, loyalty.Program{}, err
	}
	program, err := o.Points.Program(ctx, of)
	return p, program, err
}

// cut returns the page of a short list.
func cut[T any](list []T, p page.Request) []T {
	from := min(p.Offset(), len(list))
	return list[from:min(from+p.Size, len(list))]
}

func status(active bool) string {
	if active {
		return string(loyalty.Active)
	}
	return string(loyalty.Inactive)
}

func thousandths(n int64) float64 { return float64(n) / 1000 }
