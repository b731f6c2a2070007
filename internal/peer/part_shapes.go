package peer

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// flag is a truth value that may be a text or null.
type flag bool

// UnmarshalJSON reads it.
func (f *flag) UnmarshalJSON(text []byte) error {
	*f = flag(strings.EqualFold(strings.Trim(string(text), `"`), "true"))
	return nil
}

// decimal is a number that may be a text or null.
type decimal float64

// UnmarshalJSON reads it.
func (d *decimal) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		*d = decimal(n)
	}
	return nil
}

// itemShape is a product or a variant: an object, or its number alone.
type itemShape struct {
	ID       id
	Name     word
	Image    word
	Quantity id
}

// UnmarshalJSON reads it.
func (i *itemShape) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return i.ID.UnmarshalJSON(text)
	}
	var is struct {
		ID       id   `json:"id"`
		Name     word `json:"displayName"`
		Image    word `json:"imageSrc"`
		Quantity *id  `json:"quantity"`
	}
	err := json.Unmarshal(text, &is)
	i.ID, i.Name, i.Image, i.Quantity = is.ID, is.Name, is.Image, 1
	if is.Quantity != nil {
		i.Quantity = *is.Quantity
	}
	return err
}

// itemsShape is a list of products or variants: an array, JSON text of one, or numbers separated by commas.
type itemsShape []itemShape

// UnmarshalJSON reads it.
func (l *itemsShape) UnmarshalJSON(text []byte) error {
	*l = nil
	var s string
	if json.Unmarshal(text, &s) == nil && s != "" {
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "[") {
			text = []byte(s)
		} else {
			for one := range strings.SplitSeq(s, ",") {
				*l = append(*l, itemShape{ID: id(number(strings.TrimSpace(one))), Quantity: 1})
			}
			return nil
		}
	}
	if len(text) == 0 || text[0] != '[' {
		return nil
	}
	return json.Unmarshal(text, (*[]itemShape)(l))
}

