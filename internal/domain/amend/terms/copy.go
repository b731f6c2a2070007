package terms

import "github.com/perennialhq/perennial/internal/platform"

// NewContractLike returns a new contract for the same customer with the delivery, note
// and attributes of an existing one, without lines and payment method.
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

// NewLineLike returns a copy of a line for a new contract, at its price in that
// contract's first order.
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
