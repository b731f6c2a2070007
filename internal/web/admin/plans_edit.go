package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// groupEdit is what callers say of a group.
type groupEdit struct {
	ID                  web.AnyID            `json:"id,omitempty" doc:"In a change: the service's number of the group, or the platform's number or graph id of the selling plan group. Ignored when a group is made."`
	Shop                string               `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	GroupName           *string              `json:"groupName,omitempty" maxLength:"255" doc:"Required when a group is made." example:"Subscribe and save"`
	ProductIDs          itemList[ofProducts] `json:"productIds,omitzero"`
	VariantIDs          itemList[ofVariants] `json:"variantIds,omitzero"`
	UpdateProducts      *groupItems          `json:"updateProducts,omitempty" doc:"Products and variants to be added to those that the group has."`
	DeleteProducts      *groupItems          `json:"deleteProducts,omitempty" doc:"Products and variants to be removed from those that the group has."`
	ProductID           *string              `json:"productId,omitempty" nullable:"true" maxLength:"65535" doc:"Kept for integrations; the service does not act on it. null or an empty text clears it." example:"3001"`
	AccessoryProductIDs *string              `json:"accessoryProductIds,omitempty" nullable:"true" maxLength:"65535" doc:"Kept for integrations; the service does not act on it. null or an empty text clears it." example:"3002,3003"`
	Translations        *string              `json:"translations,omitempty" nullable:"true" maxLength:"65535" doc:"Kept for integrations; the service does not act on it. null or an empty text clears it." example:"{\"fr\":\"Abonnement\"}"`
	RulesJSON           *string              `json:"rulesJson,omitempty" nullable:"true" maxLength:"65535" doc:"Kept for integrations; the service does not act on it. null or an empty text clears it." example:"[]"`
	FormFieldsJSON      *string              `json:"formFieldsJson,omitempty" nullable:"true" maxLength:"65535" doc:"Kept for integrations; the service does not act on it. null or an empty text clears it." example:"[]"`
	CustomerTag         *string              `json:"customerTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for customers, separated by commas: they have them while a contract of theirs on a plan of the group is ACTIVE. null or an empty text clears them." example:"subscriber"`
	OrderTag            *string              `json:"orderTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for first orders, separated by commas. null or an empty text clears them." example:"first-subscription"`
	MemberOrderTag      *string              `json:"memberOrderTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for renewals, separated by commas. null or an empty text clears them." example:"renewal"`
	SubscriptionPlans   *[]planOption        `json:"subscriptionPlans,omitempty" minItems:"1" maxItems:"31" doc:"Required when a group is made."`
	plans               []json.RawMessage    // SubscriptionPlans as they were sent
}

// groupItems names products and variants.
type groupItems struct {
	ProductIDs itemList[ofProducts] `json:"productIds,omitzero"`
	VariantIDs itemList[ofVariants] `json:"variantIds,omitzero"`
}

func (i *groupItems) assigned() plan.Assigned {
	if i == nil {
		return plan.Assigned{}
	}
	return plan.Assigned{Products: i.ProductIDs.ids, Variants: i.VariantIDs.ids}
}

// GroupIn is a body that describes a group.
type GroupIn struct {
	web.JSONBody
}

// over lays the body over a group's terms.
func (in *GroupIn) over(terms plan.Terms) (groupEdit, error) {
	e := groupEdit{
		GroupName: &terms.Name, ProductID: &terms.ProductID, AccessoryProductIDs: &terms.AccessoryProductIDs, Translations: &terms.Translations,
		RulesJSON: &terms.RulesJSON, FormFieldsJSON: &terms.FormFieldsJSON, CustomerTag: &terms.CustomerTag, OrderTag: &terms.OrderTag, MemberOrderTag: &terms.MemberOrderTag,
	}
	if err := in.Into(&e); err != nil {
		return groupEdit{}, err
	}
	if err := in.known(); err != nil {
		return groupEdit{}, err
	}
	var sent struct {
		SubscriptionPlans json.RawMessage `json:"subscriptionPlans"`
	}
	if err := in.Into(&sent); err != nil || sent.SubscriptionPlans == nil {
		return e, err
	}
	err := json.Unmarshal(sent.SubscriptionPlans, &e.plans)
	if e.plans == nil {
		e.plans = []json.RawMessage{} // null asks for none, as an empty list does
	}
	return e, err
}

// known refuses a field that a group or a plan does not have. What is not stored must not
// look as if it were.
func (in *GroupIn) known() error {
	var body struct {
		Plans  []json.RawMessage `json:"subscriptionPlans"`
		Update json.RawMessage   `json:"updateProducts"`
		Delete json.RawMessage   `json:"deleteProducts"`
	}
	var all json.RawMessage
	if err := in.Into(&all); err != nil {
		return err
	}
	if err := in.Into(&body); err != nil {
		return err
	}
	if err := onlyFields(all, "", groupEdit{}, subscriptionGroup{}); err != nil {
		return err
	}
	for i, p := range body.Plans {
		if err := onlyFields(p, fmt.Sprintf("subscriptionPlans[%d].", i), planOption{}); err != nil {
			return err
		}
	}
	if err := onlyFields(body.Update, "updateProducts.", groupItems{}); err != nil {
		return err
	}
	return onlyFields(body.Delete, "deleteProducts.", groupItems{})
}

// onlyFields refuses a JSON object that has a field which none of the shapes has. What is
// not an object is left to the operation, which reads it.
func onlyFields(text json.RawMessage, at string, shapes ...any) error {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object) // what is not an object has no fields
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(shapes, func(shape any) bool { return hasField(shape, name) }) {
			return fault.New(fault.Invalid, "field '%s%.80s' is not known: leave it out", at, name).Entity("subscriptionGroup").Code("unknownField").Field(at + name)
		}
	}
	return nil
}

// hasField reports whether a shape has a field of that name, in any letter case, as it is
// read from JSON.
func hasField(shape any, name string) bool {
	of := reflect.TypeOf(shape)
	for i := range of.NumField() {
		if is, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); is != "" && strings.EqualFold(is, name) {
			return true
		}
	}
	return false
}

func (e groupEdit) terms() plan.Terms {
	return plan.Terms{
		Name: text(e.GroupName), ProductID: text(e.ProductID), AccessoryProductIDs: text(e.AccessoryProductIDs), Translations: text(e.Translations),
		RulesJSON: text(e.RulesJSON), FormFieldsJSON: text(e.FormFieldsJSON), CustomerTag: text(e.CustomerTag), OrderTag: text(e.OrderTag), MemberOrderTag: text(e.MemberOrderTag),
	}
}

func (h groupHandlers) createGroup(ctx context.Context, in *GroupIn) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	e, err := in.over(plan.Terms{})
	if err == nil {
		err = ownShop(e.Shop, caller, "shop")
	}
	if err != nil {
		return nil, err
	}
	draft := plan.Draft{Terms: e.terms()}
	if draft.Options, err = optionsOver(e.plans, plan.Group{}); err != nil {
		return nil, err
	}
	named := e.UpdateProducts.assigned()
	return newGroupOut(h.plans.Create(ctx, caller.Shop.ID, plan.CreateCommand{
		Line: h.line, Draft: draft, Actor: caller.Actor,
		Sold: plan.Assigned{Products: append(e.ProductIDs.ids, named.Products...), Variants: append(e.VariantIDs.ids, named.Variants...)},
	}))
}

type editGroupIn struct {
	GroupPath
	GroupIn
}

func (h groupHandlers) editGroup(ctx context.Context, in *editGroupIn) (*groupOut, error) {
	return h.edit(ctx, in.ID, &in.GroupIn)
}

func (h groupHandlers) editNamedGroup(ctx context.Context, in *GroupIn) (*groupOut, error) {
	return h.edit(ctx, "", in)
}

// edit changes the group that the path or the body names.
func (h groupHandlers) edit(ctx context.Context, path string, in *GroupIn) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	e, err := in.over(plan.Terms{Name: "as it is"})
	if err == nil {
		err = ownShop(e.Shop, caller, "shop")
	}
	switch {
	case err != nil:
		return nil, err
	case path == "" && (e.ID == "" || e.ID == "0"):
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the subscription group").Code("bodyField").Field("id")
	}
	if err := e.alone(); err != nil {
		return nil, err
	}
	id, err := h.groupID(ctx, caller, "id", cmp.Or(path, string(e.ID)))
	if err != nil {
		return nil, err
	}
	if path != "" && e.ID != "" {
		named, err := h.groupID(ctx, caller, "id", string(e.ID))
		if fault.Is(err, fault.NotFound) || err == nil && named != id {
			err = fault.New(fault.Invalid, "field 'id' is %s and the path names subscription group %d", e.ID, id).Code("fieldReadOnly").Field("id")
		}
		if err != nil {
			return nil, err
		}
	}
	g, err := h.book.PlanGroup(ctx, caller.Shop.ID, h.line, id)
	if err != nil {
		return nil, err
	}
	if e, err = in.over(g.Terms); err != nil {
		return nil, err
	}
	if err := in.countsOf(e, g); err != nil {
		return nil, err
	}
	draft := plan.Draft{Terms: e.terms(), Options: g.Options}
	if e.plans != nil {
		if draft.Options, err = optionsOver(e.plans, g); err != nil {
			return nil, err
		}
	}
	command := plan.UpdateCommand{Line: h.line, ID: g.ID, Version: g.Version, Draft: &draft, Actor: caller.Actor}
	command.Assign = plan.Assignment{Add: e.UpdateProducts.assigned(), Remove: e.DeleteProducts.assigned()}
	if e.ProductIDs.set {
		command.Assign.Products = &e.ProductIDs.ids
	}
	if e.VariantIDs.set {
		command.Assign.Variants = &e.VariantIDs.ids
	}
	return newGroupOut(h.plans.Update(ctx, caller.Shop.ID, command))
}

// alone says what is wrong with a change whatever the group is.
func (e groupEdit) alone() error {
	plans, err := optionsOver(e.plans, plan.Group{})
	if err != nil {
		return err
	}
	if e.plans != nil {
		if err := plan.CheckOptions(len(plans)); err != nil {
			return err
		}
	}
	return plan.Draft{Terms: e.terms(), Options: plans}.ValidateAlone()
}

// countsOf refuses a record in which something differs that the service counts. A count
// may be that of the list that the record has instead of the group's.
func (in *GroupIn) countsOf(e groupEdit, g plan.Group) error {
	is := newSubscriptionGroup(g)
	become := struct {
		ProductCount        *int64  `json:"productCount"`
		ProductVariantCount *int64  `json:"productVariantCount"`
		SellingPlanGroupID  *string `json:"sellingPlanGroupId"`
	}{}
	if err := in.Into(&become); err != nil {
		return err
	}
	for field, differs := range map[string]bool{
		"productCount":        become.ProductCount != nil && *become.ProductCount != is.ProductCount && !e.ProductIDs.counts(*become.ProductCount),
		"productVariantCount": become.ProductVariantCount != nil && *become.ProductVariantCount != is.ProductVariantCount && !e.VariantIDs.counts(*become.ProductVariantCount),
		"sellingPlanGroupId":  become.SellingPlanGroupID != nil && *become.SellingPlanGroupID != is.SellingPlanGroupID,
	} {
		if differs {
			return fault.New(fault.Invalid, "field '%s' belongs to the service and cannot be changed", field).Entity("subscriptionGroup").Code("fieldReadOnly").Field(field)
		}
	}
	return nil
}

// optionsOver lays plans of a body over those of a group.
func optionsOver(plans []json.RawMessage, g plan.Group) ([]plan.Option, error) {
	list := make([]plan.Option, len(plans))
	for i, raw := range plans {
		at := fmt.Sprintf("subscriptionPlans[%d]", i)
		o, err := optionOver(raw, g, i, at+".")
		if err != nil {
			return nil, err
		}
		list[i] = o
	}
	return list, nil
}

// presence says which of the fields that depend on each other a body has.
type presence struct {
	PlanType           *json.RawMessage `json:"planType"`
	PrepaidFlag        *json.RawMessage `json:"prepaidFlag"`
	FrequencyType      *json.RawMessage `json:"frequencyType"`
	SpecificDayEnabled *json.RawMessage `json:"specificDayEnabled"`
	BillingCount       *json.RawMessage `json:"billingFrequencyCount"`
	BillingInterval    *json.RawMessage `json:"billingFrequencyInterval"`
}

// optionOver lays one plan over the group's plan of that id, or over a new one.
func optionOver(raw json.RawMessage, g plan.Group, place int, at string) (plan.Option, error) {
	var name struct {
		ID    planID `json:"id"`
		IDNew planID `json:"idNew"`
	}
	var has presence
	for _, into := range []any{&name, &has} {
		if err := json.Unmarshal(raw, into); err != nil {
			return plan.Option{}, planField(err, at)
		}
	}
	id, err := name.ID.number(at + "id")
	if err != nil {
		return plan.Option{}, err
	}
	other, err := name.IDNew.number(at + "idNew")
	if err != nil {
		return plan.Option{}, err
	}
	if id != 0 && other != 0 && id != other {
		return plan.Option{}, fault.New(fault.Invalid, "'%sid' and '%sidNew' name different plans", at, at).Code("bodyField").Field(at + "idNew")
	}
	id = max(id, other)
	r := planOption{GroupID: groupNumber(g.ID), PlanSequence: given(place + 1)}
	is, known := g.Option(id)
	if known && id != 0 {
		r = newPlanOption(is, g.ID, g.Name)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return plan.Option{}, planField(err, at)
	}
	if g.ID != 0 && r.GroupID != 0 && int64(r.GroupID) != int64(g.ID) && int64(r.GroupID) != g.PlatformID {
		return plan.Option{}, fault.New(fault.Invalid, "'%sgroupId' is %d: a plan cannot move to another group", at, r.GroupID).Code("fieldReadOnly").Field(at + "groupId")
	}
	o, err := r.option(at, has)
	o.ID = id
	if is.Reserve != "" && o.Reserve == "" { // sent as the platform's default, or left as it is
		o.Reserve = plan.OnFulfillment
	}
	return o, err
}

// option reads a record.
func (r planOption) option(at string, has presence) (plan.Option, error) {
	o := plan.Option{
		Name: r.FrequencyName, Description: text(r.FrequencyDescription), Day: whole(r.SpecificDayValue), Month: whole(r.SpecificMonthValue), Cutoff: whole(r.CutOff),
		MinCycles: whole(r.MinCycles), MaxCycles: whole(r.MaxCycles), MemberOnly: r.MemberOnly, NonMemberOnly: r.NonMemberOnly,
		InclusiveTags: text(r.MemberInclusiveTags), ExclusiveTags: text(r.MemberExclusiveTags), Lifetime: r.LifeTimeMembership,
		Exchange: r.AllowedForExchange == nil || *r.AllowedForExchange, RulesJSON: text(r.RulesJSON), Sequence: whole(r.PlanSequence),
		Trial: plan.Trial{Enabled: yesOr(r.FreeTrialEnabled, whole(r.FreeTrialCount) > 0), Count: whole(r.FreeTrialCount), KeepDate: r.KeepOriginalDate},
	}
	var err error
	if o.Kind, err = r.kind(at, has); err != nil {
		return o, err
	}
	if o.Specific, err = r.specific(at, has); err != nil {
		return o, err
	}
	if o.Delivery, err = frequency(at, "frequencyInterval", r.FrequencyInterval, r.FrequencyCount); err != nil {
		return o, err
	}
	if o.Billing, err = frequency(at, "billingFrequencyInterval", r.BillingFrequencyInterval, r.BillingFrequencyCount); err != nil {
		return o, err
	}
	if o.Kind == plan.PayAsYouGo && has.BillingCount == nil && has.BillingInterval == nil {
		o.Billing = o.Delivery
	}
	if o.First, err = discount(at, "discountType", r.DiscountEnabled, r.DiscountOffer, r.DiscountType, r.AfterCycle1, r.DiscountEnabledMasked); err != nil {
		return o, err
	}
	if o.Second, err = discount(at, "discountType2", r.DiscountEnabled2, r.DiscountOffer2, r.DiscountType2, r.AfterCycle2, r.DiscountEnabled2Masked); err != nil {
		return o, err
	}
	if o.Trial.Interval, err = intervalOf(at+"freeTrialInterval", text(r.FreeTrialInterval)); err != nil {
		return o, err
	}
	if reserve := text(r.InventoryReserve); reserve != "" {
		if o.Reserve, err = web.ParseEnum(at+"inventoryPolicyReserve", reserve, plan.Reserves); err != nil {
			return o, err
		}
	}
	if behavior := text(r.PreAnchorBehavior); behavior != "" {
		o.Behavior, err = web.ParseEnum(at+"deliveryPolicyPreAnchorBehavior", behavior, plan.Behaviors)
	}
	return o, err
}

// kind reads planType and prepaidFlag, which say the same: the one that was sent
// counts, and both must agree.
func (r planOption) kind(at string, has presence) (plan.Kind, error) {
	var kind plan.Kind
	var err error
	if r.PlanType != "" {
		if kind, err = web.ParseEnum(at+"planType", r.PlanType, plan.Kinds); err != nil {
			return "", err
		}
	}
	if r.PrepaidFlag == "" {
		return kind, nil
	}
	prepaid, err := strconv.ParseBool(r.PrepaidFlag)
	if err != nil {
		return "", fault.New(fault.Invalid, "'%sprepaidFlag' must be \"true\" or \"false\", and %q is neither", at, r.PrepaidFlag).Code("bodyField").Field(at + "prepaidFlag")
	}
	switch {
	case kind != "" && prepaid == (kind != plan.PayAsYouGo), has.PrepaidFlag == nil:
		return kind, nil
	case has.PlanType != nil && kind != "":
		return "", fault.New(fault.Invalid, "'%sprepaidFlag' is %s and '%splanType' is %s", at, r.PrepaidFlag, at, kind).Code("bodyField").Field(at + "prepaidFlag")
	case prepaid:
		return plan.Prepaid, nil
	}
	return plan.PayAsYouGo, nil
}

// specific reads frequencyType and specificDayEnabled in the same way.
func (r planOption) specific(at string, has presence) (bool, error) {
	byType := false
	if r.FrequencyType != "" {
		word, err := web.ParseEnum(at+"frequencyType", r.FrequencyType, []string{onPurchaseDay, onSpecificDay})
		if err != nil {
			return false, err
		}
		byType = word == onSpecificDay
	}
	switch {
	case byType == r.SpecificDayEnabled, has.SpecificDayEnabled == nil:
		return byType, nil
	case has.FrequencyType != nil:
		return false, fault.New(fault.Invalid, "'%sspecificDayEnabled' is %t and '%sfrequencyType' is %s", at, r.SpecificDayEnabled, at, r.FrequencyType).
			Code("bodyField").Field(at + "specificDayEnabled")
	}
	return r.SpecificDayEnabled, nil
}

func frequency(at, field, interval string, count *int32) (plan.Frequency, error) {
	i, err := intervalOf(at+field, interval)
	if i == 0 && count == nil {
		return plan.Frequency{}, err
	}
	if err == nil && count != nil { // what is not said is taken from the other frequency
		err = plan.CheckCount(at+strings.TrimSuffix(field, "Interval")+"Count", whole(count))
	}
	return plan.Frequency{Interval: i, Count: whole(count)}, err
}

func discount(at, field string, enabled *bool, offer *float64, kind *string, after *int32, masked bool) (plan.Discount, error) {
	d := plan.Discount{After: whole(after), Masked: masked}
	if offer != nil {
		d.Offer, d.Kind = *offer, plan.Percentage
	}
	d.Enabled = yesOr(enabled, d.Offer > 0)
	var err error
	if k := text(kind); k != "" {
		d.Kind, err = web.ParseEnum(at+field, k, plan.DiscountKinds)
	}
	return d, err
}

// yesOr returns what a field says, or what it means when it is left out.
func yesOr(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// planField is the failure of a plan that cannot be read.
func planField(err error, at string) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "field '%s%s' cannot be a %s", at, wrong.Field, wrong.Value).Code("bodyField").Field(at + wrong.Field)
	}
	return fault.Because(fault.Invalid, err, "field '%s' is not a plan", at).Code("bodyField").Field(at)
}

// atField names the field at fault.
func atField(err error, field string) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Field(field)
	}
	return err
}
