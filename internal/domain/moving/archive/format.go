// Package archive writes everything that a merchant owns into one file, and reads such a file
// into an empty store: a format that names no database, so that it outlives the service.
package archive

import (
	"fmt"
	"strings"
	"time"
)

// What a manifest says of its archive.
const (
	// Format is the name of the format.
	Format = "perennial-archive"
	// Version is the version of the format that is written, and the newest that is read.
	Version = 1
	// manifestName is the file of the manifest, the last one of an archive.
	manifestName = "manifest.json"
)

// Limits of an archive that is read.
const (
	maxManifest = 1 << 20          // bytes
	maxLine     = 8 << 20          // bytes of a record
	maxRecords  = 20_000_000       // of a type
	maxRatio    = 400              // of a file to its packed form; deflate packs nothing but a repeated byte tighter
	smallFile   = 1 << 20          // bytes up to which the ratio does not matter
	maxBytes    = int64(256) << 30 // of all files together
)

// Kind says what the values of a field are.
type Kind string

// The kinds of value.
const (
	Text   Kind = "text"
	Number Kind = "number"  // a whole number
	Own    Kind = "own"     // a number that the service gave
	Truth  Kind = "truth"   // true or false
	At     Kind = "at"      // an instant; null: none
	Due    Kind = "due"     // an instant that a worker waits for; null: none
	JSON   Kind = "json"    // an object or a list; a text when it is neither; null: none
	noKind Kind = "unknown" // of a definition with a mistake
)

// Field is a field of the records of a type.
type Field struct {
	Name string
	Kind Kind
	// Of is the type whose records the field refers to by their first field; empty: none.
	// 0 refers to no record.
	Of string
}

// Type is a type of record. Its records are in one file, in the order of the key.
type Type struct {
	Name   string
	About  string
	Fields []Field
	Key    int // the first so many fields are the key
}

// Record has a value for each field of its type: string, int64, bool, time.Time or, of JSON, a
// Document. Of the kinds that have null, nil is none.
type Record []any

// Document is the text of a JSON value.
type Document string

// fields reads a list such as "id:own contractId:number>contracts note createdAt:at". A field
// without a kind is a text.
func fields(list string) []Field {
	var all []Field
	for _, word := range strings.Fields(list) {
		word, of, _ := strings.Cut(word, ">")
		name, kind, found := strings.Cut(word, ":")
		f := Field{Name: name, Kind: Kind(kind), Of: of}
		if !found {
			f.Kind = Text
		}
		switch f.Kind {
		case Text, Number, Own, Truth, At, Due, JSON:
		default:
			f.Kind = noKind
		}
		all = append(all, f)
	}
	return all
}

// File returns the name of the file with the records of a type.
func (t Type) File() string { return t.Name + ".jsonl" }

// Sheet returns the name of the file with the same records as a table for people.
func (t Type) Sheet() string { return t.Name + ".csv" }

// typeNamed returns a type of this version.
func typeNamed(name string) (Type, bool) {
	for _, t := range Types {
		if t.Name == name {
			return t, true
		}
	}
	return Type{}, false
}

// Manifest says what an archive holds.
type Manifest struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Service   string    `json:"service"` // version of the service that wrote it
	Shop      Origin    `json:"shop"`
	CreatedAt time.Time `json:"createdAt"`
	// Lowest and Highest are the bounds of the numbers that the service gave to records; 0: it
	// gave none.
	Lowest  int64  `json:"lowestNumber"`
	Highest int64  `json:"highestNumber"`
	Files   []File `json:"files"`
}

// Origin is the store that an archive is of.
type Origin struct {
	Domain   string `json:"domain"`
	TimeZone string `json:"timeZone"`
	Currency string `json:"currency"`
}

// File is a file of an archive.
type File struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // hexadecimal
}

// Records returns how many records of a type an archive has.
func (m Manifest) Records(of string) int {
	for _, f := range m.Files {
		if f.Type == of {
			return f.Records
		}
	}
	return 0
}

// Total returns how many records an archive has.
func (m Manifest) Total() int {
	n := 0
	for _, t := range Types {
		n += m.Records(t.Name)
	}
	return n
}

// file returns a file of an archive.
func (m Manifest) file(name string) (File, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// instant is how instants are written: UTC, to the millisecond.
const instant = "2006-01-02T15:04:05.000Z"

func parseInstant(text string) (time.Time, error) {
	at, err := time.Parse(instant, text)
	if err != nil {
		return at, fmt.Errorf("%q is not an instant such as 2026-01-31T09:00:00.000Z", text)
	}
	return at, nil
}
