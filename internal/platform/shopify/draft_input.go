package shopify

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// The inputs of drafts are written by hand: nearly every field of theirs may be
// left out, and leaving out means something else than null.

const (
	typeVariant     = "ProductVariant"
	typeSellingPlan = "SellingPlan"
)

type draftInput struct {
	Billing         *policyInput      `json:"billingPolicy,omitempty"`
	Delivery        *policyInput      `json:"deliveryPolicy,omitempty"`
	Method          *methodInput      `json:"deliveryMethod,omitempty"`
	DeliveryPrice   *string           `json:"deliveryPrice,omitempty"`
	NextBillingDate *time.Time        `json:"nextBillingDate,omitempty"`
	Note            *string           `json:"note,omitempty"`
	Attributes      *[]attributeInput `json:"customAttributes,omitempty"`
	PaymentMethod   *string           `json:"paymentMethodId,omitempty"`
	Status          string            `json:"status,omitempty"`
}

type policyInput struct {
	Interval  string        `json:"interval"`
	Count     int           `json:"intervalCount"`
	Anchors   []anchorInput `json:"anchors"` // absent would mean none as well
	MinCycles *int          `json:"minCycles,omitempty"`
	MaxCycles *int          `json:"maxCycles,omitempty"`
}

type anchorInput struct {
	Type      string `json:"type"`
	Day       int    `json:"day"`
	Month     *int   `json:"month,omitempty"`
	CutoffDay *int   `json:"cutoffDay,omitempty"`
}

type attributeInput struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type methodInput struct {
	Shipping *shippingInput `json:"shipping,omitempty"`
	Local    *localInput    `json:"localDelivery,omitempty"`
	Pickup   *pickupInput   `json:"pickup,omitempty"`
}

type shippingInput struct {
	Address addressInput `json:"address"`
	Option  optionInput  `json:"shippingOption"`
}

type localInput struct {
	Address addressInput `json:"address"`
	Option  optionInput  `json:"localDeliveryOption"`
}

type pickupInput struct {
	Option optionInput `json:"pickupOption"`
}

// optionInput is a service of any of the methods.
type optionInput struct {
	Code         string  `json:"code,omitempty"`
	Title        string  `json:"title,omitempty"`
	Phone        *string `json:"phone,omitempty"`
	Instructions string  `json:"instructions,omitempty"`
	Location     string  `json:"locationId,omitempty"`
}

type addressInput struct {
	FirstName    string `json:"firstName,omitempty"`
	LastName     string `json:"lastName,omitempty"`
	Company      string `json:"company,omitempty"`
	Address1     string `json:"address1,omitempty"`
	Address2     string `json:"address2,omitempty"`
	City         string `json:"city,omitempty"`
	Province     string `json:"province,omitempty"`
	ProvinceCode string `json:"provinceCode,omitempty"`
	Country      string `json:"country,omitempty"`
	CountryCode  string `json:"countryCode,omitempty"`
	Zip          string `json:"zip,omitempty"`
	Phone        string `json:"phone,omitempty"`
}

type lineInput struct {
	Variant         string            `json:"productVariantId,omitempty"`
	Quantity        *int              `json:"quantity,omitempty"`
	Price           *string           `json:"currentPrice,omitempty"`
	Attributes      *[]attributeInput `json:"customAttributes,omitempty"`
	Pricing         *pricingInput     `json:"pricingPolicy,omitempty"`
	SellingPlan     string            `json:"sellingPlanId,omitempty"`
	SellingPlanName *string           `json:"sellingPlanName,omitempty"`
}

type pricingInput struct {
	Base   string            `json:"basePrice"`
	Cycles []cyclePriceInput `json:"cycleDiscounts"`
}

type cyclePriceInput struct {
	After    int             `json:"afterCycle"`
	Kind     string          `json:"adjustmentType"`
	Value    adjustmentInput `json:"adjustmentValue"`
	Computed string          `json:"computedPrice"`
}

type adjustmentInput struct {
	Percentage *float64 `json:"percentage,omitempty"`
	Fixed      *string  `json:"fixedValue,omitempty"`
}

type discountInput struct {
	Title    string         `json:"title,omitempty"`
	Limit    *int           `json:"recurringCycleLimit,omitempty"`
	Value    *valueInput    `json:"value,omitempty"`
	Entitled *entitledInput `json:"entitledLines,omitempty"`
}

type valueInput struct {
	Percentage *int        `json:"percentage,omitempty"`
	Fixed      *fixedInput `json:"fixedAmount,omitempty"`
}

type fixedInput struct {
	Amount   float64 `json:"amount"`
	EachItem bool    `json:"appliesOnEachItem"`
}

type entitledInput struct {
	All   bool         `json:"all,omitempty"`
	Lines *idListInput `json:"lines,omitempty"`
}

