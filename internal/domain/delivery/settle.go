package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// patience is how long a profile that was asked for is looked for. After that
// it was never made.
const patience = 10 * time.Minute

// retries are the waits before a change is asked for again; the last one
// repeats.
var retries = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

// details are what an entry about a profile says.
type details struct {
	Name              string  `json:"name"`
	DeliveryProfileID int64   `json:"deliveryProfileId,omitempty"`
	Groups            []int64 `json:"sellingPlanGroups,omitempty"`
	Error             string  `json:"error,omitempty"`
}

func entry(p Profile, event activity.EventType, status activity.Status, by activity.Actor, at time.Time, why error) activity.Entry {
	d := details{Name: p.Name, DeliveryProfileID: p.PlatformID, Groups: p.Groups}
	if why != nil {
		d.Error = why.Error()
	}
	return activity.Entry{
		EntityID: int64(p.ID), EntityType: activity.EntityShippingProfile, Event: event, Status: status, Actor: by, At: at, Info: activity.Details(d),
	}
}

// made writes down that the platform has the profile.
func (s *Service) made(ctx context.Context, of shop.ID, p Profile, id int64) (Profile, error) {
	p.PlatformID = id
	return s.settle(ctx, of, p, activity.Created)
}

// changed writes down that the platform has made the change.
func (s *Service) changed(ctx context.Context, of shop.ID, p Profile) (Profile, error) {
	return s.settle(ctx, of, p, activity.Updated)
}

func (s *Service) settle(ctx context.Context, of shop.ID, p Profile, event activity.EventType) (Profile, error) {
	by, now := p.Pending.Actor, s.Clock.Now()
	p.Name, p.Groups, p.UpdatedAt = p.Pending.Name, p.Pending.Groups, now
	p.Pending, p.BusyUntil, p.DueAt = nil, time.Time{}, time.Time{}
	err := s.write(ctx, of, &p, entry(p, event, activity.Success, by, now, nil))
	return p, err
}

// leave releases a change whose result is unknown. A job completes it later.
func (s *Service) leave(ctx context.Context, of shop.ID, p Profile) error {
	wait := retries[min(p.Pending.Tries, len(retries))-1]
	p.BusyUntil, p.DueAt = time.Time{}, s.Clock.Now().Add(wait)
	return s.write(ctx, of, &p)
}

// giveUp forgets a change that the platform did not make. Why is nil when the
// caller hears of it.
func (s *Service) giveUp(ctx context.Context, of shop.ID, p Profile, why error) error {
	by, now := p.Pending.Actor, s.Clock.Now()
	p.Pending, p.BusyUntil, p.DueAt = nil, time.Time{}, time.Time{}
	if why == nil {
		return s.write(ctx, of, &p)
	}
	return s.write(ctx, of, &p, entry(p, activity.Updated, activity.Failure, by, now, why))
}

// drop forgets a profile that the platform did not make.
func (s *Service) drop(ctx context.Context, of shop.ID, p Profile, why error) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.DeleteDeliveryProfile(ctx, p); err != nil || why == nil {
			return err
		}
		return tx.Record(ctx, entry(p, activity.Created, activity.Failure, p.Pending.Actor, s.Clock.Now(), why))
	})
}

func (s *Service) write(ctx context.Context, of shop.ID, p *Profile, entries ...activity.Entry) error {
	was := *p
	return s.Store.Update(ctx, of, func(tx Tx) error {
		*p = was
		if err := tx.PutDeliveryProfile(ctx, p); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}

// errNeverMade is why a profile is given up.
var errNeverMade = errors.New("the platform did not answer, and the profile did not appear")

// Work finds out what became of the shop's profiles whose end is not known and
// which are due. It may be run again at any time.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	now := s.Clock.Now()
	var due, ours []Profile
	var at platform.Shop
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		due = nil
		found, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		at = found.At()
		if err := tx.LockProfiles(ctx); err != nil {
			return err
		}
		if ours, err = tx.DeliveryProfiles(ctx); err != nil {
			return err
		}
		for _, p := range ours {
			if p.Pending == nil || p.BusyUntil.After(now) || p.DueAt.After(now) {
				continue
			}
			p.BusyUntil, p.DueAt = now.Add(lease), now.Add(lease)
			if p.PlatformID != 0 {
				change := *p.Pending
				change.Tries++
				p.Pending = &change
			}
			if err := tx.PutDeliveryProfile(ctx, &p); err != nil {
				return err
			}
			due = append(due, p)
		}
		return nil
	})
	if err != nil || len(due) == 0 {
		return err
	}
	var failed error
	for _, p := range due {
		look := s.finish
		if p.PlatformID == 0 {
			look = s.search
		}
		failed = errors.Join(failed, look(ctx, of, at, p, ours))
	}
	return failed
}

// search looks for a profile that may have been made.
func (s *Service) search(ctx context.Context, of shop.ID, at platform.Shop, p Profile, ours []Profile) error {
	there, err := s.Platform.Profiles(ctx, at)
	if err == nil {
		if id := find(there, p, ours); id != 0 {
			_, err := s.made(ctx, of, p, id)
			return err
		}
	}
	if errors.Is(err, platform.ErrDisconnected) || err == nil && !s.Clock.Now().Before(p.Pending.SentAt.Add(patience)) {
		if err == nil {
			err = errNeverMade
		}
		s.Log.WarnContext(ctx, "a delivery profile was not made", "shop", of, "profile", p.ID, "error", err)
		return s.drop(ctx, of, p, err)
	}
	return s.leave(ctx, of, p)
}

// finish asks for a change again.
func (s *Service) finish(ctx context.Context, of shop.ID, at platform.Shop, p Profile, _ []Profile) error {
	err := s.replace(ctx, at, p)
	switch {
	case err == nil:
		_, err := s.changed(ctx, of, p)
		return err
	case platform.Definite(err), errors.Is(err, platform.ErrDisconnected):
		s.Log.WarnContext(ctx, "a delivery profile was not changed", "shop", of, "profile", p.ID, "error", err)
		return s.giveUp(ctx, of, p, err)
	default:
		return s.leave(ctx, of, p)
	}
}
