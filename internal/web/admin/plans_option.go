package admin

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// planOption is the record of a plan option. The same struct is what callers
// send; what they leave out keeps its value or takes its default.
type planOption struct {
	ID    planID `json:"id" example:"gid://shopify/SellingPlan/6003" doc:"Graph id of the selling plan. In a request: graph id or number, or nothing for a new plan."`
	IDNew planID `json:"idNew" example:"6003" doc:"The selling plan's number. In a request the same as id."`

	FrequencyCount           *int32  `json:"frequencyCount" nullable:"false" minimum:"1" maximum:"365" example:"1" doc:"Intervals between deliveries."`
	FrequencyInterval        string  `json:"frequencyInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between deliveries, which frequencyCount counts." example:"MONTH"`
	BillingFrequencyCount    *int32  `json:"billingFrequencyCount" nullable:"false" minimum:"1" maximum:"365" example:"1" doc:"Intervals between payments. Left out: as the deliveries."`
	BillingFrequencyInterval string  `json:"billingFrequencyInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between payments, which billingFrequencyCount counts. Left out: as the deliveries." example:"MONTH"`
	FrequencyName            string  `json:"frequencyName" maxLength:"255" example:"Every month" doc:"Unique in the group."`
	FrequencyDescription     *string `json:"frequencyDescription" maxLength:"5000" doc:"What buyers read about the plan; null when there is nothing." example:"Fresh coffee every month"`
	PlanType                 string  `json:"planType" enum:"PAY_AS_YOU_GO,PREPAID,ADVANCED_PREPAID" doc:"A PREPAID plan is paid for several deliveries at once."`
	PrepaidFlag              string  `json:"prepaidFlag" enum:"true,false" doc:"Whether planType is not PAY_AS_YOU_GO, as a text."`

	DiscountEnabled        *bool    `json:"discountEnabled" nullable:"false" doc:"Left out of a new plan: whether there is a discountOffer."`
	DiscountOffer          *float64 `json:"discountOffer" minimum:"0" maximum:"999999.99" example:"10" doc:"A percentage, or an amount in the store's currency for the whole payment."`
	DiscountType           *string  `json:"discountType" enum:"PERCENTAGE,FIXED,PRICE" doc:"PERCENTAGE and FIXED are taken off the price; PRICE is the price. Default PERCENTAGE."`
	AfterCycle1            *int32   `json:"afterCycle1" minimum:"0" doc:"The first discount counts from the cycle after so many on. Default 0. With a second discount it must be 0." example:"0"`
	DiscountEnabledMasked  bool     `json:"discountEnabledMasked" doc:"How a form shows the discount. Kept for the merchant's storefront; the service does not read it."`
	DiscountEnabled2       *bool    `json:"discountEnabled2" nullable:"false" doc:"Whether there is a second discount. Not together with a free trial. Left out of a new plan: whether there is a discountOffer2." example:"false"`
	DiscountOffer2         *float64 `json:"discountOffer2" minimum:"0" maximum:"999999.99" doc:"The second discount: a percentage, or an amount in the store's currency for the whole payment; null when there is none." example:"15"`
	DiscountType2          *string  `json:"discountType2" enum:"PERCENTAGE,FIXED,PRICE" doc:"How discountOffer2 is meant: PERCENTAGE and FIXED are taken off the price; PRICE is the price. Default PERCENTAGE; null when there is no second discount." example:"PERCENTAGE"`
	AfterCycle2            *int32   `json:"afterCycle2" minimum:"1" doc:"The second discount takes the first one's place from the cycle after so many on." example:"3"`
	DiscountEnabled2Masked bool     `json:"discountEnabled2Masked" doc:"How a form shows the discount. Kept for the merchant's storefront; the service does not read it."`

	FrequencyType      string  `json:"frequencyType" enum:"ON_PURCHASE_DAY,ON_SPECIFIC_DAY" doc:"Whether orders are counted from the day of the purchase or fall on a fixed day. Default ON_PURCHASE_DAY." example:"ON_PURCHASE_DAY"`
	SpecificDayEnabled bool    `json:"specificDayEnabled" doc:"Whether frequencyType is ON_SPECIFIC_DAY."`
	SpecificDayValue   *int32  `json:"specificDayValue" minimum:"1" maximum:"31" doc:"WEEK: 1 (Monday) to 7; MONTH and YEAR: day of the month." example:"1"`
	SpecificMonthValue *int32  `json:"specificMonthValue" minimum:"1" maximum:"12" doc:"YEAR only." example:"3"`
	CutOff             *int32  `json:"cutOff" minimum:"0" maximum:"365" doc:"Days before the specific day from which a new order misses it." example:"3"`
	PreAnchorBehavior  *string `json:"deliveryPolicyPreAnchorBehavior" enum:"ASAP,NEXT,$UNKNOWN" doc:"What happens before the first specific day. NEXT: the first delivery waits for it. ASAP, which is also what null and $UNKNOWN mean: the first delivery comes at once."`

	InventoryReserve *string `json:"inventoryPolicyReserve" enum:"ON_FULFILLMENT,ON_SALE" doc:"When stock is set aside for an order; null: as the platform does, which is ON_FULFILLMENT." example:"ON_FULFILLMENT"`

	MinCycles *int32 `json:"minCycles" minimum:"1" doc:"Orders before a contract may end." example:"3"`
	MaxCycles *int32 `json:"maxCycles" minimum:"1" doc:"Orders after which a contract ends; more than minCycles." example:"12"`

	FreeTrialEnabled  *bool   `json:"freeTrialEnabled" nullable:"false" doc:"The first order costs nothing. Left out of a new plan: whether there is a freeTrialCount."`
	FreeTrialCount    *int32  `json:"freeTrialCount" minimum:"1" maximum:"365" doc:"How long the free trial is, in freeTrialInterval; null when there is none." example:"14"`
	FreeTrialInterval *string `json:"freeTrialInterval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time of freeTrialCount; null when there is no trial." example:"DAY"`
	KeepOriginalDate  bool    `json:"keepOriginalNextBillingDateAfterTrial" doc:"The next order stays on the date that it would have without a trial."`

	MemberOnly          bool    `json:"memberOnly" doc:"For those who have one of memberInclusiveTags or, when there are none, are members."`
	NonMemberOnly       bool    `json:"nonMemberOnly" doc:"For everybody else. Not both."`
	MemberInclusiveTags *string `json:"memberInclusiveTags" doc:"Customer tags, separated by commas, in any letter case." example:"gold,silver"`
	MemberExclusiveTags *string `json:"memberExclusiveTags" doc:"Customers with one of them cannot choose the plan." example:"wholesale"`
	LifeTimeMembership  bool    `json:"lifeTimeMembership" doc:"Paid once and for good: maxCycles is 1."`
	AllowedForExchange  *bool   `json:"allowedForUpgradeDowngrade" nullable:"false" doc:"Default true."`
	RulesJSON           *string `json:"rulesJson" doc:"Rules in JSON. Not supported: anything but an empty list, object or text is 400 notSupported, unless the plan has it already. Use the discounts and the fields about members." example:"[]"`
	PlanSequence        *int32  `json:"planSequence" nullable:"false" doc:"Where the plan is shown. Left out of a new plan: its place in the list." example:"1"`

	GroupID   groupNumber `json:"groupId" doc:"The group to which the plan belongs. In a request: the service's number of it, or the platform's number or graph id of the selling plan group." example:"17"`
	GroupName string      `json:"groupName" doc:"Its name. Ignored in requests." example:"Subscribe and save"`
}

