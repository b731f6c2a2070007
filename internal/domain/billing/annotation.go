package billing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Annotator is what billing needs to mark orders and customers. The methods are
// those of the platform's Catalogue.
type Annotator interface {
	Tag(ctx context.Context, shop platform.Shop, id string, add, remove []string) error
	NoteOrder(ctx context.Context, shop platform.Shop, order int64, note string) error
	OrderLines(ctx context.Context, shop platform.Shop, order, contract int64) ([]platform.Line, error)
}

// AnnotationID is the service's number of a mark, unique within a shop.
type AnnotationID int64

// Annotation is a tag or a note that an order or a customer is still to get. Either
// Tags or Note is set. A customer's tags are only named: whether they are given or
// taken away is decided when the platform is told. With neither, the lines of the
// attempt's order are still to be read.
type Annotation struct {
	ID       AnnotationID
	Target   string // graph id of an order or a customer
	Contract contract.ID
	Attempt  AttemptID // 0: not about an attempt's order
	Tags     []string
	Note     string
	DueAt    time.Time // when to tell the platform
	Failures int
	Version  int64
}

// maxMarkFailures is how often a mark is tried: for more than a week.
const maxMarkFailures = 200

// marksAtOnce is how many marks are taken up in one transaction.
const marksAtOnce = 50

// markOrders notes the tags and the notes that orders which were just made are
// still to get.
func (l *settlement) markOrders(ctx context.Context, tx Tx) error {
	if len(l.ordered) == 0 {
		return nil
	}
	var plans []int64
	for _, id := range l.ordered {
		plans = append(plans, plansOf(l.attempts[id].Lines)...)
	}
	groups, err := groupsOf(ctx, tx, plans)
	if err != nil {
		return err
	}
	var marks []Annotation
	for _, id := range l.unsure {
		a := l.attempts[id]
		marks = append(marks, Annotation{Target: gid.Of("Order", a.OrderID), Contract: a.Contract, Attempt: a.ID, DueAt: l.now})
	}
	for _, id := range l.ordered {
		a := l.attempts[id]
		m := Annotation{Target: gid.Of("Order", a.OrderID), Contract: a.Contract, Attempt: a.ID, DueAt: l.now}
		if note := l.contracts[a.Contract].Note; a.Prep.NoteLeft {
			noted := m
			noted.Note = joinNotes(note, a.Note)
			marks = append(marks, noted)
		}
		for _, p := range plansOf(a.Lines) {
			m.Tags = append(m.Tags, plan.TagsFor(groups[p], true).Order...)
		}
		if m.Tags = unique(m.Tags); len(m.Tags) > 0 {
			marks = append(marks, m)
		}
	}
	return tx.PutMarks(ctx, marks)
}

// AnnotateFirstOrders notes the tags that first orders get when contracts begin. It runs
// inside the caller's transaction, which must ask for Work.
func AnnotateFirstOrders(ctx context.Context, tx Tx, contracts []contract.Contract, now time.Time) error {
	groups, err := groupsOfAll(ctx, tx, contracts)
	if err != nil {
		return err
	}
	var marks []Annotation
	for _, c := range contracts {
		order := Annotation{Target: gid.Of("Order", c.OriginOrderID), Contract: c.ID, DueAt: now}
		for _, p := range plansOf(c.Lines) {
			order.Tags = append(order.Tags, plan.TagsFor(groups[p], false).Order...)
		}
		if order.Tags = unique(order.Tags); len(order.Tags) > 0 && c.OriginOrderID != 0 && c.Orders == 0 {
			marks = append(marks, order)
		}
	}
	return tx.PutMarks(ctx, marks)
}

// groupsOfAll returns the groups of all plans of contracts.
func groupsOfAll(ctx context.Context, tx Tx, contracts []contract.Contract) (map[int64]plan.Group, error) {
	var plans []int64
	for _, c := range contracts {
		plans = append(plans, plansOf(c.Lines)...)
	}
	return groupsOf(ctx, tx, plans)
}

func groupsOf(ctx context.Context, tx Tx, plans []int64) (map[int64]plan.Group, error) {
	if plans = unique(plans); len(plans) == 0 {
		return nil, nil
	}
	return tx.PlanGroups(ctx, plans)
}

func plansOf(lines []contract.Line) []int64 {
	var plans []int64
	for _, l := range lines {
		if l.SellingPlanID != 0 {
			plans = append(plans, l.SellingPlanID)
		}
	}
	return unique(plans)
}

