// Package shop is what the service knows of a store: its address, its calendar,
// its settings and whether its connection stands.
package shop

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/platform"
)

// ID is the service's own number of a store. Everything a store owns is kept
// and asked for under it.
type ID int64

// Shop is a store.
type Shop struct {
	ID             ID
	Domain         string         // <store>.myshopify.com
	PlatformID     int64          // the platform's number of the store
	Token          platform.Token // opens the store at the platform; stored encrypted
	TimeZone       string         // IANA name
	Currency       money.Currency
	OrderHour      int // local hour at which orders are charged, 0 to 23
	OrderMinute    int // 0 to 59
	Connected      bool
	Settings       Settings
	ReconciledAt   time.Time // the last reconciliation covers what changed before this instant
	ReconcileAt    time.Time // when the next one is due
	Reading        Reading   // a reconciliation that has not ended
	SubscribeError string    // why the platform does not tell us of events; empty: it does, for all we know
	Guard          Guard
	CreatedAt      time.Time
	Catalogue      int64 // rises with every change of the plan groups and bundles; the store keeps it
	Version        int64
}

// Reading is how far something has come that reads a list of the platform: a
// reconciliation, or a comparison of the books. The zero value is one that has not
// begun.
type Reading struct {
	Started time.Time `json:"started"` // it covers what changed before this instant
	Since   time.Time `json:"since"`   // and after this one; zero: all
	Cursor  string    `json:"cursor"`  // of the platform's list, behind the last page that was read
}

// ResetReconciliation has all contracts read by the next reconciliation, which is due now.
func (s *Shop) ResetReconciliation(now time.Time) {
	s.ReconciledAt, s.ReconcileAt, s.Reading = time.Time{}, now, Reading{}
}

// Settings are what a merchant may choose. The zero value is the default.
type Settings struct {
	ImmediateOrders bool `json:"enableImmediatePlaceOrder"` // permits attempt-billing
	// FreezeUntilMinCycles holds subscribers to the orders that they committed to.
	// Memberships hold them to it in any case.
	FreezeUntilMinCycles bool    `json:"freezeUntilMinCycles,omitempty"`
	Memberships          []int64 `json:"membershipSellingPlans,omitempty"` // contracts on these selling plans belong to the membership line
	// SwapRules says that the store has swap rules, so that orders are held
	// against them before they are charged.
	SwapRules bool `json:"swapRules,omitempty"`
	// DisabledMails are the kinds of e-mail that the store does not send.
	DisabledMails []MailKind `json:"disabledMails,omitempty"`
	// RatePerSecond and RateBurst are how many requests the store's integrations
	// may make, on the average and at once; 0: the installation's.
	RatePerSecond float64 `json:"requestsPerSecond,omitempty"`
	RateBurst     int     `json:"requestBurst,omitempty"`
	// CatchUpHours is over how many hours charges are spread that an outage made
	// late, 1 to MaxCatchUp; 0: DefaultCatchUp.
	CatchUpHours int `json:"catchUpHours,omitempty"`
	// Dunning is what is done about declined charges.
	Dunning dunning.Settings `json:"dunning,omitzero"`
}

// MailKind names a kind of e-mail. Package notify lists them.
type MailKind string

// Sends reports whether the store sends e-mails of a kind.
func (s Settings) Sends(k MailKind) bool { return !slices.Contains(s.DisabledMails, k) }

// Calendar returns the store's zone and order time. A zone that this machine
// does not know is an Internal failure: zones are checked when they arrive.
func (s Shop) Calendar() (cadence.Calendar, error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return cadence.Calendar{}, fault.Because(fault.Internal, err, "the time zone %q of %s is unknown", s.TimeZone, s.Domain)
	}
	return cadence.Calendar{Zone: zone, Hour: s.OrderHour, Minute: s.OrderMinute}, nil
}

// At returns the store as the platform is asked for it.
func (s Shop) At() platform.Shop { return platform.Shop{Domain: s.Domain, Token: s.Token} }

// Line is a side of the business that has its own data behind the same paths.
type Line string

// The two lines.
const (
	Subscriptions Line = "SUBSCRIPTION"
	Memberships   Line = "MEMBERSHIP"
)
