package delivery

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Service makes and changes delivery profiles: what is wanted is written down,
// then the platform is asked, then the answer is written down.
type Service struct {
	Store    Store
	Platform platform.Profiles
	Clock    clock.Clock
	Log      *slog.Logger
}

const (
	// lease is how long the caller that asks the platform owns a change.
	lease = time.Minute
	// settleTime limits how long storing an answer may take, also after the caller has
	// disconnected.
	settleTime = 5 * time.Second
)

// CreateCommand asks for a new profile.
type CreateCommand struct {
	Name   string
	Places []platform.Place
	Actor  activity.Actor
}

// UpdateCommand asks for another name, other places, or both.
type UpdateCommand struct {
	Profile Ref
	Name    *string
	Places  []platform.Place // nil: they stay
	Actor   activity.Actor
}

// Create makes a profile. What the platform refuses is Refused with its words
// and stores nothing. When the platform's answer is lost, the profile is queried; if the
// result stays unknown, the failure is Unavailable, and repeating the same command
// completes it instead of creating another profile.
func (s *Service) Create(ctx context.Context, of shop.ID, cmd CreateCommand) (Profile, error) {
	name, err := CheckName(cmd.Name)
	if err != nil {
		return Profile{}, err
	}
	cmd.Name = name
	if err := CheckPlaces(cmd.Places); err != nil {
		return Profile{}, err
	}
	at, err := s.shop(ctx, of)
	if err != nil {
		return Profile{}, err
	}
	there, err := s.Platform.Profiles(platform.Interactive(ctx), at)
	if err != nil {
		return Profile{}, s.failed(ctx, err)
	}
	p, ours, err := s.intend(ctx, of, cmd, newest(there))
	if err != nil {
		return Profile{}, err
	}
	if p.Pending.Tries > 1 { // begun earlier: it may be there already
		if found := find(there, p, ours); found != 0 {
			return s.made(ctx, of, p, found)
		}
	}
	return s.create(ctx, of, at, p, ours)
}

// intend writes down that a profile is going to be made, or takes up the same
// intent of an earlier command. It also returns the profiles that are ours.
func (s *Service) intend(ctx context.Context, of shop.ID, cmd CreateCommand, newest int64) (Profile, []Profile, error) {
	var p Profile
	var ours []Profile
	now := s.Clock.Now()
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		if err := tx.LockProfiles(ctx); err != nil {
			return err
		}
		var err error
		if ours, err = tx.DeliveryProfiles(ctx); err != nil {
			return err
		}
		p = Profile{Name: cmd.Name, CreatedAt: now}
		change := Change{Name: cmd.Name, Places: cmd.Places, Newest: newest, Actor: cmd.Actor}
		if change.Groups, err = tx.SellingPlanGroups(ctx); err != nil {
			return err
		}
		if i := slices.IndexFunc(ours, func(o Profile) bool { return o.PlatformID == 0 && o.Name == cmd.Name }); i >= 0 {
			p = ours[i]
			switch {
			case p.BusyUntil.After(now):
				return busy(p)
			case !reflect.DeepEqual(p.Pending.Places, cmd.Places):
				return fault.New(fault.Conflict, "another delivery profile with the name %q is still being made: wait until that is done, or send that one again", p.Name).
					Entity(entity).Code("deliveryProfilePending").Field("name")
			}
			change = *p.Pending
		}
		change.SentAt, change.Tries = now, change.Tries+1
		p.Pending, p.BusyUntil, p.DueAt, p.UpdatedAt = &change, now.Add(lease), now.Add(lease), now
		return tx.PutDeliveryProfile(ctx, &p)
	})
	return p, ours, err
}

// create asks the platform for a profile that is written down.
func (s *Service) create(ctx context.Context, of shop.ID, at platform.Shop, p Profile, ours []Profile) (Profile, error) {
	id, err := s.Platform.CreateProfile(platform.Interactive(ctx), at, spec(*p.Pending))
	settling, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	if err == nil {
		return s.made(settling, of, p, id)
	}
	if !errors.Is(err, platform.ErrUnknown) {
		return Profile{}, errors.Join(s.failed(ctx, err), s.drop(settling, of, p, nil))
	}
	there, lost := s.Platform.Profiles(platform.Interactive(ctx), at)
	if lost == nil {
		if found := find(there, p, ours); found != 0 {
			return s.made(settling, of, p, found)
		}
	}
	return Profile{}, errors.Join(s.failed(ctx, err), s.leave(settling, of, p))
}

