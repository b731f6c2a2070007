package notify

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// RefusalTx reads what recipients do not want.
type RefusalTx interface {
	// RefusedKinds returns the kinds of e-mail that the subscribers of contracts do not want, by
	// contract. Contracts whose subscriber has refused none are left out.
	RefusedKinds(ctx context.Context, contracts []contract.ID) (map[contract.ID][]Kind, error)
	// KindsRefusedBy returns the same by customer, who may have no contract.
	KindsRefusedBy(ctx context.Context, customers []int64) (map[int64][]Kind, error)
}

// refusals are the kinds of e-mail that recipients do not want.
type refusals struct {
	contracts map[contract.ID][]Kind
	customers map[int64][]Kind // of messages about no contract
}

// of reports whether the recipient refuses a message. What may not be refused is sent, whatever is
// stored.
func (r refusals) of(m Message) bool {
	switch {
	case Required(m.Kind):
		return false
	case m.Contract != 0:
		return slices.Contains(r.contracts[m.Contract], m.Kind)
	}
	return slices.Contains(r.customers[m.Customer], m.Kind)
}

// readRefusals reads what the recipients of messages do not want, as far as the messages are of
// optional kinds.
func readRefusals(ctx context.Context, tx RefusalTx, messages []Message) (r refusals, err error) {
	var contracts []contract.ID
	var customers []int64
	for _, m := range messages {
		switch {
		case m.Channel != ByMail || Required(m.Kind):
		case m.Contract != 0:
			contracts = append(contracts, m.Contract)
		case m.Customer != 0:
			customers = append(customers, m.Customer)
		}
	}
	if len(contracts) > 0 {
		if r.contracts, err = tx.RefusedKinds(ctx, contracts); err != nil {
			return r, err
		}
	}
	if len(customers) > 0 {
		r.customers, err = tx.KindsRefusedBy(ctx, customers)
	}
	return r, err
}
