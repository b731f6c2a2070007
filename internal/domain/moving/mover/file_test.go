package mover

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

func TestChoicesSettleEveryColumnThatMatters(t *testing.T) {
	t.Parallel()
	f := moving.File{
		Header:  []string{"id", "Tax", "Colour", "Units"},
		Columns: []moving.Column{{Values: 3}, {Values: 3, Looks: moving.Money}, {Values: 2}, {Values: 1, Looks: moving.Quantity}},
	}
	for _, row := range []struct {
		name    string
		fields  map[string]string
		leftOut []string
		fails   string
		kept    []string
	}{
		{
			name: "two columns are open", fields: map[string]string{"id": "id"},
			fails: `the column "Tax" looks like an amount and is not read; the column "Units" looks like a quantity and is not read: choose a field`,
		},
		{name: "one is open", fields: map[string]string{"id": "id", "quantity": "Units"}, fails: `the column "Tax" looks like an amount and is not read: choose`},
		{name: "both are left out", fields: map[string]string{"id": "id"}, leftOut: []string{"Units", "Tax"}, kept: []string{"Tax", "Units"}},
		{name: "a column that is read is not left out", fields: map[string]string{"price": "Tax"}, leftOut: []string{"Units", "Tax"}, kept: []string{"Units"}},
		{name: "a column that the file lacks", fields: map[string]string{"id": "id"}, leftOut: []string{"Units", "Tax", "Vat"}, fails: `the file has no column "Vat"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := moving.Choices{Fields: row.fields, LeftOut: row.leftOut}
			err := checkUnread(f, &c)
			switch {
			case row.fails == "" && (err != nil || !slices.Equal(c.LeftOut, row.kept)):
				t.Errorf("got %v, %v, want %v", c.LeftOut, err, row.kept)
			case row.fails != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.fails)):
				t.Errorf("got %v, want %s", err, row.fails)
			}
		})
	}
}

// Contracts that go in a currency that the file does not have show a defect of the service.
func TestTotalsOfFileStandBesideThoseThatGo(t *testing.T) {
	t.Parallel()
	p := Progress{Move: moving.Move{File: &moving.File{Totals: moving.Totals{
		{Currency: "EUR", Contracts: 5, Unpriced: 1, Amount: 9000}, {Contracts: 1, Unpriced: 1},
	}}}}
	p.totals([]moving.Count{
		{Stage: moving.Shadow, Fit: moving.Goes, Currency: "EUR", N: 1, Amount: 2500},
		{Stage: moving.Moved, Fit: moving.Changes, Currency: "EUR", N: 2, Amount: 3500},
		{Stage: moving.Staying, Fit: moving.Stays, Currency: "EUR", N: 2, Amount: 3000},
		{Stage: moving.Staying, Fit: moving.Stays, N: 1},
		{Stage: moving.Shadow, Fit: moving.Goes, Currency: "SEK", N: 1, Amount: 100},
	})
	want := []FileTotal{
		{"EUR", moving.Total{Currency: "EUR", Contracts: 5, Unpriced: 1, Amount: 9000}, moving.Total{Contracts: 3, Amount: 6000}},
		{"", moving.Total{Contracts: 1, Unpriced: 1}, moving.Total{}},
		{"SEK", moving.Total{}, moving.Total{Contracts: 1, Amount: 100}},
	}
	if !reflect.DeepEqual(p.Totals, want) {
		t.Errorf("got %+v, want %+v", p.Totals, want)
	}
	if stays := p.Totals[0].Stays(); stays != (moving.Total{Currency: "EUR", Contracts: 2, Unpriced: 1, Amount: 3000}) {
		t.Errorf("%+v stays", stays)
	}
}

// A customer's number and an address that the platform gives to another customer stop the contract of a file.
func TestAddressOfAnotherCustomerStops(t *testing.T) {
	t.Parallel()
	methods := []string{"card"}
	is := facts{owners: map[string]int64{"ana@example.com": 7}, people: map[int64]*[]string{7: &methods, 8: &methods}}
	for _, row := range []struct {
		name  string
		who   contract.Customer
		file  *moving.File
		stops bool
	}{
		{"the same customer", contract.Customer{ID: 7, Email: "Ana@example.com"}, &moving.File{}, false},
		{"another customer", contract.Customer{ID: 8, Email: "Ana@example.com"}, &moving.File{}, true},
		{"an address that was not asked for", contract.Customer{ID: 8, Email: "ben@example.com"}, &moving.File{}, false},
		{"another service knows its customers", contract.Customer{ID: 8, Email: "ana@example.com"}, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := &worker{Service: &Service{Clock: clock.System{}}, move: moving.Move{File: row.file}}
			found := w.check(moving.Contract{Status: contract.Active, Currency: "EUR", Customer: row.who, DeliveryPrice: money.Amount{Currency: "EUR"}}, is)
			at := slices.IndexFunc(found, func(f moving.Finding) bool { return f.Code == "customerOther" })
			if stops := at >= 0; stops != row.stops || stops && found[at].Fit != moving.Stays {
				t.Errorf("found %+v", found)
			}
		})
	}
}
