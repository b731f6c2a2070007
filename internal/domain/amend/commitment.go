package amend

import (
	"slices"

	"github.com/perennialhq/perennial/internal/platform"
)

// reduces reports whether an edit reduces what the subscriber is committed to: another
// interval, fewer lines or a smaller quantity.
func reduces(is platform.Contract, e platform.Edit) bool {
	if e.Billing != nil || e.Delivery != nil {
		return true
	}
	return slices.ContainsFunc(e.Lines, func(l platform.LineEdit) bool {
		at := slices.IndexFunc(is.Lines, func(known platform.Line) bool { return known.ID == l.Line })
		return l.Remove || at >= 0 && l.Quantity != nil && *l.Quantity < is.Lines[at].Quantity
	})
}
