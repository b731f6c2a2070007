package mover

import (
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
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
