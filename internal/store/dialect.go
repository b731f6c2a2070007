package store

import (
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"
)

// dialect is what the databases say differently.
type dialect struct {
	// locks says whether rows are locked one by one; SQLite has one writer.
	locks bool
	// array is how a column of many rows is handed over in one value, by the
	// kind of the column; nil: row by row.
	array map[columnKind]string
	// like compares in any letter case of the letters A to Z.
	like string
	// part adds the condition that search_terms.term contains a text.
	part func(q *bun.SelectQuery, text string) *bun.SelectQuery
	// partAmong is part for at most some of the texts of all shops, the newest ones where
	// there are more, so that a frequent part takes no longer than a rare one.
	partAmong func(q *bun.SelectQuery, text string, some int) *bun.SelectQuery
	// customerTerms says whether parts of names and addresses are indexed as
	// terms; otherwise they are where they stand in contract_facets.
	customerTerms bool
	// jsonText reads a column of JSON as text.
	jsonText string
	// jsonRows makes a row f of each element of a column with a list in JSON.
	jsonRows string
	// bind is the statement that binds the rest of a transaction to a shop; empty: there is
	// no second wall.
	bind string
	// unindexed begins a name by which rows are sorted or grouped once they are
	// found. Without it SQLite, which does not know how much a table holds, would
	// rather read a shop's rows from end to end in that order.
	unindexed string
}

var postgresDialect = dialect{
	locks: true,
	bind:  "SELECT set_config('perennial.shop', ?, true)",
	array: map[columnKind]string{whole: "bigint[]", text: "text[]", flag: "boolean[]"},
	like:  "ILIKE",

	jsonText: "to_json(%s)::text",
	jsonRows: "jsonb_array_elements(NULLIF(?, '')::jsonb) AS f(value)",
	part: func(q *bun.SelectQuery, part string) *bun.SelectQuery {
		return q.Where(`t.term LIKE ? ESCAPE '\'`, "%"+escapeLike(part)+"%")
	},
	partAmong: func(q *bun.SelectQuery, part string, _ int) *bun.SelectQuery { // its rows are read one by one
		return q.Where(`t.term LIKE ? ESCAPE '\'`, "%"+escapeLike(part)+"%")
	},
}

var sqliteDialect = dialect{
	like: "LIKE", unindexed: "+",
	part: func(q *bun.SelectQuery, part string) *bun.SelectQuery {
		if utf8.RuneCountInString(part) >= 3 {
			phrase := `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
			q = q.Where("t.id IN (SELECT rowid FROM search_parts WHERE search_parts MATCH ?)", phrase)
		}
		return q.Where("instr(t.term, ?) > 0", part)
	},
	partAmong: func(q *bun.SelectQuery, part string, some int) *bun.SelectQuery {
		phrase := `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
		return q.Where("t.id IN (SELECT rowid FROM search_parts WHERE search_parts MATCH ? ORDER BY rowid DESC LIMIT ?)", phrase, some).Where("instr(t.term, ?) > 0", part)
	},
	customerTerms: true,
	jsonText:      "json(%s)",
	jsonRows:      "json_each(NULLIF(?, '')) AS f",
}

// forUpdate locks the rows of a query until the transaction ends. Rows that
// other transactions hold are waited for.
func (d dialect) forUpdate(q *bun.SelectQuery) *bun.SelectQuery {
	if d.locks {
		return q.For("UPDATE")
	}
	return q
}

// forChange locks them too, and lets others write rows that refer to them.
func (d dialect) forChange(q *bun.SelectQuery) *bun.SelectQuery {
	if d.locks {
		return q.For("NO KEY UPDATE")
	}
	return q
}

// skipLocked does the same, and passes over rows that others hold.
func (d dialect) skipLocked(q *bun.SelectQuery) *bun.SelectQuery {
	if d.locks {
		return q.For("UPDATE SKIP LOCKED")
	}
	return q
}

// escapeLike makes a text stand for itself in a pattern with the escape character \.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// clean removes what PostgreSQL does not take in texts: the character 0 and
// bytes that are not UTF-8.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
