package amend

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ClockSlack is how far the platform's clock may lag behind ours.
const ClockSlack = time.Minute

// FindCreated looks for a contract among those of a customer that were created since an instant of the platform's
// clock, the newest first, or returns NotFound. What tells it from all others needs no such instant: the
// zero one.
func (ed *Editor) FindCreated(ctx context.Context, store shop.Shop, customer int64, since time.Time, is func(platform.Detail) bool) (platform.Detail, error) {
	ids, err := ed.Platform.CustomerContracts(ctx, store.At(), customer)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return platform.Detail{}, PlatformError(err)
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		d, err := ed.Platform.Detail(ctx, store.At(), id)
		if err != nil && !errors.Is(err, platform.ErrNotFound) {
			return platform.Detail{}, PlatformError(err)
		}
		if err == nil && !d.CreatedAt.Before(since) && is(d) {
			return d, nil
		}
	}
	return platform.Detail{}, fault.New(fault.NotFound, "the subscription contract was not made").Entity(Entity).Code("contractNotFound")
}
