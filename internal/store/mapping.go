package store

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// mapping copies the columns of a row to the fields of a domain value, or the fields to the
// columns. A row type lists the pairs once, in its method Columns, so that neither
// direction can miss one. The first failure is kept, and what follows it is of no use.
type mapping struct {
	toRow bool
	of    shop.ID // the row's shop, or 0 for a table that all shops share
	seal  sealer  // for rows with encrypted columns
	err   error
}

// mapped is a pointer to a row R that maps to a domain value V.
type mapped[R, V any] interface {
	*R
	// Columns is exported so that linters see it as used: it is called through this constraint only.
	Columns(m *mapping, v *V)
}

// mapRow maps a row and its domain value, in the direction of the mapping.
func mapRow[R, V any, P mapped[R, V]](m *mapping, r *R, v *V) error {
	if P(r).Columns(m, v); m.err == nil {
		return nil
	}
	verb := "read"
	if m.toRow {
		verb = "write"
	}
	return fmt.Errorf("%s a row of %s: %w", verb, tableName[R](), m.err)
}

// rowOf returns the row of a domain value.
func rowOf[R, V any, P mapped[R, V]](of shop.ID, v V) (R, error) {
	return sealedRowOf[R, V, P](sealer{}, of, v)
}

// sealedRowOf is rowOf for rows with encrypted columns.
func sealedRowOf[R, V any, P mapped[R, V]](s sealer, of shop.ID, v V) (R, error) {
	var r R
	err := mapRow[R, V, P](&mapping{toRow: true, of: of, seal: s}, &r, &v)
	return r, err
}

