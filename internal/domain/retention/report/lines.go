package report

import (
	"cmp"
	"slices"
	"strconv"
)

// lines are tallies by key.
type lines map[string]*Line

func (l lines) add(key string, g Group) {
	if l[key] == nil {
		l[key] = &Line{Key: key}
	}
	l[key].add(g)
}

// sorted returns the lines, those of the most sessions first.
func (l lines) sorted() []Line {
	list := make([]Line, 0, len(l))
	for _, one := range l {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Line) int { return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Key, b.Key)) })
	return list
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
