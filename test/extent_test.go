//go:build !soak

package test

import "testing"

// sample returns the first rows of a table whose rows are variants of one rule. A soak takes all of
// them.
func sample[T any](rows []T) []T { return rows[:min(len(rows), 2)] }

// laterPaths are the stories that a soak has on PostgreSQL in addition.
func laterPaths() map[string]func(*testing.T) { return nil }