type idListInput struct {
	Add []string `json:"add"`
}

// newDraftInput returns what an edit changes of a contract as a whole, and false
// when that is nothing.
func newDraftInput(e *platform.Edit) (draftInput, bool) {
	in := draftInput{
		Billing: newPolicyInput(e.Billing, true), Delivery: newPolicyInput(e.Delivery, false), Method: newMethodInput(e.Method),
		DeliveryPrice: decimal(e.DeliveryPrice), Note: e.Note, Attributes: newAttributeInputs(e.Attributes), PaymentMethod: e.PaymentMethod,
	}
	if e.NextBillingDate != nil {
		at := e.NextBillingDate.UTC()
		in.NextBillingDate = &at
	}
	return in, in != draftInput{}
}

func newPolicyInput(p *platform.Policy, billing bool) *policyInput {
	if p == nil {
		return nil
	}
	in := &policyInput{Interval: p.Interval, Count: p.Count, Anchors: []anchorInput{}}
	for _, a := range p.Anchors {
		in.Anchors = append(in.Anchors, anchorInput{a.Type, a.Day, unlessZero(a.Month), unlessZero(a.CutoffDay)})
	}
	if billing {
		in.MinCycles, in.MaxCycles = unlessZero(p.MinCycles), unlessZero(p.MaxCycles)
	}
	return in
}

func unlessZero(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// decimal writes an amount as the platform reads it.
func decimal(a *money.Amount) *string {
	if a == nil {
		return nil
	}
	s := a.String()
	return &s
}

func newAttributeInputs(list *[]platform.Attribute) *[]attributeInput {
	if list == nil {
		return nil
	}
	in := make([]attributeInput, len(*list))
	for i, a := range *list {
		in[i] = attributeInput(a)
	}
	return &in
}

func newMethodInput(m *platform.DeliveryMethod) *methodInput {
	if m == nil {
		return nil
	}
	address := newAddressInput(m.Address)
	o := optionInput{Code: m.Code, Title: m.Title}
	switch m.Kind {
	case platform.MethodLocal:
		o.Phone, o.Instructions = &m.Phone, m.Instructions
		return &methodInput{Local: &localInput{address, o}}
	case platform.MethodPickUp:
		o.Location = m.Location
		return &methodInput{Pickup: &pickupInput{o}}
	}
	return &methodInput{Shipping: &shippingInput{address, o}}
}

func newAddressInput(a platform.Address) addressInput {
	address := addressInput{
		FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Address1: a.Address1, Address2: a.Address2, City: a.City,
		Province: a.Province, ProvinceCode: a.ProvinceCode, Country: a.Country, CountryCode: a.CountryCode, Zip: a.Zip, Phone: a.Phone,
	}
	// The code of a province or country outranks its name: were both sent, a
	// code that was changed alone would contradict the name.
	if address.ProvinceCode != "" {
		address.Province = ""
	}
	if address.CountryCode != "" {
		address.Country = ""
	}
	return address
}

func newLineInput(e *platform.LineEdit) lineInput {
	in := lineInput{
		Quantity: e.Quantity, Price: decimal(e.Price), Attributes: newAttributeInputs(e.Attributes),
		Pricing: newPricingInput(e.Pricing), SellingPlanName: e.SellingPlanName,
	}
	if e.Variant != nil {
		in.Variant = gid.Of(typeVariant, *e.Variant)
	}
	if e.SellingPlanID != nil {
		in.SellingPlan = gid.Of(typeSellingPlan, *e.SellingPlanID)
	}
	return in
}

func newPricingInput(p *platform.Pricing) *pricingInput {
	if p == nil {
		return nil
	}
	in := &pricingInput{Base: p.Base.String(), Cycles: []cyclePriceInput{}}
	for _, c := range p.Cycles {
		step := cyclePriceInput{After: c.After, Kind: string(c.Kind), Computed: c.Computed.String()}
		if c.Kind == platform.PercentOff {
			step.Value.Percentage = &c.Percent
		} else {
			step.Value.Fixed = decimal(&c.Amount)
		}
		in.Cycles = append(in.Cycles, step)
	}
	return in
}

func newDiscountInput(d *platform.Discount) discountInput {
	in := discountInput{Title: d.Title, Limit: unlessZero(d.CycleLimit)}
	if d.FreeShipping {
		return in
	}
	in.Value = newValueInput(d)
	if d.AllLines {
		in.Entitled = &entitledInput{All: true}
	} else {
		in.Entitled = &entitledInput{Lines: &idListInput{d.Lines}}
	}
	return in
}

func newValueInput(d *platform.Discount) *valueInput {
	if d.Amount.Minor != 0 {
		return &valueInput{Fixed: &fixedInput{d.Amount.Float(), d.EachItem}}
	}
	return &valueInput{Percentage: &d.Percent}
}
