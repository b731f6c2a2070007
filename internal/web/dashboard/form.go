package dashboard

import (
	"errors"
	"net/url"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// AtForm returns a failure as a form is shown again with: what a field names and does not exist
// is wrong in that field, and when the platform does not answer the form stays, so that it can
// be sent again. field returns the form's name of the field that the domain names, and the
// message as the form's reader understands it.
func AtForm(err error, field func(param, message string) (name, text string)) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	at := *f
	switch {
	case f.Kind == fault.NotFound && f.Param != "":
		at.Kind = fault.Invalid
	case f.Kind == fault.Unavailable || f.Kind == fault.DependencyFailed:
		at.Kind = fault.FailedPrecondition
	}
	at.Param, at.Message = field(f.Param, f.Message)
	return &at
}

// Tick returns the value of a checkbox.
func Tick(on bool) string {
	if on {
		return "on"
	}
	return ""
}

// AnnouncedPrice is the field with which a form asks whether a higher price is announced.
var AnnouncedPrice = Field{
	Name: "announced", Label: "Announce a higher price", Type: "checkbox", Value: "on",
	Hint: "It applies from the first order that is at least 14 days away, and the customer gets an e-mail now. Without it, and for a lower price, it applies from the next order on.",
}

// Entered returns fields with what was entered in a form in place of what is stored.
func Entered(fields []Field, form url.Values) []Field {
	fields = slices.Clone(fields)
	for i := range fields {
		f := &fields[i]
		f.Value = form.Get(f.Name)
		switch f.Type {
		case "checkbox":
			f.Value = Tick(f.Value != "")
		case "password": // never in a page
			f.Value = ""
		}
		f.Choices = slices.Clone(f.Choices)
		for c := range f.Choices {
			f.Choices[c].Selected = f.Choices[c].Value == f.Value
		}
	}
	return fields
}
