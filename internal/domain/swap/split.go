package swap

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
