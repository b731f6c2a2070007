package table_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

func TestColumnsLookLikeTheirNamesAndValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		values []string
		want   moving.Looks
	}{
		{"x", []string{"12.50", "1.234,50 €", "$5"}, moving.Money},
		{"x", []string{"10 %", "5%"}, moving.Money},
		{"x", []string{"5", "7.50", "12"}, moving.Money},
		{"x", []string{"12 EUR"}, moving.Money},
		{"Total price", []string{"12", "10482"}, moving.Money},
		{"total_tax", []string{"0"}, moving.Money},
		{"Einzelpreis", []string{"12", "n/a"}, moving.Money},
		{"compareAtPrice", []string{"1200"}, moving.Money},
		{"Gift", []string{"1", "2", "10"}, moving.Quantity},
		{"Bestellmenge", []string{"12000"}, moving.Quantity},
		{"Number of charges", []string{"1200"}, moving.Quantity},
		{"x", []string{"2027-01-15", "31.12.2026", "3 Apr 2027"}, moving.Date},
		{"x", []string{"03/04/2027"}, moving.Date},
		{"updated_at", []string{"46387"}, moving.Date},
		{"Lieferdatum", []string{"46387"}, moving.Date},

		{"Total", []string{"", ""}, ""},
		{"Price list", []string{"gold", "silver"}, ""},
		{"Price ID", []string{"price_1NaB"}, ""},
		{"Discount code", []string{"SAVE10"}, ""},
		{"Order ID", []string{"10482", "10483"}, ""},
		{"Box no.", []string{"1", "2"}, ""},
		{"Phone", []string{"+49 30 901820", "030 901 820"}, ""},
		{"Zip", []string{"101", "10119"}, ""},
		{"x", []string{"10119", "10120"}, ""},
		{"x", []string{"A-100", "B-200"}, ""},
		{"x", []string{"500 g", "1.5 kg"}, ""},
		{"x", []string{"10.0.0.1"}, ""},
		{"x", []string{"Torstr. 1", "Ana"}, ""},
		{"x", []string{"2.50", "gold", "silver"}, ""},
	} {
		text := "id;" + row.name + "\n"
		for _, v := range row.values {
			text += "7;" + v + "\n"
		}
		columns, err := open(t, text).Columns()
		if err != nil || len(columns) != 2 || columns[1].Looks != row.want {
			t.Errorf("%s with %q: got %+v, %v, want %s", row.name, row.values, columns, err, row.want)
		}
	}
}

// A value that comes after the first rows counts as well.
func TestColumnsAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	columns, err := open(t, "id,fee\n"+strings.Repeat("7,\n", 5000)+"7,2.50\n").Columns()
	if err != nil || columns[0].Values != 5001 || columns[1] != (moving.Column{Values: 1, Looks: moving.Money}) {
		t.Errorf("got %+v, %v", columns, err)
	}
	if _, err := open(t, "id,fee\n7,\"2\n8,3\n").Columns(); err == nil {
		t.Error("a file that is cut off has columns")
	}
}

func TestColumnsOfTemplateLookLikeTheirFields(t *testing.T) {
	t.Parallel()
	f := open(t, string(table.Template(table.ContractRows)))
	columns, err := f.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]moving.Looks{
		"price": moving.Money, "deliveryPrice": moving.Money, "discountPercent": moving.Money, "quantity": moving.Quantity,
		"orders": moving.Quantity, "nextOrderDate": moving.Date, "createdAt": moving.Date, "variantId": "", "deliveryZip": "", "email": "", "phone": "",
	} {
		for i, column := range f.Header {
			if column == name && columns[i].Looks != want {
				t.Errorf("%s looks like %q, want %q", name, columns[i].Looks, want)
			}
		}
	}
}
