package table

// Cells returns the cells of the rows that are left.
func Cells(f *File) (list [][]string, err error) {
	for r, err := range f.all() {
		if err != nil {
			return list, err
		}
		list = append(list, r.cells)
	}
	return list, nil
}

// SetRead has a file count from so many rows that were read.
func (f *File) SetRead(n int) { f.count = n }