func unique[T comparable](list []T) []T {
	var once []T
	for _, v := range list {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// markAll gives orders and customers of a shop the tags and notes that they are
// still to get. A mark that was taken up by a process that died falls due again.
func (s *Service) markAll(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		var store shop.Shop
		var marks []Annotation
		var words []tagging
		err := s.Store.Update(ctx, of, func(tx Tx) error {
			now := s.Clock.Now()
			var err error
			if marks, err = tx.DueMarks(ctx, now, marksAtOnce); err != nil || len(marks) == 0 {
				return err
			}
			for i := range marks {
				marks[i].DueAt = now.Add(s.Policy.Lease)
			}
			if err := tx.PutMarks(ctx, marks); err != nil {
				return err
			}
			if words, err = taggings(ctx, tx, marks); err != nil {
				return err
			}
			store, err = tx.Shop(ctx)
			return err
		})
		if err != nil || len(marks) == 0 {
			return err
		}
		if err := s.settleMarks(ctx, of, marks, words, s.sendMarks(ctx, store, marks, words)); err != nil {
			return fmt.Errorf("settle %d marks: %w", len(marks), err)
		}
	}
	return ctx.Err()
}

// marked is what the platform answered to a mark.
type marked struct {
	lines []platform.Line // of the order, when it was asked for them
	err   error
}

func (s *Service) sendMarks(ctx context.Context, of shop.Shop, marks []Annotation, words []tagging) []marked {
	answers := make([]marked, len(marks))
	s.fan(ctx, len(marks), func(i int) {
		switch m, is := marks[i], &answers[i]; {
		case m.asks():
			is.lines, is.err = s.Platform.OrderLines(ctx, of.At(), gid.Number(m.Target), int64(m.Contract))
		case len(m.Tags) > 0:
			is.err = s.Platform.Tag(ctx, of.At(), m.Target, words[i].add, words[i].remove)
		default:
			is.err = s.Platform.NoteOrder(ctx, of.At(), gid.Number(m.Target), m.Note)
		}
	})
	return answers
}

// asks reports whether the order is asked for its lines.
func (m Annotation) asks() bool { return len(m.Tags) == 0 && m.Note == "" }

// settleMarks removes what is done and puts off what is not. What a customer is to
// have may have changed while the platform was told: then it is told again, so that
// the last one to tell it tells the truth.
func (s *Service) settleMarks(ctx context.Context, of shop.ID, marks []Annotation, words []tagging, answers []marked) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		current, err := taggings(ctx, tx, marks)
		if err != nil {
			return err
		}
		attempts, err := attemptsOf(ctx, tx, marks)
		if err != nil {
			return err
		}
		var entries []activity.Entry
		var done []AnnotationID
		var later []Annotation
		var read []Attempt
		for i, m := range marks {
			a, err := attempts[m.Attempt], answers[i].err
			settled := platform.Definite(err) || m.Failures+1 >= maxMarkFailures
			switch {
			case m.asks() && err == nil:
				done = append(done, m.ID)
				a.Lines, a.UpdatedAt = orderedLines(a.Lines, answers[i].lines), now
				read = append(read, a)
			case m.asks() && settled:
				done = append(done, m.ID)
				s.Log.WarnContext(ctx, "an order does not tell its lines", "shop", of, "order", m.Target, "error", err)
			case err == nil && !words[i].same(current[i]):
				m.DueAt = now
				later = append(later, m)
			case err == nil:
				done = append(done, m.ID)
				if !words[i].silent {
					entries = append(entries, m.entry(activity.Success, words[i], a.Cycle, "", now))
				}
			case settled:
				done = append(done, m.ID)
				entries = append(entries, m.entry(activity.Failure, words[i], a.Cycle, err.Error(), now))
			default:
				m.DueAt = now.Add(s.Policy.Repair)
				if m.Failures < len(s.Policy.Retries) {
					m.DueAt = now.Add(s.Policy.Retries[m.Failures])
				}
				m.Failures++
				later = append(later, m)
			}
		}
		if err := tx.PutAttempts(ctx, read); err != nil {
			return err
		}
		if err := tx.DeleteMarks(ctx, done); err != nil {
			return err
		}
		if err := tx.PutMarks(ctx, later); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}

// orderedLines returns what an order has, with what is known of its lines.
func orderedLines(known []contract.Line, order []platform.Line) []contract.Line {
	known = slices.Clone(known)
	lines := make([]contract.Line, len(order))
	for i, l := range order {
		at := slices.IndexFunc(known, func(k contract.Line) bool { return k.VariantID == l.VariantID && k.SellingPlanID == l.SellingPlanID })
		lines[i] = contract.NewLine(l)
		lines[i].ID = ""
		if at >= 0 {
			lines[i].ID = known[at].ID
			known = slices.Delete(known, at, at+1)
		}
	}
	return lines
}

// attemptsOf returns the attempts that marks are about.
func attemptsOf(ctx context.Context, tx Tx, marks []Annotation) (map[AttemptID]Attempt, error) {
	var ids []AttemptID
	for _, m := range marks {
		if m.Attempt != 0 {
			ids = append(ids, m.Attempt)
		}
	}
	list, err := tx.Attempts(ctx, unique(ids))
	attempts := make(map[AttemptID]Attempt, len(list))
	for _, a := range list {
		attempts[a.ID] = a
	}
	return attempts, err
}

func (m Annotation) entry(status activity.Status, word tagging, cycle int, reason string, now time.Time) activity.Entry {
	e := activity.Entry{
		EntityID: int64(m.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.TagsUpdated, Status: status,
		Actor: activity.System, At: now, Info: activity.Details(outcome{Cycle: cycle, Target: m.Target, Tags: word.add, Untagged: word.remove, Reason: reason}),
	}
	if strings.HasPrefix(m.Target, "gid://shopify/Order/") {
		e.Event = activity.OrderTagsAdded
	}
	if m.Attempt != 0 {
		e.EntityID, e.EntityType = int64(m.Attempt), activity.EntitySubscriptionBillingAttempt
	}
	if m.Note != "" {
		e.Event = activity.BillingAttemptUpdated
	}
	return e
}
