package intake

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// reading is fresh readings of contracts, and where their queues begin that must be
// made anew.
type reading struct {
	fresh   []platform.Contract
	plans   map[contract.ID]queueStart
	prices  map[contract.ID]map[string]contract.Pricing // that plans of ours say of lines
	unread  []contract.Unread                           // of which nothing is taken over
	later   deferredContracts                           // for plans that are being made; nothing of these is taken over yet
	zone    string                                      // of the store, in which plans were made
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
