package access

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// MaxGrace is the longest time that a key may outlive its successor's creation.
const MaxGrace = 30 * 24 * time.Hour

// Rotation names the key to replace.
type Rotation struct {
	Key KeyID
	// Grace is how long the old key works beside the new one; nil: until it is
	// revoked.
	Grace *time.Duration
	// Known is how many keys of the store the caller knows of, revoked ones too. With another
	// number the rotation is a Conflict, so that a request that is sent twice makes one key;
	// 0: it is made in any case.
	Known int
	Actor activity.Actor
}

// Rotate makes a key with the name and scopes of another and returns its value.
// While both work they count as one, so that a shop with ten active keys can rotate each
// of them once. A revoked key is Refused.
func (s *Service) Rotate(ctx context.Context, of shop.ID, r Rotation) (string, Key, error) {
	if g := r.Grace; g != nil && (*g < 0 || *g > MaxGrace) {
		return "", Key{}, fault.New(fault.Invalid, "the grace is at least 0 and at most %d seconds", int(MaxGrace.Seconds())).Entity(entity).Field("graceSeconds")
	}
	value := newValue()
	var next Key
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockKeys(ctx); err != nil {
			return err
		}
		keys, err := tx.Keys(ctx)
		if err != nil {
			return err
		}
		old, err := find(keys, r.Key)
		if err != nil {
			return err
		}
		if r.Known != 0 && r.Known != len(merchants(keys)) {
			return fault.New(fault.Conflict, "the keys have changed since this was asked: look at the list first").Entity(entity).Code("apiKeysChanged")
		}
		now := s.Clock.Now()
		if !old.Live(now) {
			return fault.New(fault.FailedPrecondition, "key %d is revoked", r.Key).Entity(entity).Code("apiKeyRevoked")
		}
		next = Key{Shop: of, Name: old.Name, Hint: hint(value), Tail: tail(value), Hash: HashOf(value), Scopes: slices.Clone(old.Scopes), CreatedBy: r.Actor.By, CreatedAt: now}
		if r.Grace != nil {
			end := now.Add(*r.Grace)
			if old.RevokedAt.IsZero() || end.Before(old.RevokedAt) {
				old.RevokedAt = end
			}
			if err := tx.PutKey(ctx, old); err != nil {
				return err
			}
		}
		if err := room(keys, now, old.ID); err != nil {
			return err
		}
		if err := tx.PutKey(ctx, &next); err != nil {
			return err
		}
		return tx.Record(ctx, entryOf(next, keyRotated, r.Actor, now))
	})
	if err != nil {
		return "", Key{}, err
	}
	return value, next, nil
}

// change says what happened to a key.
type change string

const (
	keyCreated  change = "created"
	keyImported change = "imported"
	keyRotated  change = "rotated"
	keyRevoked  change = "revoked"
)

// keyNote is the additional information of an entry about a key. The interface
// has no entity for keys: the entry is about the shop.
type keyNote struct {
	Key    KeyID   `json:"apiKeyId"`
	Name   string  `json:"apiKeyName"`
	Scopes []Scope `json:"scopes"`
	Change change  `json:"change"`
}

func entryOf(k Key, how change, by activity.Actor, at time.Time) activity.Entry {
	return activity.Entry{
		EntityID: int64(k.Shop), EntityType: activity.EntityShopInfo, Event: activity.Updated, Status: activity.Success, Actor: by, At: at,
		Info: activity.Details(keyNote{k.ID, k.Name, k.Scopes, how}),
	}
}
