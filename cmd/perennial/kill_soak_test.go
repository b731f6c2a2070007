//go:build soak

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/test/process"
)

// The program is killed at every step of a refresh, before and after the old token has
// expired, for each way in which the platform may treat old tokens.
func TestStoreIsChargedAfterKillAtEveryStepOfRefresh(t *testing.T) {
	program, err := process.Build(t.Context(), t.TempDir(), process.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []string{"SQLite", "PostgreSQL"} {
		for _, s := range steps {
			for i, rules := range []simulator.TokenRules{{}, {AccessEndsEarly: true}, {RetryIssuesAnother: true}, {AccessEndsEarly: true, RetryIssuesAnother: true}} {
				if on == "PostgreSQL" && i > 0 {
					continue // the databases do not differ in the platform's rules
				}
				for _, expires := range []time.Duration{3 * time.Minute, -time.Minute} {
					t.Run(fmt.Sprintf("%s/%s/%+v/%s", on, s.name, rules, expires), func(t *testing.T) {
						t.Parallel()
						database := filepath.Join(t.TempDir(), "perennial.db")
						if on == "PostgreSQL" {
							database = pgtest.Empty(t)
						}
						m := newMortal(t, program, database, rules)
						waits := i == 0 && expires < 0 // until the lease ends, as an operator does
						m.refreshKilledAt(s, expires, waits)
					})
				}
			}
		}
	}
}

func TestFirstSyncContinuesAfterKillOnPostgreSQL(t *testing.T) {
	program, err := process.Build(t.Context(), t.TempDir(), process.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	newMortal(t, program, pgtest.Empty(t), simulator.TokenRules{}).syncKilled()
}
