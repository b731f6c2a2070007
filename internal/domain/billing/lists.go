package billing

import (
	"cmp"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

// SellingPlans returns the selling plans of lines, each once.
func SellingPlans(lines []contract.LineItem) []int64 {
	var plans []int64
	for _, l := range lines {
		if l.SellingPlanID != 0 {
			plans = append(plans, l.SellingPlanID)
		}
	}
	return Unique(plans)
}

// Unique returns the values of a list, each once, in the order in which they first occur.
func Unique[T comparable](list []T) []T {
	var once []T
	for _, v := range list {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Earliest returns the attempt whose order comes first; false if there is none.
func Earliest(attempts []Attempt) (first Attempt, ok bool) {
	for _, a := range attempts {
		if !ok || a.Precedes(first) {
			first, ok = a, true
		}
	}
	return first, ok
}

// OnlyQueued returns the attempts that are queued, in their order.
func OnlyQueued(attempts []Attempt) []Attempt {
	return slices.DeleteFunc(slices.Clone(attempts), func(a Attempt) bool { return a.Status != Queued })
}

// CompareByDate orders attempts by their dates, and of one date by their cycles.
func CompareByDate(a, b Attempt) int {
	return cmp.Or(a.BillingDate.Compare(b.BillingDate), cmp.Compare(a.Cycle, b.Cycle))
}

// ContractIDs returns the contracts of attempts, each once.
func ContractIDs(attempts []Attempt) []contract.ID {
	ids := make([]contract.ID, len(attempts))
	for i, a := range attempts {
		ids[i] = a.Contract
	}
	return Unique(ids)
}

// ByContract groups attempts by contract and keeps their order.
func ByContract(attempts []Attempt) map[contract.ID][]Attempt {
	m := make(map[contract.ID][]Attempt)
	for _, a := range attempts {
		m[a.Contract] = append(m[a.Contract], a)
	}
	return m
}

// ContractsByID returns contracts by their ids. It passes on the error of reading them.
func ContractsByID(list []contract.Contract, err error) (map[contract.ID]*contract.Contract, error) {
	m := make(map[contract.ID]*contract.Contract, len(list))
	for i := range list {
		m[list[i].ID] = &list[i]
	}
	return m, err
}

// PickContracts returns the contracts with the given ids, each once.
func PickContracts(all map[contract.ID]*contract.Contract, ids []contract.ID) []contract.Contract {
	var list []contract.Contract
	for _, id := range Unique(ids) {
		if c := all[id]; c != nil {
			list = append(list, *c)
		}
	}
	return list
}
