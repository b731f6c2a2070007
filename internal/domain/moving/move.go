package moving

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ID identifies a move within a shop.
type ID int64

// Direction is where a move goes.
type Direction string

// The directions.
const (
	In  Direction = "IN"  // from another service to this one
	Out Direction = "OUT" // from this service to another one
)

// Status says how far a move is.
type Status string

// The statuses of a move.
const (
	Mapping Status = "MAPPING" // the columns of a file wait for their fields
	Listing Status = "LISTING" // the contracts of the service that is left are listed
	Reading Status = "READING" // they are read one by one
	Ready   Status = "READY"   // all were read: they are compared, and moved in waves
	Ended   Status = "ENDED"   // nothing is compared or moved any more
)

// Peer is the other service.
type Peer struct {
	Address     string  // of its interface for subscriptions, such as https://subscriptions.example.com
	Memberships string  // of its interface for memberships; empty: it has none
	Loyalty     string  // of its interface for loyalty; empty: it has none
	Key         string  // API key; stored encrypted
	Rate        float64 // requests per second that it allows
}

// Move is the move of a store's contracts: from or to a peer, or from a file.
type Move struct {
	ID        ID
	Direction Direction
	Peer      Peer
	File      *File // nil: it has a peer
	Status    Status
	Paused    bool
	By        activity.Actor

	// Plans are the selling plans of the service that is moved to, by those of the one that is left.
	Plans map[int64]int64
	Parts Parts // of a move to this service

	Line      shop.Line // that is being listed
	Page      int       // that is listed next; of a file, the last line that was read
	Announced int       // contracts that the service says it has
	ListedAt  time.Time // when the present listing began
	ListAt    time.Time // when changes are listed next; zero: not before all were read
	Since     time.Time // what changed there before this instant was listed; zero: nothing was
	Wave      int       // percent of the contracts that may be moved by now

	Failures int       // in a row
	Failure  string    // the last one; empty: the service answers
	FailedAt time.Time // the first of them

	CreatedAt time.Time
	ReadAt    time.Time // when all were read; zero: they are not
	EndedAt   time.Time // zero: it goes on
	DueAt     time.Time // when a worker goes on with it; zero: never
	Version   int64
}

// Other returns what names the other side: the address of the peer, or the name of the file.
func (m Move) Other() string {
	if m.File != nil {
		return m.File.Name
	}
	return m.Peer.Address
}

// Places are the words for the service that is left and for the one that contracts and parts go to.
func (m Move) Places() (left, come string) {
	if m.Direction == Out {
		return "here", "there"
	}
	return "there", "here"
}

// Open reports whether something is left to do.
func (m Move) Open() bool { return m.Status != Ended }

// ListAgain has all contracts listed and read again that are not moved.
func (m *Move) ListAgain() {
	m.Status, m.Line, m.Page, m.Announced, m.Since = Listing, shop.Subscriptions, 0, 0, time.Time{}
	if m.File != nil {
		m.File.Totals = nil
	}
}

// Waves are the percentages that are offered, one after the other.
var Waves = []int{1, 10, 100}

// SetWave lets so many percent of the contracts be moved. It never takes back a larger wave: what
// has been moved stays, and what is on its way comes to its end.
func (m *Move) SetWave(percent int) error {
	switch {
	case m.Status != Ready:
		return fault.New(fault.FailedPrecondition, "the move is %s: contracts are moved once all of them were read", m.Status).Entity("move").Code("moveNotReady")
	case percent < 1 || percent > 100:
		return fault.New(fault.Invalid, "a wave is from 1 to 100 percent, not %d", percent).Entity("move").Code("waveInvalid").Field("wave")
	case percent < m.Wave:
		return fault.New(fault.FailedPrecondition, "%d percent are on their way already: pause the move, or move contracts back", m.Wave).Entity("move").Code("waveSmaller").Field("wave")
	}
	m.Wave = percent
	return nil
}

// Quota returns how many of so many contracts a wave lets go: at least one.
func (m Move) Quota(total int) int {
	if m.Wave == 0 || total == 0 {
		return 0
	}
	return max(1, total*m.Wave/100)
}

// NotFound is the failure of naming a move that does not exist.
func NotFound(id ID) error {
	return fault.New(fault.NotFound, "move %d does not exist", id).Entity("move").Code("moveNotFound")
}
