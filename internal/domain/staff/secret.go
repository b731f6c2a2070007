package staff

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// secretBytes is how many random bytes a session, a link or an invitation has, and
// secretLength how long they are as text.
const (
	secretBytes  = 32
	secretLength = 43
)

// Hash is the SHA-256 of a secret. The secret itself is not stored.
type Hash [sha256.Size]byte

func newSecret() (string, Hash) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // it never fails
	value := base64.RawURLEncoding.EncodeToString(b)
	return value, hashOf(value)
}

func hashOf(value string) Hash { return sha256.Sum256([]byte(value)) }

// wellFormed reports whether a text can be a secret.
func wellFormed(value string) bool {
	if len(value) != secretLength {
		return false
	}
	_, err := base64.RawURLEncoding.DecodeString(value)
	return err == nil
}
