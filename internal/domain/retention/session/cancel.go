package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Confirm cancels the contract, from whatever step the session is at. Where orders are
// committed to or deliveries are paid for, or the next order cannot be changed any more, the
// contract ends after those. Confirming again changes nothing. When the platform does not
// answer, the contract is cancelled as soon as it does, and the session ends then.
func (s *Service) Confirm(ctx context.Context, of shop.ID, cmd Named) (View, error) {
	var cutoff int
	v, err := s.step(ctx, of, cmd, func(tx Tx, is *Session, c contract.Contract, now time.Time) error {
		settings, err := tx.PortalSettings(ctx)
		if err != nil {
			return err
		}
		cutoff = settings.CutoffDays
		if is.Step == Ended && !is.Outcome.Saved() {
			return nil
		}
		if is.Step != Cancelling {
			if err := cmd.check(c); err != nil {
				return err
			}
		}
		return is.move(Cancelling, "confirm", now)
	})
	if err != nil || v.Step == Ended {
		return v, err
	}
	by := cmd.Actor
	by.CancelSession = int64(v.ID)
	change := lifecycle.StatusChange{To: contract.Cancelled, Note: v.Comment, CutoffDays: cutoff}
	if r, ok := v.Flow.Reason(v.Reason); ok {
		change.Feedback = r.LabelIn(flow.English)
	}
	_, failed := s.Statuses.SetStatus(ctx, of, amend.Command{Line: v.Line, Contract: v.Session.Contract, Actor: by}, change)
	return s.settleCancel(context.WithoutCancel(ctx), of, cmd, failed)
}

// settleCancel ends the session, unless the commit that cancelled the contract has, or takes
// it back when the cancellation was refused.
func (s *Service) settleCancel(ctx context.Context, of shop.ID, cmd Named, failed error) (View, error) {
	done := slices.Contains([]string{"sameStatus", "cancellationPending"}, codeOf(failed))
	v, err := s.step(ctx, of, cmd, func(tx Tx, is *Session, c contract.Contract, now time.Time) error {
		if is.Step != Cancelling {
			return nil
		}
		if failed == nil || done {
			if o, action, over := endOf(c); over {
				return conclude(ctx, tx, is, o, action, string(o), cmd.Actor, now)
			}
		}
		if failed == nil || passing(failed) {
			return nil
		}
		return is.move(Confirming, "refused", now)
	})
	if v.Step == Ended || done {
		failed = nil
	}
	return v, errors.Join(failed, err)
}

// endOf returns the outcome of a session whose contract has ended, or will.
func endOf(c contract.Contract) (Outcome, string, bool) {
	switch {
	case c.Terminated():
		return Cancelled, retention.Cancelled, true
	case c.Ending != nil && c.Moving == nil:
		return Scheduled, retention.CancelScheduled, true
	}
	return "", "", false
}

// reference is what the customer quotes about a cancellation.
func reference(s Session) string {
	return "C-" + strconv.FormatInt(int64(s.Contract), 10) + "-" + strconv.FormatInt(int64(s.ID), 10)
}
