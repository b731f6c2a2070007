package flow

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// entity is the entity that errors of this package name.
const entity = "cancelFlow"

// Limits of a flow. Lengths are in characters.
const (
	MaxReasons      = 20
	MaxOffers       = 5 // of a reason
	MaxLabel        = 100
	MaxInstructions = 5000
	MaxSupport      = 255
	MaxSkips        = 6
	MaxMonths       = 12
	MaxDiscounts    = 24 // orders of a discount
	MaxVariants     = 10
	MaxDays         = 90
	MaxGroups       = 50 // plan groups of a reason
	MaxBudgetMinor  = 1_000_000_000_00
)

var (
	keyForm      = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	languageForm = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
)

func invalid(field, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code("cancelFlowInvalid").Field(field)
}

// Check refuses a flow that cannot be published, with the first field that is wrong.
func (f Flow) Check() error {
	switch {
	case !slices.Contains(Modes, f.Mode):
		return invalid("mode", "mode is %q and must be one of %s, %s and %s", f.Mode, Immediate, Instructions, Retention)
	case utf8.RuneCountInString(f.Instructions) > MaxInstructions:
		return invalid("instructions", "instructions have %d characters: at most %d are allowed", utf8.RuneCountInString(f.Instructions), MaxInstructions)
	case f.Mode == Instructions && strings.TrimSpace(f.Instructions) == "":
		return invalid("instructions", "the mode %s needs instructions", Instructions)
	case f.HoldBack < 0 || f.HoldBack > MaxHoldBack:
		return invalid("holdBack", "holdBack is %d and must be from 0 to %d percent", f.HoldBack, MaxHoldBack)
	case f.Budget < 0 || f.Budget > MaxBudgetMinor:
		return invalid("budget", "budget must be from 0 to %d minor units", int64(MaxBudgetMinor))
	case f.Mode == Retention && len(f.Reasons) == 0:
		return invalid("reasons", "the mode %s needs at least one reason", Retention)
	case len(f.Reasons) > MaxReasons:
		return invalid("reasons", "there are %d reasons: at most %d are allowed", len(f.Reasons), MaxReasons)
	}
	if err := checkSupport(f.Support); err != nil {
		return err
	}
	if f.Mode == Retention && !slices.ContainsFunc(f.Reasons, func(r Reason) bool { return len(r.PlanGroups) == 0 }) {
		return invalid("reasons", "at least one reason must be for all plan groups")
	}
	seen := make(map[string]bool)
	for _, r := range f.Reasons {
		if seen[r.Key] {
			return invalid("reasons", "two reasons have the key %q", r.Key)
		}
		seen[r.Key] = true
		if err := f.checkReason(r); err != nil {
			return err
		}
	}
	return nil
}

// checkSupport accepts an e-mail address, an https address, or nothing.
func checkSupport(text string) error {
	if text == "" {
		return nil
	}
	if utf8.RuneCountInString(text) > MaxSupport {
		return invalid("support", "support has %d characters: at most %d are allowed", utf8.RuneCountInString(text), MaxSupport)
	}
	if at, err := url.Parse(text); err == nil && at.Scheme == "https" && at.Host != "" {
		return nil
	}
	if a, err := mail.ParseAddress(text); err == nil && a.Address == text {
		return nil
	}
	return invalid("support", "support must be an e-mail address or an address that begins with https://")
}

