// Package report says what a store's flow of cancelling came to: the reasons, the offers, what
// they kept, for how long, and the difference that offers make.
package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Survival is how long a contract must go on after a session to count as kept for good.
const Survival = 60 * 24 * time.Hour

// Bands are the numbers of completed orders at which the groups of contracts by age begin.
var Bands = []int{0, 2, 4, 7, 13}

// Group is sessions that began in a period and are alike.
type Group struct {
	Version   int
	Reason    string
	Offer     flow.Kind // that was chosen; empty: none
	Shown     bool
	Arm       session.Arm
	Outcome   session.Outcome // empty: they are open
	PlanGroup int64
	Band      int // index in Bands

	Sessions int
	Ripe     int   // that ended at least Survival ago
	Survived int   // of these, whose contract went on for that long
	Costs    int64 // of discounts that were accepted, in minor units of the budget's currency
}

// Tally counts sessions.
type Tally struct {
	Sessions  int
	Open      int
	Shown     int // with an offer
	Accepted  int
	Kept      int // the customer chose to keep the contract
	Abandoned int
	Scheduled int
	Cancelled int
	Ripe      int // of the saved ones: those that ended at least Survival ago
	Survived  int // of these, whose contract went on for that long
}

func (t *Tally) add(g Group) {
	t.Sessions += g.Sessions
	if g.Shown {
		t.Shown += g.Sessions
	}
	switch g.Outcome {
	case session.Accepted:
		t.Accepted += g.Sessions
	case session.Kept:
		t.Kept += g.Sessions
	case session.Abandoned:
		t.Abandoned += g.Sessions
	case session.Scheduled:
		t.Scheduled += g.Sessions
	case session.Cancelled:
		t.Cancelled += g.Sessions
	default:
		t.Open += g.Sessions
	}
	if g.Outcome.Saved() {
		t.Ripe += g.Ripe
		t.Survived += g.Survived
	}
}

// Saved is the share of the sessions that have ended in which the contract was not cancelled.
func (t Tally) Saved() Share {
	return Share{t.Accepted + t.Kept + t.Abandoned, t.Sessions - t.Open}
}

// Takers is the share of the offers that were accepted.
func (t Tally) Takers() Share { return Share{t.Accepted, t.Shown} }

// Lasting is the share of the contracts that were saved and still went on after Survival, among
// those for which that time has passed.
func (t Tally) Lasting() Share { return Share{t.Survived, t.Ripe} }

// Line is the sessions that have a key in common.
type Line struct {
	Key string
	Tally
}

// Trial compares the customers of a version that got an offer with those who were held back.
type Trial struct {
	Version       int
	Treated, Held struct {
		Kept    Share // contracts that were not cancelled in the session
		Lasting Share // contracts that still went on after Survival
	}
}

// Kept is the difference in the contracts that were kept.
func (t Trial) Kept() Difference { return t.Treated.Kept.Minus(t.Held.Kept) }

// Lasting is the difference in the contracts that still went on after Survival.
func (t Trial) Lasting() Difference { return t.Treated.Lasting.Minus(t.Held.Lasting) }

// Report is what came of the sessions that began in a period.
type Report struct {
	Tally
	Reasons  []Line // by key of the reason, the most frequent first; an empty key: none was given
	Offers   []Line // by kind
	Plans    []Line // by number of the plan group
	Ages     []Line // by index in Bands
	Trials   []Trial
	Comments []session.Session // the newest
	Costs    int64             // of discounts that were accepted
}

// maxComments is how many comments a report has.
const maxComments = 20

// MaxPeriod is the longest period of a report.
const MaxPeriod = 400 * 24 * time.Hour

// Reader reads sessions by when they began.
type Reader interface {
	// CancelGroups returns the sessions that began in a period, summed up. What ended before
	// ripe is old enough for survival.
	CancelGroups(ctx context.Context, from, to, ripe time.Time) ([]Group, error)
	// CancelComments returns the newest sessions that began in a period and have a comment.
	CancelComments(ctx context.Context, from, to time.Time, limit int) ([]session.Session, error)
}

// Store reads.
type Store interface {
	View(ctx context.Context, of shop.ID, fn func(Reader) error) error
}

// Service makes reports.
type Service struct {
	Store Store
	Clock clock.Clock
}

// Report returns what came of the sessions that began in a period.
func (s *Service) Report(ctx context.Context, of shop.ID, from, to time.Time) (Report, error) {
	if !to.After(from) || to.Sub(from) > MaxPeriod {
		return Report{}, fault.New(fault.Invalid, "the period must end after it begins, and have at most %d days", int(MaxPeriod/(24*time.Hour))).Field("period")
	}
	var r Report
	err := s.Store.View(ctx, of, func(tx Reader) error {
		groups, err := tx.CancelGroups(ctx, from, to, s.Clock.Now().Add(-Survival))
		if err != nil {
			return err
		}
		r = sum(groups)
		r.Comments, err = tx.CancelComments(ctx, from, to, maxComments)
		return err
	})
	return r, err
}

// sum adds groups up.
func sum(groups []Group) Report {
	var r Report
	reasons, offers, plans, ages := lines{}, lines{}, lines{}, lines{}
	trials := make(map[int]*Trial)
	for _, g := range groups {
		r.add(g)
		r.Costs += g.Costs
		reasons.add(g.Reason, g)
		plans.add(number(g.PlanGroup), g)
		ages.add(number(int64(g.Band)), g)
		if g.Shown {
			offers.add(string(g.Offer), g)
		}
		if g.Arm == session.None || g.Outcome == "" {
			continue
		}
		t := trials[g.Version]
		if t == nil {
			t = &Trial{Version: g.Version}
			trials[g.Version] = t
		}
		side := &t.Treated
		if g.Arm == session.HeldBack {
			side = &t.Held
		}
		side.Kept.Of += g.Sessions
		side.Lasting.Of += g.Ripe
		if g.Outcome.Saved() {
			side.Kept.Is += g.Sessions
			side.Lasting.Is += g.Survived
		}
	}
	r.Reasons, r.Offers, r.Plans, r.Ages = reasons.sorted(), offers.sorted(), plans.sorted(), ages.sorted()
	slices.SortFunc(r.Ages, func(a, b Line) int { return cmp.Compare(a.Key, b.Key) })
	for _, t := range trials {
		r.Trials = append(r.Trials, *t)
	}
	slices.SortFunc(r.Trials, func(a, b Trial) int { return cmp.Compare(b.Version, a.Version) })
	return r
}
