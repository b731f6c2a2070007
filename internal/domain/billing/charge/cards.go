package charge

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// cards knows the tries of the payment methods of contracts that are tried again.
type cards struct {
	known map[string][]time.Time // that count against them
	tried map[string][]time.Time // when any charge with them was sent lately
	made  []billing.CardTry
}

// readCards reads the tries of the payment methods of failed attempts.
func readCards(ctx context.Context, tx billing.Tx, due []billing.Attempt, contracts map[contract.ID]*contract.Contract, now time.Time) (cards, error) {
	var methods []string
	for _, a := range due {
		if method := contracts[a.Contract].PaymentMethod; a.Status == billing.Failure && method != "" {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		return cards{}, nil
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	known, err := tx.CardTries(ctx, methods, now.Add(-dunning.TryWindow))
	if err != nil {
		return cards{}, err
	}
	tried, err := tx.ChargesByCard(ctx, methods, now.Add(-longestDay))
	for method, tries := range known {
		tried[method] = append(tried[method], tries...)
	}
	return cards{known: known, tried: tried}, err
}

// longestDay is how long a day may be, where clocks are put back.
const longestDay = 25 * time.Hour

// use notes that a payment method is about to be tried.
func (c *cards) use(method string, now time.Time) {
	if c.tried != nil {
		c.tried[method] = append(c.tried[method], now)
	}
}

// retried notes a retry.
func (c *cards) retried(method string, now time.Time) {
	if method == "" {
		return
	}
	if c.known != nil {
		c.known[method] = append(c.known[method], now)
	}
	c.made = append(c.made, billing.CardTry{PaymentMethod: method, At: now})
}
