package portal

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of settings.
const (
	MaxSkips     = 52
	MaxDays      = 5 * 365
	MaxCutoff    = 30  // days
	MaxUpcoming  = 24  // orders
	MaxSupport   = 255 // characters
	MaxAccount   = 255 // bytes of a client id or secret
	defaultShown = 6   // orders to come
	// defaultLatest is how many days ahead an order may be moved unless the merchant says otherwise.
	defaultLatest = 365
	// skipAhead is how many years ahead an order may be skipped.
	skipAhead = 1
)

// Toggle is a group of actions that a merchant allows together. Cancelling, resuming and taking
// back a skip or a cancellation are no toggles: they are always allowed.
type Toggle string

// The toggles.
const (
	AllowSkip                Toggle = "allowSkip"
	AllowReschedule          Toggle = "allowReschedule"
	AllowOrderNow            Toggle = "allowOrderNow"
	AllowOrderNote           Toggle = "allowOrderNote"
	EnableOneTimeProducts    Toggle = "enableOneTimeProducts"
	AllowProductSwap         Toggle = "allowProductSwap"
	AllowQuantityChange      Toggle = "allowQuantityChange"
	AllowAddProduct          Toggle = "allowAddProduct"
	AllowRemoveProduct       Toggle = "allowRemoveProduct"
	AllowFrequencyChange     Toggle = "allowFrequencyChange"
	AllowPause               Toggle = "allowPause"
	AllowRestart             Toggle = "allowRestart"
	AllowAddressEdit         Toggle = "allowAddressEdit"
	AllowPaymentMethodUpdate Toggle = "allowPaymentMethodUpdate"
	AllowDiscountCode        Toggle = "allowDiscountCode"
)

// Toggles lists every toggle, in the order of the settings page.
var Toggles = []Toggle{
	AllowSkip, AllowReschedule, AllowOrderNow, AllowOrderNote, EnableOneTimeProducts, AllowProductSwap, AllowQuantityChange, AllowAddProduct,
	AllowRemoveProduct, AllowFrequencyChange, AllowPause, AllowRestart, AllowAddressEdit, AllowPaymentMethodUpdate, AllowDiscountCode,
}

// Settings are what a merchant has set about the portal. The zero value is the default:
// every action is allowed, without limits. Whether subscribers must complete the orders
// that they committed to is a setting of the store.
type Settings struct {
	Off            []Toggle `json:"off,omitempty"`            // the toggles that are switched off
	SkipMax        int      `json:"skipMax,omitempty"`        // orders in a row that may be skipped; 0: no limit
	PauseMaxDays   int      `json:"pauseMaxDays,omitempty"`   // how long a pause may last; 0: no limit
	RescheduleMin  int      `json:"rescheduleMin,omitempty"`  // days from today to the earliest date
	RescheduleMax  int      `json:"rescheduleMax,omitempty"`  // days from today to the latest date; 0: a year
	Upcoming       int      `json:"upcoming,omitempty"`       // orders to come that are shown; 0: six
	SwapWhenFrozen bool     `json:"swapWhenFrozen,omitempty"` // subscribers in a commitment may swap products
	CutoffDays     int      `json:"cutoffDays,omitempty"`     // days before an order from which on it cannot be changed
	ReasonRequired bool     `json:"reasonRequired,omitempty"` // a cancellation needs a feedback
	Support        Support  `json:"support,omitzero"`         // how subscribers reach the store
	// AccountClient is the id of the store's client of customer accounts at the platform, with which
	// subscribers sign in on the service's address; empty: they cannot. AccountSecret is its secret;
	// empty: it is a public client.
	AccountClient string         `json:"accountClientId,omitempty"`
	AccountSecret platform.Token `json:"-"`
	Version       int64          `json:"-"`
	UpdatedAt     time.Time      `json:"-"`
}

// Support is how subscribers reach the store. Empty texts are not shown.
type Support struct {
	Email string `json:"email,omitempty"`
	Phone string `json:"phone,omitempty"`
	URL   string `json:"url,omitempty"` // of the store's help page, https
}

// Allows reports whether a toggle is on.
func (s Settings) Allows(t Toggle) bool { return !slices.Contains(s.Off, t) }

