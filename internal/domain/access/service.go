package access

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const entity = "apiKey"

// MaxName is the length of the longest name of a key, in characters.
const MaxName = 100

// How often a key's last use is noted, and how long that may take.
const (
	noteEvery = time.Minute
	noteTime  = 5 * time.Second
)

// Caller is who a key stands for.
type Caller struct {
	Key  Key
	Shop shop.Shop
}

// Service makes, checks and revokes keys. A key is looked up for every request
// and never remembered, so that a revoked one stops at once, on every node.
type Service struct {
	Store Store
	Clock clock.Clock
	Log   *slog.Logger

	noting sync.Map // Hash of each key whose use is being noted
	notes  sync.WaitGroup
}

// Create makes a key and returns its value, which nobody can read again. With
// no scopes the key may do all. An eleventh active key is Refused.
func (s *Service) Create(ctx context.Context, of shop.ID, name string, scopes []Scope) (string, Key, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > MaxName {
		return "", Key{}, fault.New(fault.Invalid, "a key needs a name of 1 to %d characters", MaxName).On(entity).At("name")
	}
	if len(scopes) == 0 {
		scopes = []Scope{All}
	}
	for _, scope := range scopes {
		if _, err := ParseScope(string(scope)); err != nil {
			return "", Key{}, err
		}
	}
	value := newValue()
	made := Key{
		Shop: of, Name: name, Hint: value[:hintLength], Hash: hashOf(value), Scopes: slices.Clone(scopes), CreatedAt: s.Clock.Now(),
	}
	var key Key
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		key = made
		if err := tx.LockKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.Keys(ctx)
		if err != nil {
			return err
		}
		if active(keys) >= MaxKeys {
			return fault.New(fault.Refused, "the store has %d active keys already: revoke one first", MaxKeys).On(entity).Keyed("tooManyKeys")
		}
		return tx.PutKey(ctx, &key)
	})
	if err != nil {
		return "", Key{}, err
	}
	return value, key, nil
}

func active(keys []Key) int {
	n := 0
	for _, k := range keys {
		if k.RevokedAt.IsZero() {
			n++
		}
	}
	return n
}

// List returns every key of a shop, revoked ones too, oldest first.
func (s *Service) List(ctx context.Context, of shop.ID) ([]Key, error) {
	var keys []Key
	err := s.Store.Update(ctx, of, func(tx Tx) (err error) {
		keys, err = tx.Keys(ctx)
		return err
	})
	return keys, err
}

// Revoke ends a key for good. Revoking it again changes nothing.
func (s *Service) Revoke(ctx context.Context, of shop.ID, id KeyID) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.Keys(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
		if i < 0 {
			return fault.New(fault.NotFound, "key %d does not exist", id).On(entity)
		}
		if !keys[i].RevokedAt.IsZero() {
			return nil
		}
		keys[i].RevokedAt = s.Clock.Now()
		return tx.PutKey(ctx, &keys[i])
	})
}

// Authenticate returns who a value stands for. A value that cannot be a key is
// refused without asking the store; which of the reasons it was, a caller does
// not learn.
func (s *Service) Authenticate(ctx context.Context, value string) (Caller, error) {
	unknown := fault.New(fault.Unauthenticated, "the API key is not valid").On(entity).Keyed("apiKeyInvalid")
	if !wellFormed(value) {
		return Caller{}, unknown
	}
	hash := hashOf(value)
	key, of, err := s.Store.KeyByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return Caller{}, unknown
	}
	if err != nil {
		return Caller{}, err
	}
	if subtle.ConstantTimeCompare(key.Hash[:], hash[:]) != 1 || !key.RevokedAt.IsZero() {
		return Caller{}, unknown
	}
	s.note(ctx, key, of.ID)
	return Caller{Key: key, Shop: of}, nil
}

// note writes down that a key was used, at most once a minute, while the
// request goes on. A note that fails is made by a later request.
func (s *Service) note(ctx context.Context, key Key, of shop.ID) {
	now := s.Clock.Now()
	if now.Sub(key.LastUsedAt) < noteEvery {
		return
	}
	if _, running := s.noting.LoadOrStore(key.Hash, struct{}{}); running {
		return
	}
	s.notes.Go(func() {
		defer s.noting.Delete(key.Hash)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
		defer cancel()
		if err := s.Store.TouchKeys(ctx, of, map[KeyID]time.Time{key.ID: now}); err != nil {
			s.Log.Warn("the use of a key could not be noted", "shop", of, "key", key.ID, "error", err)
		}
	})
}

// Wait returns when no use is being noted any more. Nothing may authenticate
// meanwhile.
func (s *Service) Wait() { s.notes.Wait() }
