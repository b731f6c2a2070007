package create

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// creationTimeout is how long a contract may take to appear at the platform after its
// creation was not confirmed.
const creationTimeout = 2 * time.Minute

// Creation is a contract that is created by a request that may be repeated.
type Creation struct {
	Request  string      // identifies the request
	At       time.Time   // when it was requested at the platform, or was about to be; zero: never
	Contract contract.ID // 0: not stored yet; GivenUp: none is wanted any more
}

// GivenUp is the contract of a request that is not repeated any more: what the platform still creates for it is cancelled.
const GivenUp contract.ID = -1

// Remembered is how long it stays known, after a request may not be repeated any more, what it has created: the platform
// may have created another contract late, and that one may become known here much later.
const Remembered = 30 * 24 * time.Hour

// Creations stores what repeatable requests create.
type Creations interface {
	// Creation returns what is known of a request: the zero one but for its name where nothing is, or
	// where the request may not be repeated any more at that instant; the zero instant: whenever that was.
	Creation(ctx context.Context, of shop.ID, request string, now time.Time) (Creation, error)
	// BeginCreation notes that it is requested now, or fails with InDoubt when another process has noted
	// that since it was read.
	BeginCreation(ctx context.Context, of shop.ID, c Creation, was time.Time) error
	// PutCreation notes which contract it has, or fails with InDoubt when it has another one or was given up.
	PutCreation(ctx context.Context, of shop.ID, c Creation) error
	// DeleteCreation forgets it: the contract was not made.
	DeleteCreation(ctx context.Context, of shop.ID, request string) error
}

// recorded returns what is stored of a request; nothing without a request key.
func (s *Service) recorded(ctx context.Context, of shop.ID, request string) (Creation, error) {
	if request == "" {
		return Creation{}, nil
	}
	return s.Creations.Creation(ctx, of, request, s.Clock.Now())
}

// createOnce is create for a request that may be repeated. It commits that the contract
// will be created before it calls the platform, and marks the contract until its id is
// stored: a repetition of the request finds it, wherever the first process died.
func (s *Service) createOnce(ctx context.Context, store shop.Shop, line shop.Line, by activity.Actor, n creation, begun Creation) (contract.Detail, error) {
	var own []platform.Attribute
	if n.Attributes != nil {
		own = *n.Attributes
	}
	n.Attributes = new(append(slices.Clone(own), begun.attribute()))
	after, err := s.createAtPlatformOnce(ctx, store, n.NewContract, &begun)
	if err != nil {
		return contract.Detail{}, err
	}
	made, err := s.adoptCreated(ctx, store, by, n, after)
	if err != nil {
		return contract.Detail{}, err
	}
	begun.Contract = made.ID
	if err := s.Creations.PutCreation(ctx, store.ID, begun); err != nil {
		return contract.Detail{}, err
	}
	return s.removeAttribute(ctx, store, amend.Command{Line: line, Contract: made.ID, Actor: by}, made), nil
}

// showCreated returns the contract that the request created before.
func (s *Service) showCreated(ctx context.Context, store shop.Shop, cmd amend.Command) (contract.Detail, error) {
	made, err := s.Show(ctx, store.ID, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	return s.removeAttribute(ctx, store, cmd, made), nil
}

// attribute returns the attribute that identifies the contract.
func (c Creation) attribute() platform.Attribute {
	return platform.Attribute{Key: contract.RequestAttribute, Value: c.Request}
}

// createAtPlatformOnce is createAtPlatform, unless an earlier request created the
// contract.
func (s *Service) createAtPlatformOnce(ctx context.Context, store shop.Shop, n platform.NewContract, begun *Creation) (platform.Detail, error) {
	now := s.Clock.Now()
	if !begun.At.IsZero() {
		made, err := s.FindCreated(ctx, store, n.Customer, time.Time{}, func(d platform.Detail) bool { return slices.Contains(d.Attributes, begun.attribute()) })
		if !fault.Is(err, fault.NotFound) {
			return made, err
		}
		if wait := begun.At.Add(creationTimeout).Sub(now); wait > 0 {
			return platform.Detail{}, fault.Because(fault.Unavailable, err, "the platform has not confirmed yet whether the subscription contract was created: send the request again with the same Idempotency-Key").
				Entity(amend.Entity).Code(fault.InDoubt).RetryAfter(wait)
		}
	}
	was := begun.At
	begun.At = now
	if err := s.Creations.BeginCreation(ctx, store.ID, *begun, was); err != nil {
		return platform.Detail{}, err
	}
	made, err := s.createAtPlatform(ctx, store, n)
	if amend.Permanent(err) {
		err = errors.Join(err, s.Creations.DeleteCreation(ctx, store.ID, begun.Request))
	}
	return made, err
}

// removeAttribute removes the request attribute from a created contract.
func (s *Service) removeAttribute(ctx context.Context, store shop.Shop, cmd amend.Command, made contract.Detail) contract.Detail {
	kept := terms.PlatformAttributes(slices.DeleteFunc(slices.Clone(made.Attributes), func(a contract.Attribute) bool { return a.Key == contract.RequestAttribute }))
	if len(kept) == len(made.Attributes) {
		return made
	}
	after, told, err := s.Send(ctx, store.ID, made.ID, made.Revision, func() (platform.Detail, error) {
		return s.Platform.EditContract(ctx, store.At(), int64(made.ID), platform.Edit{Attributes: &kept, Revision: made.Revision}) // others may have changed the attributes
	})
	var bare contract.Detail
	if err == nil {
		bare, err = s.Adopt(ctx, store, cmd, after, amend.Change{InFlight: told})
	}
	if err != nil { // the contract exists; the attribute does no harm
		s.Log.WarnContext(ctx, "a new contract keeps its request attribute", "shop", store.Domain, "contract", made.ID, "error", err)
		return made
	}
	return bare
}

// Claim decides whether a contract with a request attribute is the one that its request has created. It is
// unwanted when the request has another one, because the platform carried out an earlier call late, or was given
// up. Otherwise the attribute goes, at the latest when the request may not be repeated any more.
func (s *Service) Claim(ctx context.Context, of shop.ID, c contract.Contract) (unwanted bool, err error) {
	known, err := s.Creations.Creation(ctx, of, c.RequestKey(), time.Time{})
	until := known.At.Add(idempotency.AnswerTTL)
	switch {
	case err != nil:
		return false, err
	case known.Contract != 0 && known.Contract != c.ID:
		return true, nil
	case known.Contract == 0 && s.Clock.Now().Before(until):
		return false, s.UpdateRow(ctx, of, &c, func(c *contract.Contract) error {
			c.AmendAt = until
			return nil
		})
	}
	store, err := s.ConnectedShop(ctx, of)
	if err == nil {
		_, err = s.showCreated(ctx, store, amend.Command{Line: c.Line, Contract: c.ID, Actor: activity.System})
	}
	return false, err
}

// GiveUp has what the platform has created, or still creates, for a request cancelled. It returns the contract that
// is known to be created; 0: none is.
func (s *Service) GiveUp(ctx context.Context, of shop.ID, request string) (contract.ID, error) {
	known, err := s.recorded(ctx, of, request)
	if err != nil || known.Contract != 0 {
		return max(known.Contract, 0), err
	}
	if known.Contract = GivenUp; known.At.IsZero() {
		known.At = s.Clock.Now()
	}
	return 0, s.Creations.PutCreation(ctx, of, known)
}
