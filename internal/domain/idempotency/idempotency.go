// Package idempotency lets a caller send a request again without its being
// carried out again. Which requests may be repeated so, and what an answer looks
// like, are left to the interface that speaks them.
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
	// MaxKey is the length of the longest key, in characters.
	MaxKey = 255
	// AnswerTTL is how long an answer is given again, from its claim on.
	AnswerTTL = 24 * time.Hour
	// Lease is how long a request may be carried out before it is taken for
	// dead. What it does must be safe to do again, unless it is one that is
	// carried out at most once: a process may die between the commit of its work
	// and that of its answer.
	Lease = time.Minute
)

// Key is what a caller calls a request, to be recognised by when it comes again.
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

// RequestID is a request that may be repeated.
type Request struct {
	Caller access.KeyID
	Line   shop.Line
	Method string
	Path   string
	Query  string // in canonical form, without credentials
	Body   []byte
	Key    Key
	Once   bool // to do it again would add to what it did: it is carried out at most once
}

// name identifies the request among those of its shop: the same key means
// something else to another caller and to another operation.
func (r Request) name() Hash {
	return hashOf(strconv.FormatInt(int64(r.Caller), 10), string(r.Line), r.Method, r.Path, string(r.Key))
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

// Claim is the wish to carry a request out.
type Claim struct {
	Name        Hash   // of the request, unique within the shop
	Fingerprint Hash   // of what was asked
	Token       string // of this claim: who has lost a claim cannot settle it
	At          time.Time
	Once        bool // nobody may carry the request out again while its answer would be kept
}

// Claim returns a new claim on the request.
func (r Request) Claim(now time.Time) Claim {
	return Claim{Name: r.name(), Fingerprint: r.fingerprint(), Token: rand.Text(), At: now, Once: r.Once}
}

// RequestID names the request, with all that was asked, among those of its shop: for
// whoever notes in a commit of its own what a request has done.
func (c Claim) RequestID() string {
	sum := hashOf(string(c.Name[:]), string(c.Fingerprint[:]))
	return base32.StdEncoding.EncodeToString(sum[:20])
}

// ExpiresAt is when the claim counts no more if nobody has settled it.
func (c Claim) ExpiresAt() time.Time {
	if c.Once {
		return c.AnswerExpiresAt()
	}
	return c.At.Add(Lease)
}

// AnswerExpiresAt is how long an answer under the claim is given again.
func (c Claim) AnswerExpiresAt() time.Time { return c.At.Add(AnswerTTL) }

// Answer is what a request was answered.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// Record is what is known of a request.
type Record struct {
	Fingerprint Hash
	Token       string  // of the claim that counts
	Answer      *Answer // nil while the request is carried out
}

// ClaimResult says what becomes of a claim.
type ClaimResult int

// The verdicts.
const (
	Granted  ClaimResult = iota // the request is the claimant's to carry out
	Answered                    // it was carried out: the answer is given again
	Running                     // somebody is carrying it out
	Reused                      // another request has this key
)

// Check says what becomes of a claim after which the record is what is known.
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
