package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/currency"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// contractID returns what names the contract of a row; empty: nothing does.
func (c *cells) contractID() string {
	text, _ := c.exact("id")
	if shortened(text) {
		c.find(moving.Stays, idShortened,
			"id", "%.60q is an ID that a spreadsheet program has rounded: export it again with the column formatted as text", text)
	}
	return text
}

// numberOf returns the number of a contract: that of its ID, or one that always follows from the
// text of the ID.
func numberOf(id string) int64 {
	if n, err := gid.Parse("SubscriptionContract", id); err == nil && (id[0] != '0') {
		return n
	}
	if n, err := strconv.ParseInt(id, 10, 64); err == nil && n > 0 && digits(id) && id[0] != '0' {
		return n
	}
	return hash(id)
}

// hash returns a positive number that follows from a text.
func hash(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return max(1, int64(binary.BigEndian.Uint64(sum[:])&math.MaxInt64)) //nolint:gosec // 63 bits
}

// contract returns what a row says of its contract, without the line.
func (c *cells) contract(id string) moving.Contract {
	is := moving.Contract{
		ID: numberOf(id), Line: shop.Subscriptions, ImportedID: id, Currency: c.currency(), Note: c.text("note"),
	}
	if imported := c.text("importedId"); imported != "" {
		is.ImportedID = imported
	}
	is.Status = c.status()
	is.Customer.ID, is.Customer.Email = c.customer()
	c.contradictions(Person{is.Customer.ID, is.Customer.Email})
	is.Customer.FirstName, is.Customer.LastName = c.text("firstName"), c.text("lastName")
	is.Customer.Phone = c.text("phone")
	is.Customer.Name = trim(is.Customer.FirstName + " " + is.Customer.LastName)
	c.schedule(&is)
	is.Attributes = c.attributes("attributes")
	is.PaymentMethod = c.paymentMethod()
	is.CreatedAt, _ = c.instant("createdAt")
	is.DeliveryPrice = money.Amount{Currency: is.Currency}
	if price, given := c.amount("deliveryPrice", is.Currency); given {
		is.DeliveryPrice = price
	}
	is.Method = c.method()
	is.Discounts = c.discounts(is.Currency)
	return is
}

func (c *cells) currency() money.Currency {
	text := strings.ToUpper(c.text("currency"))
	switch {
	case text == "" && c.Currency == "":
		c.find(moving.Stays, valueMissing, "currency", "the currency is missing: write one such as EUR")
	case text == "":
		return c.Currency
	}
	if _, err := currency.ParseISO(text); text != "" && err != nil {
		c.find(moving.Stays, valueInvalid, "currency", "%.60q is not the code of a currency: write one such as EUR", text)
		return ""
	}
	return money.Currency(text)
}

// statusWords are the words for statuses that are not their names.
var statusWords = map[string]contract.Status{
	"live": contract.Active, "enabled": contract.Active, "running": contract.Active,
	"pause": contract.Paused, "onhold": contract.Paused, "suspended": contract.Paused,
	"canceled": contract.Cancelled, "cancel": contract.Cancelled, "stopped": contract.Cancelled,
	"ended": contract.Cancelled, "terminated": contract.Cancelled,
	"completed": contract.Expired, "finished": contract.Expired,
	"pastdue": contract.Failed, "unpaid": contract.Failed,
}

func (c *cells) status() contract.Status {
	text := c.text("status")
	if _, has := c.at["status"]; !has {
		return contract.Active
	}
	if status, err := contract.ParseStatus(text); err == nil {
		return status
	}
	if status, known := statusWords[spell(text)]; known {
		return status
	}
	if text == "" {
		c.find(moving.Stays, valueMissing, "status", "the status is missing: write one such as ACTIVE")
	} else {
		c.find(moving.Stays, valueInvalid,
			"status", "%.60q is not a status: write ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED", text)
	}
	return ""
}

