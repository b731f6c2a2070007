package partner

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Lengths of what an application may send, in characters.
const (
	minNonce, maxNonce = 8, 200
	maxState           = 500
)

// ConnectCommand is an application's wish to be connected.
type ConnectCommand struct {
	Domain      string // of the store
	Nonce       string // the application's own, which it is asked to confirm
	Scopes      []access.Scope
	ReturnURL   string
	ClientState string
	ClientIP    string
}

func (c ConnectCommand) check(a App) error {
	wrong := func(param, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Field(param)
	}
	if c.Domain == "" {
		return wrong("shop_domain", "shop_domain is required, such as store.myshopify.com")
	}
	if n := utf8.RuneCountInString(c.Nonce); n < minNonce || n > maxNonce {
		return wrong("callback_nonce", "callback_nonce has %d to %d characters", minNonce, maxNonce)
	}
	if utf8.RuneCountInString(c.ClientState) > maxState {
		return wrong("state", "state has at most %d characters", maxState)
	}
	if c.ReturnURL != "" {
		u, err := url.Parse(c.ReturnURL)
		base, baseErr := url.Parse(a.BaseURL)
		if err != nil || baseErr != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil || len(c.ReturnURL) > maxURL {
			return wrong("return_url", "return_url must be an address on the application's own host")
		}
	}
	return a.allowed(c.Scopes)
}

// verifyCall asks an application whether it was it that asked to be connected.
type verifyCall struct {
	Shop  string `json:"shop"`
	Nonce string `json:"nonce"`
	TS    int64  `json:"ts"` // seconds
}

type verifyAnswer struct {
	Nonce string `json:"nonce"`
	OK    bool   `json:"ok"`
}

// Connect begins a connection for an application that confirms, when it is
// called back, that it wants one. While one is pending the same is returned;
// while one stands, only scopes that it lacks are asked for.
func (s *Service) Connect(ctx context.Context, a App, cmd ConnectCommand) (Connection, error) {
	if err := cmd.check(a); err != nil {
		return Connection{}, err
	}
	store, err := s.Store.ShopByDomain(ctx, strings.ToLower(cmd.Domain))
	if err != nil {
		return Connection{}, err
	}
	if !store.Connected {
		return Connection{}, fault.New(fault.NotFound, "the store is not known here").Entity("shop").Code("shopNotFound")
	}
	if err := s.verify(ctx, a, store, cmd.Nonce); err != nil {
		return Connection{}, err
	}
	by := a.actor(cmd.ClientIP)
	return s.change(ctx, store.ID, func(tx Tx) (Connection, error) {
		now := s.Clock.Now()
		c, found, err := openOne(ctx, tx, a.ID, now)
		if err != nil {
			return Connection{}, err
		}
		switch {
		case found && c.State == Pending:
			return c, nil
		case found:
			more := without(cmd.Scopes, c.Scopes)
			if len(more) == 0 {
				if c.Token == 0 {
					c.notify(CallApproved, newCallID(), now) // the code never arrived
				}
				return c, put(ctx, tx, &c)
			}
			c.Wanted, c.ExpiresAt = more, now.Add(DecideWithin)
		default:
			c = Connection{
				Shop: store.ID, App: a.ID, State: Pending, Direction: ByPartner, Scopes: cmd.Scopes, RequestedBy: by.By, RequestedAt: now,
				ExpiresAt: now.Add(DecideWithin), ReturnURL: cmd.ReturnURL, ClientState: cmd.ClientState,
			}
		}
		return c, put(ctx, tx, &c, func() activity.Entry {
			return c.entry(activity.PartnerConnectionRequested, by, now, cmd.Scopes, "")
		})
	})
}

// verify calls an application back.
func (s *Service) verify(ctx context.Context, a App, store shop.Shop, nonce string) error {
	failed := func(err error, reason string) error {
		return fault.Because(fault.DependencyFailed, err, "the application did not confirm the request at %s/verify: %s", a.BaseURL, reason).Entity(entity).Code("callbackFailed")
	}
	now := s.Clock.Now()
	text, err := s.Caller.Post(ctx, a, "verify", Message{ID: newCallID(), At: now, Body: encode(verifyCall{store.Domain, nonce, now.Unix()})})
	if err != nil {
		return failed(err, err.Error())
	}
	var answer verifyAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return failed(err, "the answer is not JSON")
	}
	if !answer.OK || subtle.ConstantTimeCompare([]byte(answer.Nonce), []byte(nonce)) != 1 {
		return failed(nil, `the answer is not {"nonce": …, "ok": true} with the nonce of the request`)
	}
	return nil
}

