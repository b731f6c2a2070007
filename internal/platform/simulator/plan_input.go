package simulator

import (
	"fmt"
	"slices"
	"strconv"
)

// fillPlanGroup lays an input over a group and checks what comes of it.
func (x *exec) fillPlanGroup(g *planGroup, in args) *userError {
	if in.given("name") {
		g.Name = in.text("name")
	}
	if in.given("merchantCode") {
		g.Code = in.text("merchantCode")
	}
	if in.given("description") {
		g.Description = in.text("description")
	}
	if in.given("options") {
		g.Options = in.texts("options")
	}
	if in.given("position") {
		g.Position = in.int("position")
	}
	if g.Name == "" {
		return draftError("BLANK", "Name can't be blank", "name")
	}
	if len(g.Options) > maxPlanOptions {
		return draftError("TOO_LONG", "Options is too long (maximum is 3 items)", "options")
	}
	for i, id := range in.texts("sellingPlansToDelete") {
		at := slices.IndexFunc(g.Plans, func(p sellingPlan) bool { return p.ID == args{"id": id}.number("id") })
		if at < 0 {
			return draftError("PLAN_DOES_NOT_EXIST", "Selling plan does not exist.", "sellingPlansToDelete", strconv.Itoa(i))
		}
		g.Plans = slices.Delete(g.Plans, at, at+1)
	}
	for i, plan := range in.objects("sellingPlansToUpdate") {
		path := []string{"sellingPlansToUpdate", strconv.Itoa(i)}
		if !plan.has("id") {
			return draftError("PLAN_ID_MUST_BE_SPECIFIED_TO_UPDATE", "Selling plan ID must be specified to update.", append(path, "id")...)
		}
		at := slices.IndexFunc(g.Plans, func(p sellingPlan) bool { return p.ID == plan.number("id") })
		if at < 0 {
			return draftError("PLAN_DOES_NOT_EXIST", "Selling plan does not exist.", append(path, "id")...)
		}
		if refused := x.fillPlan(&g.Plans[at], plan, path); refused != nil {
			return refused
		}
	}
	for i, plan := range in.objects("sellingPlansToCreate") {
		made := sellingPlan{Behavior: "ASAP", Reserve: "ON_FULFILLMENT", Options: []string{}}
		path := []string{"sellingPlansToCreate", strconv.Itoa(i)}
		switch {
		case !plan.has("billingPolicy"):
			return draftError("SELLING_PLAN_BILLING_POLICY_MISSING", "Missing billing policy.", append(path, "billingPolicy")...)
		case !plan.has("deliveryPolicy"):
			return draftError("SELLING_PLAN_DELIVERY_POLICY_MISSING", "Missing delivery policy.", append(path, "deliveryPolicy")...)
		}
		if refused := x.fillPlan(&made, plan, path); refused != nil {
			return refused
		}
		g.Plans = append(g.Plans, made)
	}
	return g.check()
}

// check returns the reason why a group cannot be as it is.
func (g *planGroup) check() *userError {
	if len(g.Plans) == 0 {
		return draftError("SELLING_PLAN_COUNT_LOWER_BOUND", "Must include at least one selling plan.", "sellingPlansToDelete")
	}
	if len(g.Plans) > maxPlans {
		return draftError("SELLING_PLAN_COUNT_UPPER_BOUND", "Selling plan groups can't have more than 31 selling plans.", "sellingPlansToCreate")
	}
	for i, p := range g.Plans {
		for _, q := range g.Plans[:i] {
			if p.Name == q.Name {
				return draftError("SELLING_PLAN_DUPLICATE_NAME", "Cannot have multiple selling plans with the same name.", "sellingPlansToCreate")
			}
			if len(p.Options) > 0 && slices.Equal(p.Options, q.Options) {
				return draftError("SELLING_PLAN_DUPLICATE_OPTIONS", "Cannot have multiple selling plans with the same options.", "sellingPlansToCreate")
			}
		}
		for n := 2; n <= maxPlanOptions; n++ {
			switch {
			case len(p.Options) >= n && len(g.Options) < n:
				return draftError(fmt.Sprintf("SELLING_PLAN_MISSING_OPTION%d_LABEL_ON_PARENT_GROUP", n),
					fmt.Sprintf("Cannot define option%d on this selling plan as there's no label on the parent selling plan group.", n), "options")
			case len(p.Options) < n && len(g.Options) >= n:
				return draftError(fmt.Sprintf("SELLING_PLAN_OPTION%d_REQUIRED_AS_DEFINED_ON_PARENT_GROUP", n),
					fmt.Sprintf("Selling plan's option%d is required because option%d exists.", n, n), "options")
			}
		}
	}
	return nil
}

