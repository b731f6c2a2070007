//go:build !soak

package connection_test

import "github.com/perennialhq/perennial/internal/platform/simulator"

// casesOnPostgres is how many of the interrupted changes a check tries on PostgreSQL too. A soak tries all.
const casesOnPostgres = 1

// someRules are those that a check tries. A soak tries all.
func someRules() []simulator.TokenRules {
	return []simulator.TokenRules{rules[0], rules[len(rules)-1]}
}
