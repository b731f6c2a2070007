//go:build !soak

package app

// inTurn returns one of the variants for the n-th of the other things that each of them meets. A soak takes
// all of them.
func inTurn[T any](n int, variants []T) []T {
	n %= len(variants)
	return variants[n : n+1]
}