// fillPlan applies an input to a plan and checks the plan alone.
func (x *exec) fillPlan(p *sellingPlan, in args, path []string) *userError {
	refuse := func(code, message string, below ...string) *userError {
		return draftError(code, message, slices.Concat(path, below)...)
	}
	if in.given("name") {
		p.Name = in.text("name")
	}
	if in.given("description") {
		p.Description = in.text("description")
	}
	if in.given("options") {
		p.Options = in.texts("options")
	}
	if in.given("position") {
		p.Position = in.int("position")
	}
	if in.given("category") {
		p.Category = in.text("category")
	}
	if in.has("inventoryPolicy") && in.object("inventoryPolicy").has("reserve") {
		p.Reserve = in.object("inventoryPolicy").text("reserve")
	}
	if p.Name == "" {
		return refuse("BLANK", "Name can't be blank", "name")
	}
	if in.has("metafields") {
		x.fail(codeNotSimulated, "The simulator does not simulate metafields of selling plans.")
		return nil
	}
	for _, one := range []struct {
		field, both string
		code        string
		fill        func(args)
		policy      *policy
	}{
		{"billingPolicy", "A selling plan can't have both fixed and recurring billing policies.", "BILLING", func(args) {}, &p.Billing},
		{"deliveryPolicy", "A selling plan can't have both fixed and recurring delivery policies.", "DELIVERY", p.fillDelivery, &p.Delivery},
	} {
		if !in.has(one.field) {
			continue
		}
		given := in.object(one.field)
		switch {
		case given.has("fixed") && given.has("recurring"):
			return refuse("ONLY_ONE_OF_FIXED_OR_RECURRING_"+one.code, one.both, one.field)
		case given.has("fixed"):
			x.fail(codeNotSimulated, "The simulator does not simulate fixed selling plans.")
			return nil
		case !given.has("recurring"):
			return refuse("SELLING_PLAN_"+one.code+"_POLICY_MISSING", "Missing "+map[string]string{"BILLING": "billing", "DELIVERY": "delivery"}[one.code]+" policy.", one.field)
		}
		one.policy.overlay(given.object("recurring"))
		one.fill(given.object("recurring"))
		switch {
		case one.policy.Interval == "":
			return refuse("BLANK", "Interval can't be blank", one.field, "recurring", "interval")
		case one.policy.Count < 1:
			return refuse("GREATER_THAN", "Interval count must be greater than 0", one.field, "recurring", "intervalCount")
		case one.policy.Count > maxPlanInterval:
			return refuse(one.code+"_POLICY_INTERVAL_TOO_LARGE", map[string]string{"BILLING": "Billing", "DELIVERY": "Delivery"}[one.code]+" policy's interval is too large.", one.field, "recurring", "intervalCount")
		case one.policy.MaxCycles > 0 && one.policy.MinCycles > 0 && one.policy.MaxCycles <= one.policy.MinCycles:
			return refuse("SELLING_PLAN_MAX_CYCLES_MUST_BE_GREATER_THAN_MIN_CYCLES", "Selling plan's billing policy max cycles must be greater than min cycles.", one.field, "recurring", "maxCycles")
		}
		for _, a := range one.policy.Anchors {
			if !a.fits(one.policy.Interval) {
				return refuse("INVALID", "Anchors is invalid", one.field, "recurring", "anchors")
			}
		}
	}
	if !slices.Equal(p.Billing.Anchors, p.Delivery.Anchors) {
		return refuse("SELLING_PLAN_BILLING_AND_DELIVERY_POLICY_ANCHORS_MUST_BE_EQUAL", "Selling plan's billing and delivery policies anchors must be equal.")
	}
	if !p.Billing.multipleOf(p.Delivery) {
		return refuse("SELLING_PLAN_BILLING_CYCLE_MUST_BE_A_MULTIPLE_OF_DELIVERY_CYCLE", "Selling plan's billing cycle must be a multiple of delivery cycle.")
	}
	if in.given("pricingPolicies") {
		return x.fillPrices(p, in.objects("pricingPolicies"), path)
	}
	return nil
}

