package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// editObsolete reports whether the platform's cycle may hold an edit of ours that it should
// no longer hold. A prepared order keeps its edit.
func editObsolete(a billing.Attempt, oneOffs []billing.OneOff) bool {
	return a.Prep.Edited && (a.Status == billing.Skipped || a.Status == billing.Queued && a.Prep.Stage == billing.Fresh && a.Note == "" && len(oneOffs) == 0)
}

// mayPublishOneOffs reports whether the one-time products of an order are published now.
// Those of an order that falls due soon are published while it is prepared, so that two
// workers do not add them at once.
func (s *Service) mayPublishOneOffs(a billing.Attempt) bool {
	return a.Status == billing.Queued && a.Prep.Stage == billing.Fresh && a.DueAt.After(s.Clock.Now().Add(s.Policy.Lease))
}

// publishOneOffs makes the platform's cycle hold the one-time products of its order, and no
// others of ours. It records in the attempt which revision of the contract the cycle may be
// a copy of. Preparing the order drops the copy of an older one.
func (s *Service) publishOneOffs(ctx context.Context, of shop.Shop, a *billing.Attempt, oneOffs []billing.OneOff) error {
	ref := platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle}
	order, err := s.Platform.CycleOrder(ctx, of.At(), ref)
	if err != nil {
		return err
	}
	if !order.Edited {
		a.Prep.Revision = order.Revision
	}
	edits := prepare.OneOffEdits(order, oneOffs)
	if len(edits) == 0 {
		return nil
	}
	_, err = s.Platform.EditCycle(ctx, of.At(), ref, platform.Edit{Revision: order.Revision, Was: order.Lines, Lines: edits})
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok && refusal.Code == platform.CodeStale {
		return fmt.Errorf("%w: the cycle has changed", platform.ErrUnknown) // it is read again
	}
	return err
}
