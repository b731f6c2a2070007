package simulator

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// FaultKind is a way in which the platform or the way to it fails.
type FaultKind string

// The kinds of faults. Requests suffer the first five, webhooks the others.
const (
	TimeoutBefore     FaultKind = "timeout_before"     // not executed, no answer
	TimeoutAfter      FaultKind = "timeout_after"      // executed, the answer is lost
	HTTP500           FaultKind = "http_500"           // an error page; half the time after executing
	Throttled         FaultKind = "throttled"          // not executed
	ConnectionReset   FaultKind = "connection_reset"   // half the time after executing
	WebhookLost       FaultKind = "webhook_lost"       // never sent
	WebhookDuplicated FaultKind = "webhook_duplicated" // sent twice
	WebhookLate       FaultKind = "webhook_late"       // sent minutes to hours later
	WebhookReordered  FaultKind = "webhook_reordered"  // sent after what follows it
)

// FaultKinds lists every kind.
var FaultKinds = []FaultKind{
	TimeoutBefore, TimeoutAfter, HTTP500, Throttled, ConnectionReset,
	WebhookLost, WebhookDuplicated, WebhookLate, WebhookReordered,
}

const requestKinds = 5 // of FaultKinds are for requests

// How far faulty webhooks are from their time.
const (
	duplicateAfter = 5 * time.Second
	reorderedBy    = 30 * time.Second
	latestMin      = time.Minute
	latestMax      = 6 * time.Hour
)

// Faults are what goes wrong. A request, and a webhook, suffers one of the kinds
// that are meant for it with the probability Rate.
type Faults struct {
	Rate  float64
	Kinds []FaultKind // empty: all
	Seed  uint64
	Until time.Time `json:",omitzero"` // zero: until ClearFaults
}

type faultState struct {
	current Faults
	counts  map[FaultKind]int
	seen    map[uint64]int // requests by identity, so that a repetition draws again
}

// faultRow is what is kept of the faults.
type faultRow struct {
	Current Faults
	Counts  map[FaultKind]int
}

// seenRow is how often one request or webhook was seen.
type seenRow struct {
	Identity uint64
	Times    int
}

func (faultRow) key() rowKey  { return rowKey{Kind: "faults"} }
func (r seenRow) key() rowKey { return rowKey{Kind: "seen", ID: utoa(r.Identity)} }

// SetFaults begins faults, in place of earlier ones. The counts go on.
func (s *Simulator) SetFaults(f Faults) error {
	if err := f.check(FaultKinds); err != nil {
		return err
	}
	return s.update(func() error {
		s.faults.current = f
		for id := range s.faults.seen {
			s.drop(seenRow{Identity: id})
		}
		s.faults.seen = map[uint64]int{}
		s.saveFaults()
		return nil
	})
}

// CheckRequests returns what is wrong with faults that only requests suffer.
func (f Faults) CheckRequests() error { return f.check(FaultKinds[:requestKinds]) }

func (f Faults) check(kinds []FaultKind) error {
	if f.Rate < 0 || f.Rate > 1 {
		return fault.New(fault.Invalid, "a rate of faults lies between 0 and 1").Field("rate")
	}
	for _, k := range f.Kinds {
		if !slices.Contains(kinds, k) {
			return fault.New(fault.Invalid, "%q is not a kind of fault", k).Field("kinds")
		}
	}
	return nil
}

// ClearFaults ends faults. Webhooks that are late stay late.
func (s *Simulator) ClearFaults() error {
	return s.update(func() error {
		s.faults.current = Faults{}
		s.saveFaults()
		return nil
	})
}

// FaultCounts returns how often each kind has fired.
func (s *Simulator) FaultCounts() map[FaultKind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.faults.counts)
}

func (s *Simulator) saveFaults() {
	s.save(faultRow{s.faults.current, s.faults.counts})
}

// draw decides whether something suffers a fault of the kinds that are on. What
// it decides depends on the seed and on the identity alone, and never on what
// happens at the same time. The roll is for whatever else the fault decides.
func (s *Simulator) draw(kinds []FaultKind, identity ...string) (kind FaultKind, roll uint64) {
	f := s.faults.current
	on := f.on(kinds, s.opts.Clock.Now())
	if len(on) == 0 {
		return "", 0
	}
	id := hashOf(f.Seed, identity...)
	n := s.faults.seen[id]
	s.faults.seen[id] = n + 1
	s.save(seenRow{id, n + 1})
	if kind, roll = f.roll(on, id, n); kind != "" {
		s.faults.counts[kind]++
		s.saveFaults()
	}
	return kind, roll
}

// on returns the kinds that something can suffer at an instant.
func (f Faults) on(kinds []FaultKind, now time.Time) []FaultKind {
	if f.Rate == 0 || (!f.Until.IsZero() && !now.Before(f.Until)) {
		return nil
	}
	if len(f.Kinds) == 0 {
		return kinds
	}
	var on []FaultKind
	for _, k := range kinds {
		if slices.Contains(f.Kinds, k) {
			on = append(on, k)
		}
	}
	return on
}

// roll decides what the nth of the things with one identity suffers.
func (f Faults) roll(on []FaultKind, id uint64, n int) (kind FaultKind, roll uint64) {
	h := mix(id + uint64(n)*0x9e3779b97f4a7c15)
	if float64(h>>11)/(1<<53) >= f.Rate {
		return "", 0
	}
	h = mix(h)
	return on[h%uint64(len(on))], mix(h)
}

// Request decides what the nth request to another server suffers at an instant, and whether it is
// executed all the same. The kind is empty for a request that suffers nothing.
func (f Faults) Request(now time.Time, n int) (kind FaultKind, executed bool) {
	on := f.on(FaultKinds[:requestKinds], now)
	if len(on) == 0 {
		return "", true
	}
	kind, roll := f.roll(on, hashOf(f.Seed), n)
	return kind, kind.executed(roll)
}

// executed reports whether a request that suffers a fault is executed.
func (k FaultKind) executed(roll uint64) bool {
	return k == "" || k == TimeoutAfter || ((k == HTTP500 || k == ConnectionReset) && roll&1 == 1)
}

func (s *Simulator) requestFault(shop, query, variables string) (FaultKind, uint64) {
	return s.draw(FaultKinds[:requestKinds], "request", shop, query, variables)
}

func (s *Simulator) webhookFault(d *delivery) (FaultKind, uint64) {
	return s.draw(FaultKinds[requestKinds:], "webhook", d.Shop, d.Webhook)
}

// hashOf is FNV-1a over the parts, which is the same in every process.
func hashOf(seed uint64, parts ...string) uint64 {
	h := mix(seed ^ 0xcbf29ce484222325)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 0x100000001b3
		}
		h = (h ^ 0xff) * 0x100000001b3
	}
	return mix(h)
}

// mix spreads every bit of x over all of the result.
func mix(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

// HangUp ends a request without an answer, as a fault of the kind does: a ConnectionReset with a reset.
func HangUp(w http.ResponseWriter, kind FaultKind) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	conn, _, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && kind == ConnectionReset {
		_ = tcp.SetLinger(0) // so that the close is a reset
	}
	conn.Close()
}
