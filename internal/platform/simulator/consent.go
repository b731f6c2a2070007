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
	err := s.updateStore(shop, func(sh *store) error {
		i, err := s.checkConsent(sh, query)
		if err != nil {
			return err
		}
		scopes := strings.FieldsFunc(query.Get("scope"), func(r rune) bool { return r == ',' || r == ' ' })
		scopes = slices.DeleteFunc(scopes, func(name string) bool { return slices.Contains(i.app.Withheld, name) })
		code := authCode{Code: sh.issued("code"), Scopes: scopes, ExpiresAt: s.opts.Clock.Now().Add(codeLife)}
		i.grants.Codes = append(i.grants.Codes, code)
		s.save(sh)
		back := s.signed(i.app, shop, url.Values{"code": {code.Code}, "state": {query.Get("state")}})
		address = query.Get("redirect_uri") + "?" + back.Encode()
		return nil
	})
	return address, err
}

// checkConsent checks what an app asks for, and returns it.
func (s *Simulator) checkConsent(sh *store, query url.Values) (installation, error) {
	i, known := s.at(sh, query.Get("client_id"))
	switch {
	case !known:
		return i, fault.New(fault.NotFound, "no app has this client id")
	case !slices.Contains(i.app.Redirects, query.Get("redirect_uri")):
		return i, fault.New(fault.Invalid, "the redirect address is not one of the app's: %s", query.Get("redirect_uri"))
	}
	return i, nil
}

// SetScopes sets the access scopes that a store has granted to the first app, as an earlier
// version of the app left them.
func (s *Simulator) SetScopes(shop string, scopes []string) error {
	return s.updateStore(shop, func(sh *store) error {
		sh.Grants.Scopes = scopes
		s.save(sh)
		return nil
	})
}
