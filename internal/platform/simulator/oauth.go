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
		i, known := s.presented(req)
		domain := ""
		if known {
			domain = i.sh.Domain
		}
		var roll uint64
		kind, roll = s.requestFault(domain, "oauth "+req.GrantType, req.Code+req.RefreshToken+req.SubjectToken)
		if kind.executed(roll) {
			answer, refusal = s.issue(i, known, req)
		}
		return nil
	})
	if err != nil {
		http.Error(w, "the simulated platform has stopped", http.StatusInternalServerError)
		return
	}
	s.pulse.Add(1)
	switch {
	case kind == TimeoutBefore || kind == TimeoutAfter || kind == ConnectionReset:
		HangUp(w, kind)
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

// presented returns the app that makes a request, in the store of what it presents, or false.
func (s *Simulator) presented(req tokenRequest) (installation, bool) {
	if req.SubjectToken != "" {
		for _, app := range s.apps() {
			if shop, ok := s.sessionShop(app, req.SubjectToken); ok && app.ClientID == req.ClientID && s.state.shops[shop] != nil {
				return s.at(s.state.shops[shop], app.ClientID)
			}
		}
	}
	for _, sh := range s.state.shops {
		i, known := s.at(sh, req.ClientID)
		if !known {
			return i, false
		}
		g := i.grants
		switch {
		case req.Code != "" && slices.ContainsFunc(g.Codes, func(c authCode) bool { return c.Code == req.Code }),
			req.RefreshToken != "" && (g.Refresh.Token == req.RefreshToken || g.Before.Token == req.RefreshToken),
			req.SubjectToken != "" && (*i.token == req.SubjectToken || g.Migrated == req.SubjectToken):
			return i, true
		}
	}
	return installation{}, false
}

// authentic reports whether a request has the client secret of its app.
func (s *Simulator) authentic(req tokenRequest) bool {
	i := slices.IndexFunc(s.apps(), func(a AppSettings) bool { return a.ClientID == req.ClientID })
	return i >= 0 && req.ClientSecret != "" && req.ClientSecret == s.secret(s.apps()[i])
}

// issue issues tokens to an app that is known, or returns why not.
func (s *Simulator) issue(i installation, known bool, req tokenRequest) (answer tokenAnswer, refusal string) {
	if !s.authentic(req) {
		return answer, "invalid_client"
	}
	if !known {
		if req.SubjectToken != "" {
			return answer, "invalid_subject_token"
		}
		return answer, "invalid_grant"
	}
	now := s.opts.Clock.Now()
	defer s.save(i.sh)
	g := i.grants
	switch {
	case req.Code != "":
		n := slices.IndexFunc(g.Codes, func(c authCode) bool { return c.Code == req.Code })
		code := g.Codes[n]
		g.Codes = slices.Delete(g.Codes, n, n+1)
		if !now.Before(code.ExpiresAt) {
			return answer, "invalid_request"
		}
		*i.gone, g.Scopes = time.Time{}, code.Scopes
		return s.first(i, req), ""
	case !i.installed():
		return answer, "invalid_grant"
	case req.GrantType == "refresh_token":
		return s.refresh(i, req.RefreshToken)
	case strings.HasSuffix(req.SubjectType, ":id_token"):
		return s.first(i, req), ""
	}
	return s.migrate(i, req)
}

// first issues tokens that a user has caused. Those of before end.
func (s *Simulator) first(i installation, req tokenRequest) tokenAnswer {
	g := i.grants
	s.forgetTokens(i)
	if req.Expiring != "1" {
		delete(s.state.byToken, *i.token)
		*i.token, g.Retired = i.sh.issued("shpat"), false
		s.open(i, *i.token)
		return tokenAnswer{AccessToken: *i.token, Scope: strings.Join(g.Scopes, ",")}
	}
	g.Retired = true
	return s.pair(i)
}

// open makes a token of an app findable.
func (s *Simulator) open(i installation, token string) {
	s.state.byToken[token] = opening{i.sh, i.owner}
}

// forgetTokens ends every token that expires.
func (s *Simulator) forgetTokens(i installation) {
	g := i.grants
	for _, a := range g.Access {
		delete(s.state.byToken, a.Token)
	}
	g.Access, g.Refresh, g.Before, g.Migrated = nil, refreshToken{}, refreshToken{}, ""
}

// pair issues an access token and a refresh token.
func (s *Simulator) pair(i installation) tokenAnswer {
	g, now := i.grants, s.opts.Clock.Now()
	g.Access = slices.DeleteFunc(g.Access, func(a accessToken) bool {
		ended := s.opts.Tokens.AccessEndsEarly || !now.Before(a.ExpiresAt)
		if ended {
			delete(s.state.byToken, a.Token)
		}
		return ended
	})
	access := accessToken{i.sh.issued("shpat"), now.Add(accessLife)}
	g.Access = append(g.Access, access)
	s.open(i, access.Token)
	g.Refresh = refreshToken{Token: i.sh.issued("shprt"), ExpiresAt: now.Add(refreshLife)}
	return s.shown(i)
}

// shown returns the newest pair.
func (s *Simulator) shown(i installation) tokenAnswer {
	g, now := i.grants, s.opts.Clock.Now()
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
func (s *Simulator) refresh(i installation, token string) (answer tokenAnswer, refusal string) {
	g, now := i.grants, s.opts.Clock.Now()
	switch {
	case token == g.Refresh.Token && now.Before(g.Refresh.ExpiresAt):
		g.Before, g.Migrated = g.Refresh, ""
		g.Before.UsedAt = now
		return s.pair(i), ""
	case token == g.Before.Token && now.Before(g.Before.ExpiresAt) && now.Before(g.Before.UsedAt.Add(retryLife)):
		if !s.opts.Tokens.RetryIssuesAnother {
			return s.shown(i), ""
		}
		lost := g.Access[len(g.Access)-1]
		delete(s.state.byToken, lost.Token)
		g.Access = g.Access[:len(g.Access)-1]
		return s.pair(i), ""
	}
	return answer, "invalid_grant"
}

// migrate exchanges the token that never expires. It may be repeated while the pair that
// was issued is not refreshed.
func (s *Simulator) migrate(i installation, req tokenRequest) (answer tokenAnswer, refusal string) {
	g, now := i.grants, s.opts.Clock.Now()
	switch {
	case req.SubjectToken == g.Migrated && now.Before(g.MigratedAt.Add(migrationLife)):
		return s.shown(i), ""
	case req.SubjectToken != *i.token || g.Retired || req.Expiring != "1":
		return answer, "invalid_subject_token"
	}
	g.Retired, g.Migrated, g.MigratedAt = true, *i.token, now
	return s.pair(i), ""
}
