package table

import (
	"bytes"
	"encoding/csv"

	"github.com/perennialhq/perennial/internal/base/sheet"
)

// Template returns a file with a header and examples.
func Template(kind Kind) []byte {
	var b bytes.Buffer
	rows := csv.NewWriter(&b)
	fields := Fields(kind)
	header := make([]string, len(fields))
	for i, f := range fields {
		header[i] = f.Name
	}
	_ = rows.Write(header) // a buffer never fails
	for _, differs := range templateRows[kind] {
		cells := make([]string, len(fields))
		for i, f := range fields {
			value, other := differs[f.Name]
			if !other {
				value = f.Example
			}
			cells[i] = sheet.Cell(value)
		}
		_ = rows.Write(cells)
	}
	rows.Flush()
	return b.Bytes()
}

// templateRows are the examples: what differs from those of the fields.
var templateRows = map[Kind][]map[string]string{
	ContractRows: {
		{"discountAmount": ""},
		{
			"discountAmount": "", "variantId": "44012345678902", "sku": "FILTER-100", "productTitle": "Filters",
			"quantity": "1", "price": "3.90",
			"lineAttributes": "",
		},
		{
			"id": "10483", "importedId": "sub_10483", "status": "PAUSED", "customerId": "7061234567891",
			"email": "ben@example.com", "firstName": "Ben", "lastName": "Ode",
			"nextOrderDate": "", "billingInterval": "2 weeks", "billingCount": "", "deliveryInterval": "", "deliveryCount": "",
			"minCycles": "0", "maxCycles": "0",
			"discountPercent": "", "deliveryFirstName": "Ben", "deliveryLastName": "Ode", "deliveryCompany": "",
			"paymentMethodId": "", "attributes": "",
		},
	},
	CustomerRows: {
		{},
		{
			"customerId": "", "email": "ben@example.com", "firstName": "Ben", "lastName": "Ode", "phone": "", "birthday": "",
			"language": "en", "emailConsent": "no",
		},
	},
	PointRows: {
		{},
		{"customerId": "", "email": "ben@example.com", "balance": "80", "lifetimePoints": "", "note": ""},
	},
}
