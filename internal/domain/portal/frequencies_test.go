package portal

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/plan"
)

func TestOptionIsOfferedToItsAudience(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		option plan.Option
		member bool
		tags   []string
		want   bool
	}{
		{"for everybody", plan.Option{}, false, nil, true},
		{"for life", plan.Option{Lifetime: true}, true, nil, false},
		{"for members, to a member", plan.Option{MemberOnly: true}, true, nil, true},
		{"for members, to another customer", plan.Option{MemberOnly: true}, false, nil, false},
		{"for others, to a member", plan.Option{NonMemberOnly: true}, true, nil, false},
		{"for others, to another customer", plan.Option{NonMemberOnly: true}, false, nil, true},
		{"for tags, to one with another letter case", plan.Option{InclusiveTags: "gold, silver"}, false, []string{"Silver"}, true},
		{"for tags, to a customer without", plan.Option{InclusiveTags: "gold, silver"}, false, []string{"tea"}, false},
		{"not for a tag, to a customer with it", plan.Option{ExclusiveTags: "staff"}, false, []string{"staff"}, false},
		{"not for a tag, to a customer without", plan.Option{ExclusiveTags: "staff"}, false, nil, true},
		{"for one tag and not for another, to a customer with both", plan.Option{InclusiveTags: "gold", ExclusiveTags: "staff"}, false, []string{"gold", "staff"}, false},
	} {
		who := &audience{member: &test.member, tags: test.tags, read: true}
		if got, err := who.mayChoose(t.Context(), test.option); err != nil || got != test.want {
			t.Errorf("%s: %t, %v", test.name, got, err)
		}
	}
}
