package simulator

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// accountToken answers the exchange of a code. A code works once, for the client that it was issued to.
func (s *Simulator) accountToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if err := r.ParseForm(); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	s.mu.Lock()
	sh, err := s.accountStore(r)
	if err != nil {
		s.mu.Unlock()
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "not_found"})
		return
	}
	kind, _ := s.requestFault(sh.Domain, "customer accounts", r.PostForm.Get("code"))
	var answer map[string]any
	refusal := ""
	if kind == "" {
		answer, refusal = s.accountExchange(r, sh)
	}
	s.mu.Unlock()
	switch {
	case s.accountFault(w, kind):
	case refusal == "invalid_client":
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": refusal})
	case refusal == "forbidden": // the platform says nothing more
		writeJSON(w, http.StatusForbidden, map[string]string{"error": "You do not have permission to access this website"})
	case refusal != "":
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": refusal})
	default:
		writeJSON(w, http.StatusOK, answer)
	}
}

// accountExchange exchanges a code, or returns why not. The caller holds the lock.
func (s *Simulator) accountExchange(r *http.Request, sh *store) (answer map[string]any, refusal string) {
	form, now := r.PostForm, s.opts.Clock.Now()
	if refusal := accountCaller(r, sh.Accounts); refusal != "" {
		return nil, refusal
	}
	if form.Get("grant_type") != "authorization_code" {
		return nil, "unsupported_grant_type"
	}
	g, known := s.signIns.codes[form.Get("code")]
	delete(s.signIns.codes, form.Get("code"))
	switch {
	case !known || g.shop != sh.ID || g.client != sh.Accounts.ID || g.redirect != form.Get("redirect_uri") || !now.Before(g.until):
		return nil, "invalid_grant"
	case g.challenge != "" && !accountProof(g.challenge, form.Get("code_verifier")):
		return nil, "invalid_grant"
	}
	access := "shcat_" + rand.Text()
	g.until = now.Add(accountAccessLife)
	if s.signIns.access == nil {
		s.signIns.access = map[string]accountGrant{}
	}
	s.signIns.access[access] = g
	idToken, err := s.accountIDToken(r, sh, g, access)
	if err != nil {
		return nil, "server_error"
	}
	return map[string]any{
		"access_token": access, "token_type": "bearer", "expires_in": int64(accountAccessLife.Seconds()), "id_token": idToken, "refresh_token": "shcrt_" + rand.Text(),
		"scope": "openid email customer-account-api:full",
	}, ""
}

// accountCaller says why the platform does not listen to who asks, or "". A confidential client proves
// itself with its secret. A public one names an origin that is registered; every one names itself.
func accountCaller(r *http.Request, c *AccountClient) string {
	if r.Header.Get("User-Agent") == "" {
		return "forbidden"
	}
	if c.Secret == "" {
		if !slices.Contains(c.Origins, r.Header.Get("Origin")) {
			return "forbidden"
		}
		if r.PostForm.Get("client_id") != c.ID {
			return "invalid_client"
		}
		return ""
	}
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if id != c.ID || subtle.ConstantTimeCompare([]byte(secret), []byte(c.Secret)) != 1 {
		return "invalid_client"
	}
	return ""
}

// accountProof reports whether a verifier is that of a challenge (PKCE, S256).
func accountProof(challenge, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return len(verifier) >= 43 && len(verifier) <= 128 && base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}

// accountIDToken returns the ID token of a sign-in. Its subject is not the customer's number: clients
// have to ask the API who it is.
func (s *Simulator) accountIDToken(r *http.Request, sh *store, g accountGrant, access string) (string, error) {
	key, err := s.accountKey()
	if err != nil {
		return "", err
	}
	now := s.opts.Clock.Now()
	sum := sha256.Sum256([]byte(access))
	claims := map[string]any{
		"iss": accountIssuer(r, sh), "aud": g.client, "sub": uuidOf("account", sh.Domain, g.customer, 0), "iat": now.Unix(), "exp": now.Add(accountTokenLife).Unix(),
		"nonce": g.nonce, "at_hash": base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]),
	}
	if c, known := sh.customers.get(g.customer); known {
		claims["email"], claims["email_verified"] = c.Email, true
	}
	head, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": accountKeyID(key)})
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// accountIssued reports whether the platform has issued an ID token, expired or not.
func (s *Simulator) accountIssued(token string) bool {
	text, signature, _ := cutLast(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || s.signIns.key == nil || strings.Count(token, ".") != 2 {
		return false
	}
	digest := sha256.Sum256([]byte(text))
	return rsa.VerifyPKCS1v15(&s.signIns.key.PublicKey, crypto.SHA256, digest[:], raw) == nil
}
