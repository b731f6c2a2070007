package plan

import (
	"slices"
	"strings"
)

// noRules are the texts of rules that ask for nothing.
var noRules = []string{"", "[]", "{}", "null"}

// rules reports whether a text asks for rules.
func rules(text string) bool {
	return !slices.Contains(noRules, strings.Join(strings.Fields(text), ""))
}

// checkSupported refuses rules in JSON, which the service does not evaluate. No rules are allowed, and so
// are those that the group has already: integrations send back whole objects.
func (d Draft) checkSupported(was Group) error {
	refuse := func(field string) error {
		return invalid(field, "notSupported", "field '%s' is not supported: the service evaluates no rules of a plan; use its discounts, memberOnly, nonMemberOnly, memberInclusiveTags and memberExclusiveTags", field)
	}
	if d.RulesJSON != was.RulesJSON && rules(d.RulesJSON) {
		return refuse("rulesJson")
	}
	for i, o := range d.Options {
		if (o.ID == 0 || o.RulesJSON != was.is(o.ID).RulesJSON) && rules(o.RulesJSON) {
			return refuse(at(i, "rulesJson"))
		}
	}
	return nil
}

// Supported returns the draft without rules in JSON, and whether it had some.
func (d Draft) Supported() (Draft, bool) {
	had := rules(d.RulesJSON)
	if had {
		d.RulesJSON = ""
	}
	d.Options = slices.Clone(d.Options)
	for i, o := range d.Options {
		if rules(o.RulesJSON) {
			d.Options[i].RulesJSON, had = "", true
		}
	}
	return d, had
}
