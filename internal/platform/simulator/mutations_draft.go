package simulator

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
)

// draftArg returns the draft that an argument names and whether it may still be
// changed.
func (x *exec) draftArg(a args, kind string) (*draft, any) {
	n, ok := x.id(a, "draftId", "SubscriptionDraft")
	if !ok {
		return nil, nil
	}
	d, known := ownByID(x, &x.shop.drafts, n)
	if !known {
		return nil, done(kind, &userError{Code: "INVALID", Field: []string{"draftId"}, Message: "Subscription draft does not exist."})
	}
	if e := d.open(); e != nil {
		return nil, done(kind, e)
	}
	return d, nil
}

func updateContract(x *exec, _ any, a args) any {
	const kind = "SubscriptionContractUpdatePayload"
	c, ok := x.contractArg(a, "contractId")
	if !ok {
		return nil
	}
	if c == nil {
		return done(kind, noContract("contractId"), part{"draft", nil})
	}
	return done(kind, nil, part{"draft", draftObject(x.shop, x.s.openDraft(x.shop, c))})
}

func updateDraft(x *exec, _ any, a args) any {
	const kind = "SubscriptionDraftUpdatePayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	cust, _ := x.shop.customers.get(d.Customer)
	if in := a.object("input"); d.Cycle > 0 {
		switch {
		case in.has("billingPolicy"):
			return done(kind, draftError("BILLING_CYCLE_CONTRACT_DRAFT_BILLING_POLICY_INVALID", "Billing policy cannot be updated for billing cycle contract drafts.", "billingPolicy"), part{"draft", nil})
		case in.has("deliveryPolicy"):
			return done(kind, draftError("BILLING_CYCLE_CONTRACT_DRAFT_DELIVERY_POLICY_INVALID", "Delivery policy cannot be updated for billing cycle contract drafts.", "deliveryPolicy"), part{"draft", nil})
		}
	}
	t := d.Terms.clone()
	if e := x.editTerms(&t, a.object("input"), d.Currency, cust); e != nil {
		return done(kind, e, part{"draft", nil})
	}
	if x.failed != nil {
		return nil
	}
	d.Terms = t
	x.s.save(d)
	return done(kind, nil, part{"draft", draftObject(x.shop, d)})
}

// editTerms applies a draft's input. Lists and notes replace what was there.
func (x *exec) editTerms(t *terms, in args, cur money.Currency, cust *customer) *userError {
	if in.has("billingPolicy") {
		t.Billing = policyInput(in.object("billingPolicy"))
		if e := t.Billing.check("billingPolicy"); e != nil {
			return e
		}
	}
	if in.has("deliveryPolicy") {
		t.Delivery = policyInput(in.object("deliveryPolicy"))
		if e := t.Delivery.check("deliveryPolicy"); e != nil {
			return e
		}
	}
	if in.has("deliveryMethod") {
		m, e := x.methodInput(in.object("deliveryMethod"))
		if e != nil {
			return e
		}
		t.Shipping = m
	}
	if in.has("deliveryPrice") {
		t.Price = in.amount("deliveryPrice", cur)
		if t.Price.Minor < 0 {
			return draftError("GREATER_THAN_OR_EQUAL_TO", "Delivery price must be greater than or equal to 0.", "deliveryPrice")
		}
	}
	if in.has("nextBillingDate") {
		t.NextBillingDate = in.time("nextBillingDate")
	}
	if in.given("note") {
		t.Note = in.text("note")
	}
	if in.has("customAttributes") {
		t.Attributes = attributesInput(in.objects("customAttributes"))
	}
	if in.has("status") {
		t.Status = in.text("status")
	}
	if in.has("paymentMethodId") {
		m := x.shop.methods[in.tail("paymentMethodId")]
		switch {
		case m == nil || m.Status == MethodRevoked:
			return draftError("INVALID", "Payment method is invalid.", "paymentMethodId")
		case m.customer != cust:
			return draftError("CUSTOMER_MISMATCH", "The payment method customer must be the same as the contract customer.", "paymentMethodId")
		}
		t.PaymentMethod = m.ID
	}
	return nil
}

func policyInput(in args) policy {
	p := policy{Interval: in.text("interval"), Count: in.int("intervalCount"), MinCycles: in.int("minCycles"), MaxCycles: in.int("maxCycles")}
	for _, a := range in.objects("anchors") {
		p.Anchors = append(p.Anchors, anchor{a.text("type"), a.int("day"), a.int("month"), a.int("cutoffDay")})
	}
	return p
}

