// Package bulk carries out one action on many contracts: it says beforehand what would
// happen, and works a job that calls, for one contract after the other, the services that the
// API calls. How a contract is changed, and whether it may be, is theirs to know.
package bulk

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

// Kind is what is done to each contract.
type Kind string

// The kinds of action.
const (
	Pause        Kind = "PAUSE"
	Resume       Kind = "RESUME"
	Cancel       Kind = "CANCEL"
	SkipNext     Kind = "SKIP_NEXT"
	MoveNext     Kind = "MOVE_NEXT"
	SetQuantity  Kind = "SET_QUANTITY"
	SetPrice     Kind = "SET_PRICE"
	SwapVariant  Kind = "SWAP_VARIANT"
	ApplyCode    Kind = "APPLY_CODE"
	RemoveCode   Kind = "REMOVE_CODE"
	SetCycles    Kind = "SET_CYCLES"
	AddOneOff    Kind = "ADD_ONE_OFF"
	RemoveOneOff Kind = "REMOVE_ONE_OFF"
	SendLink     Kind = "SEND_PORTAL_LINK"
	SendNews     Kind = "SEND_EMAIL"
)

// Kinds lists the kinds of action, in the order in which they are offered.
var Kinds = []Kind{Pause, Resume, Cancel, SkipNext, MoveNext, SetQuantity, SetPrice, SwapVariant, ApplyCode, RemoveCode, SetCycles, AddOneOff, RemoveOneOff, SendLink, SendNews}

// ParseKind returns the kind with a name.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(Kinds, k) {
		return k, nil
	}
	return "", fault.New(fault.Invalid, "%.40q is not an action", name).Entity(entity).Code("actionInvalid").Field("action")
}

// TypesCount reports whether an action of the kind is confirmed by typing how many contracts
// it is for: one that ends contracts, changes what customers pay, or writes to them.
func (k Kind) TypesCount() bool { return k == Cancel || k == SetPrice || k == SendNews }

// needsOrder reports whether it depends on the contract's next order that an action of the kind
// is possible.
func (k Kind) needsOrder() bool {
	return k == SkipNext || k == MoveNext || k == AddOneOff || k == RemoveOneOff
}

// maxDays is how far an order can be moved, either way.
const maxDays = 365

// Action is what is done to each contract. Only the fields of its Kind count.
type Action struct {
	Kind Kind `json:"kind"`

	Until  time.Time `json:"until,omitzero"`   // Pause: when it ends; zero: never
	Reason string    `json:"reason,omitempty"` // Pause, Cancel
	Now    bool      `json:"now,omitempty"`    // Cancel: although deliveries that are paid for are to come

	Days   int       `json:"days,omitempty"` // MoveNext: so many days later, or earlier; or
	Date   time.Time `json:"date,omitzero"`  // MoveNext: to the store's day of this instant
	Future bool      `json:"future,omitempty"`

	Variant    int64        `json:"variant,omitempty"`    // of the line, or of the one-time product
	NewVariant int64        `json:"newVariant,omitempty"` // SwapVariant
	Quantity   int          `json:"quantity,omitempty"`   // SetQuantity, AddOneOff
	Price      money.Amount `json:"price,omitzero"`       // SetPrice: of a unit
	Announced  bool         `json:"announced,omitempty"`  // SetPrice: a higher price applies from the first order that is due in contractedit.PriceNotice or later

	Code string `json:"code,omitempty"` // ApplyCode, RemoveCode

	News notify.News `json:"news,omitzero"` // SendNews

	Min *int `json:"minCycles,omitempty"` // SetCycles: 0 is no limit; nil: as it is
	Max *int `json:"maxCycles,omitempty"`
}

// invalid refuses a parameter of an action.
func invalid(field, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code("parameterInvalid").Field(field)
}

// Check refuses parameters that no contract can be given.
func (a Action) Check(now time.Time) error {
	if _, err := ParseKind(string(a.Kind)); err != nil {
		return err
	}
	switch a.Kind {
	case Pause, Cancel, Resume:
		return a.status().Check(now)
	case MoveNext:
		return a.checkMove()
	case SetQuantity, SetPrice, SwapVariant, AddOneOff, RemoveOneOff:
		return a.checkProduct()
	case ApplyCode, RemoveCode:
		if code := strings.TrimSpace(a.Code); code == "" || utf8.RuneCountInString(code) > contractedit.MaxDiscountText {
			return invalid("code", "a discount code has 1 to %d characters", contractedit.MaxDiscountText)
		}
	case SetCycles:
		return a.checkCycles()
	case SendNews:
		return a.News.Check()
	}
	return nil
}

func (a Action) checkMove() error {
	switch {
	case (a.Days == 0) == a.Date.IsZero():
		return invalid("days", "give a number of days or a date")
	case a.Days < -maxDays || a.Days > maxDays:
		return invalid("days", "days is %d and must be from -%d to %d", a.Days, maxDays, maxDays)
	}
	return nil
}

func (a Action) checkProduct() error {
	if a.Variant <= 0 {
		return invalid("variant", "give the variant's number")
	}
	switch a.Kind {
	case SetQuantity:
		return terms.CheckLine(a.Quantity, nil)
	case SetPrice:
		return terms.CheckPrice("price", &a.Price)
	case SwapVariant:
		if a.NewVariant <= 0 || a.NewVariant == a.Variant {
			return invalid("newVariant", "give the number of another variant")
		}
	case AddOneOff:
		if a.Quantity < 1 || a.Quantity > command.MaxOneOffQuantity {
			return invalid("quantity", "quantity is %d and must be from 1 to %d", a.Quantity, command.MaxOneOffQuantity)
		}
	}
	return nil
}

func (a Action) checkCycles() error {
	if a.Min == nil && a.Max == nil {
		return invalid("minCycles", "give a minimum or a maximum")
	}
	for _, limit := range []struct {
		field string
		is    *int
	}{{"minCycles", a.Min}, {"maxCycles", a.Max}} {
		if limit.is != nil && (*limit.is < 0 || *limit.is > terms.MaxCycleLimit) {
			return invalid(limit.field, "%s is %d and must be from 0 to %d", limit.field, *limit.is, terms.MaxCycleLimit)
		}
	}
	return nil
}

// status is the change of the status that an action asks for.
func (a Action) status() lifecycle.StatusChange {
	switch a.Kind {
	case Pause:
		return lifecycle.StatusChange{To: contract.Paused, Until: a.Until, Reason: a.Reason}
	case Resume:
		return lifecycle.StatusChange{To: contract.Active}
	}
	return lifecycle.StatusChange{To: contract.Cancelled, Note: a.Reason, Now: a.Now}
}

// line is the change of a line that an action asks for.
func (a Action) line() contractedit.LineChange {
	change := contractedit.LineChange{OldVariant: a.Variant}
	switch a.Kind {
	case SetQuantity:
		change.Quantity = &a.Quantity
	case SetPrice:
		change.Base, change.Announced = &a.Price, a.Announced
	case SwapVariant:
		change.Variant, change.Reprice = &a.NewVariant, true
	}
	return change
}

// cycles are the limits that an action asks for.
func (a Action) cycles() terms.Cycles { return terms.Cycles{Min: a.Min, Max: a.Max} }