// Words of the interface.
const (
	onPurchaseDay = "ON_PURCHASE_DAY"
	onSpecificDay = "ON_SPECIFIC_DAY"
)

func newPlanOption(o plan.Option, group plan.ID, name string) planOption {
	r := planOption{
		FrequencyCount: int32Of(o.Delivery.Count), FrequencyInterval: o.Delivery.Interval.String(),
		BillingFrequencyCount: int32Of(o.Billing.Count), BillingFrequencyInterval: o.Billing.Interval.String(),
		FrequencyName: o.Name, FrequencyDescription: web.Some(o.Description), PlanType: string(o.Kind), PrepaidFlag: strconv.FormatBool(o.Kind != plan.PayAsYouGo),
		DiscountEnabled: &o.First.Enabled, DiscountOffer: offerOf(o.First), DiscountType: web.Some(string(o.First.Kind)), AfterCycle1: afterOf(o.First),
		DiscountEnabledMasked: o.First.Masked, DiscountEnabled2: &o.Second.Enabled, DiscountOffer2: offerOf(o.Second),
		DiscountType2: web.Some(string(o.Second.Kind)), AfterCycle2: afterOf(o.Second), DiscountEnabled2Masked: o.Second.Masked,
		FrequencyType: onPurchaseDay, SpecificDayEnabled: o.Specific, SpecificDayValue: some32(o.Day), SpecificMonthValue: some32(o.Month), CutOff: some32(o.Cutoff),
		PreAnchorBehavior: web.Some(string(o.Behavior)), InventoryReserve: web.Some(string(o.Reserve)), MinCycles: some32(o.MinCycles), MaxCycles: some32(o.MaxCycles),
		FreeTrialEnabled: &o.Trial.Enabled, FreeTrialCount: some32(o.Trial.Count), FreeTrialInterval: web.Some(o.Trial.Interval.String()), KeepOriginalDate: o.Trial.KeepDate,
		MemberOnly: o.MemberOnly, NonMemberOnly: o.NonMemberOnly, MemberInclusiveTags: web.Some(o.InclusiveTags), MemberExclusiveTags: web.Some(o.ExclusiveTags),
		LifeTimeMembership: o.Lifetime, AllowedForExchange: &o.Exchange, RulesJSON: web.Some(o.RulesJSON), PlanSequence: int32Of(o.Sequence),
		GroupID: groupNumber(group), GroupName: name,
	}
	if o.Specific {
		r.FrequencyType = onSpecificDay
	}
	if o.ID != 0 {
		r.ID, r.IDNew = planID(gid.Of("SellingPlan", o.ID)), planID(strconv.FormatInt(o.ID, 10))
	}
	return r
}

// offerOf and afterOf leave out what a discount that was never set says.
func offerOf(d plan.Discount) *float64 {
	if d.Kind == "" && d.Offer == 0 {
		return nil
	}
	return &d.Offer
}

func afterOf(d plan.Discount) *int32 {
	if d.Kind == "" && d.After == 0 {
		return nil
	}
	return int32Of(d.After)
}

// groupNumber is the number of a group: in a request the service's or the platform's, or
// the graph id of the selling plan group.
type groupNumber int64

// Schema describes the number, as answers have it.
func (groupNumber) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger, Format: "int64"}, {Type: huma.TypeString}}}
}

// UnmarshalJSON reads a number or a text; null is no group.
func (n *groupNumber) UnmarshalJSON(text []byte) error {
	var id web.AnyID
	if err := json.Unmarshal(text, &id); err != nil {
		return &json.UnmarshalTypeError{Value: "object", Type: reflect.TypeFor[groupNumber](), Field: "groupId"}
	}
	number, err := id.Parse(groupObject, "groupId")
	*n = groupNumber(number)
	return err
}

// groupObject is the platform's name for a group.
const groupObject = "SellingPlanGroup"