// methodInput reads how orders are sent: exactly one way must be given.
func (x *exec) methodInput(in args) (*shipping, *userError) {
	ways := 0
	for _, way := range []string{"shipping", "localDelivery", "pickup"} {
		if in.has(way) {
			ways++
		}
	}
	if ways != 1 {
		return nil, draftError("INVALID", "Exactly one delivery method must be given.", "deliveryMethod")
	}
	switch {
	case in.has("localDelivery"):
		local := in.object("localDelivery")
		if !local.has("localDeliveryOption") {
			return nil, draftError("MISSING_LOCAL_DELIVERY_OPTIONS", "The local delivery options must be set for local delivery.", "deliveryMethod", "localDelivery")
		}
		o := local.object("localDeliveryOption")
		s, e := shippingInput(local, "localDelivery", "localDeliveryOption")
		if e != nil {
			return nil, e
		}
		s.Kind, s.Phone, s.Instructions = localDelivery, o.text("phone"), o.text("instructions")
		return s, nil
	case in.has("pickup"):
		s, e := shippingInput(in.object("pickup"), "pickup", "pickupOption")
		if e != nil {
			return nil, e
		}
		s.Kind, s.Location = pickup, in.object("pickup").object("pickupOption").number("locationId")
		if _, ok := x.shop.locations.get(s.Location); !ok {
			return nil, draftError("INVALID", "Location does not exist.", "deliveryMethod", "pickup", "pickupOption", "locationId")
		}
		return s, nil
	}
	return shippingInput(in.object("shipping"), "shipping", "shippingOption")
}

// shippingInput reads an address and what is chosen beside it. A province that its
// country does not have is refused; how the platform words it is not recorded.
func shippingInput(in args, way, option string) (*shipping, *userError) {
	a, o := in.object("address"), in.object(option)
	country := or(a.text("countryCode"), countryCode(a.text("country")))
	province, ok := provinceCode(country, or(a.text("provinceCode"), a.text("province")))
	if !ok {
		field := "province"
		if a.has("provinceCode") {
			field = "provinceCode"
		}
		return nil, draftError("INVALID", "Province is not valid in "+country+".", "deliveryMethod", way, "address", field)
	}
	return &shipping{
		Address: address{
			FirstName: a.text("firstName"), LastName: a.text("lastName"), Company: a.text("company"), Address1: a.text("address1"),
			Address2: a.text("address2"), City: a.text("city"), Zip: a.text("zip"), Province: province,
			Country: country, Phone: a.text("phone"),
		},
		Code: o.text("code"), Title: o.text("title"), Label: o.text("presentmentTitle"),
	}, nil
}

func attributesInput(list []args) []attribute {
	out := make([]attribute, len(list))
	for i, a := range list {
		out[i] = attribute{a.text("key"), a.text("value")}
	}
	return out
}

// editLine applies a line's input to a line.
func (x *exec) editLine(l *line, in args, cur money.Currency) *userError {
	if in.has("productVariantId") {
		l.Variant = in.number("productVariantId")
		if _, ok := x.shop.variants.get(l.Variant); !ok {
			return draftError("INVALID", "Product variant does not exist.", "productVariantId")
		}
	}
	if in.has("quantity") {
		if l.Quantity = in.int("quantity"); l.Quantity < 1 {
			return draftError("GREATER_THAN_OR_EQUAL_TO", "Quantity must be greater than or equal to 1.", "quantity")
		}
	}
	if in.has("currentPrice") {
		if l.Price = in.amount("currentPrice", cur); l.Price.Minor < 0 {
			return draftError("GREATER_THAN_OR_EQUAL_TO", "Current price must be greater than or equal to 0.", "currentPrice")
		}
	}
	if in.has("sellingPlanId") {
		l.SellingPlanID = in.number("sellingPlanId")
	}
	if in.has("sellingPlanName") {
		l.SellingPlanName = in.text("sellingPlanName")
	}
	if in.has("customAttributes") {
		l.Attributes = attributesInput(in.objects("customAttributes"))
	}
	if in.has("pricingPolicy") {
		p, e := pricingInput(in.object("pricingPolicy"), cur)
		if e != nil {
			return e
		}
		l.Pricing = p
	}
	return nil
}

func pricingInput(in args, cur money.Currency) (*pricing, *userError) {
	p := &pricing{Base: in.amount("basePrice", cur)}
	var seen []int
	for _, d := range in.objects("cycleDiscounts") {
		after := d.int("afterCycle")
		if slices.Contains(seen, after) {
			return nil, draftError("CYCLE_DISCOUNTS_UNIQUE_AFTER_CYCLE", "The after cycle attribute must be unique between cycle discounts.", "pricingPolicy", "cycleDiscounts")
		}
		seen = append(seen, after)
		v := d.object("adjustmentValue")
		p.Cycles = append(p.Cycles, priceStep{
			Type: d.text("adjustmentType"), Percentage: v.float("percentage"), Fixed: v.amount("fixedValue", cur),
			AfterCycle: after, Computed: d.amount("computedPrice", cur),
		})
	}
	return p, nil
}

// lineObject is a draft's line as an answer.
func lineObject(sh *store, d *draft, l line) object {
	shown := inCurrency[line]{val: l, currency: d.Currency, shop: sh, terms: &d.Terms}
	if i := slices.IndexFunc(d.Terms.Lines, func(have line) bool { return have.ID == l.ID }); i >= 0 && len(d.Terms.Discounts) > 0 {
		shown.shares = d.Terms.bill(d.Currency).shares[i]
	}
	return object{"SubscriptionLine", shown}
}