// Exchange gives out the token of a connection for a code that was sent to the
// application. Each code works once.
func (s *Service) Exchange(ctx context.Context, a App, code string, id ConnectionID, clientIP string) (string, Connection, error) {
	invalid := fault.New(fault.Invalid, "the code is unknown, used or older than %d minutes", int(CodeLife.Minutes())).Entity(entity).Code("codeInvalid").Field("code")
	hash := access.HashOf(code)
	of, found, err := s.Store.ConnectionByCode(ctx, a.ID, hash)
	if fault.Is(err, fault.NotFound) || err == nil && id != 0 && id != found {
		return "", Connection{}, invalid
	}
	if err != nil {
		return "", Connection{}, err
	}
	var token string
	c, err := s.change(ctx, of, func(tx Tx) (Connection, error) {
		now := s.Clock.Now()
		c, err := tx.Connection(ctx, found)
		if err != nil {
			return c, err
		}
		if c.State != Connected || c.Code != hash || !now.Before(c.CodeUntil) {
			return c, invalid
		}
		if token, err = s.issue(ctx, tx, &c, a, now); err != nil {
			return c, err
		}
		c.cancelNotification()
		return c, put(ctx, tx, &c, func() activity.Entry { return c.entry(activity.PartnerConnected, a.actor(clientIP), now, c.Scopes, "") })
	})
	if err != nil {
		return "", Connection{}, err
	}
	return token, c, nil
}

// issue gives a connection a token. One that it had dies.
func (s *Service) issue(ctx context.Context, tx Tx, c *Connection, a App, now time.Time) (string, error) {
	if err := revoke(ctx, tx, c, now); err != nil {
		return "", err
	}
	value, key := access.NewToken(c.Shop, a.Name, c.Scopes, a.ID, int64(c.ID), now)
	if err := tx.PutKey(ctx, &key); err != nil {
		return "", err
	}
	c.Token, c.TokenAt, c.Code, c.CodeUntil = key.ID, now, access.Hash{}, time.Time{}
	return value, nil
}

// tokenOf returns the live token of a connection, or nil.
func tokenOf(ctx context.Context, tx Tx, c *Connection) (*access.Key, error) {
	if c.Token == 0 {
		return nil, nil //nolint:nilnil // no token is no failure
	}
	keys, err := tx.Keys(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(keys, func(k access.Key) bool { return k.ID == c.Token })
	if i < 0 {
		return nil, fmt.Errorf("the token %d of connection %d is not there", c.Token, c.ID)
	}
	return &keys[i], nil
}

// revoke ends the token of a connection.
func revoke(ctx context.Context, tx Tx, c *Connection, now time.Time) error {
	key, err := tokenOf(ctx, tx, c)
	if err != nil || key == nil {
		return err
	}
	c.Token, c.TokenAt = 0, time.Time{}
	key.RevokedAt = now
	return tx.PutKey(ctx, key)
}

// RotateToken gives a connection another token. The one before dies at once.
func (s *Service) RotateToken(ctx context.Context, a App, id ConnectionID, clientIP string) (string, Connection, error) {
	var token string
	c, err := s.ofApp(ctx, a, id, func(tx Tx, c Connection) (Connection, error) {
		if c.State != Connected || c.Token == 0 {
			return c, fault.New(fault.FailedPrecondition, "the connection has no token: it is %s", c.State).Entity(entity).Code("connectionState")
		}
		now := s.Clock.Now()
		var err error
		if token, err = s.issue(ctx, tx, &c, a, now); err != nil {
			return c, err
		}
		return c, put(ctx, tx, &c, func() activity.Entry {
			return c.entry(activity.PartnerConnected, a.actor(clientIP), now, c.Scopes, "the token was exchanged")
		})
	})
	if err != nil {
		return "", Connection{}, err
	}
	return token, c, nil
}

// Withdraw ends a connection for its application, and its token with it. One that
// has ended stays as it is.
func (s *Service) Withdraw(ctx context.Context, a App, id ConnectionID, clientIP string) (Connection, error) {
	return s.ofApp(ctx, a, id, func(tx Tx, c Connection) (Connection, error) {
		return s.disconnect(ctx, tx, c, a.actor(clientIP), "by the application")
	})
}

// Status returns a connection of an application.
func (s *Service) Status(ctx context.Context, a App, id ConnectionID) (Connection, error) {
	of, err := s.Store.ShopOfConnection(ctx, a.ID, id)
	if err != nil {
		return Connection{}, err
	}
	return s.connection(ctx, of, id)
}

// connection returns a connection of a shop.
func (s *Service) connection(ctx context.Context, of shop.ID, id ConnectionID) (c Connection, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		c, err = tx.Connection(ctx, id)
		return err
	})
	return c, err
}