func (p *sellingPlan) fillDelivery(in args) {
	if in.given("cutoff") {
		p.Cutoff = in.int("cutoff")
	}
	if in.has("preAnchorBehavior") {
		p.Behavior = in.text("preAnchorBehavior")
	}
}

// overlay changes what an input names of a policy.
func (p *policy) overlay(in args) {
	given := policyInput(in)
	if in.has("interval") {
		p.Interval = given.Interval
	}
	if in.has("intervalCount") {
		p.Count = given.Count
	}
	if in.given("anchors") {
		p.Anchors = given.Anchors
	}
	if in.given("minCycles") {
		p.MinCycles = given.MinCycles
	}
	if in.given("maxCycles") {
		p.MaxCycles = given.MaxCycles
	}
}

// fillPrices replaces a plan's pricing policies.
func (x *exec) fillPrices(p *sellingPlan, list []args, path []string) *userError {
	refuse := func(code, message string, below ...string) *userError {
		return draftError(code, message, slices.Concat(path, []string{"pricingPolicies"}, below)...)
	}
	if len(list) > maxPlanPrices {
		return refuse("SELLING_PLAN_PRICING_POLICIES_LIMIT", "Selling plans can't have more than 2 pricing policies.")
	}
	p.Prices = nil
	fixed := 0
	for i, in := range list {
		at := strconv.Itoa(i)
		if in.has("fixed") == in.has("recurring") {
			return refuse("ONLY_NEED_ONE_PRICING_POLICY_TYPE", "Only one pricing policy type can be defined.", at)
		}
		price := planPrice{CreatedAt: x.s.now()}
		given := in.object("fixed")
		if in.has("recurring") {
			given = in.object("recurring")
			price.Recurring, price.After = true, given.int("afterCycle")
			if price.After < 1 {
				return refuse("GREATER_THAN", "After cycle must be greater than 0", at, "recurring", "afterCycle")
			}
		} else {
			fixed++
		}
		price.Kind = given.text("adjustmentType")
		value := given.object("adjustmentValue")
		switch {
		case value.has("fixedValue") && value.has("percentage"):
			return refuse("ONLY_NEED_ONE_PRICING_POLICY_VALUE", "Only one pricing policy adjustment value type can be defined.", at)
		case price.Kind == "", (price.Kind == "PERCENTAGE") != value.has("percentage"):
			return refuse("PRICING_POLICY_ADJUSTMENT_VALUE_AND_TYPE_MUST_MATCH", "Pricing policy's adjustment value and adjustment type must match.", at)
		case price.Kind == "PERCENTAGE" && (value.float("percentage") < 0 || value.float("percentage") > 100):
			return refuse("LESS_THAN_OR_EQUAL_TO", "Percentage must be between 0 and 100", at)
		}
		price.Percent, price.Amount = value.float("percentage"), value.amount("fixedValue", x.shop.Currency)
		if price.Kind == "PERCENTAGE" {
			price.Amount.Minor, price.Amount.Currency = 0, ""
		}
		if price.Amount.Minor < 0 {
			return refuse("GREATER_THAN_OR_EQUAL_TO", "Adjustment value must be greater than or equal to 0", at)
		}
		p.Prices = append(p.Prices, price)
	}
	if len(list) > 0 && fixed != 1 {
		return refuse("SELLING_PLAN_PRICING_POLICIES_MUST_CONTAIN_A_FIXED_PRICING_POLICY", "Selling plan's pricing policies must contain one fixed pricing policy.")
	}
	return nil
}
