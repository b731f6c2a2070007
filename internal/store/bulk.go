package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// columnKind is the kind of value in a column. All texts, dates and amounts are
// among these three.
type columnKind int

const (
	whole columnKind = iota
	text
	flag
)

// column is a column of a table and the field of the row that holds it.
type column struct {
	name  string
	kind  columnKind
	null  bool // 0 is NULL
	field []int
}

// batch is rows to be written by one statement.
type batch struct {
	columns []column
	rows    reflect.Value // a slice of row structs
}

func (b batch) len() int { return b.rows.Len() }

func (b batch) value(row int, c column) reflect.Value { return b.rows.Index(row).FieldByIndex(c.field) }

// array returns a column of all rows.
func (b batch) array(c column) any {
	switch c.kind {
	case whole:
		return collect(b, c, reflect.Value.Int)
	case flag:
		return collect(b, c, reflect.Value.Bool)
	default:
		return collect(b, c, func(v reflect.Value) string { return clean(v.String()) })
	}
}

func collect[T any](b batch, c column, get func(reflect.Value) T) []T {
	list := make([]T, b.len())
	for i := range list {
		list[i] = get(b.value(i, c))
	}
	return list
}

// row returns one row, for a statement with a placeholder for each column.
func (b batch) row(i int) []any {
	values := make([]any, len(b.columns))
	for n, c := range b.columns {
		switch v := b.value(i, c); {
		case c.null && v.IsZero():
		case c.kind == text:
			values[n] = clean(v.String())
		default:
			values[n] = v.Interface()
		}
	}
	return values
}

// tableOf returns the table of a row type and its columns, in the order of the
// struct.
func tableOf[R any](tx *Tx) (string, []column) {
	t := tx.db.reader.Table(reflect.TypeFor[R]())
	columns := make([]column, len(t.Fields))
	for i, f := range t.Fields {
		columns[i] = column{name: f.Name, null: f.NullZero, field: f.Index}
		switch f.IndirectType.Kind() {
		case reflect.String:
			columns[i].kind = text
		case reflect.Bool:
			columns[i].kind = flag
		default:
			columns[i].kind = whole
		}
	}
	return t.Name, columns
}

// columnsBut names the columns of a row type except one.
func columnsBut[R any](tx *Tx, but string) (names []string) {
	_, columns := tableOf[R](tx)
	for _, c := range columns {
		if c.name != but {
			names = append(names, c.name)
		}
	}
	return names
}

// insert writes new rows in one statement and returns how many were written.
// The tail is what follows, such as a rule for rows that exist.
func insert[R any](ctx context.Context, tx *Tx, rows []R, tail string) (int64, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	table, columns := tableOf[R](tx)
	query := tx.db.engine.dialect().insert(table, columns) + " " + tail
	n, err := tx.many(ctx, query, batch{columns, reflect.ValueOf(rows)})
	if err != nil {
		return 0, fmt.Errorf("insert %d rows into %s: %w", len(rows), table, err)
	}
	return n, nil
}

// update writes columns of rows in one statement, where the version is still the
// one in the row, and returns how many were written. The versions in the database
// rise by one.
func update[R any](ctx context.Context, tx *Tx, rows []R, set ...string) (int64, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	table, all := tableOf[R](tx)
	var columns, keys []column
	for _, c := range all {
		switch {
		case c.name == "id" || c.name == "version":
			keys = append(keys, c)
		case c.name != "shop_id" && (len(set) == 0 || slices.Contains(set, c.name)):
			columns = append(columns, c)
		}
	}
	query := tx.db.engine.dialect().update(table, int64(tx.of), columns, keys)
	n, err := tx.many(ctx, query, batch{append(columns, keys...), reflect.ValueOf(rows)})
	if err != nil {
		return 0, fmt.Errorf("update %d rows of %s: %w", len(rows), table, err)
	}
	return n, nil
}

// insert returns the statement that inserts a batch.
func (d dialect) insert(table string, columns []column) string {
	into := "INSERT INTO " + table + " (" + each(columns, ", ", func(c column) string { return c.name }) + ") "
	if d.array == nil {
		return into + "VALUES (" + each(columns, ", ", func(column) string { return "?" }) + ")"
	}
	// WHERE true keeps the parser from taking ON CONFLICT for a join's.
	return into + "SELECT " + each(columns, ", ", column.read) + " FROM " + d.unnest(columns) + " WHERE true"
}

// update returns the statement that updates a batch and raises its versions.
func (d dialect) update(table string, of int64, columns, keys []column) string {
	raise := ", version = version + 1"
	if d.array != nil {
		raise = fmt.Sprintf(", version = %s.version + 1", table)
	}
	return d.assign(table, of, columns, keys, raise)
}

// set returns the statement that updates a batch and leaves its versions.
func (d dialect) set(table string, of int64, columns, keys []column) string {
	return d.assign(table, of, columns, keys, "")
}

func (d dialect) assign(table string, of int64, columns, keys []column, also string) string {
	head := "UPDATE " + table + " SET "
	if d.array == nil {
		return head + each(columns, ", ", func(c column) string { return c.name + " = ?" }) +
			fmt.Sprintf("%s WHERE shop_id = %d AND ", also, of) +
			each(keys, " AND ", func(c column) string { return c.name + " = ?" })
	}
	return head + each(columns, ", ", func(c column) string { return c.name + " = " + c.read() }) +
		fmt.Sprintf("%s FROM %s WHERE %s.shop_id = %d AND ", also, d.unnest(append(slices.Clone(columns), keys...)), table, of) +
		each(keys, " AND ", func(c column) string { return table + "." + c.name + " = " + c.read() })
}

// unnest turns one array for each column into the table r.
func (d dialect) unnest(columns []column) string {
	n := 0
	return "unnest(" + each(columns, ", ", func(c column) string {
		n++
		return fmt.Sprintf("$%d::%s", n, d.array[c.kind])
	}) + ") AS r (" + each(columns, ", ", func(c column) string { return c.name }) + ")"
}

// read returns the expression for the column in the table r.
func (c column) read() string {
	if c.null {
		return "NULLIF(r." + c.name + ", 0)"
	}
	return "r." + c.name
}

func each(columns []column, separator string, write func(column) string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(write(c))
	}
	return b.String()
}
