package contractedit

import (
	"cmp"
	"context"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// SetDeliveryPrice changes the delivery price of each order.
func (s *Service) SetDeliveryPrice(ctx context.Context, of shop.ID, cmd amend.Command, price money.Amount) (contract.Detail, error) {
	if err := terms.CheckPrice("deliveryPrice", &price); err != nil {
		return contract.Detail{}, err
	}
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil || d.DeliveryPrice == price {
			return amend.Change{}, err
		}
		return amend.Change{
			Edit:    platform.Edit{DeliveryPrice: &price},
			Entries: []amend.Note{{Event: activity.ManualDeliveryPriceUpdated, Details: termsDetails{From: d.DeliveryPrice.String(), To: price.String()}}},
		}, nil
	})
}

// SetDelivery changes the delivery method, as a function of the current one.
func (s *Service) SetDelivery(ctx context.Context, of shop.ID, cmd amend.Command, event activity.EventType, want func(contract.DeliveryMethod) contract.DeliveryMethod) (contract.Detail, error) {
	return s.Edit(ctx, of, cmd, func(_ shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		method := want(d.Method)
		details := deliveryChanges(d.Method, method)
		if len(details.Fields) == 0 {
			return amend.Change{}, nil
		}
		return amend.Change{Edit: platform.Edit{Method: &method}, Entries: []amend.Note{{Event: event, Details: details}}}, nil
	})
}

// deliveryChanges lists what differs between two delivery methods. It names the fields
// of an address without their values, so that the log holds no personal data. The
// platform fills in province and country names where only codes are given.
func deliveryChanges(was, is contract.DeliveryMethod) termsDetails {
	var details termsDetails
	switch {
	case was.Kind != is.Kind:
		details.From, details.To = was.Kind, is.Kind
	case was.Title != is.Title:
		details.From, details.To = was.Title, is.Title
	}
	for _, f := range []struct{ name, was, is string }{
		{"methodType", was.Kind, is.Kind}, {"code", was.Code, is.Code}, {"title", was.Title, is.Title},
		{"firstName", was.Address.FirstName, is.Address.FirstName}, {"lastName", was.Address.LastName, is.Address.LastName},
		{"company", was.Address.Company, is.Address.Company}, {"address1", was.Address.Address1, is.Address.Address1},
		{"address2", was.Address.Address2, is.Address.Address2}, {"city", was.Address.City, is.Address.City},
		{"province", was.Address.Province, cmp.Or(is.Address.Province, was.Address.Province)}, {"provinceCode", was.Address.ProvinceCode, is.Address.ProvinceCode},
		{"country", was.Address.Country, cmp.Or(is.Address.Country, was.Address.Country)}, {"countryCode", was.Address.CountryCode, is.Address.CountryCode},
		{"zip", was.Address.Zip, is.Address.Zip}, {"phone", was.Address.Phone + was.Phone, is.Address.Phone + is.Phone},
		{"instructions", was.Instructions, is.Instructions}, {"locationId", was.Location, is.Location},
	} {
		if f.was != f.is {
			details.Fields = append(details.Fields, f.name)
		}
	}
	return details
}
