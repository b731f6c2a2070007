package simulator

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// tokenRequest is a request to the endpoint that issues tokens.
type tokenRequest struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	GrantType    string `json:"grant_type"`
	Code         string `json:"code"`
	RefreshToken string `json:"refresh_token"`
	SubjectToken string `json:"subject_token"`
	SubjectType  string `json:"subject_token_type"`
	Expiring     string `json:"expiring"`
}

// tokenAnswer is what it issues.
type tokenAnswer struct {
	AccessToken      string `json:"access_token"`
	Scope            string `json:"scope"`
	ExpiresIn        int64  `json:"expires_in,omitempty"`
	RefreshToken     string `json:"refresh_token,omitempty"`
	RefreshExpiresIn int64  `json:"refresh_token_expires_in,omitempty"`
}

// serveToken answers POST /admin/oauth/access_token. What is presented says which store
// is meant.
func (s *Simulator) serveToken(w http.ResponseWriter, r *http.Request) {
	var req tokenRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	var answer tokenAnswer
	refusal := ""
	var kind FaultKind
	err := s.update(func() error {
		sh := s.presented(req)
		domain := ""
		if sh != nil {
			domain = sh.Domain
		}
		var roll uint64
		kind, roll = s.requestFault(domain, "oauth "+req.GrantType, req.Code+req.RefreshToken+req.SubjectToken)
		if kind == "" || kind == TimeoutAfter || ((kind == HTTP500 || kind == ConnectionReset) && roll&1 == 1) {
			answer, refusal = s.issue(sh, req)
		}
		return nil
	})
	if err != nil {
		http.Error(w, "the simulated platform has stopped", http.StatusInternalServerError)
		return
	}
	s.pulse.Add(1)
	switch {
	case kind == TimeoutBefore || kind == TimeoutAfter:
		hangUp(w, false)
	case kind == ConnectionReset:
		hangUp(w, true)
	case kind == HTTP500:
		writeJSON(w, http.StatusInternalServerError, map[string]string{"errors": "Internal Server Error"})
	case kind == Throttled:
		writeJSON(w, http.StatusTooManyRequests, map[string]string{"errors": "Too Many Requests"})
	case refusal == "invalid_client":
		writeJSON(w, http.StatusUnauthorized, map[string]string{"error": refusal})
	case refusal != "":
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": refusal})
	default:
		writeJSON(w, http.StatusOK, answer)
	}
}

// presented returns the store of what a request presents, or nil.
func (s *Simulator) presented(req tokenRequest) *store {
	if req.SubjectToken != "" {
		if shop, ok := s.sessionShop(req.SubjectToken); ok {
			return s.state.shops[shop]
		}
	}
	for _, sh := range s.state.shops {
		g := &sh.Grants
		switch {
		case req.Code != "" && slices.ContainsFunc(g.Codes, func(c authCode) bool { return c.Code == req.Code }),
			req.RefreshToken != "" && (g.Refresh.Token == req.RefreshToken || g.Before.Token == req.RefreshToken),
			req.SubjectToken != "" && (sh.Token == req.SubjectToken || g.Migrated == req.SubjectToken):
			return sh
		}
	}
	return nil
}

// issue issues tokens, or returns why not.
func (s *Simulator) issue(sh *store, req tokenRequest) (answer tokenAnswer, refusal string) {
	if req.ClientID != s.app.ClientID || req.ClientSecret != s.opts.AppSecret || s.opts.AppSecret == "" {
		return answer, "invalid_client"
	}
	if sh == nil {
		if req.SubjectToken != "" {
			return answer, "invalid_subject_token"
		}
		return answer, "invalid_grant"
	}
	now := s.opts.Clock.Now()
	defer s.save(sh)
	g := &sh.Grants
	switch {
	case req.Code != "":
		i := slices.IndexFunc(g.Codes, func(c authCode) bool { return c.Code == req.Code })
		code := g.Codes[i]
		g.Codes = slices.Delete(g.Codes, i, i+1)
		if !now.Before(code.ExpiresAt) {
			return answer, "invalid_request"
		}
		sh.UninstalledAt, g.Scopes = time.Time{}, code.Scopes
		return s.first(sh, req), ""
	case !sh.UninstalledAt.IsZero():
		return answer, "invalid_grant"
	case req.GrantType == "refresh_token":
		return s.refresh(sh, req.RefreshToken)
	case strings.HasSuffix(req.SubjectType, ":id_token"):
		return s.first(sh, req), ""
	}
	return s.migrate(sh, req)
}

