package annotate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// maxMarkFailures is how often an annotation is sent: for more than a week.
const maxMarkFailures = 200

// marksAtOnce is how many annotations one transaction claims.
const marksAtOnce = 50

// Service sends tags and notes to the platform.
type Service struct{ *billing.Env }

// Work sends the due annotations of a shop. One that a dead process has claimed falls due again.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		var store shop.Shop
		var marks []billing.Annotation
		var words []tagging
		err := s.Store.Update(ctx, of, func(tx billing.Tx) error {
			now := s.Clock.Now()
			var err error
			if marks, err = tx.DueAnnotations(ctx, now, marksAtOnce); err != nil || len(marks) == 0 {
				return err
			}
			for i := range marks {
				marks[i].DueAt = now.Add(s.Policy.Lease)
			}
			if err := tx.PutAnnotations(ctx, marks); err != nil {
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

// marked is the platform's answer to an annotation.
type marked struct {
	lines []platform.Line // of the order, when it was asked for them
	err   error
}

func (s *Service) sendMarks(ctx context.Context, of shop.Shop, marks []billing.Annotation, words []tagging) []marked {
	answers := make([]marked, len(marks))
	s.Each(ctx, len(marks), func(i int) {
		switch m, is := marks[i], &answers[i]; {
		case asksForLines(m):
			is.lines, is.err = s.Platform.OrderLines(ctx, of.At(), gid.Number(m.Target), int64(m.Contract))
		case len(m.Tags) > 0:
			is.err = s.Platform.Tag(ctx, of.At(), m.Target, words[i].add, words[i].remove)
		default:
			is.err = s.Platform.NoteOrder(ctx, of.At(), gid.Number(m.Target), m.Note)
		}
	})
	return answers
}

// asksForLines reports whether the order is asked for its lines.
func asksForLines(m billing.Annotation) bool { return len(m.Tags) == 0 && m.Note == "" }

// settleMarks deletes the annotations that are sent and postpones the others. If the tags of a
// customer have changed during the call, they are sent again, so that the last call is right.
func (s *Service) settleMarks(ctx context.Context, of shop.ID, marks []billing.Annotation, words []tagging, answers []marked) error {
	return s.Store.Update(ctx, of, func(tx billing.Tx) error {
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
		var done []billing.AnnotationID
		var later []billing.Annotation
		var read []billing.Attempt
		for i, m := range marks {
			a, err := attempts[m.Attempt], answers[i].err
			settled := platform.Definite(err) || m.Failures+1 >= maxMarkFailures
			switch {
			case asksForLines(m) && err == nil:
				done = append(done, m.ID)
				a.Lines, a.UpdatedAt = orderedLines(a.Lines, answers[i].lines), now
				read = append(read, a)
			case asksForLines(m) && settled:
				done = append(done, m.ID)
				s.Log.WarnContext(ctx, "the lines of an order cannot be read", "shop", of, "order", m.Target, "error", err)
			case err == nil && !words[i].same(current[i]):
				m.DueAt = now
				later = append(later, m)
			case err == nil:
				done = append(done, m.ID)
				if !words[i].silent {
					entries = append(entries, entryFor(m, activity.Success, words[i], a.Cycle, "", now))
				}
			case settled:
				done = append(done, m.ID)
				entries = append(entries, entryFor(m, activity.Failure, words[i], a.Cycle, err.Error(), now))
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
		if err := tx.DeleteAnnotations(ctx, done); err != nil {
			return err
		}
		if err := tx.PutAnnotations(ctx, later); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
}

// orderedLines returns what an order has, with what is known of its lines.
func orderedLines(known []contract.LineItem, order []platform.Line) []contract.LineItem {
	known = slices.Clone(known)
	lines := make([]contract.LineItem, len(order))
	for i, l := range order {
		at := slices.IndexFunc(known, func(k contract.LineItem) bool {
			return k.VariantID == l.VariantID && k.SellingPlanID == l.SellingPlanID
		})
		lines[i] = contract.NewLine(l)
		lines[i].ID = ""
		if at >= 0 {
			lines[i].ID = known[at].ID
			known = slices.Delete(known, at, at+1)
		}
	}
	return lines
}

// attemptsOf returns the attempts of annotations.
func attemptsOf(ctx context.Context, tx billing.Tx, marks []billing.Annotation) (map[billing.AttemptID]billing.Attempt, error) {
	var ids []billing.AttemptID
	for _, m := range marks {
		if m.Attempt != 0 {
			ids = append(ids, m.Attempt)
		}
	}
	list, err := tx.Attempts(ctx, billing.Unique(ids))
	attempts := make(map[billing.AttemptID]billing.Attempt, len(list))
	for _, a := range list {
		attempts[a.ID] = a
	}
	return attempts, err
}

func entryFor(m billing.Annotation, status activity.Status, word tagging, cycle int, reason string, now time.Time) activity.Entry {
	e := activity.Entry{
		EntityID: int64(m.Contract), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.TagsUpdated, Status: status,
		Actor: activity.System, At: now, Info: activity.Details(billing.EntryInfo{Cycle: cycle, Target: m.Target, Tags: word.add, Untagged: word.remove, Reason: reason}),
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
