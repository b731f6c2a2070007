package simulator

import "time"

// Switches turn on behaviour of the platform that was reported but is not
// certain, or that is a defect of its own. The zero value is the documented or
// most probable platform.
type Switches struct {
	// OriginOrderBillsFirstCycle gives contracts from the checkout a first cycle
	// from creation to the next billing date that the origin order has already
	// billed. Cycles are then expected at their start: the first renewal is
	// cycle 2, at the next billing date. Believed of the real checkout by some.
	OriginOrderBillsFirstCycle bool `json:"originOrderBillsFirstCycle"`
	// DraftCreateIgnoresNextBillingDate ends the first cycle of a contract made
	// by a draft one interval after its creation, cut to the hour, whatever next
	// billing date was asked for. Seen once on a live store.
	DraftCreateIgnoresNextBillingDate bool `json:"draftCreateIgnoresNextBillingDate"`
	// PolicyChangeRenumbers ends the running cycle when a changed billing policy
	// is committed and begins another, so that the next charge has an index one
	// higher than before. Reported of live stores.
	PolicyChangeRenumbers bool `json:"policyChangeRenumbers"`
	// RefuseBilledCycle refuses a second charge of a cycle that is BILLED. The
	// platform is not known to do so, which is the danger to guard against.
	RefuseBilledCycle bool `json:"refuseBilledCycle"`
	// PausedAttemptGoesThrough charges paused contracts. One field report says
	// so; the error code that forbids it exists.
	PausedAttemptGoesThrough bool `json:"pausedAttemptGoesThrough"`
	// KeyLifetime is how long an idempotency key is remembered; 0: for ever. The
	// platform publishes no figure. Afterwards the same key charges again.
	KeyLifetime time.Duration `json:"-"`
	// FutureCycleLimit is how many cycles after the current one can be chosen;
	// 0: any number. A limit exists but is not published.
	FutureCycleLimit int `json:"futureCycleLimit"`
	// ShortMonthsOverflow lets a day that a month lacks fall into the month after
	// it, so that the 31st of April is the 1st of May. What the platform does is
	// not documented; without the switch the month's last day counts.
	ShortMonthsOverflow bool `json:"shortMonthsOverflow"`
	// DateRangeLimit is how wide a range of dates may be by which cycles are
	// listed; 0: any width. A limit was met but is not published.
	DateRangeLimit time.Duration `json:"-"`
	// MaxLines is how many lines a contract may have; 0: any number. The error
	// code exists, the number is not published.
	MaxLines int `json:"maxLines"`
	// PaymentMethodRequired refuses new contracts without a payment method. The
	// error code exists; contracts without one exist, too.
	PaymentMethodRequired bool `json:"paymentMethodRequired"`
	// MaxDiscounts is how many discounts a contract may have; 0: any number. The
	// error code exists, the number is not published.
	MaxDiscounts int `json:"maxDiscounts"`
	// ZeroLengthAnchorCycle gives contracts with several anchors a second cycle
	// that ends when the first does. Seen once on a live store.
	ZeroLengthAnchorCycle bool `json:"zeroLengthAnchorCycle"`
	// BulkChargeIgnoresBilled lets BulkCharge charge cycles that are BILLED.
	// Reported of the platform's own bulk charge.
	BulkChargeIgnoresBilled bool `json:"bulkChargeIgnoresBilled"`
	// PaymentUpdateOpensNewCycle ends the running cycle when the contract's
	// payment method becomes valid again and begins another one with the same
	// expected date, so that two cycles seem due.
	PaymentUpdateOpensNewCycle bool `json:"paymentUpdateOpensNewCycle"`
	// KeepFailingSubscriptions keeps webhook subscriptions whose address failed
	// for all of a delivery's retries. The platform removes them.
	KeepFailingSubscriptions bool `json:"keepFailingSubscriptions"`
}

// SetSwitches changes what the platform does from now on. What it has done
// stays as it is.
func (s *Simulator) SetSwitches(to Switches) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Switches = to
}
