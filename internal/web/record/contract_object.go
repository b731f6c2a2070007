package record

import (
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// ContractObject is a contract as the operations that change one answer it: the
// shape of the platform's own object.
type ContractObject struct {
	GetTypename           string              `json:"get__typename" doc:"Name of the object's type at the platform." example:"SubscriptionContract"`
	Typename              string              `json:"__typename" doc:"The same as get__typename." example:"SubscriptionContract"`
	ID                    string              `json:"id" doc:"Graph id." example:"gid://shopify/SubscriptionContract/9001"`
	OriginalContractID    *int64              `json:"originalContractId" doc:"Number of the contract that this one was split from, or that it restarts; null when there is none." example:"9000"`
	Status                string              `json:"status" enum:"ACTIVE,PAUSED,CANCELLED,EXPIRED,FAILED,$UNKNOWN" example:"ACTIVE" doc:"How the contract stands. PAUSED: nothing is charged until it is resumed. CANCELLED and EXPIRED: it has ended. FAILED: the platform gave it up after failed payments."`
	CreatedAt             *web.Instant        `json:"createdAt" format:"date-time" doc:"When the contract was made, in UTC." example:"2026-01-31T08:00:00Z"`
	UpdatedAt             *web.Instant        `json:"updatedAt" format:"date-time" doc:"When it was changed last, in UTC." example:"2026-01-31T08:00:00Z"`
	NextBillingDate       *web.Instant        `json:"nextBillingDate" format:"date-time" doc:"When the next order is charged; null when none is to come." example:"2026-01-31T08:00:00Z"`
	LastPaymentStatus     *string             `json:"lastPaymentStatus" doc:"How the last charge ended: SUCCEEDED or FAILED; null before the first one." example:"SUCCEEDED"`
	Note                  *string             `json:"note" doc:"Attached to every future order." example:"No plastic, please"`
	DeliveryPrice         AmountObject        `json:"deliveryPrice" doc:"What delivery of one order costs, in the contract's currency."`
	BillingPolicy         billingPolicyObject `json:"billingPolicy" doc:"How often orders are charged."`
	DeliveryPolicy        policyObject        `json:"deliveryPolicy" doc:"How often orders are delivered."`
	Lines                 lineConnection      `json:"lines" doc:"What every order has in it."`
	CustomerPaymentMethod *PaymentObject      `json:"customerPaymentMethod" doc:"What is charged; null when the contract has no payment method."`
	DeliveryMethod        *deliveryObject     `json:"deliveryMethod" doc:"How orders reach the customer; null when nothing is delivered."`
	OriginOrder           *originOrderObject  `json:"originOrder" doc:"The order with which the contract began; null when it began without one."`
	Customer              payerObject         `json:"customer" doc:"Who pays."`
	Discounts             discountConnection  `json:"discounts" doc:"Discounts of the coming orders."`
	CustomAttributes      []AttributeObject   `json:"customAttributes" nullable:"false" doc:"Keys and values that every order carries."`
	BillingAttempts       chargeConnection    `json:"billingAttempts" doc:"The latest charges at the platform, newest first."`
}

// AmountObject is an amount of money.
type AmountObject struct {
	Amount       string `json:"amount" doc:"Amount of money, a text with the currency's decimals." example:"12.50"`
	CurrencyCode string `json:"currencyCode" doc:"Currency: ISO 4217." example:"USD"`
}

// policyObject is how often something recurs.
type policyObject struct {
	Interval      string         `json:"interval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between two deliveries." example:"MONTH"`
	IntervalCount int32          `json:"intervalCount" minimum:"1" doc:"How many such units lie between two deliveries." example:"1"`
	Anchors       []anchorObject `json:"anchors" nullable:"false" doc:"Fixed days on which deliveries fall; empty when they are counted from the first order."`
}

// billingPolicyObject is how often orders are charged, and how many there are.
type billingPolicyObject struct {
	Interval      string         `json:"interval" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between two charges." example:"MONTH"`
	IntervalCount int32          `json:"intervalCount" minimum:"1" doc:"How many such units lie between two charges." example:"1"`
	Anchors       []anchorObject `json:"anchors" nullable:"false" doc:"Fixed days on which charges fall; empty when they are counted from the first order."`
	MaxCycles     *int32         `json:"maxCycles" doc:"After that many orders the contract ends; null: never." example:"12"`
	MinCycles     *int32         `json:"minCycles" doc:"So many orders are owed; null: none." example:"3"`
}

// anchorObject is a fixed day on which a policy falls.
type anchorObject struct {
	Type      string `json:"type" enum:"WEEKDAY,MONTHDAY,YEARDAY" doc:"How day is meant." example:"MONTHDAY"`
	Day       int32  `json:"day" doc:"WEEKDAY: 1 (Monday) to 7. MONTHDAY and YEARDAY: day of the month, 1 to 31." example:"15"`
	Month     *int32 `json:"month" doc:"YEARDAY: 1 (January) to 12; else null." example:"3"`
	CutoffDay *int32 `json:"cutoffDay" doc:"The fixed day of the week or month from which a new contract waits for the anchor after the next; null when there is none." example:"5"`
}

// PageInfo says where a page of a connection lies. Ours are whole.
type PageInfo struct {
	HasPreviousPage bool    `json:"hasPreviousPage" doc:"Whether there is a page before this one." example:"false"`
	HasNextPage     bool    `json:"hasNextPage" doc:"Whether there is a page after this one." example:"false"`
	StartCursor     *string `json:"startCursor" doc:"Place of the first element; null where places are not given." example:"MTczODMxMDQwMDAwMDo5MDAx"`
	EndCursor       *string `json:"endCursor" doc:"Place of the last element; null where places are not given." example:"MTczODMxMDQwMDAwMDo5MDAx"`
}

// lineConnection is the lines of a contract.
type lineConnection struct {
	Nodes    []lineNode `json:"nodes" nullable:"false" doc:"The lines."`
	Edges    []lineEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo PageInfo   `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type lineEdge struct {
	Node lineNode `json:"node" doc:"The line."`
}

// lineNode is a line of a contract.
type lineNode struct {
	ID                  string             `json:"id" doc:"Graph id of the line." example:"gid://shopify/SubscriptionLine/12"`
	SellingPlanID       *string            `json:"sellingPlanId" doc:"Graph id." example:"gid://shopify/SellingPlan/6003"`
	SellingPlanName     *string            `json:"sellingPlanName" doc:"Name of the selling plan; null when the line has none." example:"Every month"`
	ProductID           *string            `json:"productId" doc:"Graph id." example:"gid://shopify/Product/3001"`
	SKU                 *string            `json:"sku" doc:"Stock keeping unit of the variant; null when it has none." example:"COFFEE-250"`
	Title               string             `json:"title" doc:"Title of the product." example:"House Blend Coffee"`
	VariantID           *string            `json:"variantId" doc:"Graph id." example:"gid://shopify/ProductVariant/4001"`
	Quantity            int32              `json:"quantity" doc:"Pieces in every order." example:"2"`
	VariantTitle        *string            `json:"variantTitle" doc:"Title of the variant; null when the product has only one." example:"250 g"`
	CustomAttributes    []AttributeObject  `json:"customAttributes" nullable:"false" doc:"Keys and values of the line."`
	LineDiscountedPrice AmountObject       `json:"lineDiscountedPrice" doc:"Of the whole line, after its discounts."`
	CurrentPrice        AmountObject       `json:"currentPrice" doc:"Of one unit."`
	VariantImage        *ImageObject       `json:"variantImage" doc:"Picture of the variant; null when it has none."`
	DiscountAllocations []allocationObject `json:"discountAllocations" nullable:"false" doc:"What each discount takes off the line; empty when none does."`
	PricingPolicy       *pricingObject     `json:"pricingPolicy" doc:"How the unit price changes with the orders; null: it does not."`
	Taxable             bool               `json:"taxable" doc:"Whether tax is charged for the line." example:"true"`
	OneTime             bool               `json:"_one_time_product,omitempty" doc:"Whether the line is a product of one upcoming order only. Absent otherwise." example:"true"`
}

// ImageObject is a picture.
type ImageObject struct {
	TransformedSrc string `json:"transformedSrc" doc:"Address of the picture." example:"https://cdn.shopify.com/s/files/house-blend.jpg"`
}

type allocationObject struct {
	Amount   AmountObject `json:"amount" doc:"What the discount takes off the whole line."`
	Discount string       `json:"discount" doc:"Graph id of the discount." example:"gid://shopify/SubscriptionManualDiscount/ab"`
}

type pricingObject struct {
	BasePrice      AmountObject          `json:"basePrice" doc:"Unit price before the changes."`
	CycleDiscounts []cycleDiscountObject `json:"cycleDiscounts" nullable:"false" doc:"The changes, in the order in which they set in; at most 2."`
}

type cycleDiscountObject struct {
	AfterCycle      int32            `json:"afterCycle" doc:"Orders that must have been charged before the price counts; 0: from the first one." example:"1"`
	AdjustmentType  string           `json:"adjustmentType" enum:"PERCENTAGE,FIXED_AMOUNT,PRICE" doc:"How the price is made: PERCENTAGE or FIXED_AMOUNT off the base price, or PRICE in its place." example:"PERCENTAGE"`
	ComputedPrice   AmountObject     `json:"computedPrice" doc:"Unit price that results."`
	AdjustmentValue adjustmentObject `json:"adjustmentValue" doc:"A percentage with PERCENTAGE, else an amount."`
}

// adjustmentObject is a percentage or an amount.
type adjustmentObject struct {
	Percentage   *float64 `json:"percentage,omitempty" doc:"With PERCENTAGE: per cent off the base price, 0 to 100. Else absent." example:"10"`
	Amount       *string  `json:"amount,omitempty" doc:"With FIXED_AMOUNT what is taken off, with PRICE the price, of one unit and with the currency's decimals. Else absent." example:"2.50"`
	CurrencyCode *string  `json:"currencyCode,omitempty" doc:"Currency of amount: ISO 4217. Absent without one." example:"USD"`
}

// AttributeObject is a key and its value.
type AttributeObject struct {
	Key   string `json:"key" minLength:"1" maxLength:"255" doc:"Name of the attribute." example:"gift"`
	Value string `json:"value" maxLength:"5000" doc:"Its text; may be empty." example:"yes"`
}

// PaymentObject is a payment method.
type PaymentObject struct {
	ID         string            `json:"id" doc:"Graph id." example:"gid://shopify/CustomerPaymentMethod/ab"`
	Instrument *InstrumentObject `json:"instrument" doc:"What is behind the method; null when the platform does not say."`
	RevokedAt  *web.Instant      `json:"revokedAt" format:"date-time" doc:"Since when it cannot be charged any more, in UTC; null: it can be." example:"2026-01-31T08:00:00Z"`
}

// InstrumentObject is what a payment method is made of.
type InstrumentObject struct {
	Typename     string  `json:"__typename" doc:"CustomerCreditCard, CustomerPaypalBillingAgreement, CustomerShopPayAgreement or BankAccount." example:"CustomerCreditCard"`
	Brand        *string `json:"brand" doc:"Brand of the card, such as visa; null when it is no card." example:"visa"`
	LastDigits   *string `json:"lastDigits" doc:"Last digits of the number; null when it has none." example:"4242"`
	MaskedNumber *string `json:"maskedNumber" doc:"The number with all but its last digits hidden; null when it has none." example:"•••• •••• •••• 4242"`
	ExpiryMonth  *int32  `json:"expiryMonth" doc:"Last month in which the card is good, 1 to 12; null when it is no card." example:"12"`
	ExpiryYear   *int32  `json:"expiryYear" doc:"Year of that month, four digits; null when it is no card." example:"2030"`
	ExpiresSoon  *bool   `json:"expiresSoon" doc:"Whether the platform says that the card is about to expire; null when it has no expiry." example:"false"`
	Name         *string `json:"name" doc:"Name of the holder, or e-mail address of the account; null when not known." example:"Ada Khan"`
}

// deliveryObject is how orders reach the customer.
type deliveryObject struct {
	ID                    *string          `json:"id" doc:"Always null: the platform numbers none."`
	Kind                  string           `json:"kind" enum:"SHIPPING,LOCAL,PICK_UP" doc:"SHIPPING: sent. LOCAL: brought by the store. PICK_UP: fetched by the customer." example:"SHIPPING"`
	ServiceCode           *string          `json:"serviceCode" doc:"The carrier's code of the service; null when none is chosen." example:"Standard"`
	Title                 *string          `json:"title" doc:"The service as the customer reads it; null when none is chosen." example:"Standard"`
	Address               *addressObject   `json:"address" doc:"Where orders go; null for PICK_UP."`
	LocationID            *string          `json:"locationId" doc:"Graph id of the place to pick up at." example:"gid://shopify/Location/6001"`
	MinDeliveryDateTime   *web.Instant     `json:"minDeliveryDateTime" format:"date-time" doc:"Known once an order is on its way: null here." example:"2026-01-31T08:00:00Z"`
	MaxDeliveryDateTime   *web.Instant     `json:"maxDeliveryDateTime" format:"date-time" doc:"Known once an order is on its way: null here." example:"2026-01-31T08:00:00Z"`
	AdditionalInformation infoObject       `json:"additionalInformation" doc:"Instructions for the driver, for LOCAL."`
	BrandedPromise        *brandedPromised `json:"brandedPromise" doc:"The platform's promise of a delivery time. Always null: contracts carry none."`
}

type infoObject struct {
	Instructions *string `json:"instructions" doc:"Words of the customer for the driver; null when there is none." example:"Leave at the back door"`
	Phone        *string `json:"phone" doc:"Telephone number for the driver; null when there is none." example:"+16135550101"`
}

type brandedPromised struct {
	Handle string `json:"handle" doc:"Its name at the platform." example:"shop_promise"`
	Name   string `json:"name" doc:"Its name as customers read it." example:"Shop Promise"`
}

// addressObject is a postal address.
type addressObject struct {
	FirstName    *string `json:"firstName" doc:"First name of who receives the orders; null when there is none." example:"Ada"`
	LastName     *string `json:"lastName" doc:"Last name of who receives the orders; null when there is none." example:"Khan"`
	Company      *string `json:"company" doc:"Company; null when there is none." example:"Khan Roasters"`
	Address1     *string `json:"address1" doc:"Street and number; null when there is none." example:"12 Mill Lane"`
	Address2     *string `json:"address2" doc:"Second line of the street address, such as a flat; null when there is none." example:"Flat 3"`
	City         *string `json:"city" doc:"City; null when there is none." example:"Ottawa"`
	Province     *string `json:"province" doc:"Name of the province or state; null when there is none." example:"Ontario"`
	ProvinceCode *string `json:"provinceCode" doc:"Code of the province or state within its country; null when there is none." example:"ON"`
	Country      *string `json:"country" doc:"Name of the country; null when there is none." example:"Canada"`
	CountryCode  *string `json:"countryCode" doc:"Country: ISO 3166-1, two letters; null when there is none." example:"CA"`
	Zip          *string `json:"zip" doc:"Postal code; null when there is none." example:"K1A 0B1"`
	Phone        *string `json:"phone" doc:"Telephone number for the delivery, with the country's prefix; null when there is none." example:"+16135550101"`
}

// originOrderObject is the order from which the contract came.
type originOrderObject struct {
	ID                string               `json:"id" doc:"Graph id." example:"gid://shopify/Order/5001"`
	Name              string               `json:"name" example:"#1001" doc:"Name of the order, as the store writes it."`
	FulfillmentOrders fulfilmentConnection `json:"fulfillmentOrders" doc:"The order's fulfilment orders at the platform."`
}

type fulfilmentConnection struct {
	Nodes    []nodeID   `json:"nodes" nullable:"false" doc:"The fulfilment orders."`
	Edges    []nodeEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo PageInfo   `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type nodeID struct {
	ID string `json:"id" doc:"Graph id." example:"gid://shopify/FulfillmentOrder/5101"`
}

type nodeEdge struct {
	Node nodeID `json:"node" doc:"The fulfilment order."`
}

// payerObject is the customer who pays.
type payerObject struct {
	ID          string  `json:"id" doc:"Graph id." example:"gid://shopify/Customer/7001"`
	Email       *string `json:"email" doc:"E-mail address; null when there is none." example:"ada@example.com"`
	DisplayName *string `json:"displayName" doc:"Name as the platform shows it; null when there is none." example:"Ada Khan"`
	FirstName   *string `json:"firstName" doc:"First name; null when there is none." example:"Ada"`
	LastName    *string `json:"lastName" doc:"Last name; null when there is none." example:"Khan"`
	Phone       *string `json:"phone" doc:"Telephone number; null when there is none." example:"+16135550101"`
}

// discountConnection is the discounts of a contract.
type discountConnection struct {
	Nodes    []discountNode `json:"nodes" nullable:"false" doc:"The discounts."`
	Edges    []discountEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo PageInfo       `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type discountEdge struct {
	Node discountNode `json:"node" doc:"The discount."`
}

// discountNode is a discount of a contract.
type discountNode struct {
	ID                  string        `json:"id" doc:"Graph id." example:"gid://shopify/SubscriptionManualDiscount/ab"`
	Title               *string       `json:"title" doc:"Name of the discount, as the customer reads it; null when there is none." example:"Loyal customer"`
	Code                *string       `json:"code" doc:"Null for a discount made by hand." example:"WELCOME10"`
	Type                string        `json:"type" enum:"MANUAL,CODE_DISCOUNT" doc:"MANUAL: made by hand. CODE_DISCOUNT: a code was redeemed." example:"MANUAL"`
	TargetType          string        `json:"targetType" enum:"LINE_ITEM,SHIPPING_LINE" doc:"What it is taken off: lines, or what delivery costs." example:"LINE_ITEM"`
	Percentage          *int32        `json:"percentage" doc:"Per cent off, 1 to 100; null when it is an amount." example:"10"`
	Amount              *AmountObject `json:"amount" doc:"What is taken off; null when it is a percentage."`
	Value               discountValue `json:"value" doc:"The same as percentage, or as amount and appliesOnEachItem, in the platform's shape."`
	AppliesOnEachItem   bool          `json:"appliesOnEachItem" doc:"Whether amount is taken off each piece and not once off all the lines." example:"false"`
	RecurringCycleLimit *int32        `json:"recurringCycleLimit" doc:"How many orders it lasts; null: no end." example:"3"`
	UsageCount          int32         `json:"usageCount" doc:"Orders that had it." example:"1"`
	EntitledLines       entitledLines `json:"entitledLines" doc:"The lines that it is for."`
	RejectionReason     *string       `json:"rejectionReason" doc:"Why the platform does not apply it, in its own code; null: it applies." example:"EXPIRED"`
}

// discountValue is what a discount takes off: a percentage or an amount.
type discountValue struct {
	Percentage        *int32        `json:"percentage,omitempty" doc:"Per cent off, 1 to 100. Absent when it is an amount." example:"10"`
	Amount            *AmountObject `json:"amount,omitempty" doc:"What is taken off. Absent when it is a percentage."`
	AppliesOnEachItem *bool         `json:"appliesOnEachItem,omitempty" doc:"Whether amount is taken off each piece and not once off all the lines. Absent when it is a percentage." example:"false"`
}

// entitledLines says which lines a discount is for.
type entitledLines struct {
	All   bool     `json:"all" doc:"Whether it is for all lines, also those that are added later." example:"true"`
	Lines []string `json:"lines" nullable:"false" doc:"Graph ids; empty when it is for all." example:"[\"gid://shopify/SubscriptionLine/12\"]"`
}

// chargeConnection is the latest charges of a contract at the platform.
type chargeConnection struct {
	Nodes    []chargeNode `json:"nodes" nullable:"false" doc:"The charges."`
	Edges    []chargeEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo PageInfo     `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type chargeEdge struct {
	Node chargeNode `json:"node" doc:"The charge."`
}

type chargeNode struct {
	ID             string       `json:"id" doc:"Graph id." example:"gid://shopify/SubscriptionBillingAttempt/8001"`
	IdempotencyKey string       `json:"idempotencyKey" doc:"Key under which the platform was asked to charge: the same key never charges twice." example:"9001-4"`
	Ready          bool         `json:"ready" doc:"Whether its end is known."`
	CreatedAt      *web.Instant `json:"createdAt" format:"date-time" doc:"When the charge began, in UTC." example:"2026-01-31T08:00:00Z"`
	CompletedAt    *web.Instant `json:"completedAt" format:"date-time" doc:"When it ended, in UTC; null while its end is not known." example:"2026-01-31T08:00:00Z"`
}

// ContractTypename is the platform's name of the object's type.
const ContractTypename = "SubscriptionContract"

// NewContractObject writes a contract. What is not known of it, because the
// platform was not asked, is empty.
func NewContractObject(d contract.Detail) ContractObject {
	o := ContractObject{
		GetTypename: ContractTypename, Typename: ContractTypename, ID: gid.Of(ContractTypename, int64(d.ID)), Status: string(d.Status),
		CreatedAt: web.At(d.CreatedAt), UpdatedAt: web.At(d.UpdatedAt), NextBillingDate: web.At(d.NextBillingDate),
		LastPaymentStatus: web.Some(d.LastPayment), Note: web.Some(d.Note), DeliveryPrice: NewAmount(money.Amount{Minor: d.DeliveryPrice.Minor, Currency: d.Currency}),
		DeliveryPolicy: newPolicy(d.Delivery), OriginalContractID: web.Some(int64(d.SplitFrom)),
		Customer: payerObject{
			ID: gid.Of("Customer", d.Customer.ID), Email: web.Some(d.Customer.Email), DisplayName: web.Some(d.Customer.Name),
			FirstName: web.Some(d.Customer.FirstName), LastName: web.Some(d.Customer.LastName), Phone: web.Some(d.Customer.Phone),
		},
		CustomAttributes: []AttributeObject{},
	}
	billed := newPolicy(d.Billing)
	o.BillingPolicy = billingPolicyObject{billed.Interval, billed.IntervalCount, billed.Anchors, web.Some(int32(d.MaxCycles)), web.Some(int32(d.MinCycles))}
	for _, a := range d.Attributes {
		o.CustomAttributes = append(o.CustomAttributes, AttributeObject(a))
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
		o.CustomerPaymentMethod = NewPayment(d.PaymentMethod, d.Instrument)
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

// oneTimeMark is the key that marks a one-time product among the lines.
const oneTimeMark = "_one_time_product"

// AddOneTimeProducts lets products of single orders follow the lines.
func (o *ContractObject) AddOneTimeProducts(products []billing.OneOff) {
	for _, p := range products {
		l := p.Line()
		l.ID = p.LineID()
		n := newLineNode(l, contract.LineDetail{})
		n.OneTime, n.CustomAttributes = true, []AttributeObject{{Key: oneTimeMark, Value: "true"}}
		o.Lines.Nodes, o.Lines.Edges = append(o.Lines.Nodes, n), append(o.Lines.Edges, lineEdge{n})
	}
}

// edgesOf wraps the nodes of a connection.
func edgesOf[N, E any](nodes []N, edge func(N) E) []E {
	edges := make([]E, len(nodes))
	for i, n := range nodes {
		edges[i] = edge(n)
	}
	return edges
}

// NewAmount writes an amount of money.
func NewAmount(a money.Amount) AmountObject { return AmountObject{a.String(), string(a.Currency)} }

func newPolicy(p contract.Policy) policyObject {
	o := policyObject{Interval: p.Interval.String(), IntervalCount: int32(p.Count), Anchors: []anchorObject{}}
	for _, a := range p.Anchors {
		o.Anchors = append(o.Anchors, anchorObject{Type: anchorKinds[a.Kind], Day: int32(a.Day), Month: web.Some(int32(a.Month)), CutoffDay: web.Some(int32(a.CutoffDay))})
	}
	return o
}

var anchorKinds = map[cadence.AnchorKind]string{cadence.Weekday: "WEEKDAY", cadence.MonthDay: "MONTHDAY", cadence.YearDay: "YEARDAY"}

func newLineNode(l contract.LineItem, d contract.LineDetail) lineNode {
	n := lineNode{
		ID: l.ID, SellingPlanID: graphID("SellingPlan", l.SellingPlanID), SellingPlanName: web.Some(l.SellingPlanName), ProductID: graphID("Product", l.ProductID),
		SKU: web.Some(l.SKU), Title: l.Title, VariantID: graphID("ProductVariant", l.VariantID), Quantity: int32(l.Quantity), VariantTitle: web.Some(l.VariantTitle),
		CurrentPrice: NewAmount(l.Price), LineDiscountedPrice: NewAmount(l.Price.Times(int64(l.Quantity))), Taxable: l.Taxable,
		CustomAttributes: []AttributeObject{}, DiscountAllocations: []allocationObject{},
	}
	if d.Discounted.Currency != "" {
		n.LineDiscountedPrice = NewAmount(d.Discounted)
	}
	if l.Image != "" {
		n.VariantImage = &ImageObject{l.Image}
	}
	for _, a := range d.Attributes {
		n.CustomAttributes = append(n.CustomAttributes, AttributeObject(a))
	}
	for _, a := range d.Allocations {
		n.DiscountAllocations = append(n.DiscountAllocations, allocationObject{NewAmount(a.Amount), a.Discount})
	}
	if d.Pricing != nil {
		n.PricingPolicy = &pricingObject{BasePrice: NewAmount(d.Pricing.Base), CycleDiscounts: []cycleDiscountObject{}}
		for _, c := range d.Pricing.Cycles {
			value := adjustmentObject{Percentage: &c.Percent}
			if c.Kind != "PERCENTAGE" {
				value = adjustmentObject{Amount: new(c.Amount.String()), CurrencyCode: new(string(c.Amount.Currency))}
			}
			n.PricingPolicy.CycleDiscounts = append(n.PricingPolicy.CycleDiscounts, cycleDiscountObject{
				AfterCycle: int32(c.After), AdjustmentType: string(c.Kind), ComputedPrice: NewAmount(c.Computed), AdjustmentValue: value,
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
		n.Amount = new(NewAmount(d.Amount))
		n.Value = discountValue{Amount: n.Amount, AppliesOnEachItem: &n.AppliesOnEachItem}
	} else {
		n.Value = discountValue{Percentage: new(int32(d.Percent))}
	}
	return n
}

// NewPayment writes the payment method with the graph id.
func NewPayment(id string, i contract.Instrument) *PaymentObject {
	p := &PaymentObject{ID: id, RevokedAt: web.At(i.RevokedAt)}
	if i.Kind != "" {
		p.Instrument = &InstrumentObject{
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
