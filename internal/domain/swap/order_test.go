package swap

import (
	"fmt"
	"strings"
	"testing"
)

func TestMoveChangesPlacesWithNeighbour(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		sequences []int // of the rules 1, 2, 3
		id        ID
		down      bool
		want      string // rules that change, as id:sequence
	}{
		{"down", []int{1, 5, 9}, 1, true, "1:5 2:1"},
		{"up", []int{1, 5, 9}, 3, false, "2:9 3:5"},
		{"the first rule does not move up", []int{1, 5, 9}, 1, false, ""},
		{"the last rule does not move down", []int{1, 5, 9}, 3, true, ""},
		{"an unknown rule does not move", []int{1, 5, 9}, 7, true, ""},
		{"equal sequences are counted from 1", []int{4, 4, 4}, 1, true, "1:2 2:1 3:3"},
		{"the order is that of the sequences", []int{9, 5, 1}, 1, false, "1:5 2:9"},
	} {
		var rules []Rule
		for i, n := range row.sequences {
			rules = append(rules, Rule{ID: ID(i + 1), Sequence: n})
		}
		list := moved(rules, row.id, row.down)
		words := make([]string, 4)
		for _, r := range list {
			words[r.ID] = fmt.Sprintf("%d:%d", r.ID, r.Sequence)
		}
		if got := strings.Join(strings.Fields(strings.Join(words, " ")), " "); got != row.want {
			t.Errorf("%s: %s change, want %s", row.name, got, row.want)
		}
	}
}

func TestRuleOfLowerSequenceComesFirst(t *testing.T) {
	t.Parallel()
	to := func(id ID, sequence int, variant int64) Rule {
		return rule(id, []Product{of(1, 1)}, []Product{of(variant, 1)}, func(r *Rule) { r.Sequence = sequence })
	}
	for want, rules := range map[string][]Rule{"a:2×1@2.00": {to(1, 1, 2), to(2, 2, 3)}, "a:3×1@3.00": {to(1, 2, 2), to(2, 1, 3)}} {
		Sort(rules)
		if got := words(Apply(rules, Order{Lines: items([3]int64{1, 1, 100})}, shelf()).Lines); got != want {
			t.Errorf("the order becomes %s, want %s", got, want)
		}
	}
}
