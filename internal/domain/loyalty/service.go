package loyalty

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Platform is what loyalty needs of the commerce platform.
type Platform interface {
	platform.Rewards
}

// Service keeps members' points.
type Service struct {
	Store    Store
	Reader   Reader
	Platform Platform
	Clock    clock.Clock
	Log      *slog.Logger
}

// MaxNote is how long a note can be, in characters.
const MaxNote = 500

// Enable starts a store's programme, or changes it. What was ordered since it
// started and is not counted yet will be.
func (s *Service) Enable(ctx context.Context, of shop.ID, since time.Time, terms Terms) error {
	if err := terms.Validate(); err != nil {
		return err
	}
	return s.Store.Update(ctx, of, func(tx Tx) error {
		p, err := tx.Program(ctx)
		if err != nil {
			return err
		}
		p.Active, p.StartedAt, p.Terms = true, since, terms
		if err := tx.PutProgram(ctx, p); err != nil {
			return err
		}
		if err := tx.AddPastFacts(ctx, since, s.Clock.Now()); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{of})
	})
}

// Disable stops a store's programme: nothing is earned or redeemed any more.
// Members keep what they have.
func (s *Service) Disable(ctx context.Context, of shop.ID) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		p, err := tx.Program(ctx)
		if err != nil || !p.Active {
			return err
		}
		p.Active = false
		return tx.PutProgram(ctx, p)
	})
}

// EnrolCommand makes a customer a member.
type EnrolCommand struct {
	Who                 CustomerRef
	FirstName, LastName string // empty: as the customer's contracts say
	Born                string // YYYY-MM-DD; empty: not known
	Actor               activity.Actor
}

// Enrol makes a customer a member. A member stays one, and takes part again when
// the customer had left.
func (s *Service) Enrol(ctx context.Context, of shop.ID, cmd EnrolCommand) (Member, error) {
	return s.act(ctx, of, asked{who: cmd.Who}, func(d *memberTx) error {
		a, err := d.find(ctx)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if a.Status == Excluded {
				return fault.New(fault.FailedPrecondition, "the customer is excluded from the programme").Entity(entity).Code("customerExcluded")
			}
			a.Status = Active
			if cmd.Born != "" {
				a.Born = cmd.Born
			}
			l, err := d.whole(ctx, a)
			if err != nil {
				return err
			}
			return d.save(ctx, l)
		}
		who, err := d.customer(ctx)
		if err != nil {
			return err
		}
		who.FirstName, who.LastName = or(cmd.FirstName, who.FirstName), or(cmd.LastName, who.LastName)
		l, err := d.enrol(ctx, who, cmd.Born)
		if err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "enrolled"})
	})
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// PointsCommand adds or removes points by hand.
type PointsCommand struct {
	Who    CustomerRef
	Points Points  // more than 0; of Add with a rule: 0 for what the rule gives; of Remove with an entry: 0 for all of it
	Rule   RuleID  // of Add: the earn rule for which they are added; 0: none
	Entry  EntryID // of Remove: what was earned for it is taken back; 0: none
	Note   string
	Actor  activity.Actor
	// IdempotencyKey is the name of a request that may come again and must move points
	// oncePerMember; empty: it does not come again.
	IdempotencyKey string
}

// Add gives points to a member. Where customers become members by themselves, it
// makes them members.
func (s *Service) Add(ctx context.Context, of shop.ID, cmd PointsCommand) (Member, error) {
	return s.act(ctx, of, asked{cmd.Who, cmd.IdempotencyKey}, func(d *memberTx) error {
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

// earn posts what a rule gives because somebody says so.
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

// onceID names a member as a source that gives points once.
func onceID(a Account) string { return fmt.Sprintf("customer:%d", a.Person.Customer) }

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

// Remove takes points from a member, never more than there are.
func (s *Service) Remove(ctx context.Context, of shop.ID, cmd PointsCommand) (Member, error) {
	return s.act(ctx, of, asked{cmd.Who, cmd.IdempotencyKey}, func(d *memberTx) error {
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

// reverse takes back what an entry earned: an order was refunded, say.
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
	Entries []EntryID // that are to be released; empty: all
	Actor   activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// Approve makes pending points available.
func (s *Service) Approve(ctx context.Context, of shop.ID, cmd ApproveCommand) (Member, error) {
	return s.act(ctx, of, asked{cmd.Who, cmd.IdempotencyKey}, func(d *memberTx) error {
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

// pendingOf returns the lots of chosen entries; nil when all are meant.
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

// CreditCommand gives store credit.
type CreditCommand struct {
	Who    CustomerRef
	Amount int64 // minor units of the store's currency, more than 0
	Note   string
	Actor  activity.Actor

	IdempotencyKey string // as in a PointsCommand
}

// AddCredit gives a member store credit.
func (s *Service) AddCredit(ctx context.Context, of shop.ID, cmd CreditCommand) (Member, error) {
	return s.act(ctx, of, asked{cmd.Who, cmd.IdempotencyKey}, func(d *memberTx) error {
		l, err := d.openOrEnrol(ctx)
		if err != nil {
			return err
		}
		n, err := d.tx.Number(ctx)
		if err != nil {
			return err
		}
		c := Credit{Source: Source{Manual, fmt.Sprint(n)}, Note: cmd.Note, Actor: cmd.Actor.By}
		c.Amount.Minor, c.Amount.Currency = cmd.Amount, d.shop.Currency
		if err := d.give(ctx, l, c); err != nil {
			return err
		}
		if err := d.save(ctx, l); err != nil {
			return err
		}
		return d.record(ctx, cmd.Actor, l.Account, note{What: "store credit added", Amount: c.Amount.String(), Note: cmd.Note})
	})
}

// give adds store credit to a member.
func (d *memberTx) give(ctx context.Context, l *Ledger, c Credit) error {
	if l.Account.Credit.Minor > maxCredit-c.Amount.Minor {
		return fault.New(fault.FailedPrecondition, "the customer would have too much store credit").Entity(entity).Code("creditTooHigh").Field("amount")
	}
	c.Account, c.At = l.Account.ID, d.now
	l.Account.Credit = l.Account.Credit.Plus(c.Amount)
	if err := d.tx.AddCredit(ctx, &c); err != nil {
		return err
	}
	d.given = append(d.given, Event{CreditsEarned, l.Account.Person.Customer, int64(c.ID), d.now})
	return nil
}

// maxCredit is the most store credit that a member can have, in minor units.
const maxCredit = 1_000_000_000_00

// referralCode returns the code of a member's referral link. It says nothing of
// who the member is.
func referralCode(of shop.ID, domain string, customer int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "referral|%d|%s|%d", of, domain, customer))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}
