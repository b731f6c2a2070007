// Package migrations holds the steps of the schema, a folder for each kind of
// database. A step that was released is never changed. On PostgreSQL a step that reads or
// writes rows of tenants begins with SET LOCAL perennial.scope = 'all', for without it
// there are none, and one that makes a table for them ends with SELECT wall_off('table').
package migrations

import "embed"

// Files are the steps.
//
//go:embed postgres sqlite
var Files embed.FS
