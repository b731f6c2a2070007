//go:build !soak

package test

import "testing"

// sample returns the first rows of a table whose rows are variants of one rule. A soak takes all of
// them.
func sample[T any](rows []T) []T { return rows[:min(len(rows), 2)] }

// workersOnly has every story carried out by workers, as in production. A soak has.
const workersOnly = false

// laterPaths are the stories that a soak has on PostgreSQL in addition.
func laterPaths() map[string]func(*testing.T) { return nil }

// yearSteps is how many steps of five days the year of messages has.
const yearSteps = 14

// yearKinds are messages that a short year has at least.
var yearKinds = []string{"mail subscription_created", "mail upcoming_order", "mail order_skipped", "mail next_date", "mail paused", "mail resumed", "mail product_added", "mail transaction_failed", "sms upcoming_order"}

// yearSeed chooses what happens in the year.
var yearSeed uint64 = 1
