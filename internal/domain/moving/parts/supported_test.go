package parts

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

func TestSettingsWithoutEffectStayBehind(t *testing.T) {
	t.Parallel()
	box := bundle.New()
	if list, err := (bundles{}).judge(t.Context(), nil, moving.Part{Data: moving.PartData{Bundle: &box}}); err != nil || len(list) != 0 {
		t.Errorf("of a bundle that can go as it is: %+v, %v", list, err)
	}
	box.Swaps.AllowSubstitutions = true
	list, err := bundles{}.judge(t.Context(), nil, moving.Part{Data: moving.PartData{Bundle: &box}})
	if err != nil || len(list) != 1 || list[0].Fit != moving.Changes || list[0].Code != "notSupported" || list[0].Field != "substitution.allowSubstitutions" {
		t.Errorf("of one with substitutions: %+v, %v", list, err)
	}
	d := draft(moving.Group{Terms: plan.Terms{Name: "Tea", RulesJSON: "[1]"}, Options: []plan.Option{{ID: 5, RulesJSON: "[2]"}}})
	if d.RulesJSON != "" || d.Options[0].RulesJSON != "" || d.Options[0].ID != 0 {
		t.Errorf("the group is made as %+v", d)
	}
}
