package simulator

import (
	"slices"
)

func (r registry) mutations() {
	r["Mutation"] = fields{
		"subscriptionBillingAttemptCreate":       createAttempt,
		"subscriptionBillingCycleCharge":         chargeCycle,
		"subscriptionBillingCycleSkip":           skipCycle(true, "SubscriptionBillingCycleSkipPayload"),
		"subscriptionBillingCycleUnskip":         skipCycle(false, "SubscriptionBillingCycleUnskipPayload"),
		"subscriptionBillingCycleScheduleEdit":   editSchedule,
		"subscriptionContractActivate":           changeStatus(statusActive, "SubscriptionContractActivatePayload"),
		"subscriptionContractPause":              changeStatus(statusPaused, "SubscriptionContractPausePayload"),
		"subscriptionContractCancel":             changeStatus(statusCancelled, "SubscriptionContractCancelPayload"),
		"subscriptionContractExpire":             changeStatus(statusExpired, "SubscriptionContractExpirePayload"),
		"subscriptionContractFail":               changeStatus(statusFailed, "SubscriptionContractFailPayload"),
		"subscriptionContractSetNextBillingDate": setNextBillingDate,
		"subscriptionContractUpdate":             updateContract,
		"subscriptionContractCreate":             createContract,
		"subscriptionContractAtomicCreate":       createContractAtOnce,
		"subscriptionContractProductChange":      changeProduct,
		"subscriptionDraftUpdate":                updateDraft,
		"subscriptionDraftLineAdd":               addDraftLine,
		"subscriptionDraftLineUpdate":            updateDraftLine,
		"subscriptionDraftLineRemove":            removeDraftLine,
		"subscriptionDraftCommit":                commitDraft,
		"subscriptionDraftDiscountAdd":           addDraftDiscount,
		"subscriptionDraftDiscountUpdate":        updateDiscount("SubscriptionDraftDiscountUpdatePayload", false),
		"subscriptionDraftDiscountRemove":        removeDraftDiscount,
		"subscriptionDraftDiscountCodeApply":     applyDraftCode,

		"subscriptionDraftFreeShippingDiscountAdd":    addDraftFreeShipping,
		"subscriptionDraftFreeShippingDiscountUpdate": updateDiscount("SubscriptionDraftFreeShippingDiscountUpdatePayload", true),
		"subscriptionBillingCycleContractEdit":        editCycleContract,
		"subscriptionBillingCycleContractDraftCommit": commitCycleDraft,
		"subscriptionBillingCycleEditDelete":          deleteCycleEdit,
		"subscriptionBillingCycleEditsDelete":         deleteCycleEdits,

		"customerPaymentMethodRevoke":          revokeMethod,
		"customerPaymentMethodSendUpdateEmail": sendUpdateEmail,
		"webhookSubscriptionCreate":            createSubscription,
		"webhookSubscriptionUpdate":            updateSubscription,
		"webhookSubscriptionDelete":            deleteSubscription,
		"tagsAdd":                              changeTags("TagsAddPayload", union),
		"tagsRemove":                           changeTags("TagsRemovePayload", without),
		"orderUpdate":                          updateOrder,
		"metafieldsSet":                        setMetafields,
	}
}

// done is a mutation's answer.
func done(kind string, refused *userError, parts ...part) object {
	return object{kind, append(payload(parts), userErrors(refused))}
}

// contractArg returns the contract that an argument names; nil when the store
// has none, and false when the argument is not a contract's id.
func (x *exec) contractArg(a args, name string) (*contract, bool) {
	n, ok := x.id(a, name, "SubscriptionContract")
	c, _ := ownByID(x, &x.shop.contracts, n)
	return c, ok
}

func createAttempt(x *exec, _ any, a args) any {
	c, ok := x.contractArg(a, "subscriptionContractId")
	if !ok {
		return nil
	}
	in := a.object("subscriptionBillingAttemptInput")
	answer := func(t *attempt, refused *userError) any {
		return done("SubscriptionBillingAttemptCreatePayload", refused, part{"subscriptionBillingAttempt", attemptObject(t)})
	}
	switch {
	case c == nil:
		return answer(nil, chargeError("CONTRACT_NOT_FOUND", "Subscription contract does not exist.", "subscriptionContractId"))
	case in.text("idempotencyKey") == "":
		return answer(nil, chargeError("BLANK", "Idempotency key can't be blank.", "subscriptionBillingAttemptInput", "idempotencyKey"))
	}
	ci := chargeInput{
		contract: c, key: in.text("idempotencyKey"), originTime: in.time("originTime"),
		oversell:    in.text("inventoryPolicy") == "ALLOW_OVERSELLING",
		skipPayment: in.text("paymentProcessingPolicy") == "SKIP_PAYMENT_AND_CREATE_UNPAID_ORDER",
	}
	if in.has("billingCycleSelector") {
		sel, refused := selectorOf(in.object("billingCycleSelector"))
		if refused != nil {
			return answer(nil, refused)
		}
		ci.selector, ci.selected = sel, true
	}
	return answer(x.s.charge(ci))
}

