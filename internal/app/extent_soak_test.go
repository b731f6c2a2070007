//go:build soak

package app

// inTurn returns all variants.
func inTurn[T any](_ int, variants []T) []T { return variants }
