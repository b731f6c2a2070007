package amend

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// moves lists what people may make of a contract's status. The platform has the
// last word: it may not let a contract that ended run again.
var moves = map[contract.Status][]contract.Status{
	contract.Active:    {contract.Paused, contract.Cancelled},
	contract.Paused:    {contract.Active, contract.Cancelled},
	contract.Failed:    {contract.Active, contract.Cancelled},
	contract.Cancelled: {contract.Active},
}

// statusEvents names the entry of each status that people set.
var statusEvents = map[contract.Status]activity.EventType{
	contract.Active: activity.ContractActivated, contract.Paused: activity.ContractPaused, contract.Cancelled: activity.ContractCancelled,
}

// Limits of what is said about a cancellation, in characters.
const (
	MaxFeedback         = 500
	MaxCancellationNote = 1000
)

// Why says why a contract is cancelled. Both may be empty.
type Why struct{ Feedback, Note string }

// statusNote is the information of an entry about a status.
type statusNote struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Feedback string `json:"cancellationFeedback,omitempty"`
	Note     string `json:"cancellationNote,omitempty"`
}

// SetStatus pauses, activates or cancels a contract. Its upcoming orders leave
// the queue, or come back to it, in the same commit. The status it has already
// is refused.
func (s *Service) SetStatus(ctx context.Context, of shop.ID, cmd Command, to contract.Status, why Why) (contract.Detail, error) {
	if utf8.RuneCountInString(why.Feedback) > MaxFeedback {
		return contract.Detail{}, fault.New(fault.Invalid, "cancellationFeedback is longer than %d characters", MaxFeedback).On(entity).At("cancellationFeedback")
	}
	if utf8.RuneCountInString(why.Note) > MaxCancellationNote {
		return contract.Detail{}, fault.New(fault.Invalid, "cancellationNote is longer than %d characters", MaxCancellationNote).On(entity).At("cancellationNote")
	}
	ctx = platform.Interactive(ctx)
	store, known, err := s.known(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	if err := movable(known, to); err != nil {
		return contract.Detail{}, err
	}
	after, err := s.Platform.SetStatus(ctx, store.At(), int64(cmd.Contract), string(to))
	if errors.Is(err, platform.ErrUnknown) { // setting it again changes nothing
		after, err = s.Platform.SetStatus(ctx, store.At(), int64(cmd.Contract), string(to))
	}
	if err != nil {
		return contract.Detail{}, unanswered(err)
	}
	return s.adopt(ctx, store, cmd, after, change{
		also: func(c *contract.Contract) {
			if to == contract.Cancelled {
				c.CancellationFeedback, c.CancellationNote = why.Feedback, why.Note
			} else {
				c.CancellationFeedback, c.CancellationNote = "", ""
			}
		},
		entries: []note{{statusEvents[to], statusNote{From: string(known.Status), To: string(to), Feedback: why.Feedback, Note: why.Note}}},
	})
}

func movable(c contract.Contract, to contract.Status) error {
	if c.Status == to {
		return fault.New(fault.Refused, "subscription contract %d is %s already", c.ID, to).On(entity).Keyed("sameStatus").At("status")
	}
	for _, allowed := range moves[c.Status] {
		if allowed == to {
			return nil
		}
	}
	return fault.New(fault.Refused, "subscription contract %d is %s and cannot become %s", c.ID, c.Status, to).On(entity).Keyed("contractStatus").At("status")
}
