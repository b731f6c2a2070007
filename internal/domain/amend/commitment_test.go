package amend

import (
	"testing"

	"github.com/perennialhq/perennial/internal/platform"
)

func TestReduces(t *testing.T) {
	t.Parallel()
	month := &platform.Policy{Interval: "MONTH", Count: 1}
	for _, row := range []struct {
		name string
		edit platform.Edit
		want bool
	}{
		{"a note", platform.Edit{Note: new("x")}, false},
		{"another interval of charges", platform.Edit{Billing: month}, true},
		{"another interval of deliveries", platform.Edit{Delivery: month}, true},
		{"a line goes", platform.Edit{Lines: []platform.LineEdit{{Line: "l1", Remove: true}}}, true},
		{"fewer pieces", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Quantity: new(1)}}}, true},
		{"more pieces", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Quantity: new(3)}}}, false},
		{"another variant", platform.Edit{Lines: []platform.LineEdit{{Line: "l2", Variant: new(int64(43))}}}, false},
		{"a line more", platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(43)), Quantity: new(1)}}}, false},
	} {
		if got := reduces(box().Contract, row.edit); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
