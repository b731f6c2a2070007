package peer

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// MakePart creates a plan group, a swap rule or a bundle, and returns it as the service has it: without its
// number where the answer does not have that. It is a FailedPrecondition when the service cannot create them, or refuses
// this one.
func (e *End) MakePart(ctx context.Context, of shop.Shop, p moving.Part, key string) (moving.Part, error) {
	c := call{method: http.MethodPost, path: partPaths[p.Kind], line: p.Line, key: key, silent: true}
	var made moving.Part
	var err error
	switch p.Kind {
	case moving.GroupPart:
		c.body = groupBody(*p.Data.Group, of)
		made, err = partOf(ctx, e, c, of, groupShape.part)
	case moving.RulePart:
		c.body = ruleBody(*p.Data.Rule, of)
		made, err = partOf(ctx, e, c, of, ruleShape.part)
	case moving.BundlePart:
		c.body = bundleBody(*p.Data.Bundle, of)
		made, err = partOf(ctx, e, c, of, bundleShape.part)
	default:
		err = fault.New(fault.FailedPrecondition, "the interface creates no %s", p.Kind).Entity("move").Code(operationMissing)
	}
	made.Kind, made.Line = p.Kind, p.Line
	return made, refusedPart(err, p.Kind)
}

// partOf sends a part, and reads the answer where it has one.
func partOf[S any](ctx context.Context, e *End, c call, of shop.Shop, part func(S, shop.Shop) moving.Part) (moving.Part, error) {
	var text json.RawMessage
	if _, err := e.send(ctx, c, &text); err != nil {
		return moving.Part{}, err
	}
	var is S
	if json.Unmarshal(text, &is) == nil {
		return part(is, of), nil
	}
	return moving.Part{}, nil // the list says which one it is
}

// refusedPart says of a failure that repeating does not end that the service cannot create parts of a kind.
func refusedPart(err error, kind moving.PartKind) error {
	f, is := errors.AsType[*fault.Error](err)
	switch {
	case lacks(err):
		return fault.Because(fault.FailedPrecondition, err, "the other service cannot create a %s", kind).Entity("move").Code(operationMissing)
	case is && f.ErrorKey == scopeMissing:
		return fault.Because(fault.FailedPrecondition, err, "the key may not create a %s", kind).Entity("move").Code(scopeMissing)
	}
	return about(err, "create a %s at the other service", kind)
}

// memberBody names a customer of the loyalty programme, and what becomes of them.
type memberBody struct {
	Shop      string  `json:"shop"`
	Customer  int64   `json:"customerId"`
	FirstName string  `json:"firstName,omitempty"`
	LastName  string  `json:"lastName,omitempty"`
	Born      string  `json:"dob,omitempty"`
	Points    float64 `json:"points,omitempty"`
	Note      string  `json:"note,omitempty"`
}

// Enrol makes a customer a member of the loyalty programme.
func (e *End) Enrol(ctx context.Context, of shop.Shop, m moving.Member, key string) error {
	body := memberBody{Shop: of.Domain, Customer: m.Customer, FirstName: m.FirstName, LastName: m.LastName, Born: m.Born}
	_, err := e.send(ctx, call{method: http.MethodPost, path: "/enroll-customer", loyalty: true, body: body, key: key}, nil)
	return refusedPart(err, moving.MemberPart)
}

// ChangePoints adds points to a member, or removes some when there are less than 0.
func (e *End) ChangePoints(ctx context.Context, of shop.Shop, customer int64, by loyalty.Points, note, key string) error {
	path := "/add-points"
	if by < 0 {
		path, by = "/remove-points", -by
	}
	body := memberBody{Shop: of.Domain, Customer: customer, Points: by.Float(), Note: note}
	_, err := e.send(ctx, call{method: http.MethodPost, path: path, loyalty: true, body: body, key: key}, nil)
	return refusedPart(err, moving.MemberPart)
}

// groupBody returns what is sent to create a plan group.
func groupBody(g moving.Group, of shop.Shop) groupShape {
	t := g.Terms
	shape := groupShape{
		Shop: word(of.Domain), Name: word(t.Name), Products: itemsOf(g.Products), Variants: itemsOf(g.Variants), CustomerTag: word(t.CustomerTag), OrderTag: word(t.OrderTag), MemberOrderTag: word(t.MemberOrderTag),
		Product: word(t.ProductID), Accessories: word(t.AccessoryProductIDs), Translations: word(t.Translations), Rules: word(t.RulesJSON), FormFields: word(t.FormFieldsJSON),
	}
	for _, o := range g.Options {
		shape.Plans = append(shape.Plans, optionBody(o))
	}
	return shape
}

func itemsOf(ids []int64) itemsShape {
	var list itemsShape
	for _, n := range ids {
		list = append(list, itemShape{ID: id(n)})
	}
	return list
}

