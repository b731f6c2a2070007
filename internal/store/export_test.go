package store

import "github.com/uptrace/bun"

// Raw returns the pool through which a database is read.
func (db *DB) Raw() *bun.DB { return db.reader }
