package amend

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// ClockSlack is how far the platform's clock may lag behind ours.
const ClockSlack = time.Minute

// FindCreated looks for a contract among those created since an instant, or returns
// NotFound.
func (ed *Editor) FindCreated(ctx context.Context, store shop.Shop, since time.Time, is func(platform.Detail) bool) (platform.Detail, error) {
	for cursor := ""; ; {
		ids, next, err := ed.Platform.ContractsUpdatedSince(ctx, store.At(), since, cursor)
		if err != nil {
			return platform.Detail{}, PlatformError(err)
		}
		for _, id := range ids {
			d, err := ed.Platform.Detail(ctx, store.At(), id)
			if err != nil && !errors.Is(err, platform.ErrNotFound) {
				return platform.Detail{}, PlatformError(err)
			}
			if err == nil && !d.CreatedAt.Before(since) && is(d) {
				return d, nil
			}
		}
		if cursor = next; cursor == "" {
			return platform.Detail{}, fault.New(fault.NotFound, "the subscription contract was not made").Entity(Entity).Code("contractNotFound")
		}
	}
}
