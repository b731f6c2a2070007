// Package migrations holds the schema of the database, as SQL for both dialects. A file is
// NNNN_name.sql, where NNNN is the number of the migration; files with the same number are one
// migration and run in the order of their names. A file is a text/template, whose dot is the
// Dialect, so that a statement is written once.
//
// A migration that was released never changes. Rows of shops are behind row-level security: a
// migration that reads or writes some begins with {{.AllShops}}.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"text/template"
)

//go:embed *.sql
var files embed.FS

// Dialect is what the databases write differently. Templates use its fields and methods.
type Dialect struct {
	Postgres     bool   // for what only one of the databases has
	BinaryText   string // type of a text that is compared byte by byte
	WithoutRowID string // ends a CREATE TABLE: SQLite stores the rows in the primary key
}

// The dialects.
var (
	Postgres = Dialect{Postgres: true, BinaryText: `text COLLATE "C"`}
	SQLite   = Dialect{BinaryText: "text", WithoutRowID: " WITHOUT ROWID"}
)

// RowSecurity keeps the rows of shops in a table apart. Every table with a shop_id has it.
func (d Dialect) RowSecurity(table string) string {
	return d.onPostgres("SELECT enable_row_security('" + table + "');")
}

// AllShops lets the rest of a migration read and write the rows of all shops.
func (d Dialect) AllShops() string { return d.onPostgres("SET LOCAL perennial.scope = 'all';") }

// SearchView makes own_<table>, the view through which a table is read in which parts of
// texts are looked for.
func (d Dialect) SearchView(table string) string {
	if d.Postgres {
		return "SELECT create_search_view('" + table + "');"
	}
	return "CREATE VIEW own_" + table + " AS SELECT * FROM " + table + ";"
}

// AppendOnly makes the database reject changes of the rows of a table.
func (d Dialect) AppendOnly(table string) string {
	if d.Postgres {
		return "CREATE TRIGGER " + table + "_final BEFORE UPDATE OR DELETE ON " + table + " FOR EACH ROW EXECUTE FUNCTION reject_change();"
	}
	var b strings.Builder
	for _, change := range []string{"update", "delete"} {
		fmt.Fprintf(&b, "CREATE TRIGGER %[1]s_no_%[2]s BEFORE %[2]s ON %[1]s BEGIN\n\tSELECT RAISE(ABORT, '%[1]s is append-only');\nEND;\n", table, change)
	}
	return b.String()
}

func (d Dialect) onPostgres(statement string) string {
	if !d.Postgres {
		return ""
	}
	return statement
}

// Migration is a step of the schema.
type Migration struct {
	Version int64
	Files   []File
}

// Name says what the migration is about.
func (m Migration) Name() string {
	names := make([]string, len(m.Files))
	for i, f := range m.Files {
		names[i] = strings.TrimLeft(strings.TrimSuffix(f.Name, ".sql"), "0123456789_")
	}
	return strings.Join(names, ", ")
}

// File is a part of a migration.
type File struct {
	Name string
	SQL  string // statements of the dialect
}

// All returns the migrations in a dialect, in order.
func (d Dialect) All() ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var list []Migration
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the name of migration %s does not begin with a number: %w", name, err)
		}
		text, err := d.render(name)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].Version != version {
			list = append(list, Migration{Version: version})
		}
		last := &list[len(list)-1]
		last.Files = append(last.Files, File{Name: name, SQL: text})
	}
	return list, nil
}

func (d Dialect) render(name string) (string, error) {
	t, err := template.ParseFS(files, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, d); err != nil {
		return "", err
	}
	return b.String(), nil
}
