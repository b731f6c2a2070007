package connection

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// StateLife is how long a merchant may take to agree.
const StateLife = 15 * time.Minute

// StateHash is the SHA-256 of a state.
type StateHash [32]byte

func hashState(state string) StateHash { return sha256.Sum256([]byte(state)) }

// newState returns a state, which the platform sends back, and a cookie, which the
// browser does: it binds the state to the browser, the app, the store and a time. The
// store keeps nothing until a state is used, so that requests of strangers write nothing.
func (s *Service) newState(app AppName, domain string) (state, cookie string) {
	state = rand.Text()
	expires := strconv.FormatInt(s.Clock.Now().Add(StateLife).Unix(), 10)
	return state, state + "." + expires + "." + s.signState(app, domain, state, expires)
}

func (s *Service) signState(app AppName, domain, state, expires string) string {
	mac := hmac.New(sha256.New, s.StateKeys[app])
	mac.Write([]byte("perennial installation\x00" + string(app) + "\x00" + domain + "\x00" + state + "\x00" + expires))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkState checks that the callback belongs to the installation that this browser has
// started, and returns when that expires.
func (s *Service) checkState(app AppName, back platform.Callback, cookie string, now time.Time) (time.Time, error) {
	state, rest, _ := strings.Cut(cookie, ".")
	expires, signature, _ := strings.Cut(rest, ".")
	if len(s.StateKeys[app]) == 0 || state == "" || !hmac.Equal([]byte(state), []byte(back.State)) ||
		!hmac.Equal([]byte(signature), []byte(s.signState(app, back.Shop, state, expires))) {
		return time.Time{}, fault.New(fault.Unauthenticated, "this installation was not started in this browser: start it again").Entity("shop").Code("stateInvalid")
	}
	at, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || now.Unix() >= at {
		return time.Time{}, fault.New(fault.Unauthenticated, "this installation took too long: start it again").Entity("shop").Code("stateExpired")
	}
	return time.Unix(at, 0), nil
}
