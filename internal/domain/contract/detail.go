package contract

import (
	"github.com/perennialhq/perennial/internal/platform"
)

// What the platform reports of a contract and the service passes on unchanged.
type (
	// LineDetail is what is shown of a line in addition to what is charged.
	LineDetail = platform.LineDetail
	// Allocation is a discount's share on a line.
	Allocation = platform.Allocation
	// Pricing is how a unit price changes with the cycles.
	Pricing = platform.Pricing
	// CyclePrice is a price that applies once some cycles have been billed.
	CyclePrice = platform.CyclePrice
	// Discount is a discount of a contract.
	Discount = platform.Discount
	// DeliveryMethod is how orders reach the customer.
	DeliveryMethod = platform.DeliveryMethod
	// Address is a postal address.
	Address = platform.Address
	// Instrument is what a payment method is made of.
	Instrument = platform.Instrument
	// PaymentMethod is something that a customer can be charged with.
	PaymentMethod = platform.PaymentMethod
	// Fulfillment is a shipped part of an order.
	Fulfillment = platform.Fulfillment
	// Charge is a billing attempt as the platform reports it.
	Charge = platform.Attempt
)

// OnlyVariant is the title of the variant of a product that has no others.
const OnlyVariant = platform.OnlyVariant

// Detail is a contract with everything that is shown of it: what the service stores, and
// what only the platform has.
type Detail struct {
	Contract
	LineDetails []LineDetail // of the lines, in their order; empty when they were not read
	Method      DeliveryMethod
	Instrument  Instrument
	Charges     []Charge // the latest ones, newest first
	Fulfilments []string // graph ids of the origin order's fulfilment orders
}

// DetailOf joins a stored contract with the platform's details.
func DetailOf(c Contract, p platform.Detail) Detail {
	c.Discounts = p.Discounts
	return Detail{
		Contract: c, LineDetails: p.LineDetails, Method: p.Method, Instrument: p.Instrument,
		Charges: p.Attempts, Fulfilments: p.Fulfilments,
	}
}

// LineByID returns the position of a line, or -1.
func (c Contract) LineByID(id string) int {
	for i, l := range c.Lines {
		if l.ID == id {
			return i
		}
	}
	return -1
}

// LineByVariant returns the position of the first line with a variant, or -1.
func (c Contract) LineByVariant(variant int64) int {
	for i, l := range c.Lines {
		if l.VariantID == variant {
			return i
		}
	}
	return -1
}
