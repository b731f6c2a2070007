package prove

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Kind is a way in which the world fails.
type Kind string

// The kinds of faults.
const (
	DatabaseConflict Kind = "database_conflict"
	DatabaseAway     Kind = "database_away"
	CommitLost       Kind = "commit_lost"
)

var (
	errAway       = errors.New("the database is away")
	errCommitLost = errors.New("the connection to the database was lost before it answered the commit")
	errRefused    = errors.New("connection refused")
)

func (w *world) databaseFault() Kind { return "" }

// carry brings a call to the platform and its answer back.
func (w *world) carry(c *call) (*http.Response, error) {
	w.sleep(w.between(5*time.Millisecond, 100*time.Millisecond))
	res := w.ask(c)
	w.sleep(w.between(5*time.Millisecond, 100*time.Millisecond))
	return res, nil
}

func (w *world) webhook(r *http.Request, body []byte) (*http.Response, error) { return w.hand(r, body) }

func (w *world) mayDie(*fiber) bool { return false }

func (w *world) afterCall(*call) {}

var _ = fmt.Sprint
