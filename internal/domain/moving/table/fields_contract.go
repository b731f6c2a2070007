package table

var contractFields = []Field{
	{
		Name: "id", Label: "Contract", Required: true, Example: "10482",
		About: "what names the contract in the other service; adjacent rows with the same one are the lines of one contract",
		spellings: spelled(
			"contract id", "contract", "contract number", "subscription id", "subscription", "subscription number",
			"subscription contract id", "external id",
		),
	},
	{
		Name: "importedId", Label: "Imported ID", Example: "sub_10482",
		About:     "ID that the contract keeps for searches; without it, that of the column Contract",
		spellings: spelled("import id", "legacy id", "original id", "external reference", "reference"),
	},
	{
		Name: "status", Label: "Status", Example: "ACTIVE",
		About:     "ACTIVE, PAUSED, CANCELLED, EXPIRED or FAILED; without the column every contract is active",
		spellings: spelled("state", "contract status", "subscription status"),
	},
	{
		Name: "currency", Label: "Currency", Example: "EUR",
		About:     "ISO 4217 code; without it, that of the store",
		spellings: spelled("currency code", "presentment currency"),
	},
	{
		Name: "note", Label: "Note", Example: "Ring twice",
		About:     "note of the contract",
		spellings: spelled("notes", "order note", "contract note", "comment"),
	},
	{
		Name: "attributes", Label: "Attributes", Example: "gift=yes; wrap=paper",
		About: `attributes of the contract: JSON, or "key=value; key=value"`,
		spellings: spelled(
			"contract attributes", "custom attributes", "order attributes", "note attributes", "cart attributes",
		),
	},
	{
		Name: "paymentMethodId", Label: "Payment method", Example: "gid://shopify/CustomerPaymentMethod/6bc8ee92ae4ad8e3",
		About:     "the platform's ID of the customer's payment method",
		spellings: spelled("payment method", "customer payment method id", "customer payment method", "payment token"),
	},
	{
		Name: "createdAt", Label: "Created", Example: "2025-03-01", form: dates,
		About: "date on which the contract was made",
		spellings: spelled(
			"created", "created date", "date created", "creation date", "start date", "started at", "subscribed at",
			"subscription start date",
		),
	},
}

var scheduleFields = []Field{
	{
		Name: "nextOrderDate", Label: "Next order", Example: "2027-01-15", form: dates,
		About: "date on which the next order is charged; an active contract must have one",
		spellings: spelled(
			"next order", "next billing date", "next billing", "next charge date", "next charge", "next payment date",
			"next payment", "next renewal date",
			"next order at", "next charge at", "next charge scheduled at", "next shipment date", "next delivery date",
			"next billing at", "renewal date",
		),
	},
	{
		Name: "billingInterval", Label: "Billing interval", Required: true, Example: "MONTH",
		About: `DAY, WEEK, MONTH or YEAR, or with the count: "2 weeks", "every 30 days", "monthly"`,
		spellings: spelled(
			"billing policy interval", "billing interval unit", "billing frequency", "billing frequency unit",
			"billing interval type", "billing period", "charge interval unit", "charge interval",
			"charge interval unit type", "billing cycle", "interval", "interval unit", "interval type", "frequency",
			"frequency unit", "period", "billing schedule", "recurrence",
		),
	},
	{
		Name: "billingCount", Label: "Billing interval count", Example: "1",
		About: "how many of these intervals pass between two payments; without it, what the interval says, or 1",
		spellings: spelled(
			"billing interval count", "billing policy interval count", "billing interval frequency", "billing frequency count",
			"billing frequency value", "billing every",
			"charge interval frequency", "charge interval count", "interval count", "interval frequency", "frequency count",
			"frequency value", "interval length", "every",
		),
	},
	{
		Name: "deliveryInterval", Label: "Delivery interval", Example: "MONTH",
		About: "like the billing interval; without it, orders are delivered as often as they are billed",
		spellings: spelled(
			"delivery policy interval", "delivery interval unit", "delivery frequency", "delivery frequency unit",
			"delivery interval type", "delivery period",
			"order interval unit", "order interval", "shipping interval", "shipping interval unit", "shipment interval",
			"delivery schedule", "shipping frequency", "order frequency",
		),
	},
	{
		Name: "deliveryCount", Label: "Delivery interval count", Example: "1",
		About: "how many of these intervals pass between two deliveries",
		spellings: spelled(
			"delivery interval count", "delivery policy interval count", "delivery interval frequency",
			"delivery frequency count", "delivery frequency value", "delivery every",
			"order interval frequency", "order interval count", "shipping interval count", "shipping interval frequency",
			"shipment interval count",
		),
	},
	{
		Name: "minCycles", Label: "Minimum orders", Example: "3",
		About: "orders that the customer committed to, from the first one; 0: none",
		spellings: spelled(
			"minimum cycles", "billing min cycles", "min orders", "minimum orders", "minimum charges",
			"minimum number of charges",
		),
	},
	{
		Name: "maxCycles", Label: "Maximum orders", Example: "24",
		About: "orders after which the contract expires, from the first one; 0: no limit",
		spellings: spelled(
			"maximum cycles", "billing max cycles", "max orders", "maximum orders", "expire after", "expires after",
			"expire after specific number of charges", "number of charges until expiration",
		),
	},
	{
		Name: "orders", Label: "Orders so far", Example: "7",
		About: "orders that the customer has had",
		spellings: spelled(
			"orders so far", "earlier orders", "past orders", "past order count", "orders count", "order count",
			"number of orders", "total orders", "completed orders", "charges count",
			"completed cycles", "cycles completed", "charge count", "number of charges",
		),
	},
}