// Update changes a profile. After a lost answer the change is asked for once
// more, which is safe; if that is lost too, the failure is Unavailable and the
// change is finished later.
func (s *Service) Update(ctx context.Context, of shop.ID, cmd UpdateCommand) (Profile, error) {
	if cmd.Name != nil {
		name, err := CheckName(*cmd.Name)
		if err != nil {
			return Profile{}, err
		}
		cmd.Name = &name
	}
	if cmd.Places != nil {
		if err := CheckPlaces(cmd.Places); err != nil {
			return Profile{}, err
		}
	}
	at, err := s.shop(ctx, of)
	if err != nil {
		return Profile{}, err
	}
	p, err := s.intendChange(ctx, of, cmd)
	if err != nil {
		return Profile{}, err
	}
	err = s.replace(platform.Interactive(ctx), at, p)
	if errors.Is(err, platform.ErrUnknown) && ctx.Err() == nil {
		err = s.replace(platform.Interactive(ctx), at, p)
	}
	settling, done := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer done()
	switch {
	case err == nil:
		return s.changed(settling, of, p)
	case errors.Is(err, platform.ErrUnknown):
		return Profile{}, errors.Join(s.failed(ctx, err), s.leave(settling, of, p))
	default:
		return Profile{}, errors.Join(s.failed(ctx, err), s.giveUp(settling, of, p, nil))
	}
}

func (s *Service) intendChange(ctx context.Context, of shop.ID, cmd UpdateCommand) (Profile, error) {
	var p Profile
	now := s.Clock.Now()
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		var err error
		if p, err = tx.DeliveryProfile(ctx, cmd.Profile); err != nil {
			return err
		}
		if p.BusyUntil.After(now) || p.PlatformID == 0 {
			return busy(p)
		}
		change := Change{Name: p.Name}
		if p.Pending != nil { // what it asked for may have been done
			change = *p.Pending
		}
		if change.Groups, err = tx.SellingPlanGroups(ctx); err != nil {
			return err
		}
		if cmd.Name != nil {
			change.Name = *cmd.Name
		}
		if cmd.Places != nil {
			change.Places = cmd.Places
		}
		change.SentAt, change.Tries, change.Actor = now, 1, cmd.Actor
		p.Pending, p.BusyUntil, p.DueAt, p.UpdatedAt = &change, now.Add(lease), now.Add(lease), now
		return tx.PutDeliveryProfile(ctx, &p)
	})
	return p, err
}

// replace asks for the change that is written down. Only groups that the profile
// is not known to have are named.
func (s *Service) replace(ctx context.Context, at platform.Shop, p Profile) error {
	wanted := spec(*p.Pending)
	wanted.Groups = slices.DeleteFunc(slices.Clone(wanted.Groups), func(id int64) bool { return slices.Contains(p.Groups, id) })
	return s.Platform.ReplaceProfile(ctx, at, p.PlatformID, wanted)
}

func spec(c Change) platform.ProfileSpec {
	return platform.ProfileSpec{Name: c.Name, Places: c.Places, Groups: c.Groups}
}

func busy(p Profile) error {
	return fault.New(fault.Conflict, "delivery profile %q is being changed: try again in a moment", p.Name).Entity(entity).Code("deliveryProfileBusy")
}

// newest returns the highest number of a list of profiles.
func newest(there []platform.Profile) int64 {
	var id int64
	for _, p := range there {
		id = max(id, p.ID)
	}
	return id
}

// find returns the profile that the intent made, or 0. It has the name, is newer
// than what there was before, and is none that is known as another.
func find(there []platform.Profile, p Profile, ours []Profile) int64 {
	for _, t := range there {
		known := slices.ContainsFunc(ours, func(o Profile) bool { return o.PlatformID == t.ID })
		if t.Name == p.Pending.Name && t.ID > p.Pending.Newest && !known {
			return t.ID
		}
	}
	return 0
}

func (s *Service) shop(ctx context.Context, of shop.ID) (platform.Shop, error) {
	var at platform.Shop
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		found, err := tx.Shop(ctx)
		at = found.At()
		return err
	})
	return at, err
}

// failed says to the caller what the platform's failure means.
func (s *Service) failed(ctx context.Context, err error) error {
	if r, ok := errors.AsType[*platform.Refusal](err); ok {
		if strings.HasSuffix(r.Field, ".location") {
			return fault.Because(fault.NotFound, err, "%s", r.Message).Entity("location").Code("locationNotFound").Field(r.Field)
		}
		return fault.New(fault.FailedPrecondition, "%s", r.Message).Entity(entity).Code("platformRefused").Field(r.Field)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, platform.ErrNotFound):
		return fault.Because(fault.NotFound, err, "the platform no longer has this delivery profile").Entity(entity).Code("deliveryProfileNotFound")
	case errors.Is(err, platform.ErrDisconnected):
		return fault.Because(fault.FailedPrecondition, err, "the store's connection is gone: install the app again").Entity("shop").Code("shopDisconnected")
	case errors.Is(err, platform.ErrThrottled):
		return fault.Because(fault.Unavailable, err, "the platform is busy and nothing was changed: try again").Entity(entity).Code("platformBusy")
	case errors.Is(err, platform.ErrUnknown):
		return fault.Because(fault.Unavailable, err, "the platform did not answer: send the same request again, and what was begun is finished and not done twice").
			Entity(entity).Code(fault.InDoubt)
	}
	return err
}