// EnterAccount sets the client of customer accounts, from a form that does not show the secret: an
// empty one keeps that of the same client.
func (s *Settings) EnterAccount(id, secret string) {
	if id != s.AccountClient {
		s.AccountClient, s.AccountSecret = id, ""
	}
	if secret != "" {
		s.AccountSecret = platform.Token(secret)
	}
}

// Shown is how many orders to come of a contract are shown.
func (s Settings) Shown() int {
	if s.Upcoming == 0 {
		return defaultShown
	}
	return s.Upcoming
}

// ClosesAt returns when an order on a date can no longer be changed; the date itself
// without a cut-off.
func (s Settings) ClosesAt(date time.Time, cal cadence.Calendar) time.Time {
	return cal.DaysBefore(date, s.CutoffDays)
}

// Dates returns the first and the last day to which an order may be moved.
func (s Settings) Dates(now time.Time, cal cadence.Calendar) (first, last time.Time) {
	today := now.In(cal.Zone)
	return cal.At(today.AddDate(0, 0, s.RescheduleMin)), cal.At(today.AddDate(0, 0, s.LatestDay()))
}

// LatestDay is how many days from today the latest day is to which an order may be moved.
func (s Settings) LatestDay() int {
	if s.RescheduleMax == 0 {
		return defaultLatest
	}
	return s.RescheduleMax
}

// PausedUntil returns the last day on which a pause that begins now may end; zero: there is none.
func (s Settings) PausedUntil(now time.Time, cal cadence.Calendar) time.Time {
	if s.PauseMaxDays == 0 {
		return time.Time{}
	}
	return cal.At(now.In(cal.Zone).AddDate(0, 0, s.PauseMaxDays))
}

// Check refuses settings that are out of range.
func (s Settings) Check() error {
	bad := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity("customerPortalSettings").Code("portalSettings").Field(field)
	}
	for _, t := range s.Off {
		if !slices.Contains(Toggles, t) {
			return bad(string(t), "%q is no action of the portal that can be switched off", t)
		}
	}
	for _, n := range []struct {
		field    string
		is, most int
	}{
		{"skipMax", s.SkipMax, MaxSkips}, {"pauseMaxDays", s.PauseMaxDays, MaxDays}, {"rescheduleMinDays", s.RescheduleMin, MaxDays},
		{"rescheduleMaxDays", s.RescheduleMax, MaxDays}, {"upcomingCount", s.Upcoming, MaxUpcoming}, {"cutoffDays", s.CutoffDays, MaxCutoff},
	} {
		if n.is < 0 || n.is > n.most {
			return bad(n.field, "%s is %d and must be from 0 to %d", n.field, n.is, n.most)
		}
	}
	if s.RescheduleMax > 0 && s.RescheduleMin > s.RescheduleMax {
		return bad("rescheduleMaxDays", "rescheduleMaxDays is %d and must be at least rescheduleMinDays, which is %d", s.RescheduleMax, s.RescheduleMin)
	}
	for _, f := range []struct{ field, text string }{{"accountClientId", s.AccountClient}, {"accountClientSecret", string(s.AccountSecret)}} {
		if len(f.text) > MaxAccount || strings.ContainsFunc(f.text, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return bad(f.field, "%s has at most %d letters, digits and signs, without spaces", f.field, MaxAccount)
		}
	}
	return s.Support.check(bad)
}

func (s Support) check(bad func(field, format string, args ...any) error) error {
	for _, f := range []struct{ field, text string }{{"supportEmail", s.Email}, {"supportPhone", s.Phone}, {"supportUrl", s.URL}} {
		if utf8.RuneCountInString(f.text) > MaxSupport || strings.ContainsFunc(f.text, func(c rune) bool { return c < ' ' }) {
			return bad(f.field, "%s has at most %d characters in one line", f.field, MaxSupport)
		}
	}
	if s.Email != "" && !strings.Contains(strings.Trim(s.Email, "@"), "@") {
		return bad("supportEmail", "supportEmail %q is no e-mail address", s.Email)
	}
	if s.URL == "" {
		return nil
	}
	if u, err := url.Parse(s.URL); err != nil || u.Scheme != "https" || u.Host == "" {
		return bad("supportUrl", "supportUrl %q must be an https address", s.URL)
	}
	return nil
}
