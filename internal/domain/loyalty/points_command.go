package loyalty

import (
	"context"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Add gives points to a member, and enrols the customer where the programme enrols
// automatically.
func (s *Service) Add(ctx context.Context, of shop.ID, cmd PointsCommand) (Member, error) {
	return s.act(ctx, of, request{cmd.Who, cmd.IdempotencyKey, cmd.Actor}, func(d *memberTx) error {
		p := Posting{Points: cmd.Points, Note: cmd.Note, Actor: cmd.Actor.By, Description: "Added by the store"}
		var rule EarnRule
		if cmd.Rule != 0 {
			var err error
			if rule, err = d.activeRule(cmd.Rule); err != nil {
				return err
			}
			if p.Points == 0 {
				p.Points = rule.Points
			}
			p.Rule, p.Description = rule.ID, rule.Name
		}
		if p.Points <= 0 {
			return fault.New(fault.Invalid, "points must be more than 0").Entity(entity).Code("pointsInvalid").Field("points")
		}
		l, err := d.openOrEnrol(ctx)
		if err != nil {
			return err
		}
		n, err := d.tx.Number(ctx)
		if err != nil {
			return err
		}
		p.Source = Source{Manual, fmt.Sprint(n)}
		if cmd.Rule == 0 {
			err = l.Adjust(p)
		} else {
			err = d.earn(ctx, l, rule, p)
		}
		if err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "points added", Points: p.Points.Float(), Note: cmd.Note})
	})
}

// PointsCommand adds or removes points by hand.
type PointsCommand struct {
	Who    CustomerRef
	Points Points  // more than 0; of Add with a rule: 0 for the rule's points; of Remove with an entry: 0 for all of its points
	Rule   RuleID  // of Add: the earn rule for which they are added; 0: none
	Entry  EntryID // of Remove: reverse the points of this entry; 0: none
	Note   string
	Actor  activity.Actor
	// IdempotencyKey makes a repeated request move points once; empty: the request is not
	// repeated.
	IdempotencyKey string
}

// earn posts the points of a rule for an activity that the caller reports.
func (d *memberTx) earn(ctx context.Context, l *Ledger, rule EarnRule, p Posting) error {
	p.Source.Type = rule.For
	if rule.For.oncePerMember() {
		p.Source.ID = onceID(l.Account)
		posted, err := d.tx.Posted(ctx, []Source{p.Source})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(posted, func(e Entry) bool { return e.Kind == Earn || e.Kind == Pend }) {
			return fault.New(fault.FailedPrecondition, "the customer was given points for %s already", rule.For).Entity(entity).Code("alreadyRewarded").Field("earnRuleId")
		}
	}
	l.Earn(p)
	return nil
}

func (d *memberTx) activeRule(id RuleID) (EarnRule, error) {
	rule, ok := d.program.Terms.earnRule(id)
	if !ok {
		return EarnRule{}, fault.New(fault.NotFound, "earn rule %d does not exist", id).Entity("pointEarnRule").Code("earnRuleNotFound").Field("earnRuleId")
	}
	if !rule.Active {
		return EarnRule{}, fault.New(fault.FailedPrecondition, "earn rule %d is not active", id).Entity("pointEarnRule").Code("earnRuleInactive").Field("earnRuleId")
	}
	return rule, nil
}

// Remove takes points from a member, at most those that are available.
func (s *Service) Remove(ctx context.Context, of shop.ID, cmd PointsCommand) (Member, error) {
	return s.act(ctx, of, request{cmd.Who, cmd.IdempotencyKey, cmd.Actor}, func(d *memberTx) error {
		l, err := d.open(ctx)
		if err != nil {
			return err
		}
		n, err := d.tx.Number(ctx)
		if err != nil {
			return err
		}
		p := Posting{Source: Source{Manual, fmt.Sprint(n)}, Points: cmd.Points, Note: cmd.Note, Actor: cmd.Actor.By, Description: "Removed by the store"}
		before := l.Account.Sums
		if cmd.Entry != 0 {
			err = d.reverse(ctx, l, cmd.Entry, p)
		} else {
			p.Points = -p.Points
			err = l.Adjust(p)
		}
		if err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		after := l.Account.Sums
		return d.record(ctx, cmd.Actor, l.Account, note{
			What: "points removed", Points: (after.Available + after.Pending - before.Available - before.Pending).Float(), Note: cmd.Note,
		})
	})
}

