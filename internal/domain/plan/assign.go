package plan

import (
	"slices"

	"github.com/perennialhq/perennial/internal/platform"
)

// Assignment changes what is sold on a group's options. The parts count in the
// order of the fields.
type Assignment struct {
	Products  *[]int64 // replaces all products; nil: they stay
	Variants  *[]int64 // the same for variants
	Add       platform.Assigned
	Remove    platform.Assigned
	RemoveAll bool
}

// delta returns what has to be added and removed, each number once, so that the
// group sells what the assignment says.
func (a Assignment) delta(have platform.Assigned) (add, remove platform.Assigned) {
	add.Products, remove.Products = a.part(have.Products, a.Products, a.Add.Products, a.Remove.Products)
	add.Variants, remove.Variants = a.part(have.Variants, a.Variants, a.Add.Variants, a.Remove.Variants)
	return add, remove
}

func (a Assignment) part(have []int64, all *[]int64, more, less []int64) (add, remove []int64) {
	wanted := slices.Clone(have)
	if all != nil {
		wanted = slices.Clone(*all)
	}
	wanted = append(wanted, more...)
	gone := set(less)
	if a.RemoveAll {
		wanted = nil
	}
	keep := map[int64]bool{}
	is := set(have)
	for _, id := range wanted {
		if gone[id] || keep[id] {
			continue
		}
		keep[id] = true
		if !is[id] {
			add = append(add, id)
		}
	}
	for _, id := range have {
		if !keep[id] {
			remove = append(remove, id)
		}
	}
	return add, remove
}

func set(ids []int64) map[int64]bool {
	m := make(map[int64]bool, len(ids))
	for _, id := range ids {
		m[id] = true
	}
	return m
}

// after returns a list with items added and numbers removed, by number.
func after(have, add []platform.Titled, remove []int64) []platform.Titled {
	gone := set(remove)
	list := slices.DeleteFunc(slices.Clone(have), func(t platform.Titled) bool { return gone[t.ID] })
	list = append(list, add...)
	slices.SortFunc(list, func(a, b platform.Titled) int { return int(a.ID - b.ID) })
	return list
}

// titled returns those of the list that have one of the numbers.
func titled(list []platform.Titled, ids []int64) []platform.Titled {
	wanted := set(ids)
	var found []platform.Titled
	for _, t := range list {
		if wanted[t.ID] {
			found = append(found, t)
		}
	}
	return found
}
