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
	"github.com/perennialhq/perennial/internal/domain/activity"
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

// MaxDistinctName is the length of the longest name of a key that has it alone, in
// characters.
const MaxDistinctName = 80

// NewKey is a key to be made.
type NewKey struct {
	Name   string
	Scopes []Scope // none: all
	// Distinct permits no name that another active key of the store has, and none longer than
	// MaxDistinctName.
	Distinct bool
	Ends     time.Time // from when it opens nothing; zero: it is revoked one day or never
	Actor    activity.Actor
}

// check returns the key to be kept.
func (n NewKey) check(of shop.ID, value string, now time.Time) (Key, error) {
	name, longest := strings.TrimSpace(n.Name), MaxName
	if n.Distinct {
		longest = MaxDistinctName
	}
	if name == "" || utf8.RuneCountInString(name) > longest {
		return Key{}, fault.New(fault.Invalid, "a key needs a name of 1 to %d characters", longest).Entity(entity).Field("name")
	}
	if !n.Ends.IsZero() && !n.Ends.After(now) {
		return Key{}, fault.New(fault.Invalid, "the end of a key must be ahead").Entity(entity).Field("ends")
	}
	scopes := n.Scopes
	if len(scopes) == 0 {
		scopes = []Scope{All}
	}
	for _, scope := range scopes {
		if _, err := ParseScope(string(scope)); err != nil {
			return Key{}, err
		}
	}
	return Key{
		Shop: of, Name: name, Hint: hint(value), Tail: tail(value), Hash: HashOf(value), Scopes: slices.Clone(scopes), CreatedBy: n.Actor.By, CreatedAt: now, RevokedAt: n.Ends,
	}, nil
}

// Create makes a key and returns its value, which cannot be read again later. Creating an
// eleventh active key fails with FailedPrecondition.
func (s *Service) Create(ctx context.Context, of shop.ID, n NewKey) (string, Key, error) {
	value := newValue()
	made, err := n.check(of, value, s.Clock.Now())
	if err != nil {
		return "", Key{}, err
	}
	key, err := s.add(ctx, of, made, n, keyCreated)
	if err != nil {
		return "", Key{}, err
	}
	return value, key, nil
}

// Import adds a key that was created elsewhere, by its hash. It fails with
// FailedPrecondition when any shop already has the key.
func (s *Service) Import(ctx context.Context, of shop.ID, value string, n NewKey) (Key, error) {
	if !wellFormed(value) {
		return Key{}, fault.New(fault.Invalid, "that cannot be a key: %d to %d visible ASCII characters, and only keys of this service begin with %s", minLegacy, maxLegacy, Prefix).
			Entity(entity).Code("apiKeyMalformed")
	}
	made, err := n.check(of, value, s.Clock.Now())
	if err != nil {
		return Key{}, err
	}
	known, err := s.Store.KnownHash(ctx, made.Hash)
	if err == nil && known {
		err = fault.New(fault.FailedPrecondition, "the key is known already").Entity(entity).Code("apiKeyKnown")
	}
	if err != nil {
		return Key{}, err
	}
	return s.add(ctx, of, made, n, keyImported)
}

// add keeps a new key where there is room for it.
func (s *Service) add(ctx context.Context, of shop.ID, made Key, n NewKey, how change) (Key, error) {
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
		taken := func(k Key) bool { return k.Connection == 0 && k.Name == made.Name && k.Live(made.CreatedAt) }
		if n.Distinct && slices.ContainsFunc(keys, taken) {
			return fault.New(fault.Conflict, "a key with this name exists: choose another name").Entity(entity).Code("apiKeyNameTaken").Field("name")
		}
		if err := room(keys, made.CreatedAt, 0); err != nil {
			return err
		}
		if err := tx.PutKey(ctx, &key); err != nil {
			return err
		}
		return tx.Record(ctx, entryOf(key, how, n.Actor, made.CreatedAt))
	})
	return key, err
}

// room reports whether a shop may have one more key, which follows another one; 0: none.
func room(keys []Key, now time.Time, follows KeyID) error {
	n := 0
	for _, k := range keys {
		if k.Connection == 0 && k.ID != follows && k.Live(now) {
			n++
		}
	}
	if n >= MaxKeys {
		return fault.New(fault.FailedPrecondition, "the store has %d active keys already: revoke one first", MaxKeys).Entity(entity).Code("tooManyKeys")
	}
	return nil
}

// List returns every key that a merchant made, revoked ones too, oldest first.
func (s *Service) List(ctx context.Context, of shop.ID) ([]Key, error) {
	var keys []Key
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		keys, err = tx.Keys(ctx)
		return err
	})
	return merchants(keys), err
}

// merchants returns the keys that a merchant made.
func merchants(keys []Key) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Connection != 0 })
}

// find returns a key that a merchant made.
func find(keys []Key, id KeyID) (*Key, error) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id && k.Connection == 0 })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "key %d does not exist", id).Entity(entity).Code("apiKeyNotFound")
	}
	return &keys[i], nil
}

// Revoke ends a key for good. Revoking it again changes nothing.
func (s *Service) Revoke(ctx context.Context, of shop.ID, id KeyID, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.Keys(ctx)
		if err != nil {
			return err
		}
		key, err := find(keys, id)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if !key.Live(now) {
			return nil
		}
		key.RevokedAt = now
		if err := tx.PutKey(ctx, key); err != nil {
			return err
		}
		return tx.Record(ctx, entryOf(*key, keyRevoked, by, now))
	})
}

// Authenticate returns who a value stands for, which was sent from an address. A value that cannot be a key is
// refused without asking the store; which of the reasons it was, a caller does
// not learn.
func (s *Service) Authenticate(ctx context.Context, value, clientIP string) (Caller, error) {
	unknown := fault.New(fault.Unauthenticated, "the API key is not valid").Entity(entity).Code("apiKeyInvalid")
	if !wellFormed(value) {
		return Caller{}, unknown
	}
	hash := HashOf(value)
	key, of, err := s.Store.KeyByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return Caller{}, unknown
	}
	if err != nil {
		return Caller{}, err
	}
	if subtle.ConstantTimeCompare(key.Hash[:], hash[:]) != 1 || !key.Live(s.Clock.Now()) {
		return Caller{}, unknown
	}
	if key.AppSuspended {
		return Caller{}, fault.New(fault.Forbidden, "the application %s of this token is suspended", key.App).Entity("partnerApp").Code("partnerSuspended")
	}
	s.note(ctx, key, of.ID, clientIP)
	return Caller{Key: key, Shop: of}, nil
}

// note writes down that a key was used, at most once a minute, while the
// request goes on. A note that fails is made by a later request.
func (s *Service) note(ctx context.Context, key Key, of shop.ID, from string) {
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
		if err := s.Store.TouchKey(ctx, of, key.ID, now, from); err != nil {
			s.Log.Warn("the use of a key could not be noted", "shop", of, "key", key.ID, "error", err)
		}
	})
}

// Wait returns when no use is being noted any more. Nothing may authenticate
// meanwhile.
func (s *Service) Wait() { s.notes.Wait() }
