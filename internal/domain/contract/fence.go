package contract

import "slices"

// FenceAttribute is the attribute at the platform of a contract that is between two services. Its
// value names the contract at the other one.
const FenceAttribute = "_move"

// Fenced reports whether the contract is between two services: nothing of it is charged here.
func (c Contract) Fenced() bool {
	return slices.ContainsFunc(c.Attributes, func(a Attribute) bool { return a.Key == FenceAttribute })
}