func (f Flow) checkReason(r Reason) error {
	switch {
	case !keyForm.MatchString(r.Key):
		return invalid("key", "the key %.50q must begin with a letter and have at most 40 of a to z, 0 to 9 and -", r.Key)
	case strings.TrimSpace(r.Label[English]) == "":
		return invalid("label", "reason %s needs an English label", r.Key)
	case len(r.Offers) > MaxOffers:
		return invalid("offers", "reason %s has %d offers: at most %d are allowed", r.Key, len(r.Offers), MaxOffers)
	case len(r.PlanGroups) > MaxGroups:
		return invalid("groups", "reason %s names %d plan groups: at most %d are allowed", r.Key, len(r.PlanGroups), MaxGroups)
	}
	for tag, text := range r.Label {
		if !languageForm.MatchString(tag) {
			return invalid("label", "reason %s has a label for %.20q, which is not a language", r.Key, tag)
		}
		if n := utf8.RuneCountInString(text); n > MaxLabel {
			return invalid("label", "the label of reason %s has %d characters: at most %d are allowed", r.Key, n, MaxLabel)
		}
	}
	for i, o := range r.Offers {
		if err := f.checkOffer(o); err != nil {
			if e, ok := err.(*fault.Error); ok { //nolint:errorlint // it was made here
				e.Message = "reason " + r.Key + ": " + e.Message
			}
			return err
		}
		if slices.ContainsFunc(r.Offers[:i], func(x Offer) bool { return x.Kind == o.Kind }) {
			return invalid("offers", "reason %s has two offers of the kind %s", r.Key, o.Kind)
		}
	}
	return nil
}

func (f Flow) checkOffer(o Offer) error {
	within := func(field string, is, most int) error {
		if is < 1 || is > most {
			return invalid(field, "%s of the offer %s is %d and must be from 1 to %d", field, o.Kind, is, most)
		}
		return nil
	}
	switch o.Kind {
	case Skip:
		return within("orders", o.Orders, MaxSkips)
	case Pause:
		return within("months", o.Months, MaxMonths)
	case Discount:
		return f.checkDiscount(o)
	case Swap, Sample:
		return checkVariants(o)
	case Frequency:
		if !slices.Contains(Directions, o.Direction) {
			return invalid("direction", "direction of the offer %s is %q and must be %s or %s", o.Kind, o.Direction, Rarer, Other)
		}
	case Reschedule:
		return within("days", o.Days, MaxDays)
	case Support:
		if f.Support == "" {
			return invalid("support", "the offer %s needs an e-mail address or an https address of support", o.Kind)
		}
	case Quantity, PaymentLink:
	default:
		return invalid("offers", "%.40q is not a kind of offer", o.Kind)
	}
	return nil
}

func (f Flow) checkDiscount(o Offer) error {
	switch {
	case o.Percent != 0 && o.Amount.Minor != 0:
		return invalid("percent", "the offer %s has a percentage and an amount: give one of them", o.Kind)
	case o.Percent == 0 && o.Amount.Minor == 0:
		return invalid("percent", "the offer %s needs a percentage or an amount", o.Kind)
	case o.Amount.Minor == 0 && (o.Percent < 1 || o.Percent > 100):
		return invalid("percent", "percent of the offer %s is %d and must be from 1 to 100", o.Kind, o.Percent)
	case o.Amount.Minor < 0:
		return invalid("amount", "amount of the offer %s must be more than 0", o.Kind)
	case o.Amount.Minor > 0 && o.Amount.Currency != f.Currency:
		return invalid("amount", "amount of the offer %s is in %s and the store sells in %s", o.Kind, o.Amount.Currency, f.Currency)
	case o.Orders < 1 || o.Orders > MaxDiscounts:
		return invalid("orders", "orders of the offer %s is %d and must be from 1 to %d", o.Kind, o.Orders, MaxDiscounts)
	}
	return nil
}

func checkVariants(o Offer) error {
	most := MaxVariants
	if o.Kind == Sample {
		most = 1
	}
	if len(o.Variants) < 1 || len(o.Variants) > most {
		return invalid("variants", "the offer %s names %d variants and must name 1 to %d", o.Kind, len(o.Variants), most)
	}
	for i, v := range o.Variants {
		if v <= 0 || slices.Contains(o.Variants[:i], v) {
			return invalid("variants", "variants of the offer %s must be different numbers of variants", o.Kind)
		}
	}
	return nil
}
