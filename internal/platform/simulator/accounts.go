package simulator

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// AccountClient is a client of a store's customer accounts, as a merchant makes one at the platform.
type AccountClient struct {
	ID        string
	Secret    string   `json:",omitempty"` // empty: a public client
	Redirects []string // addresses to which browsers may be sent after a sign-in
	SignOuts  []string // and after signing out
	Origins   []string // of a public client's requests
}

// SetAccountClient sets the client of a store's customer accounts.
func (s *Simulator) SetAccountClient(shop string, c AccountClient) error {
	return s.updateStore(shop, func(sh *store) error {
		sh.Accounts = &c
		s.save(sh)
		return nil
	})
}

// accountState is what the platform remembers of sign-ins. It ends with the process.
type accountState struct {
	key    *rsa.PrivateKey // signs ID tokens; made when it is first needed
	codes  map[string]accountGrant
	access map[string]accountGrant // by access token
}

// accountGrant is a customer who has signed in.
type accountGrant struct {
	shop, customer int64
	client         string
	redirect       string
	nonce          string
	challenge      string // of PKCE; empty: none
	until          time.Time
}

// How long what a sign-in issues lasts.
const (
	accountCodeLife   = 5 * time.Minute
	accountAccessLife = 2 * time.Hour
	accountTokenLife  = 24 * time.Hour
	accountKeyBits    = 2048
)

// accountPaths are where a store's customers sign in, at the platform. The number of the store stands
// for {shop}, as its own domain is not part of the addresses.
const accountPaths = "/authentication/{shop}"

// withAccounts also answers what customers and their clients ask. A store's domain says where.
func (s *Simulator) withAccounts(mux *http.ServeMux) http.Handler {
	mux.HandleFunc("GET /store/{domain}/.well-known/openid-configuration", s.accountDocument(func(at string) any {
		return map[string]any{
			"issuer": at, "authorization_endpoint": at + "/oauth/authorize", "token_endpoint": at + "/oauth/token", "end_session_endpoint": at + "/logout",
			"jwks_uri": at + "/.well-known/jwks.json", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
			"scopes_supported": []string{"openid", "email", "customer-account-api:full"},
		}
	}))
	mux.HandleFunc("GET /store/{domain}/.well-known/customer-account-api", s.accountDocument(func(at string) any {
		return map[string]string{"graphql_api": at + "/customer/api/2026-10/graphql"}
	}))
	mux.HandleFunc("GET "+accountPaths+"/.well-known/jwks.json", s.accountKeys)
	mux.HandleFunc("GET "+accountPaths+"/oauth/authorize", s.accountAuthorize)
	mux.HandleFunc("POST "+accountPaths+"/oauth/authorize", s.accountPick)
	mux.HandleFunc("POST "+accountPaths+"/oauth/token", s.accountToken)
	mux.HandleFunc("GET "+accountPaths+"/logout", s.accountSignOut)
	mux.HandleFunc("POST "+accountPaths+"/customer/api/{version}/graphql", s.accountQuery)
	return mux
}

// accountDocument answers with a document about the addresses below one.
func (s *Simulator) accountDocument(made func(at string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		sh := s.state.shops[r.PathValue("domain")]
		kind, _ := s.requestFault(r.PathValue("domain"), "customer accounts", r.URL.Path)
		s.mu.Unlock()
		if sh == nil || sh.Accounts == nil {
			writeJSON(w, http.StatusNotFound, map[string]string{"errors": "Not Found"})
			return
		}
		if s.accountFault(w, kind) {
			return
		}
		writeJSON(w, http.StatusOK, made(accountIssuer(r, sh)))
	}
}

// accountFault answers as a fault does, if there is one.
func (s *Simulator) accountFault(w http.ResponseWriter, kind FaultKind) bool {
	s.pulse.Add(1)
	switch kind {
	case "":
		return false
	case TimeoutBefore, TimeoutAfter, ConnectionReset:
		HangUp(w, kind)
	case Throttled:
		writeJSON(w, http.StatusTooManyRequests, map[string]string{"error": "Too Many Requests"})
	default:
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "Internal Server Error"})
	}
	return true
}

// accountIssuer is who issues ID tokens of a store.
func accountIssuer(r *http.Request, sh *store) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host + "/authentication/" + itoa(sh.ID)
}

// accountStore returns the store whose number a path has. The caller holds the lock.
func (s *Simulator) accountStore(r *http.Request) (*store, error) {
	id, _ := strconv.ParseInt(r.PathValue("shop"), 10, 64)
	i := slices.IndexFunc(s.state.order, func(sh *store) bool { return sh.ID == id })
	if i < 0 || s.state.order[i].Accounts == nil {
		return nil, fault.New(fault.NotFound, "the store has no customer accounts")
	}
	return s.state.order[i], nil
}

// accountKey returns the key that signs ID tokens. The caller holds the lock.
func (s *Simulator) accountKey() (*rsa.PrivateKey, error) {
	if s.signIns.key != nil {
		return s.signIns.key, nil
	}
	key, err := rsa.GenerateKey(rand.Reader, accountKeyBits)
	s.signIns.key = key
	return key, err
}

// accountKeyID names a key.
func accountKeyID(key *rsa.PrivateKey) string { return hexOf("key", key.N.String(), 0, 0)[:16] }

func (s *Simulator) accountKeys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	key, err := s.accountKey()
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text := base64.RawURLEncoding.EncodeToString
	writeJSON(w, http.StatusOK, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": accountKeyID(key), "n": text(key.N.Bytes()), "e": text(big.NewInt(int64(key.E)).Bytes()),
	}}})
}
