package plan

import (
	"errors"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestRulesInJSONAreRefused(t *testing.T) {
	t.Parallel()
	had := Group{Terms: Terms{Name: "Coffee", RulesJSON: `[{"a":1}]`}, Options: []Option{{ID: 1, Name: "Every month", RulesJSON: `{"b":2}`}}}
	for _, test := range []struct {
		name   string
		was    Group
		change func(*Draft)
		field  string // empty: allowed
	}{
		{"none", Group{}, func(d *Draft) { d.RulesJSON, d.Options[0].RulesJSON = "", "" }, ""},
		{"an empty list and an empty object", Group{}, func(d *Draft) { d.RulesJSON, d.Options[0].RulesJSON = "[ ]", "{\n}" }, ""},
		{"null as a text", Group{}, func(d *Draft) { d.RulesJSON, d.Options[0].RulesJSON = "null", "null" }, ""},
		{"rules of a new group", Group{}, func(d *Draft) { d.Options[0].RulesJSON = "" }, "rulesJson"},
		{"rules of a new plan", Group{}, func(d *Draft) { d.RulesJSON, d.Options[0].ID = "", 0 }, "subscriptionPlans[0].rulesJson"},
		{"those that the group has", had, func(*Draft) {}, ""},
		{"other rules of the group", had, func(d *Draft) { d.RulesJSON = "[2]" }, "rulesJson"},
		{"other rules of a plan", had, func(d *Draft) { d.Options[0].RulesJSON = "[2]" }, "subscriptionPlans[0].rulesJson"},
		{"rules of a plan that is added", had, func(d *Draft) { d.Options = append(d.Options, Option{Name: "Yearly", RulesJSON: `{"b":2}`}) }, "subscriptionPlans[1].rulesJson"},
		{"rules that are taken away", had, func(d *Draft) { d.RulesJSON, d.Options[0].RulesJSON = "", "" }, ""},
	} {
		d := had.Draft()
		test.change(&d)
		err := d.checkSupported(test.was)
		f, _ := errors.AsType[*fault.Error](err)
		if test.field == "" && err != nil || test.field != "" && (f == nil || f.Kind != fault.Invalid || f.ErrorKey != "notSupported" || f.Param != test.field) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if d, changed := had.Draft().Supported(); !changed || d.RulesJSON != "" || d.Options[0].RulesJSON != "" || had.Options[0].RulesJSON == "" {
		t.Errorf("without rules it is %+v, and the group %+v", d, had)
	}
	if _, changed := (Draft{Terms: Terms{RulesJSON: "[]"}}).Supported(); changed {
		t.Error("an empty list was taken for rules")
	}
}
