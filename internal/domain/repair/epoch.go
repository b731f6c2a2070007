package repair

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Place is where an installation lives.
type Place struct {
	Database string // names the database itself; copies have another name
	Host     string // under which the platform reaches it; empty: this node does not know
}

// DiffersFrom reports whether both places are known and differ.
func (p Place) DiffersFrom(o Place) bool {
	return p.Database != "" && p.Database != o.Database || p.Host != "" && o.Host != "" && p.Host != o.Host
}

// String says where that is.
func (p Place) String() string {
	if p.Host == "" {
		return p.Database
	}
	return p.Database + " under " + p.Host
}

// SetPlace stores where the installation runs. When it has moved, all stores are frozen.
func (s *Service) SetPlace(ctx context.Context, at Place) error {
	was, err := s.Store.Place(ctx)
	if err != nil {
		return err
	}
	moved := was.DiffersFrom(at)
	shops, err := s.Store.All(ctx)
	if err != nil {
		return err
	}
	for _, one := range shops {
		err := s.change(ctx, one.ID, func(_ Tx, current *shop.Shop) ([]activity.Entry, error) {
			now := s.Clock.Now()
			current.Guard.ConfirmBy, current.Guard.CheckAt = now, now
			reason := fmt.Sprintf("the database lived at %s and is served at %s: it may be a copy", was, at)
			if moved && current.Freeze(reason, now) {
				return []activity.Entry{shopEntry(one.ID, activity.Failure, activity.System, now, "the store is frozen: "+reason)}, nil
			}
			return nil, nil
		})
		if err != nil {
			return fmt.Errorf("have the epoch of %s confirmed: %w", one.Domain, err)
		}
	}
	if at.Host == "" {
		at.Host = was.Host // nodes that only work need not know
	}
	if was == at {
		return nil
	}
	return s.Store.SetPlace(ctx, at)
}

// epochCheck is what the platform's word says of an installation.
type epochCheck int

const (
	ours    epochCheck = iota // no other installation has charged the store
	foreign                   // another installation has, or this one after the backup that it was restored from
)

// checkEpoch compares the word that the platform keeps with ours. A store that keeps
// none has never been charged by anybody who would have left one.
func checkEpoch(g shop.Guard, word string) epochCheck {
	if word == "" || word == g.Epoch || word == g.NextEpoch {
		return ours
	}
	return foreign
}

// confirm compares the epoch on the platform with ours and replaces it by a new one. When
// they differ, another installation has charged the store since, and the store is frozen.
func (s *Service) confirm(ctx context.Context, store shop.Shop) error {
	if store.Guard.FrozenAt.IsZero() && store.Guard.NextEpoch == "" {
		// Kept here before it is written there: who dies between knows it again.
		next := rand.Text()
		err := s.change(ctx, store.ID, func(_ Tx, current *shop.Shop) ([]activity.Entry, error) {
			if current.Guard.NextEpoch == "" {
				current.Guard.NextEpoch = next
			}
			store = *current
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	kept, err := s.Platform.Epoch(ctx, store.At())
	if err != nil {
		return fmt.Errorf("read the epoch: %w", err)
	}
	known := store.Guard
	if known.FrozenAt.IsZero() && checkEpoch(known, kept.Word) == ours && kept.Word != known.NextEpoch {
		err := s.Platform.SetEpoch(ctx, store.At(), kept, known.NextEpoch)
		if refusal, ok := errors.AsType[*platform.Refusal](err); ok && refusal.Code == platform.CodeStaleEpoch {
			return fmt.Errorf("the epoch changed while it was read: %w", err)
		}
		if err != nil {
			return fmt.Errorf("write the epoch: %w", err)
		}
	}
	return s.change(ctx, store.ID, func(tx Tx, current *shop.Shop) ([]activity.Entry, error) {
		now, g := s.Clock.Now(), &current.Guard
		switch {
		case !g.FrozenAt.IsZero():
			g.PlatformEpoch = kept.Word
		case g.Epoch != known.Epoch || g.NextEpoch != known.NextEpoch: // another node went on meanwhile
		case checkEpoch(*g, kept.Word) == foreign:
			g.PlatformEpoch = kept.Word
			reason := "the platform keeps the epoch of another installation, or of a later state of this one"
			if current.Freeze(reason, now) {
				return []activity.Entry{shopEntry(store.ID, activity.Failure, activity.System, now, "the store is frozen: "+reason)}, nil
			}
		default:
			g.Epoch, g.NextEpoch = g.NextEpoch, ""
			barred := g.BlockReason(now) != ""
			g.ConfirmBy = now.Add(s.Policy.Every + s.Policy.Grace)
			if barred {
				return nil, tx.Enqueue(ctx, billing.Task{Shop: store.ID})
			}
		}
		return nil, nil
	})
}

// Unfreeze lets a store be charged again, because a person says so.
func (s *Service) Unfreeze(ctx context.Context, of shop.ID, reason string, by activity.Actor) error {
	if reason == "" {
		return fault.New(fault.Invalid, "say why the store may be charged again").Field("reason")
	}
	return s.change(ctx, of, func(_ Tx, current *shop.Shop) ([]activity.Entry, error) {
		now := s.Clock.Now()
		if err := current.Thaw(now); err != nil {
			return nil, err
		}
		return []activity.Entry{shopEntry(of, activity.Success, by, now, "the store is no longer frozen: "+reason)}, nil
	})
}
