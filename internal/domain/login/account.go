package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// AccountLife is how long a sign-in with an account may take.
const AccountLife = 15 * time.Minute

// Paths of the portal that the merchant registers at the platform.
const (
	AccountReturnPath  = "/signin/account/return" // to which the platform sends the browser after a sign-in
	AccountSignOutPath = "/signin"                // and after signing out
)

// AccountAddresses are the addresses that a merchant registers for the client of customer accounts.
type AccountAddresses struct {
	Return  string // "callback URI" at the platform
	Origin  string // "JavaScript origin", of a public client
	SignOut string // "logout URI"
}

// AccountAddresses returns those of a store.
func (s *Service) AccountAddresses(of shop.Shop) AccountAddresses {
	return AccountAddresses{s.address(of, AccountReturnPath), strings.TrimSuffix(s.PublicURL, "/"), s.address(of, AccountSignOutPath)}
}

// AccountSignIn is a sign-in with an account at the store that has begun. Only the platform knows its state,
// and only the browser its secret.
type AccountSignIn struct {
	State     Hash
	Browser   Hash
	Nonce     string // empty after its use, as the verifier
	Verifier  string // of PKCE
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero until it is used
}

// usable says why a sign-in cannot end in a browser, or nil.
func (a AccountSignIn) usable(browser string, now time.Time) error {
	is := secret.HashOf(browser)
	switch {
	case !secret.WellFormed(browser) || subtle.ConstantTimeCompare(is[:], a.Browser[:]) != 1:
		return fault.New(fault.FailedPrecondition, "the sign-in was begun in another browser").Code("accountBrowser")
	case !a.UsedAt.IsZero():
		return fault.New(fault.FailedPrecondition, "this sign-in was used already").Code("accountUsed")
	case !now.Before(a.ExpiresAt):
		return fault.New(fault.FailedPrecondition, "this sign-in has expired").Code("accountExpired")
	}
	return nil
}

// accountUnknown is the failure of a sign-in that did not begin here.
func accountUnknown() error {
	return fault.New(fault.NotFound, "this sign-in is not known").Code("accountUnknown")
}

// accountFailure returns what a failure of the platform means for who signs in.
func accountFailure(err error) error {
	if refused, ok := errors.AsType[*platform.Refusal](err); ok {
		if refused.Code == platform.CodeInvalidClient {
			return fault.Because(fault.Unavailable, err, "the platform does not accept the store's client of customer accounts").Code("accountSetting")
		}
		return fault.Because(fault.FailedPrecondition, err, "the platform did not confirm the sign-in").Code("accountRefused")
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Because(fault.Unavailable, err, "the platform does not answer").Code("accountUnavailable")
}

// BeginAccount begins a sign-in with an account and returns where the browser goes. The browser keeps
// the secret that is returned, and gives it back when another sign-in begins.
func (s *Service) BeginAccount(ctx context.Context, of shop.Shop, browser, clientIP string) (to, kept string, err error) {
	client, err := s.accountClient(ctx, of)
	if err != nil {
		return "", "", err
	}
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error { return s.count(ctx, tx, accountKind, clientIP, accountPerClient) })
	if err != nil {
		return "", "", err
	}
	if !secret.WellFormed(browser) {
		browser, _ = secret.New()
	}
	request, hash := s.accountRequest(of)
	if to, err = s.Accounts.SignInURL(ctx, client, request); err != nil {
		return "", "", accountFailure(err)
	}
	now := s.Clock.Now()
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error {
		return tx.AddAccountSignIn(ctx, AccountSignIn{
			State: hash, Browser: secret.HashOf(browser), Nonce: request.Nonce, Verifier: request.Verifier, CreatedAt: now, ExpiresAt: now.Add(AccountLife),
		})
	})
	return to, browser, err
}

// accountRequest returns a new request, and what is stored of its state.
func (s *Service) accountRequest(of shop.Shop) (platform.AccountRequest, Hash) {
	r := platform.AccountRequest{Redirect: s.address(of, AccountReturnPath)}
	var hash Hash
	r.State, hash = secret.New()
	r.Nonce, _ = secret.New()
	r.Verifier, _ = secret.New()
	return r, hash
}

