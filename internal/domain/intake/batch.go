package intake

import (
	"slices"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// batch is what one transaction took up.
type batch struct {
	store  shop.Shop
	taken  int
	events []InboxEvent // that are to be worked
	known  map[contract.ID]*contract.Contract
}

// contractTopics are those of events that tell that a contract changed.
var contractTopics = []platform.Topic{platform.ContractCreated, platform.ContractUpdated}

// contractsOf returns the contracts of which events tell that they changed.
func contractsOf(events []InboxEvent) []contract.ID {
	told := make(map[contract.ID]bool, len(events))
	for _, e := range events {
		if slices.Contains(contractTopics, e.Topic) {
			told[contract.ID(e.Contract)] = true
		}
	}
	return contractKeys(told)
}

func idsOf(events []InboxEvent) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// distinct returns the non-empty texts that the events have, once each.
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
