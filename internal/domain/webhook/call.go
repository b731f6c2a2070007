package webhook

import (
	"context"
	"time"
)

// Call is one try.
type Call struct {
	URL     string
	Secrets []string // each adds a signature
	ID      MessageID
	At      time.Time
	Body    []byte
}

// CallTimeout is how long an endpoint may take to respond.
const CallTimeout = 15 * time.Second

// Answer is the result of a try.
type Answer struct {
	Code       int           // HTTP status; 0: no response
	Failed     string        // why it failed, for the merchant; empty when it succeeded
	Head       string        // the first bytes of the response
	RetryAfter time.Duration // requested by the endpoint
	Took       time.Duration
}

// Gone reports whether the endpoint asks for no more messages.
func (a Answer) Gone() bool { return a.Code == gone }

const gone = 410

// Sender sends signed messages.
type Sender interface {
	// Send makes one try. It fails without a 2xx response within CallTimeout.
	Send(ctx context.Context, c Call) Answer
}
