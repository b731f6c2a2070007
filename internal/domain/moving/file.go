package moving

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// File is a CSV file that contracts come from, which were stopped where they were; or customers, or
// the points of loyalty members.
type File struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind,omitempty"` // CONTRACTS, CUSTOMERS or POINTS; empty: CONTRACTS
	Bytes  int64             `json:"bytes"`          // 0: it was not uploaded to its end
	Lines  int               `json:"lines"`
	Parts  int               `json:"parts"`             // that are stored; 0: it was removed
	Header []string          `json:"header,omitempty"`  // names of its columns
	Fields map[string]string `json:"mapping,omitempty"` // names of columns, by the fields that they hold
	// DecimalComma says how numbers are written that may be either; nil: each column decides.
	DecimalComma *bool `json:"decimalComma,omitempty"`
}

// FileTx keeps the files of moves, in parts.
type FileTx interface {
	AddMoveFile(ctx context.Context, of ID, part int, content []byte) error
	RemoveMoveFile(ctx context.Context, of ID) error
	// AddReadItems adds contracts of a file, and replaces those that the move has and that are not
	// on their way.
	AddReadItems(ctx context.Context, items []Item) error
	// RemoveMoveItems removes all contracts of a move.
	RemoveMoveItems(ctx context.Context, of ID) error
}

// Imports knows which contracts of a store have come from elsewhere.
type Imports interface {
	// Imported returns the live contracts with the given imported ids, by these.
	Imported(ctx context.Context, of shop.ID, ids []string) (map[string]contract.ID, error)
}
