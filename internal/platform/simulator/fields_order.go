package simulator

import (
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

func (r registry) customers() {
	r["Customer"] = fields{
		"id":                      get(func(c *customer) any { return c.gid() }),
		"legacyResourceId":        get(func(c *customer) any { return itoa(c.ID) }),
		"email":                   get(func(c *customer) any { return textOrNull(c.Email) }),
		"phone":                   get(func(c *customer) any { return textOrNull(c.Phone) }),
		"firstName":               get(func(c *customer) any { return textOrNull(c.FirstName) }),
		"lastName":                get(func(c *customer) any { return textOrNull(c.LastName) }),
		"displayName":             get(func(c *customer) any { return c.displayName() }),
		"locale":                  always("en"),
		"note":                    always(nil),
		"state":                   always("ENABLED"),
		"verifiedEmail":           always(true),
		"tags":                    get(func(c *customer) any { return c.Tags }),
		"createdAt":               get(func(c *customer) any { return c.CreatedAt }),
		"updatedAt":               get(func(c *customer) any { return c.UpdatedAt }),
		"numberOfOrders":          get(func(c *customer) any { return itoa(int64(len(c.orders))) }),
		"productSubscriberStatus": get(func(c *customer) any { return c.subscriberStatus() }),
		"defaultEmailAddress": get(func(c *customer) any {
			if c.Email == "" {
				return nil
			}
			return object{"CustomerEmailAddress", c}
		}),
		"defaultPhoneNumber": get(func(c *customer) any {
			if c.Phone == "" {
				return nil
			}
			return object{"CustomerPhoneNumber", c}
		}),
		"defaultAddress": get(func(c *customer) any { return object{"MailingAddress", addressOf(c)} }),
		"paymentMethods": on(func(x *exec, c *customer, a args) any {
			var entries []entry
			for _, m := range c.methods {
				if m.Status != MethodRevoked || a.flag("showRevoked") {
					entries = append(entries, entry{0, m.Number, typed("CustomerPaymentMethod", m)})
				}
			}
			return x.paginate("CustomerPaymentMethod", entries, a)
		}),
		"subscriptionContracts": on(func(x *exec, c *customer, a args) any { return x.contracts(ownOf(x, c.contracts), a) }),
		"orders":                on(func(x *exec, c *customer, a args) any { return x.orders(c.orders, a) }),
	}
	r["CustomerEmailAddress"] = fields{
		"emailAddress": get(func(c *customer) any { return c.Email }), "validFormat": always(true), "marketingState": always("NOT_SUBSCRIBED"),
	}
	r["CustomerPhoneNumber"] = fields{
		"phoneNumber": get(func(c *customer) any { return c.Phone }), "marketingState": always("NOT_SUBSCRIBED"),
	}
	r["CustomerPaymentMethod"] = fields{
		"id":        get(func(m *paymentMethod) any { return m.gid() }),
		"customer":  get(func(m *paymentMethod) any { return typed("Customer", m.customer) }),
		"revokedAt": get(func(m *paymentMethod) any { return m.RevokedAt }),
		"revokedReason": get(func(m *paymentMethod) any {
			if m.Status == MethodRevoked {
				return "MANUALLY_REVOKED"
			}
			return nil
		}),
		"instrument": get(func(m *paymentMethod) any { return object{instruments[m.kind()], m} }),
		"subscriptionContracts": on(func(x *exec, m *paymentMethod, a args) any {
			var list []*contract
			for _, c := range m.customer.contracts {
				if c.Terms.PaymentMethod == m.ID {
					list = append(list, c)
				}
			}
			return x.contracts(ownOf(x, list), a)
		}),
	}
	r["CustomerCreditCard"] = fields{
		"brand":             get(func(m *paymentMethod) any { return m.Brand }),
		"lastDigits":        get(func(m *paymentMethod) any { return m.LastDigits }),
		"maskedNumber":      get(func(m *paymentMethod) any { return "•••• •••• •••• " + m.LastDigits }),
		"firstDigits":       always(nil),
		"virtualLastDigits": always(nil),
		"source":            always(nil),
		"expiryMonth":       get(func(m *paymentMethod) any { return m.ExpiryMonth }),
		"expiryYear":        get(func(m *paymentMethod) any { return m.ExpiryYear }),
		"name":              get(func(m *paymentMethod) any { return m.customer.displayName() }),
		"isRevocable":       always(true),
		"expiresSoon": on(func(x *exec, m *paymentMethod, _ args) any {
			now := x.s.now()
			left := (m.ExpiryYear-now.Year())*12 + m.ExpiryMonth - int(now.Month())
			return left >= 0 && left < 2
		}),
		"billingAddress": get(func(m *paymentMethod) any { return object{"CustomerCreditCardBillingAddress", addressOf(m.customer)} }),
	}
	r["CustomerShopPayAgreement"] = fields{"inactive": always(false)}
	for _, name := range []string{"billingAddress", "expiresSoon", "expiryMonth", "expiryYear", "isRevocable", "lastDigits", "maskedNumber", "name"} {
		r["CustomerShopPayAgreement"][name] = r["CustomerCreditCard"][name]
	}
	r["CustomerPaypalBillingAgreement"] = fields{
		"inactive":           always(false),
		"isRevocable":        always(true),
		"paypalAccountEmail": get(func(m *paymentMethod) any { return textOrNull(m.customer.Email) }),
		"billingAddress": get(func(m *paymentMethod) any {
			return object{"CustomerPaymentInstrumentBillingAddress", addressOf(m.customer)}
		}),
	}
	shared := func() fields {
		return fields{
			"firstName":    get(func(a address) any { return textOrNull(a.FirstName) }),
			"lastName":     get(func(a address) any { return textOrNull(a.LastName) }),
			"address1":     get(func(a address) any { return textOrNull(a.Address1) }),
			"city":         get(func(a address) any { return textOrNull(a.City) }),
			"zip":          get(func(a address) any { return textOrNull(a.Zip) }),
			"province":     get(func(a address) any { return textOrNull(provinceName(a.Country, a.Province)) }),
			"provinceCode": get(func(a address) any { return textOrNull(a.Province) }),
			"country":      get(func(a address) any { return textOrNull(countryName(a.Country)) }),
		}
	}
	billing := shared()
	billing["countryCode"] = get(func(a address) any { return textOrNull(a.Country) })
	r["CustomerCreditCardBillingAddress"] = billing
	r["CustomerPaymentInstrumentBillingAddress"] = fields{
		"name": get(func(a address) any { return textOrNull(strings.TrimSpace(a.FirstName + " " + a.LastName)) }),
	}
	for _, name := range []string{"address1", "city", "zip", "province", "provinceCode", "country", "countryCode"} {
		r["CustomerPaymentInstrumentBillingAddress"][name] = billing[name]
	}
	mailing := shared()
	mailing["id"] = always(gid.Of("MailingAddress", 1))
	mailing["countryCodeV2"] = get(func(a address) any { return textOrNull(a.Country) })
	mailing["address2"] = get(func(a address) any { return textOrNull(a.Address2) })
	mailing["company"] = get(func(a address) any { return textOrNull(a.Company) })
	mailing["phone"] = get(func(a address) any { return textOrNull(a.Phone) })
	mailing["name"] = get(func(a address) any { return textOrNull(strings.TrimSpace(a.FirstName + " " + a.LastName)) })
	mailing["formatted"] = get(func(a address) any { return []string{a.Address1, a.Zip + " " + a.City, a.Country} })
	r["MailingAddress"] = mailing
}

func (c *customer) subscriberStatus() string {
	status := "NEVER_SUBSCRIBED"
	for _, k := range c.contracts {
		switch k.Terms.Status {
		case statusActive:
			return "ACTIVE"
		default:
			status = k.Terms.Status
		}
	}
	return status
}

func (x *exec) orders(list []*order, a args) *page {
	byID := a.text("sortKey") == "ID"
	entries := make([]entry, len(list))
	for i, o := range list {
		entries[i] = entry{o.CreatedAt.Unix(), o.ID, typed("Order", o)}
		if byID {
			entries[i].sort = 0
		}
	}
	return x.paginate("Order", entries, a)
}

// lineOf is an order's line with its order.
type lineOf struct {
	orderLine
	order *order
	shop  *store
}

// contract returns the contract that the line began or renewed; nil when it was bought
// once, or is of another app.
func (l lineOf) contract(x *exec) *contract {
	c, ok := l.shop.contracts.get(l.Contract)
	if !ok && !l.Once {
		c = l.order.contract
	}
	if c == nil || c.App != x.app {
		return nil
	}
	return c
}

// left is what is left of a line's price after discounts.
func (l orderLine) left() money.Amount {
	return l.Price.Times(int64(l.Quantity)).Plus(l.Discount.Times(-1))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (r registry) orders() {
	total := get(func(o *order) any { return moneyBag(o.Amount) })
	nothing := get(func(o *order) any { return moneyBag{Currency: o.Amount.Currency} })
	shippingPrice := get(func(o *order) any { return moneyBag(o.Shipping) })
	created := get(func(o *order) any { return o.CreatedAt })
	currency := get(func(o *order) any { return string(o.Amount.Currency) })
	r["Order"] = fields{
		"id":                      get(func(o *order) any { return o.gid() }),
		"legacyResourceId":        get(func(o *order) any { return itoa(o.ID) }),
		"name":                    get(func(o *order) any { return o.Name }),
		"number":                  get(func(o *order) any { return int(o.Number) }),
		"discountCodes":           get(func(o *order) any { return append([]string{}, o.Codes...) }),
		"createdAt":               created,
		"processedAt":             created,
		"updatedAt":               get(func(o *order) any { return later(o.CreatedAt, o.UpdatedAt) }),
		"cancelledAt":             always(nil),
		"cancelReason":            always(nil),
		"closed":                  always(false),
		"closedAt":                always(nil),
		"confirmed":               always(true),
		"test":                    always(true),
		"currencyCode":            currency,
		"presentmentCurrencyCode": currency,
		"note":                    get(func(o *order) any { return textOrNull(o.Note) }),
		"tags":                    get(func(o *order) any { return o.Tags }),
		"email":                   get(func(o *order) any { return textOrNull(o.customer.Email) }),
		"customer":                get(func(o *order) any { return typed("Customer", o.customer) }),
		"customAttributes":        get(func(o *order) any { return attributeObjects(o.Attributes) }),
		"totalPriceSet":           total,
		"subtotalLineItemsQuantity": get(func(o *order) any {
			pieces := 0
			for _, l := range o.Lines {
				pieces += l.Quantity
			}
			return pieces
		}),
		"currentTotalPriceSet":  total,
		"totalShippingPriceSet": shippingPrice,
		"totalTaxSet":           nothing,
		"totalDiscountsSet":     get(func(o *order) any { return moneyBag(money.Amount{Currency: o.Amount.Currency}.Plus(o.Discount)) }),
		"totalRefundedSet":      nothing,
		"subtotalPriceSet": get(func(o *order) any {
			return moneyBag(o.Amount.Plus(o.Shipping.Times(-1)))
		}),
		"totalOutstandingSet": get(func(o *order) any {
			if o.Paid {
				return moneyBag{Currency: o.Amount.Currency}
			}
			return moneyBag(o.Amount)
		}),
		"totalReceivedSet": get(func(o *order) any {
			if !o.Paid {
				return moneyBag{Currency: o.Amount.Currency}
			}
			return moneyBag(o.Amount)
		}),
		"fullyPaid":     get(func(o *order) any { return o.Paid }),
		"unpaid":        get(func(o *order) any { return !o.Paid }),
		"canMarkAsPaid": get(func(o *order) any { return !o.Paid }),
		"taxesIncluded": always(false),
		"displayFinancialStatus": get(func(o *order) any {
			if o.Paid {
				return "PAID"
			}
			return "PENDING"
		}),
		"sourceName": get(func(o *order) any {
			if o.Cycle > 0 {
				return "subscription_contract_checkout_one"
			}
			return "web"
		}),
		"shippingAddress": get(func(o *order) any {
			if o.Address != nil {
				return object{"MailingAddress", *o.Address}
			}
			return object{"MailingAddress", addressOf(o.customer)}
		}),
		"billingAddress": get(func(o *order) any { return object{"MailingAddress", addressOf(o.customer)} }),
		"lineItems": on(func(x *exec, o *order, a args) any {
			entries := make([]entry, len(o.Lines))
			for i, l := range o.Lines {
				entries[i] = entry{int64(i), l.ID, object{"LineItem", lineOf{l, o, x.shop}}}
			}
			return x.paginate("LineItem", entries, a)
		}),
	}
	price := get(func(l lineOf) any { return moneyBag(l.Price) })
	sum := get(func(l lineOf) any { return moneyBag(l.Price.Times(int64(l.Quantity))) })
	r["LineItem"] = fields{
		"id":                   get(func(l lineOf) any { return gid.Of("LineItem", l.ID) }),
		"name":                 get(func(l lineOf) any { return l.Title }),
		"title":                get(func(l lineOf) any { return l.Title }),
		"variantTitle":         get(func(l lineOf) any { return textOrNull(l.VariantTitle) }),
		"sku":                  get(func(l lineOf) any { return textOrNull(l.SKU) }),
		"quantity":             get(func(l lineOf) any { return l.Quantity }),
		"currentQuantity":      get(func(l lineOf) any { return l.Quantity }),
		"taxable":              get(func(l lineOf) any { return l.Taxable }),
		"requiresShipping":     always(true),
		"isGiftCard":           always(false),
		"originalUnitPriceSet": price,
		"discountedUnitPriceSet": get(func(l lineOf) any {
			return moneyBag{Minor: l.left().Minor / int64(l.Quantity), Currency: l.Price.Currency}
		}),
		"originalTotalSet":   sum,
		"discountedTotalSet": get(func(l lineOf) any { return moneyBag(l.left()) }),
		"totalDiscountSet":   get(func(l lineOf) any { return moneyBag(money.Amount{Currency: l.Price.Currency}.Plus(l.Discount)) }),
		"customAttributes":   get(func(l lineOf) any { return attributeObjects(l.Attributes) }),
		"image":              get(func(l lineOf) any { return imageObject(l.Image) }),
		"contract":           on(func(x *exec, l lineOf, _ args) any { return contractObject(l.contract(x)) }),
		"product": get(func(l lineOf) any {
			p, _ := l.shop.products.get(l.Product)
			return typed("Product", p)
		}),
		"variant": get(func(l lineOf) any {
			v, _ := l.shop.variants.get(l.Variant)
			return typed("ProductVariant", v)
		}),
		"sellingPlan": get(func(l lineOf) any {
			if l.SellingPlanName == "" && l.SellingPlanID == 0 {
				return nil
			}
			return object{"LineItemSellingPlan", l}
		}),
	}
	r["LineItemSellingPlan"] = fields{
		"name":          get(func(l lineOf) any { return l.SellingPlanName }),
		"sellingPlanId": get(func(l lineOf) any { return gidOrNull("SellingPlan", l.SellingPlanID) }),
	}
}
