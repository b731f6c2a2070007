package simulator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
)

// discountPayload answers a mutation of a draft's discounts.
func (x *exec) discountPayload(kind, name string, d *draft, of *discount, as func(shownDiscount) object) object {
	return done(kind, nil, part{"draft", draftObject(x.shop, d)}, part{name, as(shownDiscount{of, &d.Terms, d.Currency, x.shop})})
}

// newDiscountID returns the tail of a graph id for a discount that is added.
func (d *draft) newDiscountID() string {
	d.Discounts++
	return uuidOf("discount", d.Shop, d.ID, d.Discounts)
}

// addDiscount puts a discount into a draft.
func (x *exec) addDiscount(d *draft, of discount) *discount {
	of.ID, of.Added = d.newDiscountID(), true
	d.Terms.Discounts = append(d.Terms.Discounts, of)
	x.s.save(d)
	return &d.Terms.Discounts[len(d.Terms.Discounts)-1]
}

// discountInput applies the input of a discount that is made by hand.
func discountInput(d *discount, in args, t *terms, cur money.Currency) *userError {
	if in.has("title") {
		d.Title = in.text("title")
	}
	if in.given("recurringCycleLimit") {
		d.Limit = in.int("recurringCycleLimit")
		if in.has("recurringCycleLimit") && d.Limit < 1 {
			return draftError("GREATER_THAN_OR_EQUAL_TO", "Recurring cycle limit must be greater than or equal to 1.", "recurringCycleLimit")
		}
	}
	if in.has("value") {
		if e := discountValue(d, in.object("value"), cur); e != nil {
			return e
		}
	}
	if !in.has("entitledLines") {
		return nil
	}
	entitled := in.object("entitledLines")
	d.All = entitled.flag("all")
	lines := entitled.object("lines")
	for _, id := range lines.texts("add") {
		l := tailOf(id)
		if !slices.ContainsFunc(t.Lines, func(have line) bool { return have.ID == l && !have.Removed }) {
			return draftError("INVALID", "Line does not exist.", "entitledLines", "lines", "add")
		}
		d.Lines = union(d.Lines, []string{l})
	}
	for _, id := range lines.texts("remove") {
		d.Lines = slices.DeleteFunc(slices.Clone(d.Lines), func(l string) bool { return l == tailOf(id) })
	}
	if d.All {
		d.Lines = nil
	}
	return nil
}

// tailOf returns what follows the type in a graph id.
func tailOf(graphID string) string { return graphID[strings.LastIndexByte(graphID, '/')+1:] }

func discountValue(d *discount, in args, cur money.Currency) *userError {
	fixed := in.object("fixedAmount")
	switch {
	case in.has("percentage") == in.has("fixedAmount"):
		return draftError("INVALID", "A discount is either a percentage or a fixed amount.", "value")
	case in.has("percentage"):
		d.Percent, d.Fixed, d.EachItem = in.int("percentage"), money.Amount{}, false
		if d.Percent < 1 || d.Percent > 100 {
			return draftError("NOT_IN_RANGE", "Percentage must be between 1 and 100.", "value", "percentage")
		}
	default:
		d.Percent, d.EachItem = 0, fixed.flag("appliesOnEachItem")
		m, err := money.Parse(strconv.FormatFloat(fixed.float("amount"), 'f', -1, 64), cur)
		if d.Fixed = m; err != nil || d.Fixed.Minor < 1 {
			return draftError("GREATER_THAN", "Amount must be greater than 0.", "value", "fixedAmount", "amount")
		}
	}
	return nil
}

func addDraftDiscount(x *exec, _ any, a args) any {
	const kind, name = "SubscriptionDraftDiscountAddPayload", "discountAdded"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	in := a.object("input")
	var of discount
	e := discountInput(&of, in, &d.Terms, d.Currency)
	switch {
	case e != nil:
	case !in.has("value"):
		e = draftError("BLANK", "Value can't be blank.", "value")
	case !of.All && len(of.Lines) == 0:
		e = draftError("NO_ENTITLED_LINES", "Discount must have at least one entitled line.", "entitledLines")
	}
	if e != nil {
		return done(kind, e, part{"draft", nil}, part{name, nil})
	}
	return x.discountPayload(kind, name, d, x.addDiscount(d, of), manualDiscount)
}

