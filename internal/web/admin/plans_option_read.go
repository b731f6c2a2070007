package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

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
	r := planOption{GroupID: groupNumber(g.ID), PlanSequence: int32Of(place + 1)}
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

// intervalOf reads an interval that may be left out.
func intervalOf(field, text string) (cadence.Interval, error) {
	if text == "" {
		return 0, nil
	}
	i, err := cadence.ParseInterval(text)
	return i, atField(err, field)
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