// schedule reads when orders fall due.
func (c *cells) schedule(is *moving.Contract) {
	var given bool
	if is.Next, given = c.instant("nextOrderDate"); !given && is.Status == contract.Active {
		is.MissingDate = true
		c.find(moving.Stays, valueMissing,
			"nextOrderDate", "the date of the next order is missing: write it, or another status than ACTIVE")
	}
	is.Billing = c.policy("billingInterval", "billingCount")
	if is.Delivery = is.Billing; c.text("deliveryInterval") != "" || c.text("deliveryCount") != "" {
		is.Delivery = c.policy("deliveryInterval", "deliveryCount")
	}
	if is.Billing.Count > 0 && is.Delivery.Count > 0 && is.Billing.Covers(is.Delivery) == 0 {
		c.find(moving.Stays, valueInvalid,
			"deliveryInterval", "the billing interval is not a whole number of delivery intervals: correct one of them")
	}
	is.MinCycles, _ = c.count("minCycles", 0, maxCount)
	is.MaxCycles, _ = c.count("maxCycles", 0, maxCount)
	is.Orders, _ = c.count("orders", 0, maxCount)
	is.CyclesDone = is.Orders
	if is.MaxCycles > 0 && is.MinCycles > is.MaxCycles {
		c.find(moving.Stays, valueInvalid,
			"minCycles", "the minimum is %d orders and the maximum %d: correct one of them", is.MinCycles, is.MaxCycles)
	}
}

// policy reads an interval and its count.
func (c *cells) policy(interval, count string) contract.Policy {
	text := c.text(interval)
	n, given := c.count(count, 1, cadence.MaxCount)
	switch {
	case text == "":
		c.find(moving.Stays, valueMissing, interval, "the interval is missing: write DAY, WEEK, MONTH or YEAR")
		return contract.Policy{}
	case given && n == 0:
		return contract.Policy{}
	}
	p, reason := policyOf(text, n)
	if reason != "" {
		c.find(moving.Stays, valueInvalid, interval, "%s", reason)
	}
	return p
}

func (c *cells) attributes(field string) []contract.Attribute {
	list, err := parseAttributes(c.text(field))
	if err != nil {
		c.find(moving.Stays, valueInvalid, field, `%v: write "key=value; key=value" or a JSON object`, err)
	}
	return list
}

// paymentMethod returns the graph ID of the platform's payment method.
func (c *cells) paymentMethod() string {
	const prefix = "gid://shopify/CustomerPaymentMethod/"
	text := c.text("paymentMethodId")
	token := strings.TrimPrefix(text, prefix)
	if text == "" {
		return ""
	}
	if token == "" || strings.Trim(token, "0123456789abcdef") != "" {
		c.find(moving.Changes, valueLeftOut,
			"paymentMethodId", "%.60q is not a payment method of the platform: the contract has none until it is corrected", text)
		return ""
	}
	return prefix + token
}

// lineItem returns what a row says of a line.
func (c *cells) lineItem(number int, currency money.Currency) moving.Line {
	l := moving.Line{
		ID: fmt.Sprintf("line %d", number), Variant: c.variant(), Title: c.text("productTitle"),
		Plan: c.id("sellingPlanId", "SellingPlan"), PlanName: c.text("sellingPlanName"),
		Attributes: c.attributes("lineAttributes"),
	}
	var given bool
	if l.Quantity, given = c.count("quantity", 1, maxQuantity); !given {
		l.Quantity = 1
	}
	if l.Price, given = c.amount("price", currency); !given {
		c.find(moving.Stays, valueMissing, "price", "the price is missing: write it, with 0 for nothing")
	}
	return l
}

// variant returns the platform's number of the variant, by its SKU where there is no number.
func (c *cells) variant() int64 {
	sku := c.text("sku")
	switch {
	case c.text("variantId") != "":
		return c.id("variantId", "ProductVariant")
	case sku == "":
		c.find(moving.Stays, valueMissing, "variantId", "the variant is missing: write its number or its SKU")
		return 0
	}
	var found []int64
	if c.Variants != nil {
		found = c.Variants(sku)
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		c.find(moving.Stays, skuUnknown,
			"sku", "no variant of the store has the SKU %.60q: write the number of the variant, or add the SKU to the store", sku)
	default:
		c.find(moving.Stays, skuUnknown, "sku", "%d variants of the store have the SKU %.60q: write the number of the variant", len(found), sku)
	}
	return 0
}
