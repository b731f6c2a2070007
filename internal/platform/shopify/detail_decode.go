package shopify

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// The words of the platform's discounts.
const (
	codeDiscount   = "CODE_DISCOUNT"
	targetShipping = "SHIPPING_LINE"
	everything     = 100 // percent
)

// orderedNode is what a contract, or one cycle of it, orders.
type orderedNode struct {
	Note             string            `json:"note"`
	CustomAttributes []admin.Attribute `json:"customAttributes"`
	DeliveryPrice    wire.Money        `json:"deliveryPrice"`
	Discounts        wire.Discounts    `json:"discounts"`
	Lines            struct {
		Nodes    []lineNode     `json:"nodes"`
		PageInfo admin.PageInfo `json:"pageInfo"`
	} `json:"lines"`
}

func (n *orderedNode) more() bool { return n.Lines.PageInfo.HasNextPage }

// lineNode is a line with all that is shown of it.
type lineNode struct {
	admin.Line
	CustomAttributes []admin.Attribute `json:"customAttributes"`
	Discounted       wire.Money        `json:"lineDiscountedPrice"`
	Allocations      []struct {
		Amount   wire.Money `json:"amount"`
		Discount struct {
			ID   string `json:"id"`
			Code string `json:"redeemCode"`
		} `json:"discount"`
	} `json:"discountAllocations"`
	Pricing *wire.Pricing `json:"pricingPolicy"`
}

type addressNode struct {
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	Company      string `json:"company"`
	Address1     string `json:"address1"`
	Address2     string `json:"address2"`
	City         string `json:"city"`
	Province     string `json:"province"`
	ProvinceCode string `json:"provinceCode"`
	Country      string `json:"country"`
	CountryCode  string `json:"countryCodeV2"`
	Zip          string `json:"zip"`
	Phone        string `json:"phone"`
}

type methodNode struct {
	Type     string      `json:"__typename"`
	Address  addressNode `json:"address"`
	Shipping struct {
		Code, Title string
	} `json:"shippingOption"`
	Local struct {
		Code, Title, Phone, Instructions string
	} `json:"localDeliveryOption"`
	Pickup struct {
		Code, Title string
		Location    struct {
			ID string `json:"id"`
		} `json:"location"`
	} `json:"pickupOption"`
}

// detailNode is a contract as it is read. The generated fields are in contract;
// they and lines come from the same JSON.
type detailNode struct {
	orderedNode
	DeliveryMethod methodNode `json:"deliveryMethod"`
	PaymentMethod  struct {
		RevokedAt  time.Time       `json:"revokedAt"`
		Reason     string          `json:"revokedReason"`
		Instrument wire.Instrument `json:"instrument"`
	} `json:"customerPaymentMethod"`
	Attempts struct {
		Nodes []admin.AttemptFields `json:"nodes"`
	} `json:"billingAttempts"`
	OriginOrder struct {
		Fulfilments struct {
			Nodes []struct {
				ID string `json:"id"`
			} `json:"nodes"`
		} `json:"fulfillmentOrders"`
	} `json:"originOrder"`

	contract admin.ContractFields
	lines    []lineNode
}

// readDetail reads a contract that was answered.
func readDetail(raw json.RawMessage) (detailNode, error) {
	var n detailNode
	if err := json.Unmarshal(raw, &n); err != nil {
		return n, unknown(err)
	}
	if err := json.Unmarshal(raw, &n.contract); err != nil {
		return n, unknown(err)
	}
	n.lines = n.Lines.Nodes
	return n, nil
}

// newDetail turns what the platform says into ours.
func newDetail(n detailNode, lines []lineNode) (platform.Detail, error) {
	k, err := newContract(&n.contract, nil)
	if err != nil {
		return platform.Detail{}, err
	}
	o, err := newOrdered(&n.orderedNode, lines)
	if err != nil {
		return platform.Detail{}, err
	}
	k.Lines, k.Discounts = o.Lines, o.Discounts
	for i, l := range o.LineDetails {
		pricesOf(&k, o.Lines[i].ID, l.Pricing)
	}
	d := platform.Detail{
		Contract: k, LineDetails: o.LineDetails, Method: newMethod(n.DeliveryMethod),
		Instrument: newInstrument(n.PaymentMethod.Instrument),
	}
	d.Instrument.RevokedAt, d.Instrument.RevokedWhy = n.PaymentMethod.RevokedAt, n.PaymentMethod.Reason
	for i := range n.Attempts.Nodes {
		a, err := newAttempt(&n.Attempts.Nodes[i], k.ID)
		if err != nil {
			return platform.Detail{}, err
		}
		d.Attempts = append(d.Attempts, a)
	}
	for _, f := range n.OriginOrder.Fulfilments.Nodes {
		d.Fulfilments = append(d.Fulfilments, f.ID)
	}
	return d, nil
}

// newOrdered turns what is ordered into ours; the cycle is the caller's to name.
func newOrdered(n *orderedNode, lines []lineNode) (platform.CycleOrder, error) {
	o := platform.CycleOrder{Note: n.Note}
	var err error
	if o.DeliveryPrice, err = amount(n.DeliveryPrice); err != nil {
		return o, err
	}
	o.Attributes = newAttributes(n.CustomAttributes)
	codes := map[string]string{} // of discounts, by id
	for i := range lines {
		line, detail, err := newLineDetail(&lines[i])
		if err != nil {
			return o, err
		}
		o.Lines, o.LineDetails = append(o.Lines, line), append(o.LineDetails, detail)
		for _, a := range lines[i].Allocations {
			if a.Discount.Code != "" {
				codes[tailOf(a.Discount.ID)] = a.Discount.Code
			}
		}
	}
	if o.Discounts, err = newDiscounts(n.Discounts); err != nil {
		return o, err
	}
	for i := range o.Discounts {
		if code, allocated := codes[tailOf(o.Discounts[i].ID)]; allocated {
			o.Discounts[i].Code = code
		}
	}
	return o, nil
}

