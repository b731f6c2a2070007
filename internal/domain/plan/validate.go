package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// Limits of a group and its options.
const (
	MaxOptions     = 31 // the platform's
	MaxCount       = 365
	MaxName        = 255
	MaxDescription = 5000
	MaxTags        = 1000   // characters of a list of tags
	MaxText        = 65_535 // characters of a text that is kept for integrations
	MaxOffer       = 999_999.99
)

const entity = "subscriptionGroup"

// invalid is the failure of one field of a group.
func invalid(field, key, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code(key).Field(field)
}

// Settle completes what can be left out and brings the options into their order.
func (d *Draft) Settle() {
	for i := range d.Options {
		d.Options[i] = d.Options[i].settled()
	}
	slices.SortStableFunc(d.Options, func(a, b Option) int { return a.Sequence - b.Sequence })
}

func (o Option) settled() Option {
	if o.Billing == (Frequency{}) {
		o.Billing = o.Delivery
	}
	if o.Delivery == (Frequency{}) {
		o.Delivery = o.Billing
	}
	if o.Kind == "" {
		o.Kind = PayAsYouGo
		if o.Billing != o.Delivery {
			o.Kind = Prepaid
		}
	}
	if o.Lifetime && o.MaxCycles == 0 {
		o.MaxCycles = 1
	}
	return o
}

