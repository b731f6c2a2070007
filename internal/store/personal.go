package store

// personalTable says what of a table is about a customer.
type personalTable struct {
	name, title string
	// rows is the condition of the customer's rows. It has the parts of ownedBy.
	rows string
	// columns are exported, each with how it is read: nothing for a text, number or truth
	// value, :at for an instant, :money for minor units of the row's currency, :milli for
	// thousandths of its main unit, :json, or :sealed.
	columns []string
}

// ownedBy are the conditions by which rows belong to a customer, whose number is ?1 and
// whose shop ?0.
const (
	byCustomer = "customer_id = ?1"
	byContract = "contract_id IN (SELECT c.id FROM contracts AS c WHERE c.shop_id = ?0 AND c.customer_id = ?1)"
	byMember   = "account_id IN (SELECT m.id FROM loyalty_accounts AS m WHERE m.shop_id = ?0 AND m.customer_id = ?1)"
	byMail     = "(" + byContract + " OR contract_id = 0 AND customer_id = ?1 AND customer_id <> 0 OR recipient IN (SELECT c.customer_email FROM contracts AS c WHERE c.shop_id = ?0 AND c.customer_id = ?1 AND c.customer_email <> '')" +
		" OR recipient IN (SELECT m.email FROM loyalty_accounts AS m WHERE m.shop_id = ?0 AND m.customer_id = ?1 AND m.email <> ''))"
	byEntity = "((entity_type = 'SUBSCRIPTION_CONTRACT_DETAILS' AND entity_id IN (SELECT c.id FROM contracts AS c WHERE c.shop_id = ?0 AND c.customer_id = ?1))" +
		" OR (entity_type = 'SUBSCRIPTION_BILLING_ATTEMPT' AND entity_id IN (SELECT a.id FROM attempts AS a JOIN contracts AS c ON c.shop_id = a.shop_id AND c.id = a.contract_id WHERE a.shop_id = ?0 AND c.customer_id = ?1))" +
		" OR (entity_type = 'CANCELLATION_MANAGEMENT' AND entity_id IN (SELECT r.id FROM retention_activities AS r WHERE r.shop_id = ?0 AND r.customer_id = ?1)))"
)

// personalTables are the tables of an export, in its order. A test compares them with the
// schema: a new column of text is in one of them, or the test says why not.
var personalTables = []personalTable{
	{"contracts", "Subscriptions and memberships", byCustomer, []string{
		"id", "line", "status", "customer_id", "customer_first_name", "customer_last_name", "customer_name", "customer_email", "customer_phone",
		"currency", "order_amount:milli", "delivery_price:money", "lines:json", "billing_interval", "billing_count", "billing_anchors", "delivery_interval", "delivery_count", "delivery_anchors",
		"billing_country", "delivery_country", "payment_method", "payment_usable", "card:json", "note", "attributes:json", "origin", "origin_order_id", "origin_order_name", "imported_id",
		"created_at:at", "activated_at:at", "next_billing_date:at", "paused_at:at", "pause:json", "cancelled_at:at", "cancellation_feedback", "cancellation_note", "ending:json",
		"orders", "lifetime:money", "last_order_id", "last_order_name", "last_order_at:at", "last_order_amount:money", "last_payment", "min_cycles", "max_cycles", "auto_charge",
		"discounts:json", "pricing:json", "plan_pricing:json", "trial:json", "overrides:json", "split:json", "moving:json", "dunning:json", "later_series:json", "in_flight_edits:json", "pending_change",
	}},
	{"attempts", "Orders", byContract, []string{
		"id", "contract_id", "cycle", "status", "billing_date:at", "attempted_at:at", "currency", "amount:money", "order_id", "order_name", "lines:json", "note", "error_code", "error_message",
		"action_url", "platform_id", "preparation:json", "dunning:json", "created_at:at",
	}},
	{"one_offs", "One-time products", byContract, []string{
		"contract_id", "cycle", "title", "product_title", "sku", "variant_id", "product_id", "quantity", "currency", "price:money", "created_at:at",
	}},
	{"move_items", "Subscriptions that move from one service to another", byCustomer, []string{"move_id", "there_id", "stage", "contract:json", "products:json", "reason", "since:at", "ended_at:at"}},
	{"move_parts", "Loyalty and preferences that move from another service", byCustomer, []string{"move_id", "kind", "there_id", "name", "stage", "data:json", "reason", "seen_at:at", "made_at:at"}},
	{"loyalty_accounts", "Loyalty membership", byCustomer, []string{
		"id", "customer_id", "email", "first_name", "last_name", "born", "status", "referral_code", "enrolled_at:at", "active_at:at", "available", "pending", "spent", "expired", "earned",
		"currency", "order_spent:money", "credit:money",
	}},
	{"loyalty_entries", "Loyalty points", byMember, []string{
		"id", "kind", "pending", "available", "source_type", "source_id", "description", "note", "occurred_at:at", "expires_at:at",
	}},
	{"loyalty_credits", "Store credit", byMember, []string{"id", "source_type", "source_id", "currency", "amount:money", "note", "recorded_at:at"}},
	{"loyalty_rewards", "Rewards", byCustomer, []string{
		"id", "type", "state", "code", "description", "points", "currency", "order_id", "order_name", "reason", "platform_id", "created_at:at", "issued_at:at", "expires_at:at", "used_at:at",
	}},
	{"retention_activities", "Answers when cancelling", byCustomer, []string{"id", "contract_id", "occurred_at:at", "action", "reason", "discount", "info"}},
	{"cancel_sessions", "Visits to the flow of cancelling", byCustomer, []string{
		"id", "contract_id", "flow_version", "step", "outcome", "action", "reason", "comment", "offer:json", "moves:json", "arm", "started_at:at", "offered_at:at", "accepted_at:at", "ended_at:at",
	}},
	{"messages", "E-mails and SMS", byMail, []string{
		"id", "kind", "recipient", "from_name", "subject", "body:sealed", "contract_id", "source", "client_ip", "status", "created_at:at", "sent_at:at", "last_error", "delivery_error",
	}},
	{"contract_comments", "Comments of the store on subscriptions", byContract, []string{"id", "contract_id", "body", "created_at:at"}},
	{"annotations", "Notes on their way to orders", byContract, []string{"id", "target", "tags", "note"}},
	{"portal_preferences", "Preferences in the customer portal", byCustomer, []string{"language", "mails_off", "updated_at:at"}},
	{"sms_consents", "Agreements to SMS", byCustomer, []string{"id", "phone", "source", "client_ip", "given_at:at", "ended_at:at", "ended_by"}},
	{"portal_sessions", "Visits to the customer portal", byCustomer, []string{"via", "created_at:at", "seen_at:at", "expires_at:at"}},
	{"activity", "Activity log", byEntity, []string{"id", "entity_type", "entity_id", "event", "status", "source", "actor", "client_ip", "recorded_at:at", "info:json"}},
}
