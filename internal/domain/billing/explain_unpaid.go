package billing

import "fmt"

// retrying says when an order that was declined is charged again by itself.
func (f Facts) retrying(when string) string {
	return fmt.Sprintf("The service charges the order again %s, as try %d with a key of its own.", when, f.Try+1)
}

// unpaid says what becomes of an order that was declined and is not charged again
// by itself.
func (f Facts) unpaid() string {
	return "The service does not charge the order again by itself: a person may charge it again, or give it another date."
}
