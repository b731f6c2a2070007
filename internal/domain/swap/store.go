package swap

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	shop.Reader
	// SwapRules returns all rules of the shop, unlocked.
	SwapRules(ctx context.Context) ([]Rule, error)
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	shop.Tx

	// SwapRule returns a rule of the line, locked, or NotFound.
	SwapRule(ctx context.Context, line shop.Line, id ID) (Rule, error)
	// PutSwapRule inserts a rule whose ID is 0, giving it one, and writes others
	// if their Version is still what was read; otherwise it fails with a
	// Conflict. It raises the version.
	PutSwapRule(ctx context.Context, r *Rule) error
	// KeepSold stores of the rules what the shop sells of the products that they name.
	KeepSold(ctx context.Context, rules []Rule, sold map[int64]platform.Variant) error
	// DeleteSwapRule removes a rule and the records of its use.
	DeleteSwapRule(ctx context.Context, id ID) error

	activity.Recorder
}

// Store runs transactions. Update commits when fn returns nil and runs fn again
// when the database asks for it.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Book reads rules without a transaction.
type Book interface {
	// SwapRuleOf returns a rule of the line, or NotFound.
	SwapRuleOf(ctx context.Context, of shop.ID, line shop.Line, id ID) (Rule, error)
	// SwapRulesOf returns a page of the line's rules, in the sequence in which they
	// are evaluated unless the page sorts them, and the total number.
	SwapRulesOf(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]Rule, int, error)
}

// SortFields lists the fields by which the list of rules can be sorted.
var SortFields = []string{"id", "name", "ruleSequence", "forBillingCycle"}
