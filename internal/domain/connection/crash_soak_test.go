//go:build soak

package connection_test

import "github.com/perennialhq/perennial/internal/platform/simulator"

// casesOnPostgres is more than there are.
const casesOnPostgres = 100

func someRules() []simulator.TokenRules { return rules }