func chargeCycle(x *exec, _ any, a args) any {
	c, ok := x.contractArg(a, "subscriptionContractId")
	if !ok {
		return nil
	}
	answer := func(t *attempt, refused *userError) any {
		return done("SubscriptionBillingCycleChargePayload", refused, part{"subscriptionBillingAttempt", attemptObject(t)})
	}
	if c == nil {
		return answer(nil, chargeError("CONTRACT_NOT_FOUND", "Subscription contract does not exist.", "subscriptionContractId"))
	}
	sel, refused := selectorOf(a.object("billingCycleSelector"))
	if refused != nil {
		return answer(nil, refused)
	}
	return answer(x.s.charge(chargeInput{
		contract: c, selector: sel, selected: true,
		oversell:    a.text("inventoryPolicy") == "ALLOW_OVERSELLING",
		skipPayment: a.text("paymentProcessingPolicy") == "SKIP_PAYMENT_AND_CREATE_UNPAID_ORDER",
	}))
}

func skipCycle(skipped bool, kind string) fieldFunc {
	return func(x *exec, _ any, a args) any {
		index, c, refused := x.chosenCycle(a)
		if refused == nil && c != nil {
			refused = x.s.skip(c, index, skipped)
		}
		if refused != nil {
			refused.Code = "INVALID" // the only code of these two
			return done(kind, refused, part{"billingCycle", nil})
		}
		if c == nil {
			return nil
		}
		return done(kind, nil, part{"billingCycle", cycleObject(c, index)})
	}
}

// chosenCycle returns the cycle that billingCycleInput names. The contract is
// nil when the field has failed.
func (x *exec) chosenCycle(a args) (int, *contract, *userError) {
	c, sel, refused := x.cycleInput(a.object("billingCycleInput"))
	if refused != nil || x.failed != nil {
		return 0, nil, refused
	}
	if c == nil {
		return 0, nil, &userError{Code: "CYCLE_NOT_FOUND", Field: []string{"billingCycleInput", "contractId"}, Message: "Subscription contract does not exist."}
	}
	index, code := x.s.choose(c, sel)
	if code != "" {
		return 0, nil, &userError{Code: code, Field: []string{"billingCycleInput", "selector"}, Message: "Billing cycle selector cannot select this billing cycle."}
	}
	return index, c, nil
}

func editSchedule(x *exec, _ any, a args) any {
	const kind = "SubscriptionBillingCycleScheduleEditPayload"
	index, c, refused := x.chosenCycle(a)
	if c == nil && refused == nil {
		return nil
	}
	in := a.object("input")
	if refused == nil && !in.has("billingDate") && !in.has("skip") {
		refused = &userError{Code: "EMPTY_BILLING_CYCLE_EDIT_SCHEDULE_INPUT", Field: []string{"input"}, Message: "Billing cycle schedule edit input provided is empty. Must take in parameters to modify schedule."}
	}
	if refused == nil && in.flag("skip") && in.has("billingDate") {
		refused = &userError{Code: "BILLING_DATE_SET_ON_SKIPPED", Field: []string{"input", "billingDate"}, Message: "Billing date cannot be set on skipped billing cycle."}
	}
	if refused == nil && in.has("skip") {
		refused = x.s.skip(c, index, in.flag("skip"))
	}
	if refused == nil && in.has("billingDate") {
		refused = x.s.reschedule(c, index, in.time("billingDate"))
	}
	if refused != nil {
		return done(kind, refused, part{"billingCycle", nil})
	}
	return done(kind, nil, part{"billingCycle", cycleObject(c, index)})
}

func changeStatus(to, kind string) fieldFunc {
	return func(x *exec, _ any, a args) any {
		c, ok := x.contractArg(a, "subscriptionContractId")
		if !ok {
			return nil
		}
		if c == nil {
			return done(kind, noContract("subscriptionContractId"), part{"contract", nil})
		}
		return done(kind, x.s.setStatus(c, to), part{"contract", contractObject(c)})
	}
}

func noContract(field string) *userError {
	return &userError{Code: "INVALID", Field: []string{field}, Message: "Subscription contract does not exist."}
}

func setNextBillingDate(x *exec, _ any, a args) any {
	const kind = "SubscriptionContractSetNextBillingDatePayload"
	c, ok := x.contractArg(a, "contractId")
	if !ok {
		return nil
	}
	if c == nil {
		return done(kind, noContract("contractId"), part{"contract", nil})
	}
	if date := a.time("date"); !date.Equal(c.Terms.NextBillingDate) {
		c.Terms.NextBillingDate = date
		x.s.changed(c, x.s.now())
	}
	return done(kind, nil, part{"contract", contractObject(c)})
}