// rowsOf returns the rows of domain values.
func rowsOf[R, V any, P mapped[R, V]](of shop.ID, list ...V) ([]R, error) {
	rows := make([]R, len(list))
	m := mapping{toRow: true, of: of}
	var v V // one for all, for it is moved to the heap
	for i := range list {
		v = list[i]
		if err := mapRow[R, V, P](&m, &rows[i], &v); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// readRow returns the domain value of a row.
func readRow[V, R any, P mapped[R, V]](r R) (V, error) { return readSealedRow[V, R, P](sealer{}, r) }

// readSealedRow is readRow for rows with encrypted columns.
func readSealedRow[V, R any, P mapped[R, V]](s sealer, r R) (V, error) {
	var v V
	err := mapRow[R, V, P](&mapping{seal: s}, &r, &v)
	return v, err
}

// readRows returns the domain values of rows.
func readRows[V, R any, P mapped[R, V]](rows []R) ([]V, error) {
	list := make([]V, len(rows))
	m := mapping{}
	for i := range rows {
		if err := mapRow[R, V, P](&m, &rows[i], &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// tableName returns the table of a row type.
func tableName[R any]() string {
	model, _ := reflect.TypeFor[R]().FieldByName("BaseModel")
	_, name, _ := strings.Cut(model.Tag.Get("bun"), "table:")
	name, _, _ = strings.Cut(name, ",")
	return name
}

// parsed returns what parse makes of each element, or why it fails for one.
func parsed[R, T any](rows []R, parse func(R) (T, error)) ([]T, error) {
	list := make([]T, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = parse(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// fail records why a column cannot be mapped.
func (m *mapping) fail(column string, err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("%s: %w", column, err)
	}
}

// within adds the id of the row to the failure of the mapping, if there is one.
func (m *mapping) within(id int64) {
	if m.err != nil {
		m.err = fmt.Errorf("id %d: %w", id, m.err)
	}
}

// shop sets the column of the shop that a row belongs to, where the value does not name it.
func (m *mapping) shop(column *int64) {
	if m.toRow {
		*column = int64(m.of)
	}
}

// mapShop maps the shop that a row belongs to. The shop that the value names is not written.
func mapShop(m *mapping, column *int64, field *shop.ID) {
	if m.shop(column); !m.toRow {
		*field = shop.ID(*column)
	}
}

// mapSame maps a column with the field's own type.
func mapSame[T any](m *mapping, column, field *T) {
	if m.toRow {
		*column = *field
	} else {
		*field = *column
	}
}

// mapInt maps a whole number.
func mapInt[F ~int | ~int64 | ~uint64](m *mapping, column *int64, field *F) {
	if m.toRow {
		*column = int64(*field)
	} else {
		*field = F(*column)
	}
}

// mapText maps a text. A column holds no bytes that PostgreSQL refuses.
func mapText[F ~string](m *mapping, column *string, field *F) {
	if m.toRow {
		*column = clean(string(*field))
	} else {
		*field = F(*column)
	}
}

// mapTime maps an instant to milliseconds of the Unix epoch, and the zero one to 0.
func mapTime(m *mapping, column *int64, field *time.Time) {
	if m.toRow {
		*column = millis(*field)
	} else {
		*field = instant(*column)
	}
}

// mapAmount maps an amount of a known currency to its minor units.
func mapAmount(m *mapping, column *int64, field *money.Amount, c money.Currency) {
	if m.toRow {
		*column = field.Minor
	} else {
		*field = money.Amount{Minor: *column, Currency: c}
	}
}

// mapKnown maps an amount that may not be known, which has no currency then, to its minor units,
// and to -1.
func mapKnown(m *mapping, column *int64, field *money.Amount, c money.Currency) {
	switch {
	case m.toRow && field.Currency == "":
		*column = -1
	case m.toRow || *column >= 0:
		mapAmount(m, column, field, c)
	}
}

// mapJSON maps any value to its JSON text, and the zero one, like an empty list, to an
// empty text.
func mapJSON[T any](m *mapping, name string, column *string, field *T) {
	mapVia(m, name, column, field, jsonText, parseJSON)
}

// mapVia maps a field whose text has a form of its own.
func mapVia[T any](m *mapping, name string, column *string, field *T, write func(T) (string, error), read func(string) (T, error)) {
	var err error
	if m.toRow {
		*column, err = write(*field)
	} else {
		*field, err = read(*column)
	}
	m.fail(name, err)
}

// jsonText writes a value as JSON; the zero one and an empty list or map as an empty text.
func jsonText[T any](v T) (string, error) {
	value := reflect.ValueOf(&v).Elem()
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		if value.Len() == 0 {
			return "", nil
		}
	default:
		if value.IsZero() {
			return "", nil
		}
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// parseJSON is the reverse of jsonText.
func parseJSON[T any](text string) (v T, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &v)
	}
	return v, err
}

// mapWords maps a list of words to a text with spaces between them.
func mapWords[F ~string](m *mapping, column *string, field *[]F) {
	if m.toRow {
		words := make([]string, len(*field))
		for i, w := range *field {
			words[i] = string(w)
		}
		*column = strings.Join(words, " ")
		return
	}
	*field = nil
	for _, w := range strings.Fields(*column) {
		*field = append(*field, F(w))
	}
}

// mapHash maps a hash to its hexadecimal digits, and the zero one, which stands for none, to
// an empty text, so that no search for a hash finds it.
func mapHash[F ~[32]byte](m *mapping, name string, column *string, field *F) {
	if m.toRow {
		if *column = ""; *field != (F{}) {
			*column = hashText(*field)
		}
		return
	}
	if *column == "" {
		return
	}
	var err error
	*field, err = parseHash[F](*column)
	m.fail(name, err)
}

// parseHash reads a hash from its hexadecimal digits.
func parseHash[F ~[32]byte](text string) (F, error) {
	raw, err := hex.DecodeString(text)
	if err == nil && len(raw) != 32 {
		err = fault.New(fault.Internal, "a hash in the database is damaged")
	}
	if err != nil {
		return F{}, err
	}
	return F([32]byte(raw)), nil
}

// mapSealed maps a secret to an encrypted text.
func mapSealed[F ~string | ~[]byte](m *mapping, name string, of int64, column *string, field *F) {
	var err error
	if m.toRow {
		*column, err = m.seal.seal(m.of, platform.Token(*field))
	} else {
		var opened platform.Token
		opened, err = m.seal.open(shop.ID(of), *column)
		*field = F(opened)
	}
	m.fail(name, err)
}
