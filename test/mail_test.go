package test

import "slices"

// Messages that confirm changes and remind of orders come beside everything else. Stories about
// something else leave them out: their events, and their kinds.
var (
	besideEvents = []string{
		"SEND_SUBSCRIPTION_CREATED_EMAIL", "SEND_UPCOMING_ORDER_EMAIL", "SEND_SUBSCRIPTION_PAUSED_EMAIL", "SEND_SUBSCRIPTION_RESUMED_EMAIL", "SEND_SUBSCRIPTION_CANCELED_EMAIL",
		"SEND_ORDER_SKIPPED_EMAIL", "SEND_NEXT_ORDER_DATE_UPDATED_EMAIL", "SEND_ORDER_FREQUENCY_UPDATED_EMAIL", "SEND_SHIPPING_ADDRESS_UPDATED_EMAIL",
		"SEND_SUBSCRIPTION_PRODUCT_ADDED_EMAIL", "SEND_SUBSCRIPTION_PRODUCT_REMOVED_EMAIL", "SEND_SUBSCRIPTION_PRODUCT_REPLACED_EMAIL", "SEND_PRODUCT_PRICE_UPDATED_EMAIL",
		"SEND_EXPIRING_CREDIT_CARD_EMAIL", "SCHEDULE_EXPIRING_CREDIT_CARD_EMAIL", "EMAIL",
	}
	besideKinds = []string{
		"subscription_created", "upcoming_order", "paused", "resumed", "canceled", "order_skipped", "next_date", "frequency", "address", "product_added", "product_removed",
		"product_replaced", "price_updated", "expiring_card", "failure_digest",
	}
)

// beside reports whether an entry is about such a message.
func beside(event string) bool { return slices.Contains(besideEvents, event) }

// letters returns the e-mails that were caught, without those messages.
func (s *subscription) letters(query string) []mail {
	s.t.Helper()
	return slices.DeleteFunc(s.mails(query), func(m mail) bool { return slices.Contains(besideKinds, m.Kind) })
}