func changeProduct(x *exec, _ any, a args) any {
	const kind = "SubscriptionContractProductChangePayload"
	c, ok := x.contractArg(a, "subscriptionContractId")
	if !ok {
		return nil
	}
	refuse := func(e *userError) any {
		return done(kind, e, part{"contract", nil}, part{"lineUpdated", nil})
	}
	if c == nil {
		return refuse(noContract("subscriptionContractId"))
	}
	if c.hasFutureEdits(x.s.now()) {
		return refuse(futureEdits())
	}
	i := slices.IndexFunc(c.Terms.Lines, func(l line) bool { return l.ID == a.tail("lineId") })
	if i < 0 {
		return refuse(&userError{Code: "INVALID", Field: []string{"lineId"}, Message: "Line does not exist."})
	}
	changed := c.Terms.Lines[i]
	if e := x.editLine(&changed, a.object("input"), c.Currency); e != nil {
		return refuse(e)
	}
	c.Terms.Lines = slices.Clone(c.Terms.Lines)
	c.Terms.Lines[i] = changed
	x.s.changed(c, x.s.now())
	return done(kind, nil, part{"contract", contractObject(c)}, part{"lineUpdated", object{"SubscriptionLine", inCurrency[line]{val: changed, currency: c.Currency, shop: c.shop, terms: &c.Terms}}})
}

func revokeMethod(x *exec, _ any, a args) any {
	const kind = "CustomerPaymentMethodRevokePayload"
	m := x.shop.methods[a.tail("customerPaymentMethodId")]
	refuse := func(message string) any {
		return done(kind, &userError{Field: []string{"customerPaymentMethodId"}, Message: message}, part{"revokedCustomerPaymentMethodId", nil})
	}
	if m == nil {
		return refuse("Customer payment method does not exist")
	}
	for _, c := range m.customer.contracts {
		if c.Terms.PaymentMethod == m.ID && c.Terms.Status == statusActive {
			return refuse("Customer payment method is used by an active subscription contract")
		}
	}
	if m.Status != MethodRevoked {
		x.s.setMethodStatus(x.shop, m, MethodRevoked)
	}
	return done(kind, nil, part{"revokedCustomerPaymentMethodId", m.gid()})
}

func sendUpdateEmail(x *exec, _ any, a args) any {
	const kind = "CustomerPaymentMethodSendUpdateEmailPayload"
	m := x.shop.methods[a.tail("customerPaymentMethodId")]
	if m == nil || m.Status == MethodRevoked {
		return done(kind, &userError{Field: []string{"customerPaymentMethodId"}, Message: "Customer payment method does not exist"}, part{"customer", nil})
	}
	email := a.object("email")
	x.shop.Mails = append(x.shop.Mails, UpdateEmail{
		PaymentMethod: m.gid(), Customer: m.Customer, From: email.text("from"), Bcc: email.texts("bcc"), At: x.s.now(),
	})
	x.s.save(x.shop)
	return done(kind, nil, part{"customer", typed("Customer", m.customer)})
}

// setMetafields writes metafields of the store: all of them or none.
func setMetafields(x *exec, _ any, a args) any {
	const kind = "MetafieldsSetPayload"
	sh, now := x.shop, x.s.now()
	inputs := a.objects("metafields")
	for _, in := range inputs {
		if in.text("ownerId") != sh.gid() {
			x.fail(codeNotSimulated, "The simulator does not simulate metafields of %s.", in.text("ownerId"))
			return nil
		}
		if !in.given("compareDigest") {
			continue
		}
		have := ""
		if i := x.metafield(namespaceOf(in), in.text("key")); i >= 0 {
			have = sh.Metafields[i].digest()
		}
		if have != in.text("compareDigest") {
			return done(kind, &userError{Code: "STALE_OBJECT", Field: []string{"metafields"}, Message: "The resource has been updated since it was loaded. Try again with an updated `compareDigest` value."}, part{"metafields", nil})
		}
	}
	set := make([]object, len(inputs))
	for n, in := range inputs {
		i := x.metafield(namespaceOf(in), in.text("key"))
		if i < 0 {
			i = len(sh.Metafields)
			sh.Metafields = append(sh.Metafields, metafield{
				ID: sh.ID*shopSpacing + int64(i) + 1, App: x.fieldOwner(namespaceOf(in)), Namespace: namespaceOf(in), Key: in.text("key"), CreatedAt: now,
			})
		}
		m := &sh.Metafields[i]
		m.Type, m.Value, m.UpdatedAt = or(in.text("type"), or(m.Type, "single_line_text_field")), in.text("value"), now
		set[n] = object{"Metafield", *m}
	}
	x.s.save(sh)
	return done(kind, nil, part{"metafields", set})
}