// accountClient returns the client of a store, or why customers cannot sign in with an account.
func (s *Service) accountClient(ctx context.Context, of shop.Shop) (platform.AccountClient, error) {
	client, err := s.Store.AccountClient(ctx, of.ID)
	if err != nil {
		return client, err
	}
	if client.ID == "" || s.Accounts == nil || s.PublicURL == "" {
		return client, fault.New(fault.FailedPrecondition, "the store has no sign-in with an account").Code("accountOff")
	}
	client.Shop = of.Domain
	return client, nil
}

// AccountReturn is a browser that comes back from the platform.
type AccountReturn struct {
	State   string
	Code    string
	Problem string // the platform's code of why there is no sign-in; empty: there is one
	Browser string // the secret that BeginAccount returned
}

// accountCancelled are the codes with which the platform says that the customer did not sign in.
var accountCancelled = map[string]bool{"access_denied": true, "login_required": true, "consent_required": true, "interaction_required": true}

// FinishAccount ends a sign-in with an account and returns the value of the new session. Whatever comes
// of it, it cannot be used again.
func (s *Service) FinishAccount(ctx context.Context, of shop.Shop, back AccountReturn) (string, error) {
	begun, err := s.takeAccountSignIn(ctx, of, back)
	if err != nil {
		return "", err
	}
	switch {
	case accountCancelled[back.Problem]:
		return "", fault.New(fault.FailedPrecondition, "the customer did not sign in").Code("accountCancelled")
	case back.Problem != "" || back.Code == "" || len(back.Code) > maxCode:
		return "", fault.New(fault.FailedPrecondition, "the platform sent no code, but %.64q", back.Problem).Code("accountRefused")
	}
	client, err := s.accountClient(ctx, of)
	if err != nil {
		return "", err
	}
	account, err := s.Accounts.Account(ctx, client, platform.AccountRequest{
		Redirect: s.address(of, AccountReturnPath), State: back.State, Nonce: begun.Nonce, Verifier: begun.Verifier,
	}, back.Code)
	if err != nil {
		return "", accountFailure(err)
	}
	now := s.Clock.Now()
	value, hash := secret.New()
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error {
		return tx.AddSession(ctx, Session{
			Hash: hash, Customer: account.Customer, Via: ByAccount, IDToken: account.IDToken, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionLife),
		})
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// maxCode is the longest code of the platform that is used, in bytes.
const maxCode = 4096

// takeAccountSignIn uses up the sign-in that a browser comes back from, and returns it.
func (s *Service) takeAccountSignIn(ctx context.Context, of shop.Shop, back AccountReturn) (begun AccountSignIn, err error) {
	if !secret.WellFormed(back.State) {
		return begun, accountUnknown()
	}
	hash, now := secret.HashOf(back.State), s.Clock.Now()
	err = s.Store.Update(ctx, of.ID, func(tx Tx) error {
		begun, err = tx.AccountSignIn(ctx, hash)
		if fault.Is(err, fault.NotFound) {
			return accountUnknown()
		}
		if err != nil {
			return err
		}
		if err := begun.usable(back.Browser, now); err != nil {
			return err
		}
		return tx.UseAccountSignIn(ctx, hash, now)
	})
	return begun, err
}

// accountSignOut returns the address at which the customer of a session that has ended signs out at the
// platform; empty: there is none, or it is not known now, and the customer is signed out here all the same.
func (s *Service) accountSignOut(ctx context.Context, of shop.Shop, ended Session) string {
	if ended.Via != ByAccount || ended.IDToken == "" {
		return ""
	}
	client, err := s.accountClient(ctx, of)
	if err != nil {
		return ""
	}
	to, err := s.Accounts.SignOutURL(ctx, client, ended.IDToken, s.address(of, AccountSignOutPath))
	if err != nil {
		return ""
	}
	return to
}
