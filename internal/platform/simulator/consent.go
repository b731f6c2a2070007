package simulator

import (
	"net/url"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Consent is a merchant who agrees on the consent page of the app that a query asks for.
// It returns the address to which the platform then sends the browser.
func (s *Simulator) Consent(shop string, query url.Values) (string, error) {
	var address string
	err := s.update(func() error {
		sh, err := s.store(shop)
		if err != nil {
			return err
		}
		if err := s.checkConsent(query); err != nil {
			return err
		}
		scopes := strings.FieldsFunc(query.Get("scope"), func(r rune) bool { return r == ',' || r == ' ' })
		scopes = slices.DeleteFunc(scopes, func(name string) bool { return slices.Contains(s.app.Withheld, name) })
		code := authCode{Code: sh.issued("code"), Scopes: scopes, ExpiresAt: s.opts.Clock.Now().Add(codeLife)}
		sh.Grants.Codes = append(sh.Grants.Codes, code)
		s.save(sh)
		back := s.signed(shop, url.Values{"code": {code.Code}, "state": {query.Get("state")}})
		address = query.Get("redirect_uri") + "?" + back.Encode()
		return nil
	})
	return address, err
}

// checkConsent checks what an app asks for.
func (s *Simulator) checkConsent(query url.Values) error {
	switch {
	case query.Get("client_id") != s.app.ClientID || s.app.ClientID == "":
		return fault.New(fault.NotFound, "no app has this client id")
	case !slices.Contains(s.app.Redirects, query.Get("redirect_uri")):
		return fault.New(fault.Invalid, "the redirect address is not one of the app's: %s", query.Get("redirect_uri"))
	}
	return nil
}

// SetScopes sets the access scopes that a store has granted, as an app's earlier version
// left them.
func (s *Simulator) SetScopes(shop string, scopes []string) error {
	return s.update(func() error {
		sh, err := s.store(shop)
		if err != nil {
			return err
		}
		sh.Grants.Scopes = scopes
		s.save(sh)
		return nil
	})
}