// MarshalJSON writes it as the JSON text of an array.
func (l itemsShape) MarshalJSON() ([]byte, error) {
	type item struct {
		ID       id   `json:"id"`
		Name     word `json:"displayName,omitempty"`
		Image    word `json:"imageSrc,omitempty"`
		Quantity id   `json:"quantity,omitempty"`
	}
	list := make([]item, len(l))
	for n, i := range l {
		list[n] = item(i)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}

func (l itemsShape) numbers() []int64 {
	var ids []int64
	for _, i := range l {
		if i.ID > 0 {
			ids = append(ids, int64(i.ID))
		}
	}
	return ids
}

func (l itemsShape) products() []swap.Product {
	list := []swap.Product{}
	for _, i := range l {
		list = append(list, swap.Product{VariantID: int64(i.ID), Name: string(i.Name), Image: string(i.Image), Quantity: int(i.Quantity)})
	}
	return list
}

// groupShape is a plan group.
type groupShape struct {
	Shop           word          `json:"shop,omitzero"`
	ID             id            `json:"id,omitzero"`
	Name           word          `json:"groupName,omitzero"`
	Products       itemsShape    `json:"productIds,omitzero"`
	Variants       itemsShape    `json:"variantIds,omitzero"`
	CustomerTag    word          `json:"customerTag,omitzero"`
	OrderTag       word          `json:"orderTag,omitzero"`
	MemberOrderTag word          `json:"memberOrderTag,omitzero"`
	Product        word          `json:"productId,omitzero"`
	Accessories    word          `json:"accessoryProductIds,omitzero"`
	Translations   word          `json:"translations,omitzero"`
	Rules          word          `json:"rulesJson,omitzero"`
	FormFields     word          `json:"formFieldsJson,omitzero"`
	Plans          []optionShape `json:"subscriptionPlans,omitzero"`
}

func (g groupShape) part(shop.Shop) moving.Part {
	group := &moving.Group{
		Terms: plan.Terms{
			Name: string(g.Name), CustomerTag: string(g.CustomerTag), OrderTag: string(g.OrderTag), MemberOrderTag: string(g.MemberOrderTag), ProductID: string(g.Product),
			AccessoryProductIDs: string(g.Accessories), Translations: string(g.Translations), RulesJSON: string(g.Rules), FormFieldsJSON: string(g.FormFields),
		},
		Products: g.Products.numbers(), Variants: g.Variants.numbers(),
	}
	for n, o := range g.Plans {
		group.Options = append(group.Options, o.option(n+1))
	}
	return moving.Part{PartKey: moving.PartKey{There: keyOf(g.ID)}, Name: string(g.Name), Data: moving.PartData{Group: group}}
}

// optionShape is a plan option.
type optionShape struct {
	ID              id      `json:"id,omitzero"`
	IDNew           id      `json:"idNew,omitzero"`
	Count           id      `json:"frequencyCount,omitzero"`
	Interval        word    `json:"frequencyInterval,omitzero"`
	BillingCount    id      `json:"billingFrequencyCount,omitzero"`
	BillingInterval word    `json:"billingFrequencyInterval,omitzero"`
	Name            word    `json:"frequencyName,omitzero"`
	Description     word    `json:"frequencyDescription,omitzero"`
	Kind            word    `json:"planType,omitzero"`
	Prepaid         flag    `json:"prepaidFlag,omitzero"`
	Enabled         *flag   `json:"discountEnabled,omitzero"`
	Offer           decimal `json:"discountOffer,omitzero"`
	OfferKind       word    `json:"discountType,omitzero"`
	After           id      `json:"afterCycle1,omitzero"`
	Masked          flag    `json:"discountEnabledMasked,omitzero"`
	Enabled2        *flag   `json:"discountEnabled2,omitzero"`
	Offer2          decimal `json:"discountOffer2,omitzero"`
	OfferKind2      word    `json:"discountType2,omitzero"`
	After2          id      `json:"afterCycle2,omitzero"`
	Masked2         flag    `json:"discountEnabled2Masked,omitzero"`
	Type            word    `json:"frequencyType,omitzero"`
	Specific        flag    `json:"specificDayEnabled,omitzero"`
	Day             id      `json:"specificDayValue,omitzero"`
	Month           id      `json:"specificMonthValue,omitzero"`
	Cutoff          id      `json:"cutOff,omitzero"`
	Behavior        word    `json:"deliveryPolicyPreAnchorBehavior,omitzero"`
	Reserve         word    `json:"inventoryPolicyReserve,omitzero"`
	Min             id      `json:"minCycles,omitzero"`
	Max             id      `json:"maxCycles,omitzero"`
	Trial           *flag   `json:"freeTrialEnabled,omitzero"`
	TrialCount      id      `json:"freeTrialCount,omitzero"`
	TrialInterval   word    `json:"freeTrialInterval,omitzero"`
	KeepDate        flag    `json:"keepOriginalNextBillingDateAfterTrial,omitzero"`
	MemberOnly      flag    `json:"memberOnly,omitzero"`
	NonMemberOnly   flag    `json:"nonMemberOnly,omitzero"`
	Inclusive       word    `json:"memberInclusiveTags,omitzero"`
	Exclusive       word    `json:"memberExclusiveTags,omitzero"`
	Lifetime        flag    `json:"lifeTimeMembership,omitzero"`
	Exchange        *flag   `json:"allowedForUpgradeDowngrade,omitzero"`
	Rules           word    `json:"rulesJson,omitzero"`
	Sequence        id      `json:"planSequence,omitzero"`
}

// option returns the option; place is where it stands in its group, from 1.
func (s optionShape) option(place int) plan.Option {
	o := plan.Option{
		ID: int64(max(s.ID, s.IDNew)), Name: string(s.Name), Description: string(s.Description), Kind: plan.Kind(strings.ToUpper(string(s.Kind))),
		Delivery: frequency(s.Interval, s.Count), Billing: frequency(s.BillingInterval, s.BillingCount),
		Specific: bool(s.Specific) || strings.EqualFold(string(s.Type), "ON_SPECIFIC_DAY"), Day: int(s.Day), Month: int(s.Month), Cutoff: int(s.Cutoff),
		Behavior: plan.Behavior(strings.ToUpper(string(s.Behavior))), Reserve: plan.Reserve(strings.ToUpper(string(s.Reserve))), MinCycles: int(s.Min), MaxCycles: int(s.Max),
		First:  discount(s.Enabled, s.Offer, s.OfferKind, s.After, s.Masked),
		Second: discount(s.Enabled2, s.Offer2, s.OfferKind2, s.After2, s.Masked2),
		Trial: plan.Trial{
			Enabled: orElse(s.Trial, s.TrialCount > 0), Interval: interval(s.TrialInterval), Count: int(s.TrialCount), KeepDate: bool(s.KeepDate),
		},
		MemberOnly: bool(s.MemberOnly), NonMemberOnly: bool(s.NonMemberOnly), InclusiveTags: string(s.Inclusive), ExclusiveTags: string(s.Exclusive), Lifetime: bool(s.Lifetime),
		Exchange: orElse(s.Exchange, true), RulesJSON: string(s.Rules), Sequence: int(s.Sequence),
	}
	if o.Kind == "" && s.Prepaid {
		o.Kind = plan.Prepaid
	}
	if o.Billing == (plan.Frequency{}) {
		o.Billing = o.Delivery
	}
	if o.Sequence == 0 {
		o.Sequence = place
	}
	return o
}

func orElse(f *flag, other bool) bool {
	if f == nil {
		return other
	}
	return bool(*f)
}

func interval(text word) cadence.Interval {
	i, _ := cadence.ParseInterval(strings.ToUpper(string(text))) // an unknown one is not valid
	return i
}

func frequency(text word, count id) plan.Frequency {
	if text == "" && count == 0 {
		return plan.Frequency{}
	}
	return plan.Frequency{Interval: interval(text), Count: int(count)}
}

func discount(enabled *flag, offer decimal, kind word, after id, masked flag) plan.Discount {
	d := plan.Discount{Enabled: orElse(enabled, offer > 0), Offer: float64(offer), Kind: plan.DiscountKind(strings.ToUpper(string(kind))), After: int(after), Masked: bool(masked)}
	if d.Kind == "" && offer > 0 {
		d.Kind = plan.Percentage
	}
	return d
}

// ruleShape is a product swap rule.
type ruleShape struct {
	Shop         word       `json:"shop,omitzero"`
	ID           id         `json:"id,omitzero"`
	Name         word       `json:"name,omitzero"`
	Sources      itemsShape `json:"sourceVariants,omitzero"`
	Destinations itemsShape `json:"destinationVariants,omitzero"`
	FirstOrder   flag       `json:"updatedFirstOrder,omitzero"`
	EveryOrder   flag       `json:"checkForEveryRecurringOrder,omitzero"`
	Carry        flag       `json:"carryDiscountForward,omitzero"`
	NoEmail      flag       `json:"stopSwapEmails,omitzero"`
	Shift        *decimal   `json:"changeNextOrderDateBy,omitzero"`
	Cycle        id         `json:"forBillingCycle,omitzero"`
	Sequence     id         `json:"ruleSequence,omitzero"`
	Discount     word       `json:"discountCarryForward,omitzero"`
}

func (r ruleShape) part(shop.Shop) moving.Part {
	rule := &swap.Rule{
		Name: strings.TrimSpace(string(r.Name)), Sources: r.Sources.products(), Destinations: r.Destinations.products(), FirstOrder: bool(r.FirstOrder), EveryOrder: bool(r.EveryOrder),
		Cycle: int(r.Cycle), Sequence: int(r.Sequence), CarryDiscount: bool(r.Carry), Discount: swap.DiscountMode(strings.ToUpper(string(r.Discount))), NoEmail: bool(r.NoEmail),
	}
	if r.Shift != nil {
		rule.ShiftDays = new(int(*r.Shift))
	}
	return moving.Part{PartKey: moving.PartKey{There: keyOf(r.ID)}, Name: rule.Name, Data: moving.PartData{Rule: rule}}
}

// topShape is a row of the list of members.
type topShape struct {
	Customer id   `json:"customerId"`
	First    word `json:"firstName"`
	Last     word `json:"lastName"`
}

func (t topShape) part(shop.Shop) moving.Part {
	return moving.Part{PartKey: moving.PartKey{There: keyOf(t.Customer)}, Name: nameOf(t.First, t.Last), Customer: int64(t.Customer), Unread: true, Data: moving.PartData{
		Member: &moving.Member{Customer: int64(t.Customer), FirstName: string(t.First), LastName: string(t.Last)},
	}}
}

// memberShape is the loyalty customer record. The interface does not list its fields: these are the
// ones that services have.
type memberShape struct {
	Customer  id      `json:"customerId"`
	Email     word    `json:"customerEmail"`
	First     word    `json:"firstName"`
	Last      word    `json:"lastName"`
	Status    word    `json:"customerStatus"`
	Born      word    `json:"dob"`
	Available decimal `json:"availablePoints"`
	Pending   decimal `json:"pendingPoints"`
	Credited  decimal `json:"creditedPoints"`
}

func (m memberShape) member() moving.Member {
	born := string(m.Born)
	if len(born) > len("2006-01-02") {
		born = born[:len("2006-01-02")]
	}
	return moving.Member{
		Customer: int64(m.Customer), Email: string(m.Email), FirstName: string(m.First), LastName: string(m.Last), Born: born,
		Excluded: strings.HasPrefix(strings.ToUpper(string(m.Status)), "EXCLUDED"), Available: points(m.Available), Pending: points(m.Pending), Earned: points(m.Credited),
	}
}

// points rounds to hundredths, the nearest one.
func points(n decimal) loyalty.Points {
	most := float64(loyalty.MaxPoints)
	return loyalty.Points(math.Round(min(max(float64(n)*float64(loyalty.One), -most), most)))
}
