// Package sweep finds what is due and asks for it to be done. The tables are the
// truth: whatever the queue loses, a sweep on some node finds again.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
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
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
)

// shopsAtOnce is how many shops one round of a sweep takes up; the next round
// takes the others.
const shopsAtOnce = 1000

// Source knows which shops have something due. Every list is bounded and comes
// from an index of what is due, never from all that is stored.
type Source interface {
	DueShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	UnpublishedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	PendingInboxShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DuePartnerShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueMessageShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	ReminderShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueWebhookShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueEventShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	EndedFeedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	UpcomingOrderShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueAnnotationShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	LoyaltyShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DuePlanShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueProfileShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DuePrivacyShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueCancelShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueMoveShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	DueBulkShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	ExpiredRequestShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	ShopsToAmend(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	// UncheckedShops returns connected shops that are due for a comparison with the
	// platform.
	UncheckedShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
	// UnreconciledShops returns connected shops whose reconciliation is due.
	UnreconciledShops(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
}

// Queue takes tasks. A task that waits already is not taken twice.
type Queue interface {
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Sweep asks for everything that is due to be done.
type Sweep struct {
	Source Source
	Queue  Queue
	Clock  clock.Clock
	Log    *slog.Logger
}

// Once asks for what is due now and reports how many tasks that made.
func (s Sweep) Once(ctx context.Context) (int, error) {
	now := s.Clock.Now()
	var tasks []task.Task
	var failed error
	for _, q := range []struct {
		what string
		find func(ctx context.Context, now time.Time, limit int) ([]shop.ID, error)
		make func(shop.ID) task.Task
	}{
		{"shops with due attempts", s.Source.DueShops, func(id shop.ID) task.Task { return billing.Task{Shop: id} }},
		{"shops with news for the platform", s.Source.UnpublishedShops, func(id shop.ID) task.Task { return billing.Task{Shop: id} }},
		{"shops with waiting events", s.Source.PendingInboxShops, func(id shop.ID) task.Task { return intake.ProcessEvents{Shop: id} }},
		{"shops with orders and customers to be marked", s.Source.DueAnnotationShops, func(id shop.ID) task.Task { return billing.Task{Shop: id} }},
		{"shops with due messages", s.Source.DueMessageShops, func(id shop.ID) task.Task { return notify.Work{Shop: id} }},
		{"shops with customers to remind", s.Source.ReminderShops, func(id shop.ID) task.Task { return notify.Work{Shop: id} }},
		{"shops with due webhooks", s.Source.DueWebhookShops, func(id shop.ID) task.Task { return webhook.Work{Shop: id} }},
		{"shops with messages that become events", s.Source.DueEventShops, func(id shop.ID) task.Task { return webhook.Work{Shop: id} }},
		{"shops whose events are not read any more", s.Source.EndedFeedShops, func(id shop.ID) task.Task { return webhook.Work{Shop: id} }},
		{"shops with orders to announce", s.Source.UpcomingOrderShops, func(id shop.ID) task.Task { return webhook.Work{Shop: id} }},
		{"shops with points or rewards that are due", s.Source.LoyaltyShops, func(id shop.ID) task.Task { return loyalty.Work{Shop: id} }},
		{"shops with unsettled plan groups", s.Source.DuePlanShops, func(id shop.ID) task.Task { return plan.Repair{Shop: id} }},
		{"shops with unsettled delivery profiles", s.Source.DueProfileShops, func(id shop.ID) task.Task { return delivery.Work{Shop: id} }},
		{"shops with contracts that wait for a change", s.Source.ShopsToAmend, func(id shop.ID) task.Task { return lifecycle.RunDue{Shop: id} }},
		{"shops with something to tell partners", s.Source.DuePartnerShops, func(id shop.ID) task.Task { return partner.Work{Shop: id} }},
		{"shops with requests for personal data", s.Source.DuePrivacyShops, func(id shop.ID) task.Task { return privacy.Work{Shop: id} }},
		{"shops with actions on many contracts", s.Source.DueBulkShops, func(id shop.ID) task.Task { return bulk.Work{Shop: id} }},
		{"shops with contracts that move from one service to another", s.Source.DueMoveShops, func(id shop.ID) task.Task { return moving.Work{Shop: id} }},
		{"shops with sessions of cancelling that were left open", s.Source.DueCancelShops, func(id shop.ID) task.Task { return session.Work{Shop: id} }},
		{"shops with requests of keys that have expired", s.Source.ExpiredRequestShops, func(id shop.ID) task.Task { return requestlog.Clean{Shop: id} }},
		{"shops to compare", s.Source.UncheckedShops, func(id shop.ID) task.Task { return repair.Check{Shop: id} }},
		{"shops to reconcile", s.Source.UnreconciledShops, func(id shop.ID) task.Task { return intake.Reconcile{Shop: id} }},
	} {
		shops, err := q.find(ctx, now, shopsAtOnce)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("find %s: %w", q.what, err))
		}
		for _, id := range shops {
			tasks = append(tasks, q.make(id))
		}
	}
	if len(tasks) == 0 {
		return 0, failed
	}
	return len(tasks), errors.Join(failed, s.Queue.Enqueue(ctx, tasks...))
}

// Run sweeps until ctx ends, every so often by the machine's clock.
func (s Sweep) Run(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		if _, err := s.Once(ctx); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "the sweep failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}