// ValidateAlone is Validate of a change of a group that is not known. An option with
// a number keeps what is not said of it, so that only new ones can be looked at.
func (d Draft) ValidateAlone() error {
	if err := d.Terms.validate(); err != nil {
		return err
	}
	for i, o := range d.Options {
		if o.ID != 0 {
			continue
		}
		if err := o.settled().validate(fmt.Sprintf("subscriptionPlans[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// Validate returns the reason why a group cannot be as the draft says. Its
// failures are Invalid and name the field.
func (d Draft) Validate() error {
	if err := d.Terms.validate(); err != nil {
		return err
	}
	if err := CheckOptions(len(d.Options)); err != nil {
		return err
	}
	for i, o := range d.Options {
		at := fmt.Sprintf("subscriptionPlans[%d]", i)
		if err := o.validate(at); err != nil {
			return err
		}
		if slices.ContainsFunc(d.Options[:i], func(p Option) bool { return p.Name == o.Name }) {
			return invalid(at+".frequencyName", "planNameTaken", "two plans of the group have the name %q", o.Name)
		}
		if o.ID != 0 && slices.ContainsFunc(d.Options[:i], func(p Option) bool { return p.ID == o.ID }) {
			return invalid(at+".id", "planTwice", "plan %d is named twice", o.ID)
		}
	}
	return nil
}

// CheckOptions says whether a group can have so many options.
func CheckOptions(n int) error {
	switch {
	case n == 0:
		return invalid("subscriptionPlans", "planMissing", "a subscription group needs at least one plan in 'subscriptionPlans'")
	case n > MaxOptions:
		return invalid("subscriptionPlans", "tooManyPlans", "a subscription group has %d plans and can have at most %d", n, MaxOptions)
	}
	return nil
}

func (t Terms) validate() error {
	if strings.TrimSpace(t.Name) == "" {
		return invalid("groupName", "nameMissing", "field 'groupName' is required")
	}
	for _, one := range []struct {
		field, text string
		most        int
	}{
		{"groupName", t.Name, MaxName},
		{"customerTag", t.CustomerTag, MaxTags}, {"orderTag", t.OrderTag, MaxTags}, {"memberOrderTag", t.MemberOrderTag, MaxTags},
		{"productId", t.ProductID, MaxText}, {"accessoryProductIds", t.AccessoryProductIDs, MaxText}, {"translations", t.Translations, MaxText},
		{"rulesJson", t.RulesJSON, MaxText}, {"formFieldsJson", t.FormFieldsJSON, MaxText},
	} {
		if err := short(one.field, one.text, one.most); err != nil {
			return err
		}
	}
	return nil
}

func short(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return invalid(field, "textTooLong", "field '%s' has %d characters and may have at most %d", field, n, most)
	}
	return nil
}

func (o Option) validate(at string) error {
	if strings.TrimSpace(o.Name) == "" {
		return invalid(at+".frequencyName", "nameMissing", "field '%s.frequencyName' is required", at)
	}
	for _, one := range []struct {
		field, text string
		most        int
	}{
		{".frequencyName", o.Name, MaxName}, {".frequencyDescription", o.Description, MaxDescription},
		{".memberInclusiveTags", o.InclusiveTags, MaxTags}, {".memberExclusiveTags", o.ExclusiveTags, MaxTags}, {".rulesJson", o.RulesJSON, MaxText},
	} {
		if err := short(at+one.field, one.text, one.most); err != nil {
			return err
		}
	}
	for _, check := range []func(string) error{o.validateFrequency, o.validateDay, o.validateCycles, o.validateDiscounts, o.validateTrial} {
		if err := check(at); err != nil {
			return err
		}
	}
	if o.MemberOnly && o.NonMemberOnly {
		return invalid(at+".memberOnly", "memberRules", "a plan cannot be both for members only and for non-members only")
	}
	return nil
}

func (o Option) validateFrequency(at string) error {
	for _, f := range []struct {
		Frequency
		interval, count string
	}{
		{o.Delivery, ".frequencyInterval", ".frequencyCount"},
		{o.Billing, ".billingFrequencyInterval", ".billingFrequencyCount"},
	} {
		if f.Interval.String() == "" {
			return invalid(at+f.interval, "frequency", "field '%s%s' is required: DAY, WEEK, MONTH or YEAR", at, f.interval)
		}
		if err := CheckCount(at+f.count, f.Count); err != nil {
			return err
		}
	}
	if !slices.Contains(Kinds, o.Kind) {
		return invalid(at+".planType", "planType", "%q is not a type of plan", o.Kind)
	}
	if o.Kind == PayAsYouGo && o.Billing != o.Delivery {
		return invalid(at+".billingFrequencyCount", "planType", "a PAY_AS_YOU_GO plan is billed as often as it is delivered: use PREPAID to pay for several deliveries at once")
	}
	if o.covers() == 0 {
		return invalid(at+".billingFrequencyCount", "frequency", "a plan is billed every %d %s and delivered every %d %s: the first must be a multiple of the second",
			o.Billing.Count, o.Billing.Interval, o.Delivery.Count, o.Delivery.Interval)
	}
	return nil
}

// CheckCount says whether a field can be a number of intervals.
func CheckCount(field string, n int) error {
	if n < 1 || n > MaxCount {
		return invalid(field, "frequency", "field '%s' is %d and must be from 1 to %d", field, n, MaxCount)
	}
	return nil
}

func (o Option) validateDay(at string) error {
	if o.Behavior != "" && !slices.Contains(Behaviors, o.Behavior) {
		return invalid(at+".deliveryPolicyPreAnchorBehavior", "preAnchorBehavior", "%q is not a behaviour before the first fixed day", o.Behavior)
	}
	if o.Reserve != "" && !slices.Contains(Reserves, o.Reserve) {
		return invalid(at+".inventoryPolicyReserve", "inventoryPolicyReserve", "%q is not a time at which stock is set aside", o.Reserve)
	}
	if !o.Specific {
		if o.Cutoff != 0 {
			return invalid(at+".cutOff", "specificDay", "field '%s.cutOff' needs a plan on a specific day", at)
		}
		return nil
	}
	day, month := at+".specificDayValue", at+".specificMonthValue"
	switch i := o.Delivery.Interval; {
	case i == cadence.Day:
		return invalid(at+".frequencyType", "specificDay", "a plan that is delivered every few days has no specific day")
	case i != o.Billing.Interval:
		return invalid(at+".frequencyType", "specificDay", "a plan on a specific day is billed and delivered in the same unit: %s and %s differ", o.Billing.Interval, i)
	case i == cadence.Week && (o.Day < 1 || o.Day > 7):
		return invalid(day, "specificDay", "field '%s' is %d and must be from 1 (Monday) to 7", day, o.Day)
	case o.Day < 1 || o.Day > 31:
		return invalid(day, "specificDay", "field '%s' is %d and must be from 1 to 31", day, o.Day)
	case i == cadence.Year && (o.Month < 1 || o.Month > 12):
		return invalid(month, "specificDay", "field '%s' is %d and must be from 1 to 12", month, o.Month)
	case o.Cutoff < 0 || o.Cutoff > cadence.MaxCutoff:
		return invalid(at+".cutOff", "specificDay", "field '%s.cutOff' is %d and must be from 0 to %d days", at, o.Cutoff, cadence.MaxCutoff)
	}
	return nil
}

func (o Option) validateCycles(at string) error {
	switch {
	case o.MinCycles < 0 || o.MaxCycles < 0:
		return invalid(at+".minCycles", "cycles", "numbers of cycles cannot be negative")
	case o.Lifetime && (o.MaxCycles != 1 || o.MinCycles > 0):
		return invalid(at+".maxCycles", "cycles", "a lifetime membership is paid once: 'maxCycles' can only be 1, and 'minCycles' is not set")
	case o.MaxCycles != 0 && o.MinCycles != 0 && o.MaxCycles <= o.MinCycles:
		return invalid(at+".maxCycles", "cycles", "field '%s.maxCycles' is %d and must be more than 'minCycles', %d", at, o.MaxCycles, o.MinCycles)
	}
	return nil
}

func (o Option) validateDiscounts(at string) error {
	for _, one := range []struct {
		Discount
		number string
		after  string
	}{{o.First, "", ".afterCycle1"}, {o.Second, "2", ".afterCycle2"}} {
		d := one.Discount
		offer := at + ".discountOffer" + one.number
		switch {
		case d.Kind != "" && !slices.Contains(DiscountKinds, d.Kind):
			return invalid(at+".discountType"+one.number, "discount", "%q is not a type of discount", d.Kind)
		case d.Enabled && d.Kind == "":
			return invalid(at+".discountType"+one.number, "discount", "a discount needs a 'discountType%s'", one.number)
		case math.IsNaN(d.Offer) || d.Offer < 0 || d.Offer > MaxOffer:
			return invalid(offer, "discount", "field '%s' is %v and must be from 0 to %v", offer, d.Offer, MaxOffer)
		case d.Kind == Percentage && d.Offer > 100:
			return invalid(offer, "discount", "field '%s' is %v and a percentage is at most 100", offer, d.Offer)
		case d.After < 0:
			return invalid(at+one.after, "discount", "field '%s%s' cannot be negative", at, one.after)
		}
	}
	switch {
	case !o.Second.Enabled:
		return nil
	case o.First.Enabled && o.First.After != 0:
		return invalid(at+".afterCycle1", "discount", "of two discounts the first counts from the first order: 'afterCycle1' must be 0")
	case o.Second.After <= o.First.After:
		return invalid(at+".afterCycle2", "discount", "field '%s.afterCycle2' is %d and must be more than 'afterCycle1'", at, o.Second.After)
	}
	return nil
}

func (o Option) validateTrial(at string) error {
	switch {
	case !o.Trial.Enabled:
		return nil
	case o.Trial.Interval.String() == "":
		return invalid(at+".freeTrialInterval", "trial", "a free trial needs a 'freeTrialInterval': DAY, WEEK, MONTH or YEAR")
	case o.Trial.Count < 1 || o.Trial.Count > MaxCount:
		return invalid(at+".freeTrialCount", "trial", "field '%s.freeTrialCount' is %d and must be from 1 to %d", at, o.Trial.Count, MaxCount)
	case o.Second.Enabled:
		return invalid(at+".discountEnabled2", "trial", "the platform knows two prices of a plan: with a free trial there can be only one discount")
	case o.First.Enabled && o.First.After > 1:
		return invalid(at+".afterCycle1", "trial", "after a free trial the discount counts from the first order that is paid for: 'afterCycle1' can only be 0 or 1")
	}
	return nil
}
