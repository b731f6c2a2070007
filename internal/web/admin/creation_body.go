package admin

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// newContract is a contract to be made.
type newContract struct {
	Shop                       string                   `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	CustomerID                 web.AnyID                `json:"customerId" doc:"The customer: number or graph id."`
	NextBillingDate            string                   `json:"nextBillingDate,omitempty" maxLength:"40" doc:"ISO 8601 with a zone, or YYYY-MM-DD for a day in the store's zone. It may be absent where a line is on a plan with a free trial: then the first order is charged when that is over. A date that is given counts, and the contract begins without a trial." example:"2026-12-31"`
	Status                     string                   `json:"status,omitempty" enum:"ACTIVE,PAUSED" doc:"Default ACTIVE."`
	BillingIntervalType        string                   `json:"billingIntervalType" enum:"DAY,WEEK,MONTH,YEAR" doc:"Unit of time between two charges, in any letter case." example:"MONTH"`
	BillingIntervalCount       int32                    `json:"billingIntervalCount" minimum:"1" maximum:"365" doc:"How many such units lie between two charges." example:"1"`
	DeliveryIntervalType       string                   `json:"deliveryIntervalType,omitempty" enum:"DAY,WEEK,MONTH,YEAR" doc:"Default: as billed."`
	DeliveryIntervalCount      *int32                   `json:"deliveryIntervalCount,omitempty" minimum:"1" maximum:"365" doc:"Default: as billed." example:"1"`
	MaxCycles                  *int32                   `json:"maxCycles,omitempty" minimum:"0" maximum:"9999" doc:"Orders after which the contract ends; more than minCycles. 0: no end. Absent: as the plan says that the first line on one is on." example:"12"`
	MinCycles                  *int32                   `json:"minCycles,omitempty" minimum:"0" maximum:"9999" doc:"Orders that the customer commits to. 0: none. Absent: as the plan says that the first line on one is on." example:"3"`
	PaymentMethodID            string                   `json:"paymentMethodId,omitempty" maxLength:"255" doc:"Absent: the customer's newest one, unless createWithoutPaymentMethod is true." example:"gid://shopify/CustomerPaymentMethod/ab"`
	CreateWithoutPaymentMethod bool                     `json:"createWithoutPaymentMethod,omitempty" doc:"The contract is made without a payment method, even if the customer has one, and nothing is charged: its orders fail until it is given one. Not together with paymentMethodId."`
	DeliveryPriceAmount        json.Number              `json:"deliveryPriceAmount,omitempty" doc:"In the store's currency." example:"4.9"`
	DeliveryFirstName          string                   `json:"deliveryFirstName,omitempty" maxLength:"255" doc:"First name of who receives the orders." example:"Ada"`
	DeliveryLastName           string                   `json:"deliveryLastName,omitempty" maxLength:"255" doc:"Last name of who receives the orders." example:"Khan"`
	DeliveryCompany            string                   `json:"deliveryCompany,omitempty" maxLength:"255" doc:"Company." example:"Khan Roasters"`
	DeliveryAddress1           string                   `json:"deliveryAddress1,omitempty" maxLength:"255" doc:"Street and number." example:"12 Mill Lane"`
	DeliveryAddress2           string                   `json:"deliveryAddress2,omitempty" maxLength:"255" doc:"Second line of the street address, such as a flat." example:"Flat 3"`
	DeliveryCity               string                   `json:"deliveryCity,omitempty" maxLength:"255" doc:"City." example:"Ottawa"`
	DeliveryProvinceCode       string                   `json:"deliveryProvinceCode,omitempty" maxLength:"10" doc:"Code of the province or state within its country." example:"ON"`
	DeliveryCountryCode        string                   `json:"deliveryCountryCode,omitempty" maxLength:"2" doc:"Country: ISO 3166-1, two letters." example:"CA"`
	DeliveryZip                string                   `json:"deliveryZip,omitempty" maxLength:"50" doc:"Postal code." example:"K1A 0B1"`
	DeliveryPhone              string                   `json:"deliveryPhone,omitempty" maxLength:"50" doc:"Telephone number for the delivery, with the country's prefix." example:"+16135550101"`
	OrderNote                  string                   `json:"orderNote,omitempty" maxLength:"5000" doc:"Note that every order carries; plain text." example:"No plastic, please"`
	CustomAttributes           []record.AttributeObject `json:"customAttributes,omitempty" maxItems:"100" doc:"Keys and values that every order carries, each key once."`
	ImportedID                 string                   `json:"importedId,omitempty" maxLength:"255" doc:"Id in the system that the contract comes from. With one the contract is an imported one: its originType is IMPORTED." example:"sub_81"`
	Lines                      []contractLineIn         `json:"lines" minItems:"1" maxItems:"100" doc:"What every order has in it."`
}

// contractLineIn is a line of a contract to be made.
type contractLineIn struct {
	VariantID        web.AnyID                `json:"variantId" doc:"The variant: number or graph id."`
	Quantity         int32                    `json:"quantity" minimum:"1" maximum:"9999" doc:"Pieces in every order." example:"2"`
	SellingPlanID    web.AnyID                `json:"sellingPlanId,omitempty" doc:"The selling plan: number or graph id."`
	CurrentPrice     json.Number              `json:"currentPrice,omitempty" doc:"Unit price in the store's currency. Absent: the price that the plan gives." example:"12.25"`
	Price            json.Number              `json:"price,omitempty" doc:"Another spelling of currentPrice; one of them may be sent." example:"12.25"`
	BasePrice        json.Number              `json:"basePrice,omitempty" doc:"Another spelling of currentPrice; one of them may be sent." example:"12.25"`
	CustomAttributes []record.AttributeObject `json:"customAttributes,omitempty" maxItems:"100" doc:"Keys and values to put on the line, each key once."`
	PricingPolicy    []cyclePrice             `json:"pricingPolicy,omitempty" maxItems:"2" doc:"How the unit price changes with the orders."`
}

func (b newContract) parse(caller web.Caller) (create.Params, error) {
	missing := func(field string) error {
		return fault.New(fault.Invalid, "field '%s' is required", field).Entity(contractEntity).Code("bodyField").Field(field)
	}
	customer, err := b.CustomerID.Parse("Customer", "customerId")
	switch {
	case err != nil:
		return create.Params{}, err
	case customer == 0:
		return create.Params{}, missing("customerId")
	case b.BillingIntervalType == "":
		return create.Params{}, missing("billingIntervalType")
	}
	n := create.Params{
		Customer: customer, Status: contract.Active, Cycles: terms.Cycles{Min: limitOf(b.MinCycles), Max: limitOf(b.MaxCycles)}, NoPaymentMethod: b.CreateWithoutPaymentMethod,
		Note: b.OrderNote, Attributes: parseAttributes(b.CustomAttributes), ImportedID: b.ImportedID,
	}
	if b.NextBillingDate != "" {
		if n.NextBillingDate, err = caller.OrderDate("nextBillingDate", b.NextBillingDate); err != nil {
			return create.Params{}, err
		}
	}
	if b.Status != "" {
		if n.Status, err = web.ParseEnum("status", b.Status, []contract.Status{contract.Active, contract.Paused}); err != nil {
			return create.Params{}, err
		}
	}
	if n.Billing, err = parseRhythm("billingInterval", b.BillingIntervalType, b.BillingIntervalCount); err != nil {
		return create.Params{}, err
	}
	n.Delivery = n.Billing
	if b.DeliveryIntervalType != "" || b.DeliveryIntervalCount != nil {
		count := b.BillingIntervalCount
		if b.DeliveryIntervalCount != nil {
			count = *b.DeliveryIntervalCount
		}
		if n.Delivery, err = parseRhythm("deliveryInterval", cmp.Or(b.DeliveryIntervalType, b.BillingIntervalType), count); err != nil {
			return create.Params{}, err
		}
	}
	if b.PaymentMethodID != "" {
		n.PaymentMethod = contractedit.PaymentMethodID(b.PaymentMethodID)
	}
	if b.DeliveryPriceAmount != "" {
		if n.DeliveryPrice, err = amountIn(caller.Shop.Currency, "deliveryPriceAmount", string(b.DeliveryPriceAmount)); err != nil {
			return create.Params{}, err
		}
	}
	if b.DeliveryAddress1 != "" || b.DeliveryCity != "" || b.DeliveryCountryCode != "" {
		address := record.ShippingAddress{
			FirstName: b.DeliveryFirstName, LastName: b.DeliveryLastName, Company: b.DeliveryCompany, Address1: b.DeliveryAddress1, Address2: b.DeliveryAddress2,
			City: b.DeliveryCity, ProvinceCode: b.DeliveryProvinceCode, CountryCode: b.DeliveryCountryCode, Zip: b.DeliveryZip, Phone: b.DeliveryPhone,
		}
		method, err := address.Method()
		if err != nil {
			return create.Params{}, err
		}
		n.Method = method(contract.DeliveryMethod{})
	}
	n.Lines, err = parseList(caller.Shop.Currency, "lines", b.Lines)
	return n, err
}

// limitOf reads a limit; nil when it is absent.
func limitOf(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

func (l contractLineIn) parse(currency money.Currency, field string) (terms.NewLine, error) {
	made, err := newLine{l.VariantID, l.Quantity, l.SellingPlanID, l.CurrentPrice, l.Price, l.BasePrice, l.CustomAttributes}.parse(currency, field)
	if err != nil || len(l.PricingPolicy) == 0 {
		return made, err
	}
	made.Pricing, err = parseList(currency, field+".pricingPolicy", l.PricingPolicy)
	return made, err
}

// maxIntervalCount is the largest number of days, weeks, months or years of an
// interval.
const maxIntervalCount = 365

func parseRhythm(field, interval string, count int32) (terms.Frequency, error) {
	parsed, err := cadence.ParseInterval(interval)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return terms.Frequency{}, f.Field(field + "Type")
	}
	if err == nil && (count < 1 || count > maxIntervalCount) {
		err = fault.New(fault.Invalid, "field '%sCount' must be from 1 to %d", field, maxIntervalCount).Entity(contractEntity).Code("bodyField").Field(field + "Count")
	}
	return terms.Frequency{Interval: parsed, Count: int(count)}, err
}
