// Command generate writes the tables of package vectors, in whose folder it must
// be run.
package main

import (
	"bytes"
	"log"
	"os"

	"github.com/perennialhq/perennial/internal/domain/cadence/vectors"
)

func main() {
	db, err := vectors.Open()
	if err != nil {
		log.Fatal(err)
	}
	for name, rows := range vectors.Tables(db) {
		var text bytes.Buffer
		if err := vectors.Write(&text, name, db.Version, rows); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
