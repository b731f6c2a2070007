package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// A generated key is the prefix, 43 characters of chance (256 bits) and a
// checksum of 6, all in base 62. The checksum lets a scanner of leaked secrets,
// and us, tell a key from noise without asking anybody.
const (
	Prefix = "prn_"

	secretBytes    = 32
	secretLength   = 43
	checksumLength = 6
	valueLength    = len(Prefix) + secretLength + checksumLength
	hintLength     = len(Prefix) + 4
	tailLength     = 4
)

// Lengths that a key without the prefix can have: such keys were brought from
// elsewhere.
const (
	minLegacy = 8
	maxLegacy = 200
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func newValue() string {
	body := NewSecret(Prefix)
	return body + checksum(body)
}

func base62(n *big.Int, length int) string {
	text := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = digits[digit.Int64()]
	}
	return string(text)
}

func checksum(body string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
}

// NewSecret returns a random value of 256 bits for other secrets than keys.
func NewSecret(prefix string) string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // never fails: it ends the process instead
	return prefix + base62(new(big.Int).SetBytes(secret), secretLength)
}

// NewToken returns the token of a partner's connection: its value, and the key as
// which it is kept. It looks and works like a key and is not counted among them.
func NewToken(of shop.ID, name string, scopes []Scope, app AppID, connection int64, now time.Time) (string, Key) {
	value := newValue()
	return value, Key{
		Shop: of, Name: name, Hint: hint(value), Tail: tail(value), Hash: HashOf(value), Scopes: slices.Clone(scopes), App: app, Connection: connection, CreatedAt: now,
	}
}

// wellFormed reports whether a value can be a key at all.
func wellFormed(value string) bool {
	if strings.HasPrefix(value, Prefix) {
		return len(value) == valueLength && checksum(value[:valueLength-checksumLength]) == value[valueLength-checksumLength:]
	}
	if len(value) < minLegacy || len(value) > maxLegacy {
		return false
	}
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return false
		}
	}
	return true
}

// hint returns the first characters of a value, to recognise it by: never more
// than a quarter of one that was brought from elsewhere.
func hint(value string) string { return value[:min(hintLength, len(value)/4)] }

// tail returns the last characters of a value of this service, to recognise it by.
func tail(value string) string {
	if len(value) != valueLength {
		return ""
	}
	return value[valueLength-tailLength:]
}

// HashOf returns the hash under which a value is kept.
func HashOf(value string) Hash { return sha256.Sum256([]byte(value)) }
