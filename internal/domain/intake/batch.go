package intake

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// batch is the events that one transaction claimed.
type batch struct {
	store  shop.Shop
	taken  int
	events []InboxEvent // to process
	known  map[contract.ID]*contract.Contract
}

// contractTopics are the topics of events about a changed contract.
var contractTopics = []platform.Topic{platform.ContractCreated, platform.ContractUpdated}

// contractsOf returns the contracts that events report as changed.
func contractsOf(events []InboxEvent) []contract.ID {
	changed := make(map[contract.ID]bool, len(events))
	for _, e := range events {
		if slices.Contains(contractTopics, e.Topic) {
			changed[contract.ID(e.Contract)] = true
		}
	}
	return contractKeys(changed)
}

func idsOf(events []InboxEvent) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// distinct returns the distinct non-empty values of a field.
func distinct(events []InboxEvent, of func(InboxEvent) string) []string {
	var texts []string
	for _, e := range events {
		if text := of(e); text != "" {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
