package partner

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ReadTx is one read-only transaction on one shop's connections.
type ReadTx interface {
	// Connection returns a connection, or NotFound. A Tx locks it.
	Connection(ctx context.Context, id ConnectionID) (Connection, error)
}

// Tx is one transaction on one shop's connections and keys.
type Tx interface {
	access.Tx
	shop.Reader
	ReadTx
	// OpenConnections returns the connections that have not ended, under lock.
	OpenConnections(ctx context.Context) ([]Connection, error)
	// DueConnections returns at most limit connections whose DueAt is not after
	// now, under lock, passing over those that another transaction holds.
	DueConnections(ctx context.Context, now time.Time, limit int) ([]Connection, error)
	// PutConnection inserts a connection whose ID is 0, giving it one, or
	// replaces it under the version rule.
	PutConnection(ctx context.Context, c *Connection) error
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Store runs transactions and reads and writes what belongs to no shop, or is asked before
// the shop is known.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	ShopByDomain(ctx context.Context, domain string) (shop.Shop, error)
	// DomainOf returns the domain of a shop without reading its token, or NotFound.
	DomainOf(ctx context.Context, of shop.ID) (string, error)
	AppStore
	ConnectionReader
	CallStore
}

// AppStore is the register of applications.
type AppStore interface {
	// AddApp inserts an application. An id that is taken is a Conflict.
	AddApp(ctx context.Context, a *App) error
	// ChangeApp changes an application under lock and returns it; NotFound.
	ChangeApp(ctx context.Context, id access.AppID, fn func(*App) error) (App, error)
	// App returns an application, or NotFound.
	App(ctx context.Context, id access.AppID) (App, error)
	// AppByKey returns the application with the hash of an application key, the
	// present one or the one before; NotFound.
	AppByKey(ctx context.Context, h access.Hash) (App, error)
	Apps(ctx context.Context) ([]App, error)
	// TouchApp notes when an application was last used.
	TouchApp(ctx context.Context, id access.AppID, at time.Time) error
}

// ConnectionReader finds connections without a transaction.
type ConnectionReader interface {
	// ShopOfConnection returns the shop of an application's connection, or NotFound.
	ShopOfConnection(ctx context.Context, app access.AppID, id ConnectionID) (shop.ID, error)
	// ConnectionByCode returns the shop and number of an application's connection
	// whose code has the hash, or NotFound.
	ConnectionByCode(ctx context.Context, app access.AppID, code access.Hash) (shop.ID, ConnectionID, error)
	// Connections returns a page of a shop's connections, newest first, and how
	// many there are. An empty state means all.
	Connections(ctx context.Context, of shop.ID, state State, p page.Request) ([]Connection, int, error)
}

// CallStore counts the calls of applications.
type CallStore interface {
	// CallsOf returns what an application called in a shop since a day, by day.
	// Connection 0 means its calls with a merchant's key.
	CallsOf(ctx context.Context, of shop.ID, app access.AppID, connection ConnectionID, since time.Time) ([]Calls, error)
	// CountCalls adds calls to those of their days and notes the last one.
	CountCalls(ctx context.Context, of shop.ID, calls []Calls) error
}

// Message is what an application is sent.
type Message struct {
	ID   string // the same for every try
	At   time.Time
	Body []byte // JSON
}

// Caller sends signed messages to applications.
type Caller interface {
	// Post sends a message to a path below the application's address and returns
	// the body of the answer. Anything but a 2xx within CallTime is an error that
	// says why in words that the partner may see.
	Post(ctx context.Context, to App, path string, m Message) ([]byte, error)
}

// CallTimeout is how long an application may take to answer.
const CallTimeout = 10 * time.Second

// Service keeps the register, carries out the handshake and counts calls.
type Service struct {
	Store  Store
	Caller Caller
	Clock  clock.Clock
	Log    *slog.Logger
	// PlainHTTP permits addresses of applications without TLS.
	PlainHTTP bool

	usage usage
	flush sync.WaitGroup
}

// Work is the task that notifies applications and expires requests that were not decided.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "partner_work" }
