package table

import (
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/platform"
)

// discounts returns the discount of a contract; nil: it has none.
func (c *cells) discounts(currency money.Currency) []contract.Discount {
	d := contract.Discount{ID: "discount 1", Title: c.text("discountTitle"), Percent: c.percent(), AllLines: true}
	off, _ := c.amount("discountAmount", currency)
	switch {
	case d.Percent > 0 && off.Minor > 0:
		c.find(moving.Stays, valueInvalid, "discountAmount", "the discount is a percentage and an amount: remove one of them")
		return nil
	case d.Percent == 0 && off.Minor == 0:
		return nil
	case off.Minor > 0:
		d.Amount = off
	}
	d.CycleLimit, _ = c.count("discountCycles", 0, maxCount)
	return []contract.Discount{d}
}

func (c *cells) percent() int {
	const field = "discountPercent"
	number, unit, _ := c.decimal(field, 0)
	if number == "" {
		return 0
	}
	whole, decimals, _ := strings.Cut(number, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < 0 || n > 100 || strings.Trim(decimals, "0") != "" || unit != "" && unit != "%" {
		c.find(moving.Stays, valueInvalid, field,
			"%.60q is not a whole percentage from 0 to 100: write one, or an amount", c.text(field))
		return 0
	}
	return n
}

// method returns how orders reach the customer.
func (c *cells) method() contract.DeliveryMethod {
	m := contract.DeliveryMethod{Title: c.text("deliveryMethod"), Address: contract.Address{
		FirstName: c.text("deliveryFirstName"), LastName: c.text("deliveryLastName"), Company: c.text("deliveryCompany"),
		Address1: c.text("deliveryAddress1"), Address2: c.text("deliveryAddress2"), City: c.text("deliveryCity"),
		Province: c.text("deliveryProvince"), ProvinceCode: strings.ToUpper(c.text("deliveryProvinceCode")),
		Country: c.text("deliveryCountry"), CountryCode: strings.ToUpper(c.text("deliveryCountryCode")),
		Zip: c.text("deliveryZip"), Phone: c.text("deliveryPhone"),
	}}
	if a := &m.Address; len(a.Country) == 2 && a.CountryCode == "" {
		a.Country, a.CountryCode = "", strings.ToUpper(a.Country)
	}
	if m != (contract.DeliveryMethod{}) {
		m.Kind = platform.MethodShipping
	}
	return m
}
