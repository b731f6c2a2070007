package bundle

import (
	"reflect"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// unsupported is a setting of the interface that the service does not act on.
type unsupported struct {
	field   string // as the interface spells it
	instead string // what to use in its place
	copy    func(to *Settings, from Settings)
}

const (
	useSwapRules   = "the service replaces products by product swap rules only"
	useOrderMail   = "the service sends no such reminder; use the e-mail about the upcoming order (upcoming_order), which is a setting of the store"
	useCreatedMail = "the service sends no such e-mail; use the e-mail about a new subscription (subscription_created), which is a setting of the store"
	useChangeMails = "the service confirms changes by its e-mails about changed products (product_added, product_removed, product_replaced), which are settings of the store"
)

// unsupportedSettings lists them. All others have an effect or are kept for the merchant's storefront.
var unsupportedSettings = []unsupported{
	{"enableProductRotation", useSwapRules, func(to *Settings, from Settings) { to.Pricing.Rotates = from.Pricing.Rotates }},
	{"notifications.sendBundleCreatedEmail", useCreatedMail, func(to *Settings, from Settings) {
		to.Notify.SendBundleCreatedEmail = from.Notify.SendBundleCreatedEmail
	}},
	{"notifications.sendModificationReminderEmail", useOrderMail, func(to *Settings, from Settings) {
		to.Notify.SendModificationReminderEmail = from.Notify.SendModificationReminderEmail
	}},
	{"notifications.reminderDaysBeforeOrder", useOrderMail, func(to *Settings, from Settings) {
		to.Notify.ReminderDaysBeforeOrder = from.Notify.ReminderDaysBeforeOrder
	}},
	{"notifications.sendBundleModifiedConfirmation", useChangeMails, func(to *Settings, from Settings) {
		to.Notify.SendBundleModifiedConfirmation = from.Notify.SendBundleModifiedConfirmation
	}},
	{"substitution.allowSubstitutions", useSwapRules, func(to *Settings, from Settings) {
		to.Swaps.AllowSubstitutions = from.Swaps.AllowSubstitutions
	}},
	{"substitution.substitutionMethod", useSwapRules, func(to *Settings, from Settings) {
		to.Swaps.SubstitutionMethod = from.Swaps.SubstitutionMethod
	}},
	{"substitution.notifyCustomerOfSubstitutions", useSwapRules, func(to *Settings, from Settings) {
		to.Swaps.NotifyCustomerOfSubstitutions = from.Swaps.NotifyCustomerOfSubstitutions
	}},
	{"substitution.allowCustomerToApproveSubstitutions", useSwapRules, func(to *Settings, from Settings) {
		to.Swaps.AllowCustomerToApproveSubstitutes = from.Swaps.AllowCustomerToApproveSubstitutes
	}},
}

// differs reports whether two bundles differ in the setting.
func (u unsupported) differs(a, b Settings) bool {
	var of, other Settings
	u.copy(&of, a)
	u.copy(&other, b)
	return !reflect.DeepEqual(of, other)
}

// CheckSupported refuses a setting that the service does not act on. The default is allowed, and so is
// what the bundle has already: integrations send back whole objects.
func (s Settings) CheckSupported(was Settings) error {
	for _, u := range unsupportedSettings {
		if u.differs(s, was) && u.differs(s, New()) {
			return fault.New(fault.Invalid, "field '%s' is not supported: %s", u.field, u.instead).Entity(entity).Code("notSupported").Field(u.field)
		}
	}
	return nil
}

// Supported returns the settings with the default in place of those that the service does not act on, and
// the names of the fields that this has changed.
func (s Settings) Supported() (Settings, []string) {
	var fields []string
	for _, u := range unsupportedSettings {
		if u.differs(s, New()) {
			fields = append(fields, u.field)
			u.copy(&s, New())
		}
	}
	return s, fields
}
