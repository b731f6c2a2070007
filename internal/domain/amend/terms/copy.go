package terms

import "github.com/perennialhq/perennial/internal/platform"

// NewContractLike is a new contract of the same customer with the delivery, the note and the
// attributes of one that exists, without lines and without a payment method.
func NewContractLike(is platform.Detail, billed platform.Policy) platform.NewContract {
	n := platform.NewContract{
		Customer: is.Customer.ID, Currency: is.Currency,
		Edit: platform.Edit{Billing: &billed, Delivery: &is.Delivery, DeliveryPrice: &is.DeliveryPrice},
	}
	if len(is.Attributes) > 0 {
		n.Attributes = &is.Attributes
	}
	if is.Note != "" {
		n.Note = &is.Note
	}
	if is.Method.Kind != "" {
		n.Method = &is.Method
	}
	return n
}

// NewLineLike is a line of a new contract as it is in one that exists, at the price that
// it has in the new contract's first order.
func NewLineLike(is platform.Detail, at int, prices map[string]LinePrice) platform.LineEdit {
	l := is.Lines[at]
	edit := platform.LineEdit{Variant: &l.VariantID, Quantity: &l.Quantity, Price: &l.Price}
	if on, ok := prices[l.ID]; ok {
		edit.Price, edit.Pricing = &on.Price, on.Pricing
	}
	if l.SellingPlanID != 0 {
		edit.SellingPlanID, edit.SellingPlanName = &l.SellingPlanID, &l.SellingPlanName
	}
	if at < len(is.LineDetails) && len(is.LineDetails[at].Attributes) > 0 {
		edit.Attributes = &is.LineDetails[at].Attributes
	}
	return edit
}
