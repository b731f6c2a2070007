package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/job"
)

// handle registers what workers do for each task.
func (a *App) handle(sending webhooks) {
	job.Handle(&a.handlers, func(ctx context.Context, t billing.Task) error { return a.Charge.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t intake.ProcessEvents) error { return a.Intake.ProcessEvents(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t loyalty.Work) error { return a.Loyalty.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t intake.Reconcile) error { return a.Intake.Reconcile(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t repair.Check) error {
		if err := a.Swaps.Refresh(ctx, t.Shop); err != nil {
			a.Charge.Log.WarnContext(ctx, "the products of swap rules were not read again", "shop", t.Shop, "error", err)
		}
		return a.Repair.Check(ctx, t.Shop)
	})
	job.Handle(&a.handlers, func(ctx context.Context, t partner.Work) error { return a.Partner.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t webhook.Work) error { return sending.work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t notify.Work) error { return a.Notify.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, a.Staff.SendReset)
	job.Handle(&a.handlers, func(ctx context.Context, t plan.Repair) error { return a.Plans.Repair(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t delivery.Work) error { return a.Delivery.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t privacy.Work) error { return a.Privacy.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t bulk.Work) error { return a.Bulk.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t moving.Work) error { return a.Moves.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t session.Work) error { return a.Cancelling.Work(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t requestlog.Clean) error { return a.Requests.Clean(ctx, t.Shop) })
	job.Handle(&a.handlers, func(ctx context.Context, t lifecycle.RunDue) error { return a.Lifecycle.RunDue(ctx, t.Shop) })
}
