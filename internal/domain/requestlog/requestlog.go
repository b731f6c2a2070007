// Package requestlog keeps, for a week, which requests API keys and applications of partners
// have made. A request never waits for it: what cannot be written in time is left out.
package requestlog

import (
	"context"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Retention is how long a request is kept.
const Retention = 7 * 24 * time.Hour

// Limits of what is kept of a request.
const (
	maxPath       = 300 // bytes
	maxParameters = 20
)

// Entry is a request that was answered.
type Entry struct {
	ID         int64
	At         time.Time // when it was answered
	Key        access.KeyID
	KeyName    string
	App        access.AppID // empty: no partner's application made it
	Method     string
	Path       string
	Parameters []string // names of those in the query; their values are not kept
	Status     int      // HTTP status
	Took       time.Duration
	RequestID  string
}

// plainName is what a parameter of the interface is called. Other names may hold anything.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,39}$`)

// trimmed returns the entry within its limits.
func (e Entry) trimmed() Entry {
	if len(e.Path) > maxPath {
		end := maxPath
		for !utf8.RuneStart(e.Path[end]) {
			end--
		}
		e.Path = e.Path[:end] + "…"
	}
	names := slices.DeleteFunc(slices.Clone(e.Parameters), func(n string) bool { return !plainName.MatchString(n) })
	slices.Sort(names)
	e.Parameters = names[:min(len(names), maxParameters)]
	return e
}

// Filter selects requests. Zero fields match all.
type Filter struct {
	Key     access.KeyID
	Request string    // id of the request
	Status  int       // exactly this one, 403 or 429
	Failed  bool      // answered with 400 or more
	Until   time.Time // answered before
}

// Refused counts requests that were refused. Each number is MostCounted when there are more.
type Refused struct {
	Forbidden int // 403: the key lacks a scope
	Limited   int // 429: the rate limit was used up
}

// MostCounted is how far requests are counted.
const MostCounted = 10_000

// Store keeps entries.
type Store interface {
	// AddRequests stores entries of a shop. One whose ID is taken is left out.
	AddRequests(ctx context.Context, of shop.ID, list []Entry) error
	// Requests returns at most limit entries since an instant, newest first, after a cursor.
	Requests(ctx context.Context, of shop.ID, f Filter, since time.Time, after page.Cursor, limit int) ([]Entry, error)
	// Refused counts the requests since an instant that were refused.
	Refused(ctx context.Context, of shop.ID, since time.Time) (Refused, error)
	// ForgetRequests deletes about limit entries that have expired and returns how many it did,
	// fewer only when nothing is left that no other transaction holds.
	ForgetRequests(ctx context.Context, of shop.ID, now time.Time, limit int) (int, error)
}

// Clean is the task that deletes what has expired.
type Clean struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Clean) Kind() string { return "request_log_clean" }
