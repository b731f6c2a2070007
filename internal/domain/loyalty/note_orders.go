package loyalty

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
)

// NoteOrders adds a fact for each renewal that was charged and each contract that was
// created, in the transaction of their entries, if the store's programme is active. A shop
// without a programme costs one query, and only for such entries.
func NoteOrders(ctx context.Context, tx FactTx, entries []activity.Entry) error {
	var attempts, contracts []int64
	for _, e := range entries {
		switch {
		case e.Status != activity.Success:
		case e.EntityType == activity.EntitySubscriptionBillingAttempt && e.Event == activity.BillingAttemptTriggered:
			attempts = append(attempts, e.EntityID)
		case e.EntityType == activity.EntitySubscriptionContractDetails && e.Event == activity.ContractCreated:
			contracts = append(contracts, e.EntityID)
		}
	}
	if len(attempts)+len(contracts) == 0 {
		return nil
	}
	active, err := tx.ProgramActive(ctx)
	if err != nil || !active {
		return err
	}
	return tx.AddFacts(ctx, attempts, contracts)
}
