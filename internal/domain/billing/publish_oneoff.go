package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// plainAgain reports whether the platform's cycle may hold changes of ours that
// it should not hold any more. An order that has been prepared keeps what it has.
func (a Attempt) plainAgain(oneOffs []OneOff) bool {
	return a.Prep.Edited && (a.Status == Skipped || a.Status == Queued && a.Prep.Stage == Fresh && a.Note == "" && len(oneOffs) == 0)
}

// mayTellOneOffs reports whether the platform is told now what an order carries.
// One that is about to be charged is told while it is prepared, so that two do
// not do the same at once.
func (s *Service) mayTellOneOffs(a Attempt) bool {
	return a.Status == Queued && a.Prep.Stage == Fresh && a.DueAt.After(s.Clock.Now().Add(s.Policy.Lease))
}

// tellOneOffs lets the platform's cycle hold the one-time products that its order
// is to carry, and no others of ours. It notes in the attempt of which contract the
// cycle can be a copy then. One of an older contract is taken back when the order is
// prepared.
func (s *Service) tellOneOffs(ctx context.Context, of shop.Shop, a *Attempt, oneOffs []OneOff) error {
	ref := platform.CycleRef{Contract: int64(a.Contract), Index: a.Cycle}
	order, err := s.Platform.CycleOrder(ctx, of.At(), ref)
	if err != nil {
		return err
	}
	if !order.Edited {
		a.Prep.Revision = order.Revision
	}
	is := placedOf(order.Lines, order.LineDetails)
	wanted := wantedLines(is, oneOffs, plain(is))
	if fingerprint(is, "") == fingerprint(wanted, "") {
		return nil
	}
	_, err = s.Platform.EditCycle(ctx, of.At(), ref, platform.Edit{Revision: order.Revision, Was: order.Lines, Lines: edits(is, wanted)})
	if refusal, ok := errors.AsType[*platform.Refusal](err); ok && refusal.Code == platform.CodeStale {
		return fmt.Errorf("%w: somebody else was faster", platform.ErrUnknown) // it is looked at anew
	}
	return err
}
