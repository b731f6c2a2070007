package store

import (
	"database/sql/driver"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"
	bundialect "github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"
)

// bound is a value of a statement that runs often. On SQLite it is an argument, so that
// the text of the statement stays the same and its prepared form is reused ([keeping]);
// on PostgreSQL it is part of the text, like all values. Numbers that select a partial
// index, such as the 0 in its condition, must stay in the text.
type bound struct{ value any } // an integer or a text

// boundAt is an instant.
func boundAt(t time.Time) bound { return bound{millis(t)} }

// mark stands before and after a value in the text on its way to the connection. No
// text that is stored has one.
const mark = "\x00"

// AppendQuery writes the value into the text of a statement.
func (v bound) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	if gen.Dialect().Name() != bundialect.SQLite {
		return gen.Append(b, v.value), nil
	}
	b = append(b, mark...)
	if text, ok := v.value.(string); ok {
		b = append(append(b, '\''), clean(text)...)
	} else {
		b = gen.Append(b, v.value)
	}
	return append(b, mark...), nil
}

// boundList is the values in a condition of the kind IN (?): ids or texts.
type boundList[T any] []T

// AppendQuery writes the list into the text of a statement.
func (l boundList[T]) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	if gen.Dialect().Name() != bundialect.SQLite {
		return bun.List([]T(l)).AppendQuery(gen, b)
	}
	list, err := json.Marshal([]T(l))
	if err != nil {
		return nil, err
	}
	b, err = bound{string(list)}.AppendQuery(gen, append(b, "SELECT value FROM json_each("...))
	return append(b, ')'), err
}

// unbind takes the bound values out of a statement and puts a placeholder where each
// was. A statement that has them has no other arguments.
func unbind(query string, args []driver.NamedValue) (string, []driver.NamedValue, error) {
	if !strings.Contains(query, mark) {
		return query, args, nil
	}
	parts := strings.Split(query, mark)
	var text strings.Builder
	text.Grow(len(query))
	for i, part := range parts {
		if i%2 == 0 {
			text.WriteString(part)
			continue
		}
		text.WriteByte('?')
		if t, ok := strings.CutPrefix(part, "'"); ok {
			args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: t})
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return "", nil, err
		}
		args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: n})
	}
	return text.String(), args, nil
}