// first issues tokens that a user has caused. Those of before end.
func (s *Simulator) first(sh *store, req tokenRequest) tokenAnswer {
	g := &sh.Grants
	s.forgetTokens(sh)
	if req.Expiring != "1" {
		delete(s.state.byToken, sh.Token)
		sh.Token, g.Retired = sh.issued("shpat"), false
		s.state.byToken[sh.Token] = sh
		return tokenAnswer{AccessToken: sh.Token, Scope: strings.Join(g.Scopes, ",")}
	}
	g.Retired = true
	return s.pair(sh)
}

// forgetTokens ends every token that expires.
func (s *Simulator) forgetTokens(sh *store) {
	g := &sh.Grants
	for _, a := range g.Access {
		delete(s.state.byToken, a.Token)
	}
	g.Access, g.Refresh, g.Before, g.Migrated = nil, refreshToken{}, refreshToken{}, ""
}

// pair issues an access token and a refresh token.
func (s *Simulator) pair(sh *store) tokenAnswer {
	g, now := &sh.Grants, s.opts.Clock.Now()
	g.Access = slices.DeleteFunc(g.Access, func(a accessToken) bool {
		ended := s.opts.Tokens.AccessEndsEarly || !now.Before(a.ExpiresAt)
		if ended {
			delete(s.state.byToken, a.Token)
		}
		return ended
	})
	access := accessToken{sh.issued("shpat"), now.Add(accessLife)}
	g.Access = append(g.Access, access)
	s.state.byToken[access.Token] = sh
	g.Refresh = refreshToken{Token: sh.issued("shprt"), ExpiresAt: now.Add(refreshLife)}
	return s.shown(sh)
}

// shown returns the newest pair.
func (s *Simulator) shown(sh *store) tokenAnswer {
	g, now := &sh.Grants, s.opts.Clock.Now()
	last := &g.Access[len(g.Access)-1]
	if !now.Before(last.ExpiresAt) {
		last.ExpiresAt = now.Add(accessLife)
	}
	return tokenAnswer{
		AccessToken: last.Token, Scope: strings.Join(g.Scopes, ","), ExpiresIn: int64(last.ExpiresAt.Sub(now).Seconds()),
		RefreshToken: g.Refresh.Token, RefreshExpiresIn: int64(g.Refresh.ExpiresAt.Sub(now).Seconds()),
	}
}

// refresh issues the pair that follows a refresh token. The token is accepted again until
// the one that was issued is used, in case the answer was lost.
func (s *Simulator) refresh(sh *store, token string) (answer tokenAnswer, refusal string) {
	g, now := &sh.Grants, s.opts.Clock.Now()
	switch {
	case token == g.Refresh.Token && now.Before(g.Refresh.ExpiresAt):
		g.Before, g.Migrated = g.Refresh, ""
		g.Before.UsedAt = now
		return s.pair(sh), ""
	case token == g.Before.Token && now.Before(g.Before.ExpiresAt) && now.Before(g.Before.UsedAt.Add(retryLife)):
		if !s.opts.Tokens.RetryIssuesAnother {
			return s.shown(sh), ""
		}
		lost := g.Access[len(g.Access)-1]
		delete(s.state.byToken, lost.Token)
		g.Access = g.Access[:len(g.Access)-1]
		return s.pair(sh), ""
	}
	return answer, "invalid_grant"
}

// migrate exchanges the token that never expires. It may be repeated while the pair that
// was issued is not refreshed.
func (s *Simulator) migrate(sh *store, req tokenRequest) (answer tokenAnswer, refusal string) {
	g, now := &sh.Grants, s.opts.Clock.Now()
	switch {
	case req.SubjectToken == g.Migrated && now.Before(g.MigratedAt.Add(migrationLife)):
		return s.shown(sh), ""
	case req.SubjectToken != sh.Token || g.Retired || req.Expiring != "1":
		return answer, "invalid_subject_token"
	}
	g.Retired, g.Migrated, g.MigratedAt = true, sh.Token, now
	return s.pair(sh), ""
}
