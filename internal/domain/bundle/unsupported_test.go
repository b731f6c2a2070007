package bundle

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// everyUnsupported sets everything that the service does not act on.
func everyUnsupported() Settings {
	s := New()
	s.Pricing.Rotates = true
	s.Notify = Notify{SendBundleCreatedEmail: true, SendModificationReminderEmail: true, ReminderDaysBeforeOrder: 3, SendBundleModifiedConfirmation: true}
	s.Swaps = Substitution{AllowSubstitutions: true, SubstitutionMethod: SameCategory, NotifyCustomerOfSubstitutions: true, AllowCustomerToApproveSubstitutes: true}
	return s
}

func TestSettingWithoutEffectIsRefused(t *testing.T) {
	t.Parallel()
	for _, u := range unsupportedSettings {
		s := New()
		u.copy(&s, everyUnsupported())
		err, _ := errors.AsType[*fault.Error](s.CheckSupported(New()))
		if err == nil || err.Kind != fault.Invalid || err.ErrorKey != "notSupported" || err.Param != u.field {
			t.Errorf("%s: %+v", u.field, err)
		}
		if err := s.CheckSupported(s); err != nil {
			t.Errorf("%s as the bundle has it already: %v", u.field, err)
		}
		if err := New().CheckSupported(s); err != nil {
			t.Errorf("%s with its default again: %v", u.field, err)
		}
	}
	s := New()
	s.Texts.Title, s.Page.SkipFirstPage, s.Display.ProductsPerRow, s.Advice.EnableRecommendations = "Box", true, 5, true
	if err := s.CheckSupported(New()); err != nil {
		t.Errorf("what the storefront reads: %v", err)
	}
}

func TestSupportedSettingsHaveDefaultsForTheRest(t *testing.T) {
	t.Parallel()
	s := everyUnsupported()
	s.Texts.Title = "Box"
	want := New()
	want.Texts.Title = "Box"
	got, fields := s.Supported()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(fields) != len(unsupportedSettings) || !slices.Contains(fields, "notifications.reminderDaysBeforeOrder") {
		t.Errorf("changed %v", fields)
	}
	if _, fields := want.Supported(); len(fields) > 0 {
		t.Errorf("changed %v of what is supported", fields)
	}
}
