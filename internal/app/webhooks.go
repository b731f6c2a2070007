package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/admin"
)

// webhooks carries out the task of a shop's webhooks. The domain stores which messages
// are due and delivers those that have a body; their data have the shapes of the
// interfaces, which it does not know.
type webhooks struct {
	*webhook.Service
	bodies admin.Bodies
}

// work publishes upcoming orders, renders the bodies of due messages, makes events of them and
// sends them.
func (w webhooks) work(ctx context.Context, of shop.ID) error {
	if err := w.PublishUpcoming(ctx, of); err != nil {
		return err
	}
	if err := w.render(ctx, of); err != nil {
		return err
	}
	if err := w.Place(ctx, of); err != nil {
		return err
	}
	return w.Deliver(ctx, of)
}

// render renders the bodies of due messages. A message that cannot be rendered does not
// delay the others.
func (w webhooks) render(ctx context.Context, of shop.ID) error {
	for {
		list, err := w.WithoutBody(ctx, of)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, m := range list {
			data, err := w.bodies.Data(ctx, m)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				err = w.NotRendered(ctx, m, err)
			default:
				err = w.Rendered(ctx, m, data)
			}
			if err != nil {
				return err
			}
		}
	}
}
