package admin

import (
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// contractObject is a contract as the operations that change one answer it: the
// shape of the platform's own object.
type contractObject struct {
	GetTypename           string              `json:"get__typename" doc:"SubscriptionContract." example:"SubscriptionContract"`
	Typename              string              `json:"__typename" doc:"The same." example:"SubscriptionContract"`
	ID                    string              `json:"id" doc:"Graph id." example:"gid://shopify/SubscriptionContract/9001"`
	Status                string              `json:"status" enum:"ACTIVE,PAUSED,CANCELLED,EXPIRED,FAILED,$UNKNOWN" example:"ACTIVE"`
	CreatedAt             *web.Instant        `json:"createdAt" format:"date-time"`
	UpdatedAt             *web.Instant        `json:"updatedAt" format:"date-time"`
	NextBillingDate       *web.Instant        `json:"nextBillingDate" format:"date-time" doc:"When the next order is charged; null when none is to come."`
	LastPaymentStatus     *string             `json:"lastPaymentStatus" doc:"SUCCEEDED or FAILED."`
	Note                  *string             `json:"note" doc:"Attached to every future order."`
	DeliveryPrice         amountObject        `json:"deliveryPrice"`
	BillingPolicy         billingPolicyObject `json:"billingPolicy"`
	DeliveryPolicy        policyObject        `json:"deliveryPolicy"`
	Lines                 lineConnection      `json:"lines"`
	CustomerPaymentMethod *paymentObject      `json:"customerPaymentMethod"`
	DeliveryMethod        *deliveryObject     `json:"deliveryMethod"`
	OriginOrder           *originOrderObject  `json:"originOrder"`
	Customer              payerObject         `json:"customer"`
	Discounts             discountConnection  `json:"discounts"`
	CustomAttributes      []attributeObject   `json:"customAttributes" nullable:"false"`
	BillingAttempts       chargeConnection    `json:"billingAttempts"`
}

// amountObject is an amount of money.
type amountObject struct {
	Amount       string `json:"amount" doc:"With the currency's decimals." example:"12.50"`
	CurrencyCode string `json:"currencyCode" doc:"ISO 4217." example:"USD"`
}

// policyObject is how often something recurs.
type policyObject struct {
	Interval      string         `json:"interval" enum:"DAY,WEEK,MONTH,YEAR"`
	IntervalCount int32          `json:"intervalCount" minimum:"1"`
	Anchors       []anchorObject `json:"anchors" nullable:"false"`
}

// billingPolicyObject is how often orders are charged, and how many there are.
type billingPolicyObject struct {
	Interval      string         `json:"interval" enum:"DAY,WEEK,MONTH,YEAR"`
	IntervalCount int32          `json:"intervalCount" minimum:"1"`
	Anchors       []anchorObject `json:"anchors" nullable:"false"`
	MaxCycles     *int32         `json:"maxCycles" doc:"After that many orders the contract ends; null: never."`
	MinCycles     *int32         `json:"minCycles" doc:"So many orders are owed; null: none."`
}

// anchorObject is a fixed day on which a policy falls.
type anchorObject struct {
	Type      string `json:"type" enum:"WEEKDAY,MONTHDAY,YEARDAY"`
	Day       int32  `json:"day"`
	Month     *int32 `json:"month"`
	CutoffDay *int32 `json:"cutoffDay"`
}

// pageInfo says where a page of a connection lies. Ours are whole.
type pageInfo struct {
	HasPreviousPage bool    `json:"hasPreviousPage"`
	HasNextPage     bool    `json:"hasNextPage"`
	StartCursor     *string `json:"startCursor"`
	EndCursor       *string `json:"endCursor"`
}

// lineConnection is the lines of a contract.
type lineConnection struct {
	Nodes    []lineNode `json:"nodes" nullable:"false"`
	Edges    []lineEdge `json:"edges" nullable:"false"`
	PageInfo pageInfo   `json:"pageInfo"`
}

type lineEdge struct {
	Node lineNode `json:"node"`
}

// lineNode is a line of a contract.
type lineNode struct {
	ID                  string             `json:"id" doc:"Graph id of the line."`
	SellingPlanID       *string            `json:"sellingPlanId" doc:"Graph id."`
	SellingPlanName     *string            `json:"sellingPlanName"`
	ProductID           *string            `json:"productId" doc:"Graph id."`
	SKU                 *string            `json:"sku"`
	Title               string             `json:"title"`
	VariantID           *string            `json:"variantId" doc:"Graph id."`
	Quantity            int32              `json:"quantity"`
	VariantTitle        *string            `json:"variantTitle"`
	CustomAttributes    []attributeObject  `json:"customAttributes" nullable:"false"`
	LineDiscountedPrice amountObject       `json:"lineDiscountedPrice" doc:"Of the whole line, after its discounts."`
	CurrentPrice        amountObject       `json:"currentPrice" doc:"Of one unit."`
	VariantImage        *imageObject       `json:"variantImage"`
	DiscountAllocations []allocationObject `json:"discountAllocations" nullable:"false"`
	PricingPolicy       *pricingObject     `json:"pricingPolicy" doc:"How the unit price changes with the orders; null: it does not."`
	Taxable             bool               `json:"taxable"`
}

type imageObject struct {
	TransformedSrc string `json:"transformedSrc"`
}

type allocationObject struct {
	Amount   amountObject `json:"amount"`
	Discount string       `json:"discount" doc:"Graph id of the discount."`
}

type pricingObject struct {
	BasePrice      amountObject          `json:"basePrice"`
	CycleDiscounts []cycleDiscountObject `json:"cycleDiscounts" nullable:"false"`
}

type cycleDiscountObject struct {
	AfterCycle      int32            `json:"afterCycle"`
	AdjustmentType  string           `json:"adjustmentType" enum:"PERCENTAGE,FIXED_AMOUNT,PRICE"`
	ComputedPrice   amountObject     `json:"computedPrice"`
	AdjustmentValue adjustmentObject `json:"adjustmentValue"`
}

// adjustmentObject is a percentage or an amount.
type adjustmentObject struct {
	Percentage   *float64 `json:"percentage,omitempty"`
	Amount       *string  `json:"amount,omitempty"`
	CurrencyCode *string  `json:"currencyCode,omitempty"`
}

type attributeObject struct {
	Key   string `json:"key" minLength:"1" maxLength:"255"`
	Value string `json:"value" maxLength:"5000"`
}

// paymentObject is a payment method.
type paymentObject struct {
	ID         string            `json:"id" doc:"Graph id."`
	Instrument *instrumentObject `json:"instrument"`
	RevokedAt  *web.Instant      `json:"revokedAt" format:"date-time"`
}

// instrumentObject is what a payment method is made of.
type instrumentObject struct {
	Typename     string  `json:"__typename" doc:"CustomerCreditCard, CustomerPaypalBillingAgreement, CustomerShopPayAgreement or BankAccount."`
	Brand        *string `json:"brand"`
	LastDigits   *string `json:"lastDigits"`
	MaskedNumber *string `json:"maskedNumber"`
	ExpiryMonth  *int32  `json:"expiryMonth"`
	ExpiryYear   *int32  `json:"expiryYear"`
	ExpiresSoon  *bool   `json:"expiresSoon"`
	Name         *string `json:"name"`
}

// deliveryObject is how orders reach the customer.
type deliveryObject struct {
	ID                    *string          `json:"id" doc:"Always null: the platform numbers none."`
	Kind                  string           `json:"kind" enum:"SHIPPING,LOCAL,PICK_UP"`
	ServiceCode           *string          `json:"serviceCode"`
	Title                 *string          `json:"title"`
	Address               *addressObject   `json:"address"`
	LocationID            *string          `json:"locationId" doc:"Graph id of the place to pick up at."`
	MinDeliveryDateTime   *web.Instant     `json:"minDeliveryDateTime" format:"date-time" doc:"Known once an order is on its way: null here."`
	MaxDeliveryDateTime   *web.Instant     `json:"maxDeliveryDateTime" format:"date-time" doc:"Known once an order is on its way: null here."`
	AdditionalInformation infoObject       `json:"additionalInformation"`
	BrandedPromise        *brandedPromised `json:"brandedPromise"`
}

type infoObject struct {
	Instructions *string `json:"instructions"`
	Phone        *string `json:"phone"`
}

type brandedPromised struct {
	Handle string `json:"handle"`
	Name   string `json:"name"`
}

// addressObject is a postal address.
type addressObject struct {
	FirstName    *string `json:"firstName"`
	LastName     *string `json:"lastName"`
	Company      *string `json:"company"`
	Address1     *string `json:"address1"`
	Address2     *string `json:"address2"`
	City         *string `json:"city"`
	Province     *string `json:"province"`
	ProvinceCode *string `json:"provinceCode"`
	Country      *string `json:"country"`
	CountryCode  *string `json:"countryCode"`
	Zip          *string `json:"zip"`
	Phone        *string `json:"phone"`
}

// originOrderObject is the order from which the contract came.
type originOrderObject struct {
	ID                string               `json:"id" doc:"Graph id."`
	Name              string               `json:"name" example:"#1001"`
	FulfillmentOrders fulfilmentConnection `json:"fulfillmentOrders"`
}

type fulfilmentConnection struct {
	Nodes    []nodeID   `json:"nodes" nullable:"false"`
	Edges    []nodeEdge `json:"edges" nullable:"false"`
	PageInfo pageInfo   `json:"pageInfo"`
}

type nodeID struct {
	ID string `json:"id" doc:"Graph id."`
}

type nodeEdge struct {
	Node nodeID `json:"node"`
}

// payerObject is the customer who pays.
type payerObject struct {
	ID          string  `json:"id" doc:"Graph id."`
	Email       *string `json:"email"`
	DisplayName *string `json:"displayName"`
	FirstName   *string `json:"firstName"`
	LastName    *string `json:"lastName"`
	Phone       *string `json:"phone"`
}

// discountConnection is the discounts of a contract.
type discountConnection struct {
	Nodes    []discountNode `json:"nodes" nullable:"false"`
	Edges    []discountEdge `json:"edges" nullable:"false"`
	PageInfo pageInfo       `json:"pageInfo"`
}

type discountEdge struct {
	Node discountNode `json:"node"`
}

// discountNode is a discount of a contract.
type discountNode struct {
	ID                  string        `json:"id" doc:"Graph id."`
	Title               *string       `json:"title"`
	Code                *string       `json:"code" doc:"Null for a discount made by hand."`
	Type                string        `json:"type" enum:"MANUAL,CODE_DISCOUNT"`
	TargetType          string        `json:"targetType" enum:"LINE_ITEM,SHIPPING_LINE"`
	Percentage          *int32        `json:"percentage"`
	Amount              *amountObject `json:"amount"`
	AppliesOnEachItem   bool          `json:"appliesOnEachItem"`
	RecurringCycleLimit *int32        `json:"recurringCycleLimit" doc:"How many orders it lasts; null: no end."`
	UsageCount          int32         `json:"usageCount" doc:"Orders that had it."`
	EntitledLines       entitledLines `json:"entitledLines"`
	RejectionReason     *string       `json:"rejectionReason"`
}

// entitledLines says which lines a discount is for.
type entitledLines struct {
	All   bool     `json:"all"`
	Lines []string `json:"lines" nullable:"false" doc:"Graph ids; empty when it is for all."`
}

// chargeConnection is the latest charges of a contract at the platform.
type chargeConnection struct {
	Nodes    []chargeNode `json:"nodes" nullable:"false"`
	Edges    []chargeEdge `json:"edges" nullable:"false"`
	PageInfo pageInfo     `json:"pageInfo"`
}

type chargeEdge struct {
	Node chargeNode `json:"node"`
}

type chargeNode struct {
	ID             string       `json:"id" doc:"Graph id."`
	IdempotencyKey string       `json:"idempotencyKey"`
	Ready          bool         `json:"ready" doc:"Whether its end is known."`
	CreatedAt      *web.Instant `json:"createdAt" format:"date-time"`
	CompletedAt    *web.Instant `json:"completedAt" format:"date-time"`
}

// contractTypename is the platform's name of the object's type.
const contractTypename = "SubscriptionContract"

// newContractObject writes a contract. What is not known of it, because the
// platform was not asked, is empty.
func newContractObject(d contract.Detail) contractObject {
	o := contractObject{
		GetTypename: contractTypename, Typename: contractTypename, ID: gid.Of(contractTypename, int64(d.ID)), Status: string(d.Status),
		CreatedAt: web.At(d.CreatedAt), UpdatedAt: web.At(d.UpdatedAt), NextBillingDate: web.At(d.NextBillingDate),
		LastPaymentStatus: web.Some(d.LastPayment), Note: web.Some(d.Note), DeliveryPrice: newAmount(money.Amount{Minor: d.DeliveryPrice.Minor, Currency: d.Currency}),
		DeliveryPolicy: newPolicy(d.Delivery),
		Customer: payerObject{
			ID: gid.Of("Customer", d.Customer.ID), Email: web.Some(d.Customer.Email), DisplayName: web.Some(d.Customer.Name),
			FirstName: web.Some(d.Customer.FirstName), LastName: web.Some(d.Customer.LastName), Phone: web.Some(d.Customer.Phone),
		},
		CustomAttributes: []attributeObject{},
	}
	billed := newPolicy(d.Billing)
	o.BillingPolicy = billingPolicyObject{billed.Interval, billed.IntervalCount, billed.Anchors, web.Some(int32(d.MaxCycles)), web.Some(int32(d.MinCycles))}
	for _, a := range d.Attributes {
		o.CustomAttributes = append(o.CustomAttributes, attributeObject(a))
	}
	lines := make([]lineNode, len(d.Lines))
	for i, l := range d.Lines {
		var detail contract.LineDetail
		if i < len(d.LineDetails) {
			detail = d.LineDetails[i]
		}
		lines[i] = newLineNode(l, detail)
	}
	o.Lines.Nodes, o.Lines.Edges = lines, edgesOf(lines, func(n lineNode) lineEdge { return lineEdge{n} })
	discounts := make([]discountNode, len(d.Discounts))
	for i, x := range d.Discounts {
		discounts[i] = newDiscountNode(x)
	}
	o.Discounts.Nodes, o.Discounts.Edges = discounts, edgesOf(discounts, func(n discountNode) discountEdge { return discountEdge{n} })
	charges := make([]chargeNode, len(d.Charges))
	for i, c := range d.Charges {
		charges[i] = chargeNode{ID: c.ID, IdempotencyKey: c.Key, Ready: !c.CompletedAt.IsZero(), CreatedAt: web.At(c.CreatedAt), CompletedAt: web.At(c.CompletedAt)}
	}
	o.BillingAttempts.Nodes, o.BillingAttempts.Edges = charges, edgesOf(charges, func(n chargeNode) chargeEdge { return chargeEdge{n} })
	if d.PaymentMethod != "" {
		o.CustomerPaymentMethod = newPayment(d.PaymentMethod, d.Instrument)
	}
	if d.Method.Kind != "" {
		o.DeliveryMethod = newDelivery(d.Method)
	}
	if d.OriginOrderID != 0 {
		o.OriginOrder = &originOrderObject{ID: gid.Of("Order", d.OriginOrderID), Name: d.OriginOrderName}
		nodes := make([]nodeID, len(d.Fulfilments))
		for i, id := range d.Fulfilments {
			nodes[i] = nodeID{id}
		}
		o.OriginOrder.FulfillmentOrders = fulfilmentConnection{Nodes: nodes, Edges: edgesOf(nodes, func(n nodeID) nodeEdge { return nodeEdge{n} })}
	}
	return o
}

// edgesOf wraps the nodes of a connection.
func edgesOf[N, E any](nodes []N, edge func(N) E) []E {
	edges := make([]E, len(nodes))
	for i, n := range nodes {
		edges[i] = edge(n)
	}
	return edges
}

func newAmount(a money.Amount) amountObject { return amountObject{a.String(), string(a.Currency)} }

func newPolicy(p contract.Policy) policyObject {
	o := policyObject{Interval: p.Interval.String(), IntervalCount: int32(p.Count), Anchors: []anchorObject{}}
	for _, a := range p.Anchors {
		o.Anchors = append(o.Anchors, anchorObject{Type: anchorKinds[a.Kind], Day: int32(a.Day), Month: web.Some(int32(a.Month))})
	}
	return o
}

var anchorKinds = map[cadence.AnchorKind]string{cadence.Weekday: "WEEKDAY", cadence.MonthDay: "MONTHDAY", cadence.YearDay: "YEARDAY"}

func newLineNode(l contract.Line, d contract.LineDetail) lineNode {
	n := lineNode{
		ID: l.ID, SellingPlanID: graphID("SellingPlan", l.SellingPlanID), SellingPlanName: web.Some(l.SellingPlanName), ProductID: graphID("Product", l.ProductID),
		SKU: web.Some(l.SKU), Title: l.Title, VariantID: graphID("ProductVariant", l.VariantID), Quantity: int32(l.Quantity), VariantTitle: web.Some(l.VariantTitle),
		CurrentPrice: newAmount(l.Price), LineDiscountedPrice: newAmount(l.Price.Times(int64(l.Quantity))), Taxable: l.Taxable,
		CustomAttributes: []attributeObject{}, DiscountAllocations: []allocationObject{},
	}
	if d.Discounted.Currency != "" {
		n.LineDiscountedPrice = newAmount(d.Discounted)
	}
	if l.Image != "" {
		n.VariantImage = &imageObject{l.Image}
	}
	for _, a := range d.Attributes {
		n.CustomAttributes = append(n.CustomAttributes, attributeObject(a))
	}
	for _, a := range d.Allocations {
		n.DiscountAllocations = append(n.DiscountAllocations, allocationObject{newAmount(a.Amount), a.Discount})
	}
	if d.Pricing != nil {
		n.PricingPolicy = &pricingObject{BasePrice: newAmount(d.Pricing.Base), CycleDiscounts: []cycleDiscountObject{}}
		for _, c := range d.Pricing.Cycles {
			value := adjustmentObject{Percentage: &c.Percent}
			if c.Kind != "PERCENTAGE" {
				value = adjustmentObject{Amount: new(c.Amount.String()), CurrencyCode: new(string(c.Amount.Currency))}
			}
			n.PricingPolicy.CycleDiscounts = append(n.PricingPolicy.CycleDiscounts, cycleDiscountObject{
				AfterCycle: int32(c.After), AdjustmentType: string(c.Kind), ComputedPrice: newAmount(c.Computed), AdjustmentValue: value,
			})
		}
	}
	return n
}

func newDiscountNode(d contract.Discount) discountNode {
	n := discountNode{
		ID: d.ID, Title: web.Some(d.Title), Code: web.Some(d.Code), Type: "MANUAL", TargetType: "LINE_ITEM", Percentage: web.Some(int32(d.Percent)),
		AppliesOnEachItem: d.EachItem, RecurringCycleLimit: web.Some(int32(d.CycleLimit)), UsageCount: int32(d.UsedCycles),
		EntitledLines: entitledLines{All: d.AllLines, Lines: d.Lines}, RejectionReason: web.Some(d.RejectedWhy),
	}
	if n.EntitledLines.Lines == nil {
		n.EntitledLines.Lines = []string{}
	}
	if d.Code != "" {
		n.Type = "CODE_DISCOUNT"
	}
	if d.FreeShipping || d.TargetIsOrder {
		n.TargetType = "SHIPPING_LINE"
	}
	if d.Amount.Minor != 0 {
		n.Amount = new(newAmount(d.Amount))
	}
	return n
}

func newPayment(id string, i contract.Instrument) *paymentObject {
	p := &paymentObject{ID: id, RevokedAt: web.At(i.RevokedAt)}
	if i.Kind != "" {
		p.Instrument = &instrumentObject{
			Typename: i.Kind, Brand: web.Some(i.Brand), LastDigits: web.Some(i.LastDigits), MaskedNumber: web.Some(i.Masked),
			ExpiryMonth: web.Some(int32(i.ExpiryMonth)), ExpiryYear: web.Some(int32(i.ExpiryYear)), Name: web.Some(i.Name),
		}
		if i.ExpiryYear != 0 {
			p.Instrument.ExpiresSoon = &i.ExpiresSoon
		}
	}
	return p
}

func newDelivery(m contract.DeliveryMethod) *deliveryObject {
	d := &deliveryObject{
		Kind: m.Kind, ServiceCode: web.Some(m.Code), Title: web.Some(m.Title), LocationID: web.Some(m.Location),
		AdditionalInformation: infoObject{Instructions: web.Some(m.Instructions), Phone: web.Some(m.Phone)},
	}
	if m.Address != (contract.Address{}) {
		a := m.Address
		d.Address = &addressObject{
			FirstName: web.Some(a.FirstName), LastName: web.Some(a.LastName), Company: web.Some(a.Company), Address1: web.Some(a.Address1), Address2: web.Some(a.Address2),
			City: web.Some(a.City), Province: web.Some(a.Province), ProvinceCode: web.Some(a.ProvinceCode), Country: web.Some(a.Country), CountryCode: web.Some(a.CountryCode),
			Zip: web.Some(a.Zip), Phone: web.Some(a.Phone),
		}
	}
	return d
}