func addDraftLine(x *exec, _ any, a args) any {
	const kind = "SubscriptionDraftLineAddPayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	l := line{Added: true}
	if e := x.editLine(&l, a.object("input"), d.Currency); e != nil {
		return done(kind, e, part{"draft", nil}, part{"lineAdded", nil})
	}
	d.Lines++
	l.ID = uuidOf("draft line", d.Shop, d.ID, d.Lines)
	d.Terms.Lines = append(d.Terms.Lines, l)
	x.s.save(d)
	return done(kind, nil, part{"draft", draftObject(x.shop, d)}, part{"lineAdded", lineObject(x.shop, d, l)})
}

func updateDraftLine(x *exec, _ any, a args) any {
	const kind = "SubscriptionDraftLineUpdatePayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	i, e := d.line(a.tail("lineId"))
	var l line
	if e == nil {
		l = d.Terms.Lines[i]
		e = x.editLine(&l, a.object("input"), d.Currency)
	}
	if e != nil {
		return done(kind, e, part{"draft", nil}, part{"lineUpdated", nil})
	}
	d.Terms.Lines[i] = l
	x.s.save(d)
	return done(kind, nil, part{"draft", draftObject(x.shop, d)}, part{"lineUpdated", lineObject(x.shop, d, l)})
}

func removeDraftLine(x *exec, _ any, a args) any {
	const kind = "SubscriptionDraftLineRemovePayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	i, e := d.line(a.tail("lineId"))
	if e != nil {
		return done(kind, e, part{"draft", nil}, part{"lineRemoved", nil})
	}
	d.Terms.Lines[i].Removed = true
	var changed []object
	for _, of := range d.Terms.forgetLine(d.Terms.Lines[i].ID) {
		changed = append(changed, manualDiscount(shownDiscount{of, &d.Terms, d.Currency, x.shop}))
	}
	x.s.save(d)
	return done(kind, nil, part{"draft", draftObject(x.shop, d)}, part{"discountsUpdated", changed}, part{"lineRemoved", lineObject(x.shop, d, d.Terms.Lines[i])})
}

func commitDraft(x *exec, _ any, a args) any {
	const kind = "SubscriptionDraftCommitPayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	c, e := x.s.commit(x.shop, d)
	return done(kind, e, part{"contract", contractObject(c)})
}

// newTerms reads what a new contract is made of.
func (x *exec) newTerms(in args) (*customer, terms, *userError) {
	cur := money.Currency(in.text("currencyCode"))
	cust, ok := x.shop.customers.get(in.number("customerId"))
	if !ok {
		return nil, terms{}, draftError("CUSTOMER_DOES_NOT_EXIST", "The customer doesn't exist.", "customerId")
	}
	t := terms{Status: statusActive, Price: money.Amount{Currency: cur}, NextBillingDate: in.time("nextBillingDate")}
	draft := in.object("contract")
	if !draft.has("billingPolicy") || !draft.has("deliveryPolicy") {
		return nil, t, draftError("PRESENCE", "Billing policy and delivery policy must be present.", "contract")
	}
	if e := x.editTerms(&t, draft, cur, cust); e != nil {
		return nil, t, e
	}
	if t.PaymentMethod == "" && x.s.opts.Switches.PaymentMethodRequired {
		return nil, t, draftError("MISSING_CUSTOMER_PAYMENT_METHOD", "Customer payment method is required.", "contract", "paymentMethodId")
	}
	if !t.NextBillingDate.After(x.s.now()) {
		return nil, t, draftError("INVALID_BILLING_DATE", "Next billing date is invalid.", "nextBillingDate")
	}
	return cust, t, nil
}

func createContract(x *exec, _ any, a args) any {
	const kind = "SubscriptionContractCreatePayload"
	in := a.object("input")
	cust, t, e := x.newTerms(in)
	if x.failed != nil {
		return nil
	}
	if e != nil {
		return done(kind, e, part{"draft", nil})
	}
	d := x.s.newDraft(x.shop, cust, money.Currency(in.text("currencyCode")), t)
	d.App = x.app
	return done(kind, nil, part{"draft", draftObject(x.shop, d)})
}

func createContractAtOnce(x *exec, _ any, a args) any {
	const kind = "SubscriptionContractAtomicCreatePayload"
	in := a.object("input")
	cust, t, e := x.newTerms(in)
	cur := money.Currency(in.text("currencyCode"))
	for i, l := range in.objects("lines") {
		nl := line{ID: uuidOf("first line", x.shop.Domain, x.shop.next.Contract, int64(i))}
		if e == nil {
			e = x.editLine(&nl, l.object("line"), cur)
		}
		t.Lines = append(t.Lines, nl)
	}
	if e == nil {
		e = x.newDiscounts(in, &t, cur)
	}
	if e == nil {
		e = x.s.checkTerms(x.shop, t)
	}
	if x.failed != nil {
		return nil
	}
	if e != nil {
		return done(kind, e, part{"contract", nil})
	}
	now := x.s.now()
	x.s.redeemed(x.shop, t.Discounts)
	c := x.s.newContract(x.shop, cust, cur, t.settled(nil), now)
	c.App = x.app
	x.s.emitContract(c, "SUBSCRIPTION_CONTRACTS_CREATE", now)
	return done(kind, nil, part{"contract", contractObject(c)})
}
