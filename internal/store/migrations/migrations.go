// Package migrations holds the steps of the schema, a folder for each kind of
// database. A step that was released is never changed.
package migrations

import "embed"

// Files are the steps.
//
//go:embed postgres sqlite
var Files embed.FS