// DomainOf returns the domain of a connection's store.
func (s *Service) DomainOf(ctx context.Context, c Connection) (string, error) {
	return s.Store.DomainOf(ctx, c.Shop)
}

// ofApp runs fn on a connection of an application.
func (s *Service) ofApp(ctx context.Context, a App, id ConnectionID, fn func(Tx, Connection) (Connection, error)) (Connection, error) {
	of, err := s.Store.ShopOfConnection(ctx, a.ID, id)
	if err != nil {
		return Connection{}, err
	}
	return s.change(ctx, of, func(tx Tx) (Connection, error) {
		c, err := tx.Connection(ctx, id)
		if err != nil {
			return c, err
		}
		return fn(tx, c)
	})
}

// change runs fn in a transaction that locks the shop's connections and keys.
func (s *Service) change(ctx context.Context, of shop.ID, fn func(Tx) (Connection, error)) (Connection, error) {
	var c Connection
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		err := tx.LockKeys(ctx)
		if err == nil {
			c, err = fn(tx)
		}
		return err
	})
	if err != nil {
		return Connection{}, err
	}
	return c, nil
}

// put writes a connection with its entry, and enqueues the pending notification of the
// application.
func put(ctx context.Context, tx Tx, c *Connection, entry ...func() activity.Entry) error {
	if err := tx.PutConnection(ctx, c); err != nil {
		return err
	}
	for _, e := range entry { // only now has a new connection its number
		if err := tx.Record(ctx, e()); err != nil {
			return err
		}
	}
	if c.CallAt.IsZero() {
		return nil
	}
	return tx.Enqueue(ctx, Work{c.Shop})
}

// openOne returns the connection of an application that has not ended. One that
// waited too long for a decision ends here.
func openOne(ctx context.Context, tx Tx, app access.AppID, now time.Time) (Connection, bool, error) {
	list, err := tx.OpenConnections(ctx)
	if err != nil {
		return Connection{}, false, err
	}
	i := slices.IndexFunc(list, func(c Connection) bool { return c.App == app })
	if i < 0 {
		return Connection{}, false, nil
	}
	c := list[i]
	if err := expire(ctx, tx, &c, now); err != nil {
		return Connection{}, false, err
	}
	return c, c.Open(), nil
}

// expire ends what waited too long for a decision.
func expire(ctx context.Context, tx Tx, c *Connection, now time.Time) error {
	if c.ExpiresAt.IsZero() || now.Before(c.ExpiresAt) {
		return nil
	}
	asked := c.Scopes
	if c.State == Pending {
		if err := c.move(Expired); err != nil {
			return err
		}
		c.end("not decided in time", now)
	} else {
		asked, c.Wanted, c.ExpiresAt = c.Wanted, nil, time.Time{}
	}
	return put(ctx, tx, c, func() activity.Entry {
		return c.entry(activity.PartnerConnectionRejected, activity.System, now, asked, "not decided in time")
	})
}

func newCallID() string { return "msg_" + rand.Text() }

// newSigning returns a signing secret in the form of the webhook standard.
func newSigning() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: it ends the process instead
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}

// encode writes a message. It panics on what cannot be written, which is a bug.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("message to an application: %v", err))
	}
	return text
}
