package shopify

import (
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// newContract turns what the platform says into ours. An id or an amount that
// cannot be read is platform.ErrUnknown.
func newContract(f *admin.ContractFields, lines []admin.Line) (platform.Contract, error) {
	id, err := gid.Parse(typeContract, f.Id)
	if err != nil {
		return platform.Contract{}, unknown(err)
	}
	deliveryPrice, err := amount(f.DeliveryPrice)
	if err != nil {
		return platform.Contract{}, err
	}
	origin, err := newOrigin(&f.OriginOrder)
	if err != nil {
		return platform.Contract{}, err
	}
	k := platform.Contract{
		ID:              id,
		Revision:        uint64(f.RevisionId),
		Status:          f.Status,
		CreatedAt:       f.CreatedAt,
		UpdatedAt:       f.UpdatedAt,
		NextBillingDate: f.NextBillingDate,
		Currency:        f.CurrencyCode,
		Billing: platform.Policy{
			Interval: f.BillingPolicy.Interval, Count: f.BillingPolicy.IntervalCount, Anchors: newAnchors(f.BillingPolicy.Anchors),
			MinCycles: f.BillingPolicy.MinCycles, MaxCycles: f.BillingPolicy.MaxCycles,
		},
		Delivery: platform.Policy{
			Interval: f.DeliveryPolicy.Interval, Count: f.DeliveryPolicy.IntervalCount, Anchors: newAnchors(f.DeliveryPolicy.Anchors),
		},
		Customer:        newCustomer(&f.Customer),
		PaymentMethod:   newPaymentMethod(f.CustomerPaymentMethod),
		OriginOrder:     origin,
		DeliveryPrice:   deliveryPrice,
		DeliveryCountry: f.DeliveryMethod.Address.CountryCode,
		Note:            f.Note,
		LastPayment:     f.LastPaymentStatus,
	}
	for _, a := range f.CustomAttributes {
		k.Attributes = append(k.Attributes, platform.Attribute{Key: a.Key, Value: a.Value})
	}
	for _, l := range lines {
		line, err := newLine(l)
		if err != nil {
			return platform.Contract{}, err
		}
		k.Lines = append(k.Lines, line)
		pricing, err := newPricing(l.PricingPolicy)
		if err != nil {
			return platform.Contract{}, err
		}
		pricesOf(&k, line.ID, pricing)
	}
	k.Discounts, err = newDiscounts(f.Discounts)
	return k, err
}

// newOrigin returns the zero value for a contract that began without a checkout. An order whose
// amounts the app may not read has no total.
func newOrigin(f *admin.ContractFieldsOriginOrder) (platform.OriginOrder, error) {
	o := platform.OriginOrder{OrderRef: platform.OrderRef{ID: gid.Number(f.Id), Name: f.Name}, Pieces: f.SubtotalLineItemsQuantity}
	if f.TotalPriceSet.PresentmentMoney.Amount == "" {
		return o, nil
	}
	var err error
	o.Total, err = amount(f.TotalPriceSet.PresentmentMoney)
	return o, err
}

func newCustomer(f *admin.Customer) platform.Customer {
	return platform.Customer{
		ID:          gid.Number(f.Id),
		Email:       f.DefaultEmailAddress.EmailAddress,
		FirstName:   f.FirstName,
		LastName:    f.LastName,
		DisplayName: f.DisplayName,
		Phone:       f.DefaultPhoneNumber.PhoneNumber,
	}
}

func newAnchors(fields []admin.AnchorFields) []platform.Anchor {
	var anchors []platform.Anchor
	for _, a := range fields {
		anchors = append(anchors, platform.Anchor{Type: a.Type, Day: a.Day, Month: a.Month, CutoffDay: a.CutoffDay})
	}
	return anchors
}

func newPaymentMethod(f admin.PaymentMethod) platform.PaymentMethod {
	brand := f.Instrument.Brand
	if brand == "" {
		brand = f.Instrument.BankName
	}
	return platform.PaymentMethod{
		ID:             f.Id,
		Revoked:        !f.RevokedAt.IsZero(),
		BillingCountry: f.Instrument.BillingAddress.CountryCode,
		Kind:           f.Instrument.Type,
		Brand:          brand,
		LastDigits:     f.Instrument.LastDigits,
		ExpiryMonth:    f.Instrument.ExpiryMonth,
		ExpiryYear:     f.Instrument.ExpiryYear,
	}
}

func newLine(l admin.Line) (platform.Line, error) {
	price, err := amount(l.CurrentPrice)
	if err != nil {
		return platform.Line{}, err
	}
	return platform.Line{
		ID:              l.Id,
		ProductID:       gid.Number(l.ProductId),
		VariantID:       gid.Number(l.VariantId),
		SKU:             l.Sku,
		Title:           l.Title,
		VariantTitle:    l.VariantTitle,
		Image:           l.VariantImage.Url,
		Quantity:        l.Quantity,
		Price:           price,
		SellingPlanID:   gid.Number(l.SellingPlanId),
		SellingPlanName: l.SellingPlanName,
		Taxable:         l.Taxable,
	}, nil
}

// amount turns a decimal and its currency into an amount.
func amount(m wire.Money) (money.Amount, error) {
	a, err := money.Parse(m.Amount, money.Currency(m.CurrencyCode))
	if err != nil {
		return money.Amount{}, unknown(err)
	}
	return a, nil
}
