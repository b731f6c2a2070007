package test

import (
	"fmt"
	"sync"
)

// hold keeps calls up, each store's at another point of its charge, until it is
// let go. So a test knows where in the middle of their batches the nodes are.
type hold struct {
	mu     sync.Mutex
	stores map[string]*heldStore
	gone   chan struct{}  // closed: nothing is held any more
	sent   map[string]int // calls to charge, by store
}

type heldStore struct {
	at   point
	held bool // a call waits there
}

// point is a place in the course of a charge.
type point int

// The points at which stores are held, in turn.
const (
	lookedUp point = iota // the platform has answered about the cycles, and the node has not received it
	onItsWay              // the charge has left, and not arrived
	taken                 // the platform has taken the charge, and the node has not received the answer
	allPoints
)

func newHold() *hold {
	return &hold{stores: map[string]*heldStore{}, gone: make(chan struct{}), sent: map[string]int{}}
}

// over holds up what passes over a wire.
func (h *hold) over(w *wire) {
	w.arrives = func(m message) breakage {
		h.come(m)
		return whole
	}
	w.answered = func(m message) {
		if m.kind != "CycleState" && m.kind != "Charge" {
			return
		}
		if s := h.store(m); m.kind == "CycleState" && s.at == lookedUp || m.kind == "Charge" && s.at == taken {
			h.wait(s)
		}
	}
}

// come holds up a charge where that is its store's point, and whatever else comes
// for a store that is held up already: leases end, and then a charge is taken up
// again.
func (h *hold) come(m message) {
	if m.kind != "CycleState" && m.kind != "Charge" && m.kind != "Attempts" {
		return
	}
	s := h.store(m)
	h.mu.Lock()
	if m.kind == "Charge" {
		h.sent[m.store]++
	}
	held := s.held
	h.mu.Unlock()
	if held || m.kind == "Charge" && s.at == onItsWay {
		h.wait(s)
	}
}

func (h *hold) store(m message) *heldStore {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stores[m.store]
	if s == nil {
		s = &heldStore{at: point(len(h.stores)) % allPoints}
		h.stores[m.store] = s
	}
	return s
}

func (h *hold) wait(s *heldStore) {
	h.mu.Lock()
	s.held = true
	h.mu.Unlock()
	<-h.gone
}

// held returns the tokens of the stores that are held up at a point.
func (h *hold) held(at point) (tokens []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for token, s := range h.stores {
		if s.held && s.at == at {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// everywhere reports whether there are so many stores at each point at least.
func (h *hold) everywhere(n int) bool {
	for at := range allPoints {
		if len(h.held(at)) < n {
			return false
		}
	}
	return true
}

// letGo ends the hold.
func (h *hold) letGo() { close(h.gone) }

// charges is how many calls to charge a store came.
func (h *hold) charges(token string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent[token]
}

func (h *hold) String() string {
	return fmt.Sprintf("%d stores looked at, %d being charged, %d charged", len(h.held(lookedUp)), len(h.held(onItsWay)), len(h.held(taken)))
}
