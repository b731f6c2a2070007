package platform

import (
	"context"
	"time"
)

// Epochs keeps one word for the app in a store, so that of two installations that
// believe to be the same one finds out.
type Epochs interface {
	// Epoch returns the word; the zero Epoch when there is none.
	Epoch(ctx context.Context, shop Shop) (Epoch, error)
	// SetEpoch writes a word in the place of the one that was read. When it is not
	// that one any more nothing is written and the answer is a Refusal with
	// CodeStaleEpoch.
	SetEpoch(ctx context.Context, shop Shop, was Epoch, word string) error
}

// CodeStaleEpoch is the code of a Refusal to write over a word that was not read.
const CodeStaleEpoch = "STALE_OBJECT"

// Epoch is the word that a store keeps for the app.
type Epoch struct {
	Word  string
	Owner string // graph id of what it is written on
	Proof string // proves that it was read; empty when there is none
}

// Books reads all charges of a store, including those of other apps.
type Books interface {
	// AttemptsSince returns a page of the billing attempts that were created at
	// or after since, oldest first, and the cursor of the next page, or "".
	AttemptsSince(ctx context.Context, shop Shop, since time.Time, cursor string) (list []Attempt, next string, err error)
}
