package swap

import "slices"

// Split separates rules that change the contract from those that change one order, each
// in their sequence.
func Split(rules []Rule) (lasting, single []Rule) {
	sorted := append([]Rule(nil), rules...)
	Sort(sorted)
	for _, r := range sorted {
		if r.OneOrderOnly() {
			single = append(single, r)
		} else {
			lasting = append(lasting, r)
		}
	}
	return lasting, single
}

// Without returns rules except some.
func Without(rules []Rule, but []ID) []Rule {
	if len(but) == 0 {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return slices.Contains(but, r.ID) })
}
