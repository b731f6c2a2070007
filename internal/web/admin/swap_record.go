package admin

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
)

// swapRecord is a product swap rule.
type swapRecord struct {
	ID                   int64        `json:"id" minimum:"1" doc:"Number of the rule." example:"1001"`
	Shop                 string       `json:"shop" doc:"The store's domain; must be the key's." example:"demo.myshopify.com"`
	Name                 *string      `json:"name" maxLength:"255" example:"Starter kit, then refills" doc:"Name of the rule, for the merchant; null when it has none."`
	SourceVariants       variantsText `json:"sourceVariants" doc:"JSON text: a list of {id, displayName, imageSrc, quantity}. All of them must be in an order, in at least these quantities. imageSrc: Kept for the merchant's storefront; the service does not read it." example:"[{\"id\":8101,\"quantity\":1}]"`
	DestinationVariants  variantsText `json:"destinationVariants" doc:"JSON text: a list of the same shape. They take the sources' place, as often as the sources are there. imageSrc: Kept for the merchant's storefront; the service does not read it." example:"[{\"id\":8102,\"quantity\":1}]"`
	UpdatedFirstOrder    bool         `json:"updatedFirstOrder" doc:"The very first order of a contract is changed too, where the service charges it. Default false."`
	EveryRecurringOrder  bool         `json:"checkForEveryRecurringOrder" doc:"Looked at for every recurring order and not once for a contract. Default false."`
	CarryDiscountForward bool         `json:"carryDiscountForward" doc:"Short for discountCarryForward=EXISTING_PLAN, unless that field says otherwise. Default false."`
	StopSwapEmails       bool         `json:"stopSwapEmails" doc:"The customer gets no e-mail about the swap. Default false."`
	ChangeNextOrderBy    *float64     `json:"changeNextOrderDateBy" minimum:"-365" maximum:"365" doc:"Whole days by which the order after the swap moves, and all later ones with it; null: they stay." example:"7"`
	ForBillingCycle      *int32       `json:"forBillingCycle" minimum:"0" maximum:"1000" doc:"The platform's index of the billing cycle; null or 0: any." example:"4"`
	RuleSequence         *int32       `json:"ruleSequence" minimum:"0" maximum:"1000000" doc:"Lower ones first. Absent or 0 in a new rule: after all others." example:"1"`
	DiscountCarryForward string       `json:"discountCarryForward" enum:"NONE,EXISTING_PLAN,PRODUCT_PLAN,PRODUCT_THEN_EXISTING" doc:"NONE: the catalogue's price. EXISTING_PLAN: as many per cent off as the old product had. PRODUCT_PLAN: what the selling plan asks for the new product. PRODUCT_THEN_EXISTING: that or, where the plan does not sell it, as EXISTING_PLAN. Default NONE."`
}

// variantsText is a list of products that the interface carries as JSON text.
type variantsText string

// UnmarshalJSON takes the text, and a real array too.
func (v *variantsText) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		*v = variantsText(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(v))
}

// variantText is one product in the text.
type variantText struct {
	ID          web.AnyID `json:"id"`
	DisplayName string    `json:"displayName"`
	ImageSrc    string    `json:"imageSrc"`
	Quantity    *float64  `json:"quantity"`
}

// products reads the list. JSON's null is no list, and everything else is one.
func (v variantsText) products(field string) ([]swap.Product, error) {
	if strings.TrimSpace(string(v)) == "" {
		return []swap.Product{}, nil
	}
	var texts []variantText
	if err := json.Unmarshal([]byte(v), &texts); err != nil {
		return nil, fault.Because(fault.Invalid, err, "field '%s' must be the JSON text of a list of {id, displayName, imageSrc, quantity}", field).Code("bodyField").Field(field)
	}
	if texts == nil {
		return nil, nil
	}
	list := make([]swap.Product, len(texts))
	for i, t := range texts {
		id, err := t.ID.Parse("ProductVariant", field)
		if err != nil {
			return nil, err
		}
		list[i] = swap.Product{VariantID: id, Name: t.DisplayName, Image: t.ImageSrc, Quantity: 1}
		if t.Quantity != nil {
			if *t.Quantity != math.Trunc(*t.Quantity) || math.Abs(*t.Quantity) > math.MaxInt32 {
				return nil, fault.New(fault.Invalid, "field '%s': a quantity must be a whole number", field).Code("bodyField").Field(field)
			}
			list[i].Quantity = int(*t.Quantity)
		}
	}
	return list, nil
}

func textOf(list []swap.Product) variantsText {
	text, _ := json.Marshal(list) // numbers and texts can always be written
	return variantsText(text)
}

func newSwap(domain string, r swap.Rule) swapRecord {
	s := swapRecord{
		ID: int64(r.ID), Shop: domain, Name: web.Some(r.Name), SourceVariants: textOf(r.Sources), DestinationVariants: textOf(r.Destinations),
		UpdatedFirstOrder: r.FirstOrder, EveryRecurringOrder: r.EveryOrder, CarryDiscountForward: r.CarryDiscount, StopSwapEmails: r.NoEmail,
		ForBillingCycle: web.Some(int32(r.Cycle)), RuleSequence: new(int32(r.Sequence)), DiscountCarryForward: string(r.Discount),
	}
	if r.ShiftDays != nil {
		s.ChangeNextOrderBy = new(float64(*r.ShiftDays))
	}
	return s
}

// rule converts a record to the rule it describes. Fields that the record does not have
// keep the values of the old rule.
func (s swapRecord) rule(old swap.Rule) (swap.Rule, error) {
	r := old
	r.Name, r.FirstOrder, r.EveryOrder, r.CarryDiscount, r.NoEmail = strings.TrimSpace(text(s.Name)), s.UpdatedFirstOrder, s.EveryRecurringOrder, s.CarryDiscountForward, s.StopSwapEmails
	r.Cycle, r.ShiftDays = 0, nil
	if s.ForBillingCycle != nil {
		r.Cycle = int(*s.ForBillingCycle)
	}
	if s.RuleSequence != nil {
		r.Sequence = int(*s.RuleSequence)
	}
	if days := s.ChangeNextOrderBy; days != nil {
		if *days != math.Trunc(*days) || math.Abs(*days) > math.MaxInt32 {
			return swap.Rule{}, fault.New(fault.Invalid, "field 'changeNextOrderDateBy' must be a whole number of days").Code("bodyField").Field("changeNextOrderDateBy")
		}
		r.ShiftDays = new(int(*days))
	}
	var err error
	if r.Discount, err = web.ParseEnum("discountCarryForward", s.DiscountCarryForward, swap.DiscountModes); err != nil {
		return swap.Rule{}, err
	}
	if r.Sources, err = s.SourceVariants.products("sourceVariants"); err != nil {
		return swap.Rule{}, err
	}
	r.Destinations, err = s.DestinationVariants.products("destinationVariants")
	return r, err
}
