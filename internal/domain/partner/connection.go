package partner

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const entity = "partnerConnection"

// ConnectionID is the service's number of a connection.
type ConnectionID int64

// State is how far a connection has come.
type State string

// The states of a connection.
const (
	Pending      State = "PENDING"   // the merchant has not decided
	Connected    State = "CONNECTED" // approved; a token is or may be given out
	Rejected     State = "REJECTED"
	Expired      State = "EXPIRED" // nobody decided in time
	Disconnected State = "DISCONNECTED"
	Uninstalled  State = "UNINSTALLED" // the store gave up the service
)

// States lists every state.
var States = []State{Pending, Connected, Rejected, Expired, Disconnected, Uninstalled}

// next holds every move that a connection can make.
var next = map[State][]State{
	Pending:   {Connected, Rejected, Expired, Uninstalled},
	Connected: {Disconnected, Uninstalled},
}

// Direction says who began a connection.
type Direction string

// The directions.
const (
	ByPartner  Direction = "PARTNER"
	ByMerchant Direction = "MERCHANT"
)

// Call is what an application is told of a connection.
type Call string

// The calls. Each is also the path below the application's address.
const (
	CallConnect  Call = "connect"  // the merchant began it: here is a code
	CallApproved Call = "approved" // the merchant agreed: here is a code, or more scopes
	CallRejected Call = "rejected"
)

// Spans of the handshake.
const (
	// DecideWithin is how long a merchant has to decide.
	DecideWithin = 7 * 24 * time.Hour
	// CodeLife is how long a code can be exchanged for a token.
	CodeLife = 10 * time.Minute
)

// Connection is what one application and one store have to do with each other.
type Connection struct {
	ID          ConnectionID
	Shop        shop.ID
	App         access.AppID
	State       State
	Direction   Direction
	Scopes      []access.Scope // asked for while pending, granted afterwards
	Wanted      []access.Scope // asked for besides, by a connected application
	RequestedBy string
	RequestedAt time.Time
	ExpiresAt   time.Time // until when the merchant can decide; zero when there is nothing to decide
	DecidedBy   string
	DecidedAt   time.Time
	EndedAt     time.Time
	EndReason   string
	ReturnURL   string // where the application wants the merchant to be sent afterwards
	ClientState string // the application's own word, given back with every call

	Code      access.Hash // of the code that can be exchanged; zero when there is none
	CodeUntil time.Time
	Token     access.KeyID // the live token; 0 when there is none
	TokenAt   time.Time    // when it was given out

	Notification Call      // what the application has yet to be told
	CallID       string    // names the call through all its tries
	CallAt       time.Time // when it is told next; zero when it is told or given up
	Tries        int       // times that telling it failed
	Failure      string    // why, the last time

	Version int64
}

// Awaits reports whether the merchant has something to decide.
func (c Connection) Awaits(now time.Time) bool {
	return now.Before(c.ExpiresAt) && (c.State == Pending || c.State == Connected && len(c.Wanted) > 0)
}

// DueAt returns the instant at which the connection needs to be worked; zero for
// never.
func (c Connection) DueAt() time.Time {
	at := c.CallAt
	if !c.ExpiresAt.IsZero() && (at.IsZero() || c.ExpiresAt.Before(at)) {
		at = c.ExpiresAt
	}
	return at
}

// Open reports whether the connection has not ended.
func (c Connection) Open() bool { return c.State == Pending || c.State == Connected }

// move changes the state.
func (c *Connection) move(to State) error {
	if !slices.Contains(next[c.State], to) {
		return fault.New(fault.FailedPrecondition, "the connection is %s", c.State).Entity(entity).Code("connectionState")
	}
	c.State = to
	return nil
}

// owe notes that the application has to be told something now. It replaces what
// it was to be told before.
func (c *Connection) owe(call Call, id string, now time.Time) {
	c.Notification, c.CallID, c.CallAt, c.Tries, c.Failure = call, id, now, 0, ""
}

// quiet ends what was to be told.
func (c *Connection) quiet() { c.CallAt = time.Time{} }

// decided notes who decided, and that nothing is left to decide.
func (c *Connection) decided(by activity.Actor, now time.Time) {
	c.DecidedBy, c.DecidedAt, c.ExpiresAt = by.By, now, time.Time{}
}

// end notes that the connection is over. Its code can no longer be exchanged.
func (c *Connection) end(reason string, now time.Time) {
	c.EndedAt, c.EndReason, c.ExpiresAt = now, reason, time.Time{}
	c.Code, c.CodeUntil, c.Wanted = access.Hash{}, time.Time{}, nil
	c.quiet()
}

// without returns the scopes that others do not include.
func without(scopes, others []access.Scope) []access.Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s access.Scope) bool { return access.Allows(others, s) })
}

// joined returns all scopes of both, once each.
func joined(a, b []access.Scope) []access.Scope { return append(slices.Clone(a), without(b, a)...) }

// note is the additional information of an entry about a connection.
type note struct {
	App    access.AppID   `json:"partnerId"`
	Scopes []access.Scope `json:"scopes,omitempty"`
	Reason string         `json:"reason,omitempty"`
}

func (c Connection) entry(event activity.EventType, by activity.Actor, at time.Time, scopes []access.Scope, reason string) activity.Entry {
	return activity.Entry{
		EntityID: int64(c.ID), EntityType: activity.EntityPartnerConnection, Event: event, Status: activity.Success, Actor: by, At: at,
		Info: activity.Details(note{c.App, scopes, reason}),
	}
}
