package staff

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
)

// recoveryCodes is how many codes a user gets who turns the second factor on.
const recoveryCodes = 10

// totpPeriod is how long a code of an authenticator app is shown, in seconds.
const totpPeriod = 30

// SecondFactor is what an authenticator app shares with the service. The zero value is off.
type SecondFactor struct {
	Secret   string // base32; stored encrypted
	LastStep int64  // of the code that was used last: it is not accepted again
	Recovery []Hash // of the recovery codes that are left
}

// On reports whether the user signs in with a second factor.
func (f SecondFactor) On() bool { return f.Secret != "" }

var totpOptions = totp.ValidateOpts{Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// check returns the factor after a code was used, and whether the code is right: that of
// now, or of one period before or after, or a recovery code.
func (f SecondFactor) check(code string, now time.Time) (SecondFactor, bool) {
	code = strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, strings.ToUpper(code))
	step := now.Unix() / totpPeriod
	for _, at := range []int64{step - 1, step, step + 1} {
		want, err := totp.GenerateCodeCustom(f.Secret, time.Unix(at*totpPeriod, 0), totpOptions)
		if err == nil && at > f.LastStep && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			f.LastStep = at
			return f, true
		}
	}
	used := secret.HashOf(code)
	if i := slices.Index(f.Recovery, used); i >= 0 {
		f.Recovery = slices.Delete(slices.Clone(f.Recovery), i, i+1)
		return f, true
	}
	return f, false
}

// newTOTPSecret returns a secret for an authenticator app, in base32.
func newTOTPSecret() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b) // it never fails
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
}

// newRecoveryCodes returns codes as they are shown once, and their hashes.
func newRecoveryCodes() (shown []string, hashes []Hash) {
	for range recoveryCodes {
		code := rand.Text()[:16]
		hashes = append(hashes, secret.HashOf(code))
		shown = append(shown, code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:])
	}
	return shown, hashes
}

// Setup is what an authenticator app is given.
type Setup struct {
	Secret string // base32, to be typed
	URL    string // otpauth://, to be scanned
}

func setupOf(secret, email string) (Setup, error) {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(secret))
	if err != nil || len(raw) != 20 {
		return Setup{}, fault.New(fault.Invalid, "the key of the authenticator app is damaged: start again").Entity(entity).Code("totpSecretInvalid")
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "Perennial", AccountName: email, Period: totpPeriod, Secret: raw, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return Setup{}, err
	}
	return Setup{Secret: key.Secret(), URL: key.URL()}, nil
}
