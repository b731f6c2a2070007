package record

import (
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/web"
)

// The ways in which orders reach a customer.
const (
	MethodShipping = "SHIPPING"
	methodLocal    = "LOCAL"
	methodPickUp   = "PICK_UP"
)

// ShippingAddress is where future orders go.
type ShippingAddress struct {
	MethodType   string    `json:"methodType,omitempty" enum:"SHIPPING,LOCAL,PICK_UP" doc:"In any letter case. Default SHIPPING."`
	LocationID   web.AnyID `json:"locationId,omitempty" doc:"The place to pick up at, for PICK_UP: number or graph id."`
	FirstName    string    `json:"firstName,omitempty" maxLength:"255" doc:"First name of who receives the orders." example:"Ada"`
	LastName     string    `json:"lastName,omitempty" maxLength:"255" doc:"Last name of who receives the orders." example:"Khan"`
	Company      string    `json:"company,omitempty" maxLength:"255" doc:"Company." example:"Khan Roasters"`
	Address1     string    `json:"address1,omitempty" maxLength:"255" doc:"Street and number. Required unless PICK_UP." example:"12 Mill Lane"`
	Address2     string    `json:"address2,omitempty" maxLength:"255" doc:"Second line of the street address, such as a flat." example:"Flat 3"`
	City         string    `json:"city,omitempty" maxLength:"255" doc:"City. Required unless PICK_UP." example:"Ottawa"`
	Province     string    `json:"province,omitempty" maxLength:"255" doc:"Name of the province or state." example:"Ontario"`
	ProvinceCode string    `json:"provinceCode,omitempty" maxLength:"10" doc:"Code of the province or state within its country." example:"ON"`
	Country      string    `json:"country,omitempty" maxLength:"255" doc:"Name of the country. This or countryCode is required unless PICK_UP." example:"Canada"`
	CountryCode  string    `json:"countryCode,omitempty" maxLength:"2" doc:"ISO 3166-1, two letters, in any letter case." example:"CA"`
	Zip          string    `json:"zip,omitempty" maxLength:"50" doc:"Postal code." example:"K1A 0B1"`
	Phone        string    `json:"phone,omitempty" maxLength:"50" doc:"Telephone number for the delivery, with the country's prefix. Required for LOCAL." example:"+16135550101"`
}

// Method checks the address and lays it over how orders are delivered now.
func (a ShippingAddress) Method() (func(contract.DeliveryMethod) contract.DeliveryMethod, error) {
	missing := func(field, why string) error {
		return fault.New(fault.Invalid, "field '%s' is required%s", field, why).Entity("subscriptionContract").Code("bodyField").Field(field)
	}
	kind := MethodShipping
	if a.MethodType != "" {
		var err error
		if kind, err = web.ParseEnum("methodType", a.MethodType, []string{MethodShipping, methodLocal, methodPickUp}); err != nil {
			return nil, err
		}
	}
	if kind == methodPickUp {
		location, err := a.LocationID.Parse("Location", "locationId")
		if err != nil {
			return nil, err
		}
		if location == 0 {
			return nil, missing("locationId", " for PICK_UP")
		}
		return func(m contract.DeliveryMethod) contract.DeliveryMethod {
			return contract.DeliveryMethod{Kind: kind, Location: gid.Of("Location", location), Title: m.Title, Code: m.Code}
		}, nil
	}
	for _, f := range []struct{ field, value string }{{"address1", a.Address1}, {"city", a.City}, {"country or countryCode", a.Country + a.CountryCode}} {
		if f.value == "" {
			return nil, missing(f.field, "")
		}
	}
	if kind == methodLocal && a.Phone == "" {
		return nil, missing("phone", " for LOCAL")
	}
	country := strings.ToUpper(a.CountryCode)
	if country != "" && !delivery.IsCountry(country) {
		return nil, fault.New(fault.Invalid, "field 'countryCode' is %q, which is no country: write two letters such as CA", a.CountryCode).
			Entity("subscriptionContract").Code("bodyField").Field("countryCode")
	}
	address := contract.Address{
		FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Address1: a.Address1, Address2: a.Address2, City: a.City,
		Province: a.Province, ProvinceCode: strings.ToUpper(a.ProvinceCode), Country: a.Country, CountryCode: country, Zip: a.Zip, Phone: a.Phone,
	}
	return func(m contract.DeliveryMethod) contract.DeliveryMethod {
		m.Kind, m.Address, m.Location = kind, address, ""
		if kind == methodLocal {
			m.Phone = a.Phone
		}
		return m
	}, nil
}
