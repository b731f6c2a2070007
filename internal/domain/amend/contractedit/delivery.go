package contractedit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
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
		if err := amend.CheckEditable(d.Contract); err != nil || d.DeliveryPrice == price && d.DeliverySet {
			return amend.Change{}, err
		}
		return amend.Change{
			Edit:    platform.Edit{DeliveryPrice: &price},
			Update:  func(c *contract.Contract) { c.DeliverySet = true },
			Entries: []amend.Note{{Event: activity.ManualDeliveryPriceUpdated, Details: termsDetails{From: d.DeliveryPrice.String(), To: price.String()}}},
		}, nil
	})
}

// DeliveryChange is a change of where and how orders are delivered.
type DeliveryChange struct {
	Event  activity.EventType                                    // of its entry
	Want   func(contract.DeliveryMethod) contract.DeliveryMethod // of the current one
	Agreed *money.Amount                                         // what delivery may cost then; nil: whatever it costs
}

// Delivery is the way of delivering an order, with its price.
type Delivery struct {
	Method contract.DeliveryMethod
	Price  money.Amount
}

// SetDelivery changes where and how orders are delivered. The platform says for how much, unless a
// person has set the price: see DeliveryBy.
func (s *Service) SetDelivery(ctx context.Context, of shop.ID, cmd amend.Command, change DeliveryChange) (contract.Detail, error) {
	return s.Edit(ctx, of, cmd, func(store shop.Shop, d contract.Detail) (amend.Change, error) {
		if err := amend.CheckEditable(d.Contract); err != nil {
			return amend.Change{}, err
		}
		becomes, err := s.DeliveryBy(ctx, store, d, change.Want)
		if err != nil {
			return amend.Change{}, err
		}
		if change.Agreed != nil && becomes.Price != *change.Agreed {
			return amend.Change{}, fault.New(fault.FailedPrecondition, "delivery costs %s now, and not %s", becomes.Price, change.Agreed).
				Entity(amend.Entity).Code("deliveryPriceChanged").Field("deliveryPrice")
		}
		details := deliveryChanges(d.Method, becomes.Method)
		if len(details.Fields) == 0 {
			return amend.Change{}, nil
		}
		c := amend.Change{Edit: platform.Edit{Method: &becomes.Method}, Entries: []amend.Note{{Event: change.Event, Details: details}}}
		if becomes.Price != d.DeliveryPrice {
			c.Edit.DeliveryPrice = &becomes.Price
			c.Entries = append(c.Entries, amend.Note{Event: activity.SystemUpdatedDeliveryPrice, Details: termsDetails{From: d.DeliveryPrice.String(), To: becomes.Price.String()}})
		}
		return c, nil
	})
}

// DeliveryBy returns how a contract's orders are delivered after a change. Where they go somewhere
// else the platform says how they can be shipped there: the way of the same name counts, or else
// the store's rule. A way that a person names and the platform does not know keeps the price.
// It is a FailedPrecondition if the orders cannot be shipped there at all.
func (s *Service) DeliveryBy(ctx context.Context, store shop.Shop, d contract.Detail, want func(contract.DeliveryMethod) contract.DeliveryMethod) (Delivery, error) {
	is := Delivery{want(d.Method), d.DeliveryPrice}
	elsewhere := place(d.Method.Address) != place(is.Method.Address) || d.Method.Kind != is.Method.Kind
	if d.DeliverySet || d.Method.Kind == "" || is.Method.Kind != platform.MethodShipping || !elsewhere && d.Method.Title == is.Method.Title {
		return is, nil
	}
	options, known, err := s.Platform.DeliveryOptions(platform.Interactive(ctx), store.At(), int64(d.ID), is.Method.Address)
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		return is, nil //nolint:nilerr // the change is refused with the platform's reason
	}
	if err != nil {
		return is, amend.PlatformError(err)
	}
	options = slices.DeleteFunc(options, func(o platform.DeliveryOption) bool { return o.Price.Currency != d.Currency })
	switch at := slices.IndexFunc(options, func(o platform.DeliveryOption) bool { return strings.EqualFold(o.Title, is.Method.Title) }); {
	case !known:
	case at >= 0:
		is.Price = options[at].Price
	case len(options) == 0 && elsewhere:
		return is, fault.New(fault.FailedPrecondition, "orders cannot be shipped to this address: the store's delivery profile has no way there").
			Entity(amend.Entity).Code("deliveryUnavailable").Field("address")
	case elsewhere && store.Settings.Delivery() == shop.CheapestDelivery:
		cheapest := slices.MinFunc(options, func(a, b platform.DeliveryOption) int { return cmp.Compare(a.Price.Minor, b.Price.Minor) })
		is.Method.Code, is.Method.Title, is.Price = cheapest.Code, cheapest.Title, cheapest.Price
	}
	return is, nil
}

// place returns the parts of an address that decide how orders get there.
func place(a contract.Address) contract.Address {
	return contract.Address{Address1: a.Address1, City: a.City, ProvinceCode: a.ProvinceCode, CountryCode: a.CountryCode, Zip: a.Zip}
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