// draftDiscount returns the discount of a draft that an argument names, or why
// there is none.
func (d *draft) discount(a args) (*discount, *userError) {
	tail := a.tail("discountId")
	for i := range d.Terms.Discounts {
		if of := &d.Terms.Discounts[i]; of.ID == tail {
			if of.Removed {
				return nil, &userError{Code: "ALREADY_REMOVED", Field: []string{"discountId"}, Message: "This discount has already been removed."}
			}
			return of, nil
		}
	}
	return nil, &userError{Code: "INVALID", Field: []string{"discountId"}, Message: "Discount does not exist."}
}

// updateDiscount changes a discount that was made by hand, off lines or off
// shipping.
func updateDiscount(kind string, shipping bool) fieldFunc {
	const name = "discountUpdated"
	return func(x *exec, _ any, a args) any {
		d, refused := x.draftArg(a, kind)
		if d == nil {
			return refused
		}
		of, e := d.discount(a)
		if e == nil && (of.Code != "" || of.Shipping != shipping) {
			e = &userError{Code: "INVALID", Field: []string{"discountId"}, Message: "Discount cannot be updated by this mutation."}
		}
		if e != nil {
			return done(kind, e, part{"draft", nil}, part{name, nil})
		}
		changed := *of
		if e := discountInput(&changed, a.object("input"), &d.Terms, d.Currency); e != nil {
			return done(kind, e, part{"draft", nil}, part{name, nil})
		}
		changed.Updated = true
		*of = changed
		x.s.save(d)
		return x.discountPayload(kind, name, d, of, manualDiscount)
	}
}

func removeDraftDiscount(x *exec, _ any, a args) any {
	const kind, name = "SubscriptionDraftDiscountRemovePayload", "discountRemoved"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	of, e := d.discount(a)
	if e != nil {
		return done(kind, e, part{"draft", nil}, part{name, nil})
	}
	of.Removed = true
	x.s.save(d)
	return x.discountPayload(kind, name, d, of, eitherDiscount)
}

func applyDraftCode(x *exec, _ any, a args) any {
	const kind, name = "SubscriptionDraftDiscountCodeApplyPayload", "appliedDiscount"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	code := strings.TrimSpace(a.text("redeemCode"))
	if code == "" {
		e := &userError{Code: "BLANK", Field: []string{"redeemCode"}, Message: "Redeem code can't be blank."}
		return done(kind, e, part{"draft", nil}, part{name, nil})
	}
	for _, have := range d.Terms.Discounts {
		if strings.EqualFold(have.Code, code) && !have.Removed {
			e := &userError{Code: "INVALID", Field: []string{"redeemCode"}, Message: "The discount code is applied already."}
			return done(kind, e, part{"draft", nil}, part{name, nil})
		}
	}
	return x.discountPayload(kind, name, d, x.addDiscount(d, x.shop.redeem(code)), eitherDiscount)
}

func addDraftFreeShipping(x *exec, _ any, a args) any {
	const kind, name = "SubscriptionDraftFreeShippingDiscountAddPayload", "discountAdded"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	of := discount{Shipping: true}
	if e := discountInput(&of, a.object("input"), &d.Terms, d.Currency); e != nil {
		return done(kind, e, part{"draft", nil}, part{name, nil})
	}
	return x.discountPayload(kind, name, d, x.addDiscount(d, of), manualDiscount)
}

// newDiscounts reads the discounts of a contract that is made at once: codes,
// and those of each line.
func (x *exec) newDiscounts(in args, t *terms, cur money.Currency) *userError {
	add := func(d discount) {
		d.ID, d.Added = uuidOf("discount", x.shop.Domain, x.shop.next.Contract, int64(len(t.Discounts))), true
		t.Discounts = append(t.Discounts, d)
	}
	for _, name := range in.texts("discountCodes") {
		add(x.shop.redeem(name))
	}
	for i, l := range in.objects("lines") {
		for _, given := range l.objects("discounts") {
			d := discount{Lines: []string{t.Lines[i].ID}}
			if e := discountInput(&d, given, t, cur); e != nil {
				return e
			}
			if !given.has("value") {
				return draftError("BLANK", "Value can't be blank.", "value")
			}
			add(d)
		}
	}
	return nil
}