// optionBody returns a plan as it is sent, without the numbers that it has here.
func optionBody(o plan.Option) optionShape {
	s := optionShape{
		Count: id(o.Delivery.Count), Interval: word(o.Delivery.Interval.String()), BillingCount: id(o.Billing.Count), BillingInterval: word(o.Billing.Interval.String()),
		Name: word(o.Name), Description: word(o.Description), Kind: word(o.Kind),
		Enabled: new(flag(o.First.Enabled)), Offer: decimal(o.First.Offer), OfferKind: word(o.First.Kind), After: id(o.First.After), Masked: flag(o.First.Masked),
		Enabled2: new(flag(o.Second.Enabled)), Offer2: decimal(o.Second.Offer), OfferKind2: word(o.Second.Kind), After2: id(o.Second.After), Masked2: flag(o.Second.Masked),
		Type: "ON_PURCHASE_DAY", Specific: flag(o.Specific), Day: id(o.Day), Month: id(o.Month), Cutoff: id(o.Cutoff), Behavior: word(o.Behavior), Reserve: word(o.Reserve),
		Min: id(o.MinCycles), Max: id(o.MaxCycles), Trial: new(flag(o.Trial.Enabled)), TrialCount: id(o.Trial.Count), KeepDate: flag(o.Trial.KeepDate),
		MemberOnly: flag(o.MemberOnly), NonMemberOnly: flag(o.NonMemberOnly), Inclusive: word(o.InclusiveTags), Exclusive: word(o.ExclusiveTags), Lifetime: flag(o.Lifetime),
		Exchange: new(flag(o.Exchange)), Rules: word(o.RulesJSON), Sequence: id(o.Sequence),
	}
	if o.Specific {
		s.Type = "ON_SPECIFIC_DAY"
	}
	if o.Trial.Count > 0 {
		s.TrialInterval = word(o.Trial.Interval.String())
	}
	return s
}

// ruleBody returns what is sent to create a swap rule.
func ruleBody(r swap.Rule, of shop.Shop) ruleShape {
	items := func(list []swap.Product) itemsShape {
		var items itemsShape
		for _, p := range list {
			items = append(items, itemShape{ID: id(p.VariantID), Name: word(p.Name), Image: word(p.Image), Quantity: id(p.Quantity)})
		}
		return items
	}
	shape := ruleShape{
		Shop: word(of.Domain), Name: word(r.Name), Sources: items(r.Sources), Destinations: items(r.Destinations), FirstOrder: flag(r.FirstOrder), EveryOrder: flag(r.EveryOrder),
		Carry: flag(r.CarryDiscount), NoEmail: flag(r.NoEmail), Cycle: id(r.Cycle), Sequence: id(r.Sequence), Discount: word(r.Discount),
	}
	if r.ShiftDays != nil {
		shape.Shift = new(decimal(*r.ShiftDays))
	}
	return shape
}

// bundleBody returns what is sent to create a bundle.
func bundleBody(b bundle.Settings, of shop.Shop) map[string]any {
	body := map[string]any{}
	for _, fields := range []any{b.Texts, b.Look, b.Page} {
		spell(body, fields)
	}
	within := func(name string, fields any) {
		inner := map[string]any{}
		spell(inner, fields)
		body[name] = inner
	}
	within("displaySettings", b.Display)
	within("notifications", b.Notify)
	within("substitution", b.Swaps)
	within("recommendations", b.Advice)
	limits := map[string]any{}
	for name, l := range b.Rules.CategoryLimits {
		limits[name] = map[string]int{"min": l.Min, "max": l.Max}
	}
	tiers := []any{}
	for _, t := range b.Pricing.Tiers {
		tiers = append(tiers, map[string]any{"minProducts": t.MinProducts, "discountPercent": t.Percent})
	}
	custom := []json.RawMessage{}
	for _, object := range b.Custom {
		custom = append(custom, json.RawMessage(object))
	}
	plans := []string{}
	for _, p := range b.Plans {
		plans = append(plans, strconv.FormatInt(p, 10))
	}
	for name, value := range map[string]any{
		"shop": of.Domain, "shopCustomizationData": custom, "enabled": b.Rules.Enabled, "minProducts": b.Rules.MinProducts, "maxProducts": b.Rules.MaxProducts,
		"minBundleValue": b.Rules.MinValue.Float(), "maxBundleValue": b.Rules.MaxValue.Float(), "pricingModel": b.Pricing.Model, "fixedBundlePrice": b.Pricing.Fixed.Float(),
		"allowModifications": b.Rules.AllowModifications, "lockAfterFirstOrder": b.Rules.LockAfterFirstOrder, "enableProductRotation": b.Pricing.Rotates,
		"requireCategoryDiversity": b.Rules.NeedsSeveralCategory, "modificationCutoffDays": b.Rules.CutoffDays, "maxSwapsPerCycle": b.Rules.MaxSwaps, "categoryLimits": limits,
		"discounts": map[string]any{"enableVolumeDiscounts": b.Pricing.Volume, "volumeDiscountTiers": tiers}, "sellingPlanIds": plans,
	} {
		body[name] = value
	}
	return body
}

// spelled are the fields of bundles that the interface spells in another way than with a small first letter.
var spelled = map[string]string{
	"BundleTopHTML": "bundleTopHtml", "BundleBottomHTML": "bundleBottomHtml", "SkipFilterVariantsByAllocationsID": "skipFilterVariantsByAllocationsId",
	"AllowCustomerToApproveSubstitutes": "allowCustomerToApproveSubstitutions",
}

// spell adds the fields of a struct to an object, as the interface spells them.
func spell(object map[string]any, fields any) {
	for f, v := range reflect.ValueOf(fields).Fields() {
		name := spelled[f.Name]
		if name == "" {
			name = strings.ToLower(f.Name[:1]) + f.Name[1:]
		}
		object[name] = v.Interface()
	}
}
