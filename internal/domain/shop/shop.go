// Package shop is a store as the service knows it: its address, calendar,
// settings and connection.
package shop

import (
	"cmp"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// ID is the service's own id of a store. Everything a store owns is stored
// and read under it.
type ID int64

// Shop is a store.
type Shop struct {
	ID             ID
	Domain         string         // <store>.myshopify.com
	PlatformID     int64          // the platform's id of the store
	Token          platform.Token // access token for the platform; stored encrypted
	TimeZone       string         // IANA name
	Currency       money.Currency
	OrderHour      int // local hour at which orders are charged, 0 to 23
	OrderMinute    int // 0 to 59
	Connected      bool
	Settings       Settings
	ReconciledAt   time.Time // the last reconciliation covers what changed before this instant
	ReconcileAt    time.Time // when the next one is due
	Reading        Reading   // a reconciliation in progress
	SubscribeError string    // why the platform refuses the webhook subscription; empty: it does not
	Guard          Guard
	OwnerEmail     string // where the merchant gets e-mails about the store; empty: not known
	CreatedAt      time.Time
	Catalogue      int64 // incremented by the store with every change of plan groups and bundles
	Version        int64

	SMS bool // the installation has a provider of SMS; not stored
}

// Reading is the progress of reading a list of the platform: of a
// reconciliation or a comparison of charges. The zero value has not
// begun.
type Reading struct {
	Started time.Time `json:"started"` // it covers what changed before this instant
	Since   time.Time `json:"since"`   // and after this one; zero: all
	Cursor  string    `json:"cursor"`  // of the platform's list, after the last page that was read
}

// ResetReconciliation makes the next reconciliation read all contracts, now.
func (s *Shop) ResetReconciliation(now time.Time) {
	s.ReconciledAt, s.ReconcileAt, s.Reading = time.Time{}, now, Reading{}
}

// Settings are the merchant's settings. The zero value is the default.
type Settings struct {
	ImmediateOrders bool `json:"enableImmediatePlaceOrder"` // permits attempt-billing
	// FreezeUntilMinCycles makes subscribers complete the orders that they committed to.
	// Memberships always do.
	FreezeUntilMinCycles bool    `json:"freezeUntilMinCycles,omitempty"`
	Memberships          []int64 `json:"membershipSellingPlans,omitempty"` // contracts on these selling plans belong to the membership line
	// SwapRules is whether the store has swap rules, so that orders are checked
	// against them before they are charged.
	SwapRules bool `json:"swapRules,omitempty"`
	// DisabledMails are the kinds of e-mail that the store does not send.
	DisabledMails []MailKind `json:"disabledMails,omitempty"`
	// EnabledMails are the kinds that it sends though stores do not by default.
	EnabledMails []MailKind `json:"enabledMails,omitempty"`
	// EnabledSMS are the kinds of e-mail that the store also sends as SMS. Package notify lists those that
	// it may.
	EnabledSMS []MailKind `json:"enabledSms,omitempty"`
	// FailureDigest is how often the owner gets an e-mail that sums up declined charges.
	FailureDigest DigestMode `json:"failureDigest,omitempty"`
	// RatePerSecond and RateBurst are how many requests the store's integrations
	// may make, on the average and at once; 0: the installation's.
	RatePerSecond float64 `json:"requestsPerSecond,omitempty"`
	RateBurst     int     `json:"requestBurst,omitempty"`
	// CatchUpHours is over how many hours charges are spread that an outage made
	// late, 1 to MaxCatchUp; 0: DefaultCatchUp.
	CatchUpHours int `json:"catchUpHours,omitempty"`
	// DeliveryRule is how orders are shipped to a new address to which the old way does not lead.
	DeliveryRule DeliveryRule `json:"deliveryRule,omitempty"`
	// Dunning is what is done about declined charges.
	Dunning dunning.Settings `json:"dunning,omitzero"`
}

// DeliveryRule is how orders are shipped to a new address to which the old way does not lead.
type DeliveryRule string

// The rules; empty is CheapestDelivery.
const (
	CheapestDelivery DeliveryRule = "CHEAPEST" // that the platform offers
	KeepDelivery     DeliveryRule = "KEEP"     // as before, at the price of before
)

// DeliveryRules lists them.
var DeliveryRules = []DeliveryRule{CheapestDelivery, KeepDelivery}

// Delivery returns the rule.
func (s Settings) Delivery() DeliveryRule { return cmp.Or(s.DeliveryRule, CheapestDelivery) }

// DigestMode is how often declined charges are summed up.
type DigestMode string

// The modes; empty is DigestWeekly.
const (
	DigestAtOnce  DigestMode = "AT_ONCE" // within a quarter of an hour
	DigestWeekly  DigestMode = "WEEKLY"  // on Monday morning
	DigestMonthly DigestMode = "MONTHLY" // on the morning of the first day
)

// DigestModes lists them.
var DigestModes = []DigestMode{DigestAtOnce, DigestWeekly, DigestMonthly}

// Digest returns the mode.
func (s Settings) Digest() DigestMode { return cmp.Or(s.FailureDigest, DigestWeekly) }

// MailKind names a kind of e-mail. Package notify lists them.
type MailKind string

// The kinds of e-mail that a store does not send by default.
const (
	PaymentMail  MailKind = "transaction_success" // the platform sends an e-mail about every order
	PointsMail   MailKind = "points_earned"
	BirthdayMail MailKind = "birthday"
)

var offByDefault = []MailKind{PaymentMail, PointsMail, BirthdayMail}

// Sends reports whether the store sends e-mails of a kind.
func (s Settings) Sends(k MailKind) bool {
	return !slices.Contains(s.DisabledMails, k) && (!slices.Contains(offByDefault, k) || slices.Contains(s.EnabledMails, k))
}

// SetSends sets whether the store sends e-mails of a kind.
func (s *Settings) SetSends(k MailKind, sends bool) {
	is := func(other MailKind) bool { return other == k }
	s.DisabledMails = slices.DeleteFunc(slices.Clone(s.DisabledMails), is)
	s.EnabledMails = slices.DeleteFunc(slices.Clone(s.EnabledMails), is)
	switch off := slices.Contains(offByDefault, k); {
	case sends && off:
		s.EnabledMails = append(s.EnabledMails, k)
	case !sends && !off:
		s.DisabledMails = append(s.DisabledMails, k)
	}
}

// SendsSMS reports whether the store sends SMS of a kind. It does not without a provider.
func (s Shop) SendsSMS(k MailKind) bool { return s.SMS && slices.Contains(s.Settings.EnabledSMS, k) }

// SetSendsSMS sets whether the store sends SMS of a kind.
func (s *Settings) SetSendsSMS(k MailKind, sends bool) {
	s.EnabledSMS = slices.DeleteFunc(slices.Clone(s.EnabledSMS), func(other MailKind) bool { return other == k })
	if sends {
		s.EnabledSMS = append(s.EnabledSMS, k)
	}
}

// Calendar returns the store's zone and order time. A zone that this machine
// does not know is an Internal failure: zones are checked when they arrive.
func (s Shop) Calendar() (cadence.Calendar, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return cadence.Calendar{}, fault.Because(fault.Internal, err, "the time zone %q of %s is unknown", s.TimeZone, s.Domain)
	}
	return cadence.Calendar{Zone: zone, Hour: s.OrderHour, Minute: s.OrderMinute}, nil
}

// At returns the store's address and token for calls of the platform.
func (s Shop) At() platform.Shop { return platform.Shop{Domain: s.Domain, Token: s.Token} }

// Line is a line of business; each has its own data behind the same paths.
type Line string

// The two lines.
const (
	Subscriptions Line = "SUBSCRIPTION"
	Memberships   Line = "MEMBERSHIP"
)
