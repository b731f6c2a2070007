package intake

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// reading is fresh readings of contracts, and where their rebuilt queues begin.
type reading struct {
	fresh   []platform.Contract
	plans   map[contract.ID]queueStart
	prices  map[contract.ID]map[string]contract.Pricing // plan prices of lines
	unread  []contract.Unread                           // that could not be read
	later   deferredContracts                           // deferred because their plans are being created
	zone    string                                      // time zone of the store that the queues were computed in
	changed bool                                        // there is something to write
}

func contractIDs(fresh []platform.Contract) []contract.ID {
	ids := make([]contract.ID, len(fresh))
	for i, p := range fresh {
		ids[i] = contract.ID(p.ID)
	}
	return ids
}

func contractKeys[T any](m map[contract.ID]T) []contract.ID {
	ids := make([]contract.ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
