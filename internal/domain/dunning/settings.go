package dunning

import (
	"cmp"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Mode is how retries are planned.
type Mode string

// The modes.
const (
	Smart  Mode = "SMART"  // by the class of the decline
	Simple Mode = "SIMPLE" // a number of retries at a fixed interval
)

// Action is the final action, when no retry has succeeded.
type Action string

// The actions.
const (
	Pause  Action = "PAUSE"  // the contract
	Skip   Action = "SKIP"   // the order
	Cancel Action = "CANCEL" // the contract
)

// Limits of a store's settings.
const (
	MaxRetries   = 10
	MaxEveryDays = 14
)

// Settings are a store's dunning settings. The zero value is the default: SMART, and
// PAUSE as the final action.
type Settings struct {
	Mode      Mode   `json:"mode,omitempty"`
	Retries   int    `json:"retries,omitempty"`     // of SIMPLE, 0 to MaxRetries
	EveryDays int    `json:"everyDays,omitempty"`   // of SIMPLE, 1 to MaxEveryDays
	Then      Action `json:"finalAction,omitempty"` // when no retry is left
	// OutOfStock applies to orders with a product that is out of stock, in either mode;
	// nil: five retries, one a day, and SKIP.
	OutOfStock *StockPolicy `json:"outOfStock,omitempty"`
}

// StockPolicy is what is done about products that are out of stock.
type StockPolicy struct {
	Retries   int    `json:"retries"`   // 0 to MaxRetries
	EveryDays int    `json:"everyDays"` // 1 to MaxEveryDays
	Then      Action `json:"finalAction"`
}

// Effective returns the settings with defaults for what was not chosen.
func (s Settings) Effective() Settings {
	s.Mode, s.Then = cmp.Or(s.Mode, Smart), cmp.Or(s.Then, Pause)
	stock := StockPolicy{Retries: 5, EveryDays: 1, Then: Skip}
	if s.OutOfStock != nil {
		stock = *s.OutOfStock
		stock.EveryDays, stock.Then = cmp.Or(stock.EveryDays, 1), cmp.Or(stock.Then, Skip)
	}
	s.OutOfStock = &stock
	return s
}

// String describes the settings.
func (s Settings) String() string {
	s = s.Effective()
	plan := "by what the decline says"
	if s.Mode == Simple {
		plan = fmt.Sprintf("%d times, every %d days", s.Retries, s.EveryDays)
	}
	return fmt.Sprintf("declined charges: tried again %s, then %s; out of stock: %d times, every %d days, then %s",
		plan, s.Then, s.OutOfStock.Retries, s.OutOfStock.EveryDays, s.OutOfStock.Then)
}

// Check refuses invalid settings with an Invalid error that names the field.
func (s Settings) Check() error {
	s = s.Effective()
	if s.Mode != Smart && s.Mode != Simple {
		return invalid("dunning.mode", "%q is not a retry mode: use SMART or SIMPLE", s.Mode)
	}
	if s.Retries < 0 || s.Retries > MaxRetries {
		return invalid("dunning.retries", "%d retries: use 0 to %d", s.Retries, MaxRetries)
	}
	if low := min(1, s.Retries); s.EveryDays > MaxEveryDays || s.EveryDays < 0 || s.Mode == Simple && s.EveryDays < low {
		return invalid("dunning.everyDays", "retries every %d days: use 1 to %d", s.EveryDays, MaxEveryDays)
	}
	if stock := s.OutOfStock; stock.Retries < 0 || stock.Retries > MaxRetries {
		return invalid("dunning.outOfStock.retries", "%d retries: use 0 to %d", stock.Retries, MaxRetries)
	} else if stock.EveryDays < 1 || stock.EveryDays > MaxEveryDays {
		return invalid("dunning.outOfStock.everyDays", "retries every %d days: use 1 to %d", stock.EveryDays, MaxEveryDays)
	}
	if err := s.Then.check("dunning.finalAction"); err != nil {
		return err
	}
	return s.OutOfStock.Then.check("dunning.outOfStock.finalAction")
}

func (a Action) check(field string) error {
	if a == Pause || a == Skip || a == Cancel {
		return nil
	}
	return invalid(field, "%q is not a final action: use PAUSE, SKIP or CANCEL", a)
}

func invalid(field, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity("shop").Code("dunningSettings").Field(field)
}

// Final returns the final action for declines of a class.
func (s Settings) Final(c Class) Action {
	if s = s.Effective(); c == Stock {
		return s.OutOfStock.Then
	}
	return s.Then
}
