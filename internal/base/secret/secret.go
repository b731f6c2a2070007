// Package secret makes the random values that prove who a user is: of sessions, links and
// invitations. What is stored of one is its hash.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// size is how many random bytes a secret has, and length how many characters its text.
const (
	size   = 32
	length = 43
)

// Hash is the SHA-256 of a secret. The secret itself is not stored.
type Hash [sha256.Size]byte

// New returns a secret and what is stored of it.
func New() (value string, stored Hash) {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	value = base64.RawURLEncoding.EncodeToString(b)
	return value, HashOf(value)
}

// HashOf returns the hash of a secret.
func HashOf(value string) Hash { return sha256.Sum256([]byte(value)) }

// WellFormed reports whether a text can be a secret.
func WellFormed(value string) bool {
	if len(value) != length {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(value)
	return err == nil
}
