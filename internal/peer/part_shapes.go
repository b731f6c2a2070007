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
	ID             id            `json:"id"`
	Name           word          `json:"groupName"`
	Products       itemsShape    `json:"productIds"`
	Variants       itemsShape    `json:"variantIds"`
	CustomerTag    word          `json:"customerTag"`
	OrderTag       word          `json:"orderTag"`
	MemberOrderTag word          `json:"memberOrderTag"`
	Product        word          `json:"productId"`
	Accessories    word          `json:"accessoryProductIds"`
	Translations   word          `json:"translations"`
	Rules          word          `json:"rulesJson"`
	FormFields     word          `json:"formFieldsJson"`
	Plans          []optionShape `json:"subscriptionPlans"`
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
	ID              id      `json:"id"`
	IDNew           id      `json:"idNew"`
	Count           id      `json:"frequencyCount"`
	Interval        word    `json:"frequencyInterval"`
	BillingCount    id      `json:"billingFrequencyCount"`
	BillingInterval word    `json:"billingFrequencyInterval"`
	Name            word    `json:"frequencyName"`
	Description     word    `json:"frequencyDescription"`
	Kind            word    `json:"planType"`
	Prepaid         flag    `json:"prepaidFlag"`
	Enabled         *flag   `json:"discountEnabled"`
	Offer           decimal `json:"discountOffer"`
	OfferKind       word    `json:"discountType"`
	After           id      `json:"afterCycle1"`
	Masked          flag    `json:"discountEnabledMasked"`
	Enabled2        *flag   `json:"discountEnabled2"`
	Offer2          decimal `json:"discountOffer2"`
	OfferKind2      word    `json:"discountType2"`
	After2          id      `json:"afterCycle2"`
	Masked2         flag    `json:"discountEnabled2Masked"`
	Type            word    `json:"frequencyType"`
	Specific        flag    `json:"specificDayEnabled"`
	Day             id      `json:"specificDayValue"`
	Month           id      `json:"specificMonthValue"`
	Cutoff          id      `json:"cutOff"`
	Behavior        word    `json:"deliveryPolicyPreAnchorBehavior"`
	Reserve         word    `json:"inventoryPolicyReserve"`
	Min             id      `json:"minCycles"`
	Max             id      `json:"maxCycles"`
	Trial           *flag   `json:"freeTrialEnabled"`
	TrialCount      id      `json:"freeTrialCount"`
	TrialInterval   word    `json:"freeTrialInterval"`
	KeepDate        flag    `json:"keepOriginalNextBillingDateAfterTrial"`
	MemberOnly      flag    `json:"memberOnly"`
	NonMemberOnly   flag    `json:"nonMemberOnly"`
	Inclusive       word    `json:"memberInclusiveTags"`
	Exclusive       word    `json:"memberExclusiveTags"`
	Lifetime        flag    `json:"lifeTimeMembership"`
	Exchange        *flag   `json:"allowedForUpgradeDowngrade"`
	Rules           word    `json:"rulesJson"`
	Sequence        id      `json:"planSequence"`
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
	ID           id         `json:"id"`
	Name         word       `json:"name"`
	Sources      itemsShape `json:"sourceVariants"`
	Destinations itemsShape `json:"destinationVariants"`
	FirstOrder   flag       `json:"updatedFirstOrder"`
	EveryOrder   flag       `json:"checkForEveryRecurringOrder"`
	Carry        flag       `json:"carryDiscountForward"`
	NoEmail      flag       `json:"stopSwapEmails"`
	Shift        *decimal   `json:"changeNextOrderDateBy"`
	Cycle        id         `json:"forBillingCycle"`
	Sequence     id         `json:"ruleSequence"`
	Discount     word       `json:"discountCarryForward"`
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
