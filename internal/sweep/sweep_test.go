package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// source finds another shop by every question, and fails at one of them.
type source struct{ fails shop.ID }

func (s source) answer(id shop.ID) ([]shop.ID, error) {
	if id == s.fails {
		return nil, errors.New("the database is away")
	}
	return []shop.ID{id}, nil
}

func (s source) DueShops(context.Context, time.Time, int) ([]shop.ID, error) { return s.answer(1) }
func (s source) UnpublishedShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(2)
}
func (s source) PendingInboxShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(3)
}
func (s source) DuePartnerShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(4)
}
func (s source) DueMessageShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(5)
}
func (s source) DueWebhookShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(13)
}
func (s source) ReminderShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(19)
}
func (s source) DueEventShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(20)
}
func (s source) EndedFeedShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(21)
}
func (s source) UpcomingOrderShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(14)
}
func (s source) DueAnnotationShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(6)
}
func (s source) LoyaltyShops(context.Context, time.Time, int) ([]shop.ID, error) { return s.answer(7) }
func (s source) DuePlanShops(context.Context, time.Time, int) ([]shop.ID, error) { return s.answer(8) }
func (s source) DueProfileShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(9)
}
func (s source) ShopsToAmend(context.Context, time.Time, int) ([]shop.ID, error) { return s.answer(10) }
func (s source) DuePrivacyShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(15)
}
func (s source) DueBulkShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(16)
}
func (s source) DueMoveShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(22)
}
func (s source) ExpiredRequestShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(17)
}
func (s source) UncheckedShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(11)
}
func (s source) UnreconciledShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(12)
}

func (s source) DueCancelShops(context.Context, time.Time, int) ([]shop.ID, error) {
	return s.answer(18)
}

// queue keeps what is asked for, as "kind shop".
type queue []string

func (q *queue) Enqueue(_ context.Context, tasks ...task.Task) error {
	for _, t := range tasks {
		*q = append(*q, fmt.Sprint(t.Kind(), t))
	}
	return nil
}

func TestSweepFindsAllDueTasks(t *testing.T) {
	t.Parallel()
	want := []string{
		"billing_work{1}", "billing_work{2}", "billing_work{6}", "delivery_work{9}", "intake_work{3}", "amend_work{10}",
		"loyalty_work{7}", "notify_work{5}", "privacy_work{15}", "partner_work{4}", "plan_repair{8}", "intake_reconcile{12}", "repair_check{11}",
		"webhook_work{13}", "webhook_work{14}", "webhook_work{20}", "webhook_work{21}", "bulk_work{16}", "request_log_clean{17}", "cancel_sessions{18}", "notify_work{19}", "moving_work{22}",
	}
	slices.Sort(want)
	var q queue
	if n, err := (Sweep{Source: source{}, Queue: &q, Clock: clock.System{}}).Once(t.Context()); err != nil || n != len(want) {
		t.Errorf("%d tasks, %v", n, err)
	}
	if slices.Sort(q); !slices.Equal(q, want) {
		t.Errorf("asked for  %v\nwant %v", q, want)
	}
	q = nil
	if n, err := (Sweep{Source: source{fails: 3}, Queue: &q, Clock: clock.System{}}).Once(t.Context()); err == nil || n != len(want)-1 {
		t.Errorf("%d tasks, %v: a failed query must be reported and must not stop the others", n, err)
	}
}