var lineFields = []Field{
	{
		Name: "variantId", Label: "Variant", Example: "44012345678901",
		About: "the platform's number or graph ID of the product variant",
		spellings: spelled(
			"variant", "product variant id", "shopify variant id", "line variant id", "line item variant id",
			"external variant id",
		),
	},
	{
		Name: "sku", Label: "SKU", Example: "COFFEE-500",
		About:     "SKU of the product variant, where there is no number",
		spellings: spelled("variant sku", "line item sku", "product sku", "line sku", "item sku"),
	},
	{
		Name: "productTitle", Label: "Product", Example: "Coffee 500 g",
		About: "what the product is called",
		spellings: spelled(
			"product", "title", "product name", "line title", "line item title", "line item name", "item name", "item title",
			"variant title", "lineitem name",
		),
	},
	{
		Name: "quantity", Label: "Quantity", Example: "2",
		About: "pieces in each order; without it, 1",
		spellings: spelled(
			"qty", "line quantity", "line item quantity", "lineitem quantity", "item quantity", "amount of items",
		),
	},
	{
		Name: "price", Label: "Price", Required: true, Example: "12.50", form: numbers,
		About: "price of one piece, before discounts and taxes",
		spellings: spelled(
			"unit price", "line price", "line item price", "lineitem price", "variant price", "current price", "item price",
			"product price", "recurring price", "price per unit",
		),
	},
	{
		Name: "sellingPlanId", Label: "Selling plan", Example: "688123",
		About:     "number or graph ID of the selling plan",
		spellings: spelled("selling plan", "plan id", "line selling plan id"),
	},
	{
		Name: "sellingPlanName", Label: "Name of the selling plan", Example: "Every month",
		About:     "what the selling plan is called",
		spellings: spelled("plan name", "plan", "line selling plan name"),
	},
	{
		Name: "lineAttributes", Label: "Attributes of the line", Example: `{"grind":"coarse"}`,
		About: `attributes of the line: JSON, or "key=value; key=value"`,
		spellings: spelled(
			"line custom attributes", "line item attributes", "line item properties", "properties", "item properties",
		),
	},
}

var discountFields = []Field{
	{
		Name: "discountPercent", Label: "Discount in percent", Example: "10", form: numbers,
		About:     "whole percentage off the lines of the contract",
		spellings: spelled("discount percentage", "percent off", "percentage off", "discount rate"),
	},
	{
		Name: "discountAmount", Label: "Discount as an amount", Example: "2.00", form: numbers,
		About:     "amount off the lines of each order, in place of a percentage",
		spellings: spelled("discount value", "discount", "amount off", "discount fixed amount"),
	},
	{
		Name: "discountTitle", Label: "Title of the discount", Example: "Regular customer",
		About:     "what the discount is called",
		spellings: spelled("discount name", "discount code", "coupon", "coupon code"),
	},
	{
		Name: "discountCycles", Label: "Orders with the discount", Example: "3",
		About: "orders that the discount is left for; 0: all",
		spellings: spelled(
			"discount cycle limit", "discount recurring cycle limit", "discount usage limit", "discount duration",
			"discount limit",
		),
	},
}
