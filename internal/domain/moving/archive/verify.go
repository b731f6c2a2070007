package archive

import (
	"context"
	"io"
	"slices"
)

// Verify reads the whole archive and changes nothing: hashes, counts, fields, order, whether
// what records refer to is there, and whether check takes the records. It keeps the numbers of the records that others refer to, 8
// bytes each.
func (a *Reader) Verify(ctx context.Context, check func(Type, []Record) error, progress Progress) error {
	known := make(map[string][]int64)
	for _, t := range Types {
		for _, f := range t.Fields {
			if f.Of != "" {
				known[f.Of] = nil
			}
		}
	}
	for _, t := range Types {
		if err := a.verifyType(ctx, t, known, check, progress); err != nil {
			return err
		}
		if err := a.content(t.Sheet(), func(io.Reader) error { return ctx.Err() }); err != nil {
			return err
		}
	}
	return nil
}

func (a *Reader) verifyType(ctx context.Context, t Type, known map[string][]int64, check func(Type, []Record) error, progress Progress) error {
	_, referredTo := known[t.Name]
	n := 0
	err := a.each(ctx, t, func(r Record) error {
		n++
		for i, f := range t.Fields {
			v, _ := r[i].(int64)
			switch {
			case i == 0 && f.Kind == Own && f.Of == "" && (v < a.Manifest.Lowest || v > a.Manifest.Highest || v < 1):
				return damaged("%s, line %d: number %d is not between %d and %d, as the manifest says", t.File(), n, v, a.Manifest.Lowest, a.Manifest.Highest)
			case f.Of == "" || v == 0:
			default:
				if _, found := slices.BinarySearch(known[f.Of], v); !found {
					return damaged("%s, line %d: field %s: %d is not among the %s", t.File(), n, f.Name, v, f.Of)
				}
			}
		}
		if id, ok := r[0].(int64); ok && referredTo {
			known[t.Name] = append(known[t.Name], id)
		}
		if n%page == 0 {
			progress(t.Name, n)
		}
		if err := check(t, []Record{r}); err != nil {
			return damaged("%s, line %d: %v", t.File(), n, err)
		}
		return nil
	})
	progress(t.Name, n)
	return err
}
