package moving

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Count is how many contracts of a move are at a stage, with a fit.
type Count struct {
	Stage    Stage
	Fit      Fit
	Currency money.Currency
	N        int
	Failing  int   // of these, whose last step failed
	Amount   int64 // of their next orders, in minor units
	Coming
}

// FindingCount is what a rule has found about contracts of a move.
type FindingCount struct {
	Code      string
	Fit       Fit
	Contracts int
	Example   string // the text of one of the findings
}

// Tally is how many orders were compared with a verdict.
type Tally struct {
	Verdict Verdict
	N       int
}

// CountTx counts what a move has.
type CountTx interface {
	// MoveCounts counts the contracts of a move by stage, fit and currency.
	MoveCounts(ctx context.Context, of ID) ([]Count, error)
	// MoveTallies counts the orders that were compared, by verdict.
	MoveTallies(ctx context.Context, of ID) ([]Tally, error)
	// MoveFindings groups the findings about the contracts of a move by code, the most frequent first.
	MoveFindings(ctx context.Context, of ID) ([]FindingCount, error)
	// NextToMove counts, by currency, the contracts that go next: at most limit.
	NextToMove(ctx context.Context, of ID, limit int) ([]Count, error)
	// ArrivedSince returns how many contracts of a move were moved since an instant, and when the first
	// of them was; zero: none.
	ArrivedSince(ctx context.Context, of ID, since time.Time) (int, time.Time, error)
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	shop.Reader
	CountTx
	PartReader
	// Move returns a move, or NotFound. Moves returns all, the newest first.
	Move(ctx context.Context, id ID) (Move, error)
	Moves(ctx context.Context) ([]Move, error)
	// MoveItems returns at most limit contracts of a move by their numbers, after one, that match;
	// after 0: from the first.
	MoveItems(ctx context.Context, of ID, match Match, after int64, limit int) ([]Item, error)
	// ComparedOrders returns at most limit orders that were compared, the newest first; none of
	// the verdicts: all.
	ComparedOrders(ctx context.Context, of ID, verdicts []Verdict, limit int) ([]Compared, error)
	// MoveFile returns a part of a move's file, or NotFound once the file was removed.
	MoveFile(ctx context.Context, of ID, part int) ([]byte, error)
}

// Match says which contracts of a move are meant. The zero value means all.
type Match struct {
	Stages  []Stage
	Fit     Fit
	Failing bool
	Code    string // of a finding; empty: any
}

// ItemTx writes the contracts of moves.
type ItemTx interface {
	// AddMoveItems adds contracts that were listed and are due, and returns how many the move did
	// not have; those that it has are due again, unless they are under way or moved.
	AddMoveItems(ctx context.Context, of ID, line shop.Line, found []int64, now time.Time) (int, error)
	// DueMoveItems returns at most limit contracts of a move that are due, locked, the longest due
	// first; with underWay, only those that are between the services.
	DueMoveItems(ctx context.Context, of ID, now time.Time, underWay bool, limit int) ([]Item, error)
	// NextMoveItem returns when the next contract of a move is due; zero: none is. With underWay,
	// only those between the services count.
	NextMoveItem(ctx context.Context, of ID, underWay bool) (time.Time, error)
	// WaitingMoveItems returns at most limit shadows of a move that go, locked, by their numbers.
	WaitingMoveItems(ctx context.Context, of ID, limit int) ([]Item, error)
	// MoveItem returns one, locked, or NotFound.
	MoveItem(ctx context.Context, of ID, there int64) (Item, error)
	PutMoveItems(ctx context.Context, items []Item) error
	// AddCompared notes orders that were compared; one that is known is replaced.
	AddCompared(ctx context.Context, list []Compared) error
}

// Tx is one transaction on one shop's data.
type Tx interface {
	ReadTx
	ItemTx
	FileTx
	PartTx
	activity.Recorder
	// PutMove inserts a move whose ID is 0, giving it one, and writes another one if its Version is
	// still what was read; otherwise it fails with a Conflict.
	PutMove(ctx context.Context, m *Move) error
	// DueMoves returns at most limit moves that are due, locked, passing over those that another
	// transaction holds.
	DueMoves(ctx context.Context, now time.Time, limit int) ([]Move, error)
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Store runs transactions. View is for what only reads.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Work is the task of going on with the moves of a shop.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "moving_work" }
