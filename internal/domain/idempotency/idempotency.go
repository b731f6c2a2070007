// Package idempotency lets a client repeat a request without its being
// executed again. Which requests may be repeated, and what an answer looks
// like, is up to the interface.
package idempotency

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// MaxKey is the maximum length of a key, in characters.
	MaxKey = 255
	// AnswerTTL is how long an answer is repeated, from its claim on.
	AnswerTTL = 24 * time.Hour
	// Lease is how long a request may run before its process is considered
	// dead. Repeating it must be safe, unless it is
	// executed at most once: a process may die between the commit of its work
	// and that of its answer.
	Lease = time.Minute
)

// Key is the client's idempotency key of a request.
type Key string

// ParseKey reads a key: 1 to MaxKey visible ASCII characters.
func ParseKey(s string) (Key, error) {
	if s == "" || len(s) > MaxKey || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fault.New(fault.Invalid, "an idempotency key has 1 to %d visible ASCII characters", MaxKey).Code("idempotencyKeyInvalid")
	}
	return Key(s), nil
}

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// Request is a request that may be repeated.
type Request struct {
	Caller   access.KeyID
	Customer int64 // the subscriber who makes it; 0: the holder of a key
	Line     shop.Line
	Method   string
	Path     string
	Query    string // in canonical form, without credentials
	Body     []byte
	Key      Key
	Once     bool // repeating it would not be safe: it is executed at most once
}

// name identifies the request among those of its shop: the same key means
// something else to another caller and to another operation.
func (r Request) name() Hash {
	parts := []string{strconv.FormatInt(int64(r.Caller), 10), string(r.Line), r.Method, r.Path, string(r.Key)}
	if r.Customer != 0 {
		parts = append(parts, strconv.FormatInt(r.Customer, 10))
	}
	return hashOf(parts...)
}

// fingerprint tells a request that comes again from another one that was given
// its key.
func (r Request) fingerprint() Hash { return hashOf(r.Query, string(r.Body)) }

// hashOf hashes texts with their lengths, so that no two lists of them look alike.
func hashOf(parts ...string) Hash {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return Hash(h.Sum(nil))
}

// Claim is an attempt to execute a request.
type Claim struct {
	Name        Hash   // of the request, unique within the shop
	Fingerprint Hash   // of what was asked
	Token       string // of this claim: a caller that lost the claim cannot settle it
	At          time.Time
	Once        bool // the request is not executed again while its answer would be stored
}

// Claim returns a new claim on the request.
func (r Request) Claim(now time.Time) Claim {
	return Claim{Name: r.name(), Fingerprint: r.fingerprint(), Token: rand.Text(), At: now, Once: r.Once}
}

// RequestID identifies the request with all its parameters among those of its shop, for
// commits that store what a request has done.
func (c Claim) RequestID() string {
	sum := hashOf(string(c.Name[:]), string(c.Fingerprint[:]))
	return base32.StdEncoding.EncodeToString(sum[:20])
}

// ExpiresAt is when an unsettled claim expires.
func (c Claim) ExpiresAt() time.Time {
	if c.Once {
		return c.AnswerExpiresAt()
	}
	return c.At.Add(Lease)
}

// AnswerExpiresAt is until when the answer is repeated.
func (c Claim) AnswerExpiresAt() time.Time { return c.At.Add(AnswerTTL) }

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// Record is what is stored of a request.
type Record struct {
	Fingerprint Hash
	Token       string  // of the current claim
	Answer      *Answer // nil while the request is running
}

// ClaimResult is the result of a claim.
type ClaimResult int

// The results.
const (
	Granted  ClaimResult = iota // the caller executes the request
	Answered                    // the request was executed: the answer is repeated
	Running                     // another caller is executing it
	Reused                      // another request has this key
)

// Check returns the result of a claim, given the record that is stored after it.
func (r Record) Check(c Claim) ClaimResult {
	switch {
	case r.Fingerprint != c.Fingerprint:
		return Reused
	case r.Answer != nil:
		return Answered
	case r.Token != c.Token:
		return Running
	}
	return Granted
}
