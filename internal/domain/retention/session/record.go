package session

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
)

// info is what a retention activity has to say of a session.
type info struct {
	Session ID         `json:"sessionId"`
	Version int        `json:"flowVersion"`
	Outcome Outcome    `json:"outcome"`
	Steps   []Move     `json:"steps"`
	Offer   *offerInfo `json:"offer,omitempty"`
	Variant Arm        `json:"variant,omitempty"`
	Comment string     `json:"comment,omitempty"`
}

type offerInfo struct {
	Type     flow.Kind  `json:"type"`
	Params   flow.Offer `json:"params"`
	Shown    bool       `json:"shown"`
	Accepted bool       `json:"accepted"`
	Chosen   string     `json:"chosen,omitempty"`
}

// finish writes a session that has ended, with the retention activity and the entry in the
// log that report it.
func finish(ctx context.Context, tx NoteTx, s *Session, f flow.Flow, by activity.Actor) error {
	said := info{Session: s.ID, Version: s.Flow, Outcome: s.Outcome, Steps: s.Moves, Variant: s.Arm, Comment: s.Comment}
	a := retention.Activity{Contract: s.Contract, Customer: s.Customer, At: s.EndedAt, Details: retention.Details{Action: s.Action}}
	if r, ok := f.Reason(s.Reason); ok {
		a.Details.Reason = r.LabelIn(flow.English)
	}
	if s.Offer != nil {
		said.Offer = &offerInfo{s.Offer.Kind, s.Offer.Offer, !s.OfferedAt.IsZero(), s.Outcome == Accepted, s.Offer.Chosen}
		if s.Action == retention.DiscountApplied {
			a.Details.Discount = discountText(s.Offer.Offer)
		}
	}
	a.Details.Info = activity.Details(said)
	if err := tx.PutCancelSession(ctx, s); err != nil {
		return err
	}
	by.CancelSession = 0
	return retention.Add(ctx, tx, &a, by)
}

// discountText is a discount as it is reported: "20% x 3".
func discountText(o flow.Offer) string {
	if o.Percent > 0 {
		return fmt.Sprintf("%d%% x %d", o.Percent, o.Orders)
	}
	return fmt.Sprintf("%s x %d", o.Amount, o.Orders)
}

// conclude is finish in a transaction that has found the session open.
func conclude(ctx context.Context, tx NoteTx, s *Session, o Outcome, action, choice string, by activity.Actor, now time.Time) error {
	f, err := flow.At(ctx, tx, s.Flow)
	if err != nil {
		return err
	}
	if err := s.end(o, action, choice, now); err != nil {
		return err
	}
	return finish(ctx, tx, s, f, by)
}