func newAttributes(fields []admin.Attribute) []platform.Attribute {
	var list []platform.Attribute
	for _, a := range fields {
		list = append(list, platform.Attribute{Key: a.Key, Value: a.Value})
	}
	return list
}

func newLineDetail(n *lineNode) (platform.Line, platform.LineDetail, error) {
	d := platform.LineDetail{Attributes: newAttributes(n.CustomAttributes)}
	line, err := newLine(n.Line)
	if err != nil {
		return line, d, err
	}
	if d.Discounted, err = amount(n.Discounted); err != nil {
		return line, d, err
	}
	for _, a := range n.Allocations {
		share, err := amount(a.Amount)
		if err != nil {
			return line, d, err
		}
		d.Allocations = append(d.Allocations, platform.Allocation{Discount: a.Discount.ID, Amount: share})
	}
	d.Pricing, err = newPricing(n.Pricing)
	return line, d, err
}

// newPricing turns a pricing policy into ours; nil stays nil.
func newPricing(n *wire.Pricing) (*platform.Pricing, error) {
	if n == nil {
		return nil, nil //nolint:nilnil // a line without a policy has none
	}
	var p platform.Pricing
	var err error
	if p.Base, err = amount(n.Base); err != nil {
		return nil, err
	}
	for _, c := range n.Cycles {
		step := platform.CyclePrice{After: c.After, Kind: platform.Adjustment(c.Kind), Percent: c.Value.Percentage}
		if step.Computed, err = amount(c.Computed); err != nil {
			return nil, err
		}
		if c.Value.Money != (wire.Money{}) {
			if step.Amount, err = amount(c.Value.Money); err != nil {
				return nil, err
			}
		}
		p.Cycles = append(p.Cycles, step)
	}
	return &p, nil
}

// pricesOf notes what a policy makes of a line's price, on the contract.
func pricesOf(k *platform.Contract, line string, p *platform.Pricing) {
	if p == nil {
		return
	}
	if k.Pricing == nil {
		k.Pricing = make(map[string]platform.Pricing)
	}
	k.Pricing[line] = *p
}

func newDiscounts(n wire.Discounts) (list []platform.Discount, err error) {
	for _, f := range n.Nodes {
		d, err := newDiscount(f)
		if err != nil {
			return nil, err
		}
		if f.Type == codeDiscount { // the code itself stands only where it is allocated: the title is the code as well
			d.Code = f.Title
		}
		list = append(list, d)
	}
	return list, nil
}

func newDiscount(n wire.Discount) (platform.Discount, error) {
	d := platform.Discount{
		ID: n.ID, Title: n.Title, Percent: n.Value.Percentage, EachItem: n.Value.EachItem, CycleLimit: n.Limit, UsedCycles: n.Used,
		AllLines: n.Entitled.All, RejectedWhy: n.Rejected, TargetIsOrder: n.TargetType == targetShipping,
		FreeShipping: n.TargetType == targetShipping && n.Value.Percentage == everything,
	}
	if n.Value.Amount != (wire.Money{}) {
		var err error
		if d.Amount, err = amount(n.Value.Amount); err != nil {
			return d, err
		}
	}
	if !d.AllLines {
		for _, l := range n.Entitled.Lines.Nodes {
			d.Lines = append(d.Lines, l.ID)
		}
	}
	return d, nil
}

// The kinds of delivery methods, by the names of their types.
var methodKinds = map[string]string{
	"SubscriptionDeliveryMethodShipping":      platform.MethodShipping,
	"SubscriptionDeliveryMethodLocalDelivery": platform.MethodLocal,
	"SubscriptionDeliveryMethodPickup":        platform.MethodPickUp,
}

func newMethod(n methodNode) platform.DeliveryMethod {
	a := n.Address
	m := platform.DeliveryMethod{
		Kind: methodKinds[n.Type],
		Address: platform.Address{
			FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Address1: a.Address1, Address2: a.Address2, City: a.City,
			Province: a.Province, ProvinceCode: a.ProvinceCode, Country: a.Country, CountryCode: a.CountryCode, Zip: a.Zip, Phone: a.Phone,
		},
	}
	switch m.Kind {
	case platform.MethodShipping:
		m.Code, m.Title = n.Shipping.Code, n.Shipping.Title
	case platform.MethodLocal:
		m.Code, m.Title, m.Phone, m.Instructions = n.Local.Code, n.Local.Title, n.Local.Phone, n.Local.Instructions
	case platform.MethodPickUp:
		m.Code, m.Title, m.Location = n.Pickup.Code, n.Pickup.Title, n.Pickup.Location.ID
	}
	return m
}

func newInstrument(i wire.Instrument) platform.Instrument {
	n := platform.Instrument{
		Kind: i.Type, Brand: i.Brand, LastDigits: i.LastDigits, Masked: i.Masked, ExpiryMonth: i.ExpiryMonth, ExpiryYear: i.ExpiryYear,
		ExpiresSoon: i.ExpiresSoon, Name: i.Name,
	}
	if n.Brand == "" {
		n.Brand = i.BankName
	}
	if n.Name == "" {
		n.Name = i.PaypalEmail
	}
	return n
}

// tailOf returns what follows the type in a graph id.
func tailOf(graphID string) string { return graphID[strings.LastIndexByte(graphID, '/')+1:] }
