package staff

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Lengths of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// cost is what argon2id takes: rounds, and KiB of memory.
type cost struct{ time, memory uint32 }

// The cost that OWASP recommends, and a thousandth of it.
var (
	fullCost  = cost{2, 19 * 1024}
	lightCost = cost{1, 32}
)

const (
	argonThreads = 1
	argonKey     = 32
	argonSalt    = 16
)

// hashing bounds the memory that argon2id uses at one time.
var hashing = make(chan struct{}, 4)

// PasswordHash is an argon2id hash in the PHC format. Empty: the user has no password.
type PasswordHash string

// checkPassword refuses passwords that are too short, too long, or easy to guess from the
// e-mail address.
func checkPassword(password, email string) error {
	invalid := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("passwordInvalid").Field("password")
	}
	local, _, _ := strings.Cut(email, "@")
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return invalid("the password is not valid UTF-8")
	case n < MinPassword:
		return invalid("the password must have at least %d characters", MinPassword)
	case n > MaxPassword:
		return invalid("the password must have at most %d characters", MaxPassword)
	case strings.EqualFold(password, email), strings.Count(password, password[:1]) == len(password):
		return invalid("the password is too easy to guess")
	case len(local) >= 4 && strings.Contains(strings.ToLower(password), strings.ToLower(local)):
		return invalid("the password must not contain the e-mail address")
	}
	return nil
}

func hashPassword(password string, c cost) PasswordHash {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // it never fails
	key := argonOf(password, salt, c)
	encode := base64.RawStdEncoding.EncodeToString
	return PasswordHash(fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.time, argonThreads, encode(salt), encode(key)))
}

func argonOf(password string, salt []byte, c cost) []byte {
	hashing <- struct{}{}
	defer func() { <-hashing }()
	return argon2.IDKey([]byte(password), salt, c.time, c.memory, argonThreads, argonKey)
}

// decoy is verified where there is no hash, so that both take the same time.
var decoy = sync.OnceValue(func() PasswordHash { return hashPassword("no user has this password", fullCost) })

// matches reports whether a password has the hash. Without a hash none matches, after the
// same time.
func (h PasswordHash) matches(password string) bool {
	real := h != ""
	if !real {
		h = decoy()
	}
	if utf8.RuneCountInString(password) > MaxPassword {
		password, real = "", false
	}
	var version int
	var c cost
	var threads uint8
	parts := strings.Split(string(h), "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &c.memory, &c.time, &threads); err != nil || version != argon2.Version || threads != argonThreads {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	key, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil {
		return false
	}
	same := subtle.ConstantTimeCompare(argonOf(password, salt, c), key) == 1
	return same && real
}
