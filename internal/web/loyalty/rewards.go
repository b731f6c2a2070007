package loyalty

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web"
)

func (o Options) rewards(api *web.API) {
	change := web.Operation{Tag: "Rewards", Scope: access.LoyaltyWrite, Errors: []int{http.StatusNotFound, http.StatusConflict}}

	redeem := change
	redeem.ID, redeem.Method, redeem.Path, redeem.Summary, redeem.Body = "redeemPoints", http.MethodPost, Base+"/redeem-points", "Redeem points", redeemBody{}
	redeem.Description = "Spends points on a reward. A discount code is made at the platform for this customer and one order. While the platform does not answer, the reward has no discountCode yet and gets it by itself; " +
		"when the platform refuses, the points are given back and the answer is 400."
	web.Register(api, redeem, o.redeem)

	set := change
	set.ID, set.Method, set.Path, set.Summary, set.Body = "updateDiscountCodeStatus", http.MethodPut, Base+"/update-discount-code-status", "Say what became of a reward", statusBody{}
	set.Description = "USED notes the order that used a code; UNUSED takes that back; EXPIRED ends the reward without giving points back; REFUNDED ends its code at the platform and gives the points back."
	web.Register(api, set, o.setStatus)
}

type redeemBody struct {
	Named
	RuleID *int64   `json:"pointRedeemRuleId,omitempty" minimum:"1" doc:"The redeem rule. Absent: the one that costs as many points as are given or, where there is none, one that lets the customer choose how many." example:"1"`
	Other  *int64   `json:"redeemRuleId,omitempty" minimum:"1" doc:"Another spelling of pointRedeemRuleId. Both may be given when they say the same." example:"1"`
	Points *float64 `json:"points,omitempty" exclusiveMinimum:"0" maximum:"1000000000" doc:"How many points to spend, where the rule lets the customer choose. Required without pointRedeemRuleId." example:"500"`
}

func (o Options) redeem(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body redeemBody
	who, err := in.read(caller, &body, &body.Named)
	if err != nil {
		return nil, err
	}
	field := "pointRedeemRuleId"
	switch {
	case body.RuleID != nil && body.Other != nil && *body.RuleID != *body.Other:
		return nil, fault.New(fault.Invalid, "fields 'pointRedeemRuleId' and 'redeemRuleId' differ: send one of them").Code("bodyField").Field("redeemRuleId")
	case body.RuleID == nil && body.Other != nil:
		body.RuleID, field = body.Other, "redeemRuleId"
	}
	if body.RuleID == nil && body.Points == nil {
		return nil, fault.New(fault.Invalid, "field 'pointRedeemRuleId' is required: the number of a redeem rule, or 'points'").Code("bodyField").Field("pointRedeemRuleId")
	}
	rule, err := numberOf[loyalty.RuleID](field, body.RuleID)
	if err != nil {
		return nil, err
	}
	points, err := pointsOf(body.Points, false)
	if err != nil {
		return nil, err
	}
	m, err := o.Points.Redeem(ctx, caller.Shop.ID, loyalty.RedeemCommand{Who: who, Rule: rule, Points: points, Actor: caller.Actor, IdempotencyKey: web.RequestName(ctx)})
	return newMemberOut(caller, m, err)
}

type statusBody struct {
	Shop      string    `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	ID        *int64    `json:"id,omitempty" minimum:"1" doc:"The reward. This or discountCode is required." example:"21"`
	Code      string    `json:"discountCode,omitempty" maxLength:"255" doc:"The reward's code." example:"PRN-5OFF"`
	Status    string    `json:"status" enum:"UNUSED,USED,REFUNDED,EXPIRED" doc:"What became of it."`
	OrderID   web.AnyID `json:"orderId,omitempty" doc:"With USED: the order, number or graph id."`
	OrderName string    `json:"orderName,omitempty" maxLength:"255" doc:"With USED: that order's name." example:"#1004"`
}

func (o Options) setStatus(ctx context.Context, in *changeIn) (*memberOut, error) {
	caller := web.CallerOf(ctx)
	var body statusBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller); err != nil {
		return nil, err
	}
	cmd := loyalty.RewardCommand{Code: body.Code, OrderName: body.OrderName, Actor: caller.Actor}
	switch {
	case body.ID != nil && (*body.ID < 1 || *body.ID > gid.Max):
		return nil, fault.New(fault.Invalid, "field 'id' is not the number of a reward").Code("bodyField").Field("id")
	case body.ID != nil:
		cmd.Reward = loyalty.RewardID(*body.ID)
	case body.Code == "":
		return nil, fault.New(fault.Invalid, "field 'id' or 'discountCode' is required").Code("bodyField").Field("id")
	}
	if body.Status == "" {
		return nil, fault.New(fault.Invalid, "field 'status' is required").Code("bodyField").Field("status")
	}
	var err error
	if cmd.Status, err = web.ParseEnum("status", body.Status, loyalty.RewardStatuses); err != nil {
		return nil, err
	}
	if cmd.Order, err = body.OrderID.Parse("Order", "orderId"); err != nil {
		return nil, err
	}
	for field, text := range map[string]string{"discountCode": body.Code, "orderName": body.OrderName} {
		if err := limit(field, text, maxName); err != nil {
			return nil, err
		}
	}
	m, err := o.Points.SetReward(ctx, caller.Shop.ID, cmd)
	return newMemberOut(caller, m, err)
}
