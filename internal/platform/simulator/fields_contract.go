package simulator

import (
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// newRegistry returns the fields of every simulated type.
func newRegistry() registry {
	r := registry{}
	r.contracts()
	r.policies()
	r.drafts()
	r.discounts()
	r.editedContracts()
	r.cycles()
	r.attempts()
	r.storeFields()
	r.installationFields()
	r.catalog()
	r.customers()
	r.orders()
	r.fulfilments()
	r.webhooks()
	r.queries()
	r.mutations()
	r.profiles()
	r.deliveryOptions()
	r.plans()
	r.rewards()
	return r
}

// inCurrency is a part of a contract whose amounts have the contract's currency.
type inCurrency[T any] struct {
	val      T
	currency money.Currency
	shop     *store
	terms    *terms  // that it is part of
	shares   []share // of a line: what discounts take off it
}

func contractObject(c *contract) object { return typed("SubscriptionContract", c) }

func (r registry) contracts() {
	r["SubscriptionContract"] = fields{
		"id":                          get((*contract).gidAny),
		"status":                      get(func(c *contract) any { return c.Terms.Status }),
		"revisionId":                  get(func(c *contract) any { return utoa(c.Revision) }),
		"createdAt":                   get(func(c *contract) any { return c.CreatedAt }),
		"updatedAt":                   get(func(c *contract) any { return c.UpdatedAt }),
		"currencyCode":                get(func(c *contract) any { return string(c.Currency) }),
		"nextBillingDate":             get(func(c *contract) any { return c.Terms.NextBillingDate }),
		"lastPaymentStatus":           get(func(c *contract) any { return textOrNull(c.LastPayment) }),
		"lastBillingAttemptErrorType": get(func(c *contract) any { return textOrNull(c.LastError) }),
		"customer":                    get(func(c *contract) any { return typed("Customer", c.customer) }),
		"billingPolicy":               get(func(c *contract) any { return object{"SubscriptionBillingPolicy", c.Terms.Billing} }),
		"deliveryPolicy":              get(func(c *contract) any { return object{"SubscriptionDeliveryPolicy", c.Terms.Delivery} }),
		"originOrder": get(func(c *contract) any {
			o, _ := c.shop.orders.get(c.OriginOrder)
			return typed("Order", o)
		}),
		"orders":          on(func(x *exec, c *contract, a args) any { return x.orders(c.orders, a) }),
		"billingAttempts": on(func(x *exec, c *contract, a args) any { return x.attempts(c.attempts, a) }),
		"app":             always(object{kind: "App"}),
		"appAdminUrl":     always(nil),
	}
	r["SubscriptionContract"].ordered(func(v any) (*terms, *contract) {
		c := v.(*contract)
		return &c.Terms, c
	})
	r["Count"] = fields{
		"count":     get(func(n int) any { return n }),
		"precision": always("EXACT"),
	}
	r["Attribute"] = fields{
		"key":   get(func(t attribute) any { return t.Key }),
		"value": get(func(t attribute) any { return t.Value }),
	}
	r["SubscriptionLine"] = fields{
		"id":                  get(func(l inCurrency[line]) any { return l.val.gid() }),
		"quantity":            get(func(l inCurrency[line]) any { return l.val.Quantity }),
		"currentPrice":        get(func(l inCurrency[line]) any { return l.val.Price }),
		"lineDiscountedPrice": get(func(l inCurrency[line]) any { return l.discounted() }),
		"discountAllocations": get(func(l inCurrency[line]) any { return shareObjects(l) }),
		"customAttributes":    get(func(l inCurrency[line]) any { return attributeObjects(l.val.Attributes) }),
		"sellingPlanId":       get(func(l inCurrency[line]) any { return gidOrNull("SellingPlan", l.val.SellingPlanID) }),
		"sellingPlanName":     get(func(l inCurrency[line]) any { return textOrNull(l.val.SellingPlanName) }),
		"variantId":           lineVariant(func(v *variant) any { return v.gid() }, nil),
		"productId":           lineVariant(func(v *variant) any { return v.product.gid() }, nil),
		"title":               lineWords(func(v *variant) any { return v.product.Title }),
		"variantTitle":        lineWords(func(v *variant) any { return v.titleOrNull() }),
		"sku":                 lineWords(func(v *variant) any { return textOrNull(v.SKU) }),
		"taxable":             lineWords(func(v *variant) any { return v.Taxable }),
		"requiresShipping":    lineWords(func(v *variant) any { return v.RequiresShipping }),
		"variantImage":        lineVariant(func(v *variant) any { return imageObject(v.product.Image) }, nil),
		"pricingPolicy": get(func(l inCurrency[line]) any {
			return typed("SubscriptionPricingPolicy", l.val.Pricing)
		}),
	}
	r["SubscriptionPricingPolicy"] = fields{
		"basePrice": get(func(p *pricing) any { return p.Base }),
		"cycleDiscounts": get(func(p *pricing) any {
			list := make([]object, len(p.Cycles))
			for i := range p.Cycles {
				list[i] = object{"SubscriptionCyclePriceAdjustment", p.Cycles[i]}
			}
			return list
		}),
	}
	r["SubscriptionCyclePriceAdjustment"] = fields{
		"adjustmentType": get(func(s priceStep) any { return s.Type }),
		"afterCycle":     get(func(s priceStep) any { return s.AfterCycle }),
		"computedPrice":  get(func(s priceStep) any { return s.Computed }),
		"adjustmentValue": get(func(s priceStep) any {
			if s.Type == "PERCENTAGE" {
				return object{"SellingPlanPricingPolicyPercentageValue", planPrice{Percent: s.Percentage}}
			}
			return s.Fixed
		}),
	}
}

// ordered adds the fields that say what is ordered, which a contract has and a
// cycle that was edited.
func (f fields) ordered(of func(self any) (*terms, *contract)) {
	field := func(fn func(x *exec, t *terms, c *contract, a args) any) fieldFunc {
		return func(x *exec, self any, a args) any {
			t, c := of(self)
			return fn(x, t, c, a)
		}
	}
	f["note"] = field(func(_ *exec, t *terms, _ *contract, _ args) any { return textOrNull(t.Note) })
	f["customAttributes"] = field(func(_ *exec, t *terms, _ *contract, _ args) any { return attributeObjects(t.Attributes) })
	f["customerPaymentMethod"] = field(func(_ *exec, t *terms, c *contract, a args) any {
		return methodObject(c.shop, t.PaymentMethod, a.flag("showRevoked"))
	})
	f["deliveryPrice"] = field(func(_ *exec, t *terms, c *contract, _ args) any {
		return money.Amount{Currency: c.Currency}.Plus(t.Price)
	})
	f["deliveryMethod"] = field(func(_ *exec, t *terms, c *contract, _ args) any { return deliveryObject(t.Shipping) })
	f["lineCount"] = field(func(_ *exec, t *terms, _ *contract, _ args) any { return len(t.Lines) })
	f["linesCount"] = field(func(_ *exec, t *terms, _ *contract, _ args) any { return object{"Count", len(t.Lines)} })
	f["lines"] = field(func(x *exec, t *terms, c *contract, a args) any { return x.lines(t, c.Currency, c.shop, a, nil) })
	f["discounts"] = field(func(x *exec, t *terms, c *contract, a args) any {
		return x.discounts(t, c.Currency, a, manualDiscount, notRemoved)
	})
}

func (c *contract) gidAny() any { return c.gid() }

// lineVariant answers a field of a line from its variant, or with what stands for one
// that is no longer on sale.
func lineVariant(fn func(v *variant) any, gone any) fieldFunc {
	return get(func(l inCurrency[line]) any {
		if v, ok := l.shop.variants.get(l.val.Variant); ok {
			return fn(v)
		}
		return gone
	})
}

// lineWords answers a field of a line from its variant, on sale or not.
func lineWords(fn func(v *variant) any) fieldFunc {
	return get(func(l inCurrency[line]) any {
		v, ok := l.shop.variants.get(l.val.Variant)
		if !ok {
			v, _ = l.shop.removed.get(l.val.Variant)
		}
		return fn(v)
	})
}

func (v *variant) titleOrNull() any {
	if v.Title == "Default Title" {
		return nil
	}
	return v.Title
}

func attributeObjects(list []attribute) []object {
	out := make([]object, len(list))
	for i, a := range list {
		out[i] = object{"Attribute", a}
	}
	return out
}

func gidOrNull(kind string, id int64) any {
	if id == 0 {
		return nil
	}
	return gid.Of(kind, id)
}

// methodObject is a contract's payment method; a revoked one is shown only when
// asked for.
func methodObject(sh *store, tail string, revoked bool) object {
	m := sh.methods[tail]
	if m != nil && m.Status == MethodRevoked && !revoked {
		m = nil
	}
	return typed("CustomerPaymentMethod", m)
}

// discounted is what is left of a line's price.
func (l inCurrency[T]) discounted() money.Amount {
	own, _ := any(l.val).(line)
	left := own.Price.Times(int64(own.Quantity))
	for _, s := range l.shares {
		left.Minor -= s.amount.Minor
	}
	return left
}

// lines is the connection of the lines of some terms that a filter keeps.
func (x *exec) lines(t *terms, c money.Currency, sh *store, a args, keep func(line) bool) *page {
	var entries []entry
	var b bill
	if len(t.Discounts) > 0 {
		b = t.bill(c)
	}
	for i, l := range t.Lines {
		if keep != nil && !keep(l) {
			continue
		}
		shown := inCurrency[line]{val: l, currency: c, shop: sh, terms: t}
		if b.shares != nil {
			shown.shares = b.shares[i]
		}
		entries = append(entries, entry{int64(i), int64(i), object{"SubscriptionLine", shown}})
	}
	return x.paginate("SubscriptionLine", entries, a)
}

func (r registry) policies() {
	shared := func() fields {
		return fields{
			"interval":      get(func(p policy) any { return p.Interval }),
			"intervalCount": get(func(p policy) any { return p.Count }),
			"anchors": get(func(p policy) any {
				list := make([]object, len(p.Anchors))
				for i, a := range p.Anchors {
					list[i] = object{"SellingPlanAnchor", a}
				}
				return list
			}),
		}
	}
	r["SubscriptionDeliveryPolicy"] = shared()
	billing := shared()
	billing["minCycles"] = get(func(p policy) any { return intOrNull(p.MinCycles) })
	billing["maxCycles"] = get(func(p policy) any { return intOrNull(p.MaxCycles) })
	r["SubscriptionBillingPolicy"] = billing
	r["SellingPlanAnchor"] = fields{
		"type":      get(func(a anchor) any { return a.Type }),
		"day":       get(func(a anchor) any { return a.Day }),
		"month":     get(func(a anchor) any { return intOrNull(a.Month) }),
		"cutoffDay": get(func(a anchor) any { return intOrNull(a.Cutoff) }),
	}
	r.deliveryMethods()
}

// deliveryObject is how orders are sent, or null when they are not.
func deliveryObject(s *shipping) object {
	kind := "SubscriptionDeliveryMethodShipping"
	if s != nil {
		switch s.Kind {
		case localDelivery:
			kind = "SubscriptionDeliveryMethodLocalDelivery"
		case pickup:
			kind = "SubscriptionDeliveryMethodPickup"
		}
	}
	return typed(kind, s)
}

func (r registry) deliveryMethods() {
	option := func() fields {
		return fields{
			"code":             get(func(s *shipping) any { return textOrNull(s.Code) }),
			"title":            get(func(s *shipping) any { return textOrNull(s.Title) }),
			"presentmentTitle": get(func(s *shipping) any { return textOrNull(s.Label) }),
			"description":      always(nil),
		}
	}
	r["SubscriptionDeliveryMethodLocalDelivery"] = fields{
		"address":             get(func(s *shipping) any { return object{"MailingAddress", s.Address} }),
		"localDeliveryOption": get(func(s *shipping) any { return object{"SubscriptionDeliveryMethodLocalDeliveryOption", s} }),
	}
	local := option()
	local["phone"] = get(func(s *shipping) any { return s.Phone })
	local["instructions"] = get(func(s *shipping) any { return textOrNull(s.Instructions) })
	r["SubscriptionDeliveryMethodLocalDeliveryOption"] = local
	r["SubscriptionDeliveryMethodPickup"] = fields{
		"pickupOption": get(func(s *shipping) any { return object{"SubscriptionDeliveryMethodPickupOption", s} }),
	}
	collected := option()
	collected["location"] = on(func(x *exec, s *shipping, _ args) any {
		l, _ := x.shop.locations.get(s.Location)
		return typed("Location", l)
	})
	r["SubscriptionDeliveryMethodPickupOption"] = collected
	r["SubscriptionDeliveryMethodShippingOption"] = option()
	r["SubscriptionDeliveryMethodShipping"] = fields{
		"address":        get(func(s *shipping) any { return object{"MailingAddress", s.Address} }),
		"shippingOption": get(func(s *shipping) any { return object{"SubscriptionDeliveryMethodShippingOption", s} }),
	}
}

func intOrNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// draftView is a draft with its store.
type draftView struct {
	*draft
	shop *store
}

func draftObject(sh *store, d *draft) object {
	if d == nil {
		return object{kind: "SubscriptionDraft"}
	}
	return object{"SubscriptionDraft", draftView{d, sh}}
}

func (r registry) drafts() {
	r["SubscriptionDraft"] = fields{
		"id":               get(func(d draftView) any { return d.gid() }),
		"status":           get(func(d draftView) any { return textOrNull(d.Terms.Status) }),
		"currencyCode":     get(func(d draftView) any { return string(d.Currency) }),
		"nextBillingDate":  get(func(d draftView) any { return d.Terms.NextBillingDate }),
		"note":             get(func(d draftView) any { return textOrNull(d.Terms.Note) }),
		"customAttributes": get(func(d draftView) any { return attributeObjects(d.Terms.Attributes) }),
		"billingPolicy":    get(func(d draftView) any { return object{"SubscriptionBillingPolicy", d.Terms.Billing} }),
		"deliveryPolicy":   get(func(d draftView) any { return object{"SubscriptionDeliveryPolicy", d.Terms.Delivery} }),
		"deliveryPrice":    get(func(d draftView) any { return money.Amount{Currency: d.Currency}.Plus(d.Terms.Price) }),
		"deliveryMethod":   get(func(d draftView) any { return deliveryObject(d.Terms.Shipping) }),
		"billingCycle": get(func(d draftView) any {
			if c, ok := d.shop.contracts.get(d.Contract); ok && d.Cycle > 0 {
				return cycleObject(c, d.Cycle)
			}
			return object{kind: "SubscriptionBillingCycle"}
		}),
		"customer": get(func(d draftView) any {
			c, _ := d.shop.customers.get(d.Customer)
			return typed("Customer", c)
		}),
		"customerPaymentMethod": on(func(_ *exec, d draftView, a args) any {
			return methodObject(d.shop, d.Terms.PaymentMethod, a.flag("showRevoked"))
		}),
		"originalContract": get(func(d draftView) any {
			if d.New {
				return object{kind: "SubscriptionContract"}
			}
			c, _ := d.shop.contracts.get(d.Contract)
			return contractObject(c)
		}),
		"lines":        on(draftLines(func(l line) bool { return !l.Removed })),
		"linesAdded":   on(draftLines(func(l line) bool { return l.Added && !l.Removed })),
		"linesRemoved": on(draftLines(func(l line) bool { return l.Removed })),

		"discounts":        on(draftDiscounts(notRemoved)),
		"discountsAdded":   on(draftDiscounts(func(d *discount) bool { return d.Added && !d.Removed })),
		"discountsUpdated": on(draftDiscounts(func(d *discount) bool { return d.Updated && !d.Added && !d.Removed })),
		"discountsRemoved": on(draftDiscounts(func(d *discount) bool { return d.Removed })),
	}
}

func draftDiscounts(keep func(*discount) bool) func(x *exec, d draftView, a args) any {
	return func(x *exec, d draftView, a args) any {
		return x.discounts(&d.Terms, d.Currency, a, eitherDiscount, keep)
	}
}

func draftLines(keep func(line) bool) func(x *exec, d draftView, a args) any {
	return func(x *exec, d draftView, a args) any {
		return x.lines(&d.Terms, d.Currency, d.shop, a, keep)
	}
}
