package store

import (
	"reflect"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
)

// CheckArchiveRecords fails with Invalid when the service could not read records that were
// inserted.
func (s Shops) CheckArchiveRecords(t archive.Type, list []archive.Record) error {
	a := archiveTables[t.Name]
	if a.check == nil {
		return nil
	}
	return a.check(s.db, a, t, list)
}

// checkRecords reads records as the service reads the rows that they become.
func checkRecords[R, V any, P mapped[R, V]](db *DB, a archiveTable, t archive.Type, list []archive.Record) error {
	_, columns := tableOf[R](&Tx{db: db})
	for _, record := range list {
		var row R
		for _, c := range columns {
			at := slices.IndexFunc(t.Fields, func(f archive.Field) bool { return a.column(f.Name) == c.name })
			if at < 0 {
				continue
			}
			if v := columnValue(record[at]); v != nil {
				reflect.ValueOf(&row).Elem().FieldByIndex(c.field).Set(reflect.ValueOf(v))
			}
		}
		if _, err := readRow[V, R, P](row); err != nil {
			return fault.Because(fault.Invalid, err, "the record cannot be read").Entity("archive").Code("archiveDamaged")
		}
	}
	return nil
}
