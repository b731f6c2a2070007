package contractedit

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// termsDetails is the details of an entry about a contract's terms.
type termsDetails struct {
	Field  string   `json:"field,omitempty"`
	Fields []string `json:"fields,omitempty"`
	From   string   `json:"from,omitempty"`
	To     string   `json:"to,omitempty"`
}

// SetNote replaces the note that is attached to every future order. An empty note clears
// it.
func (s *Service) SetNote(ctx context.Context, of shop.ID, cmd amend.Command, text string) (contract.Detail, error) {
	if err := billing.CheckNote(text); err != nil {
		return contract.Detail{}, err
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil || d.Note == text {
			return amend.Change{}, err
		}
		return amend.Change{Edit: platform.Edit{Note: &text}, Entries: []amend.Note{{Event: activity.SubscriptionContractUpdated, Details: termsDetails{Field: "orderNote"}}}}, nil
	})
}

// SetAttributes replaces the contract's attributes, or merges new ones into them. Keys
// are unique.
func (s *Service) SetAttributes(ctx context.Context, of shop.ID, cmd amend.Command, list []contract.Attribute, overwrite bool) (contract.Detail, error) {
	if err := terms.CheckAttributes(list); err != nil {
		return contract.Detail{}, err
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		wanted := list
		if !overwrite {
			wanted = mergeAttributes(d.Attributes, list)
			if err := terms.CheckAttributes(wanted); err != nil {
				return amend.Change{}, err
			}
		}
		if slices.Equal(wanted, d.Attributes) {
			return amend.Change{}, nil
		}
		return amend.Change{
			Edit:    platform.Edit{Attributes: new(terms.PlatformAttributes(wanted))},
			Entries: []amend.Note{{Event: activity.SubscriptionContractUpdated, Details: termsDetails{Field: "customAttributes"}}},
		}, nil
	})
}

// mergeAttributes sets attributes in a list. Those that exist keep their position.
func mergeAttributes(is, over []contract.Attribute) []contract.Attribute {
	list := slices.Clone(is)
	for _, a := range over {
		if i := slices.IndexFunc(list, func(b contract.Attribute) bool { return a.Key == b.Key }); i >= 0 {
			list[i] = a
		} else {
			list = append(list, a)
		}
	}
	return list
}