// reverse reverses the points of an entry, for example when an order was refunded.
func (d *memberTx) reverse(ctx context.Context, l *Ledger, id EntryID, p Posting) error {
	entries, _, lots, err := d.tx.Ledger(ctx, l.Account.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return fault.New(fault.NotFound, "transaction %d of the customer does not exist", id).Entity("pointTransaction").Code("transactionNotFound").Field("transactionId")
	}
	e := entries[i]
	at := slices.IndexFunc(lots, func(lot Lot) bool { return lot.Seq == e.Seq })
	if e.Kind != Earn && e.Kind != Pend || at < 0 {
		return fault.New(fault.FailedPrecondition, "transaction %d is %s: only what was earned can be taken back", id, e.Kind).Entity("pointTransaction").Code("transactionNotEarned").Field("transactionId")
	}
	lot := lots[at]
	if lot.Reversed == lot.Points {
		return fault.New(fault.FailedPrecondition, "the points of transaction %d were taken back already", id).Entity("pointTransaction").Code("transactionReversed").Field("transactionId")
	}
	if p.Points == 0 {
		p.Points = lot.Points - lot.Reversed
	}
	if l.lot(lot.Seq) == nil {
		l.Lots = append(l.Lots, lot)
	}
	p.Source, p.Description = Source{e.Source.Type, e.Source.ID + "|" + p.Source.ID}, "Taken back: "+e.Description
	l.Reverse(lot.Seq, p)
	return nil
}

// ApproveCommand releases pending points.
type ApproveCommand struct {
	Who     CustomerRef
	Entries []EntryID // to release; empty: all
	Actor   activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// Approve makes pending points available.
func (s *Service) Approve(ctx context.Context, of shop.ID, cmd ApproveCommand) (Member, error) {
	return s.act(ctx, of, request{cmd.Who, cmd.IdempotencyKey, cmd.Actor}, func(d *memberTx) error {
		l, err := d.open(ctx)
		if err != nil {
			return err
		}
		wanted, err := d.pendingOf(ctx, l, cmd.Entries)
		if err != nil {
			return err
		}
		before := l.Account.Sums.Available
		for _, lot := range slices.Clone(l.Lots) {
			if lot.Pending && (wanted == nil || wanted[lot.Seq]) {
				l.Release(lot.Seq, Posting{Actor: cmd.Actor.By})
			}
		}
		if len(l.Entries) == 0 {
			return fault.New(fault.FailedPrecondition, "the customer has no pending transactions").Entity(entity).Code("nothingPending")
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "pending points approved", Points: (l.Account.Sums.Available - before).Float()})
	})
}

// pendingOf returns the lots of the chosen entries; nil: all.
func (d *memberTx) pendingOf(ctx context.Context, l *Ledger, ids []EntryID) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	entries, _, _, err := d.tx.Ledger(ctx, l.Account.ID)
	if err != nil {
		return nil, err
	}
	wanted := make(map[int64]bool, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "transaction %d of the customer does not exist", id).Entity("pointTransaction").Code("transactionNotFound").Field("transactionIds")
		}
		if lot := l.lot(entries[i].Seq); lot == nil || !lot.Pending {
			return nil, fault.New(fault.FailedPrecondition, "transaction %d is not pending", id).Entity("pointTransaction").Code("transactionNotPending").Field("transactionIds")
		}
		wanted[entries[i].Seq] = true
	}
	return wanted, nil
}
