package mover

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Progress is how far a move has come.
type Progress struct {
	Move    moving.Move
	Now     time.Time
	Total   int // contracts that were listed
	Read    int
	Moved   int
	Between int // contracts between the services
	Left    int // contracts that the wave lets go and that have not arrived
	Failing int // contracts whose last step failed
	ByFit   map[moving.Fit]int
	Stages  map[moving.Stage]int
	Sums    []Sum
	Totals  []FileTotal // of a file with contracts, by currency
	Tallies []moving.Tally
	Parts   []moving.PartCount
	// Pace is contracts per minute: that are read until all were, and then that are moved; 0: not known.
	Pace float64
	// EndsAt is when all are read, or all of the wave are moved, at that pace; zero: not known.
	EndsAt time.Time
}

// Sum is what the contracts that go charge in one currency.
type Sum struct {
	Currency money.Currency
	moving.Coming
}

// FileTotal compares the contracts of a file in one currency with those that go, or have gone.
type FileTotal struct {
	Currency money.Currency // empty: it cannot be read
	File     moving.Total
	Goes     moving.Total // without Unpriced: an amount that cannot be read stays
}

// Stays returns the part of the file that does not go.
func (t FileTotal) Stays() moving.Total {
	return moving.Total{
		Currency: t.Currency, Contracts: t.File.Contracts - t.Goes.Contracts, Unpriced: t.File.Unpriced, Amount: t.File.Amount - t.Goes.Amount,
	}
}

// totals compares the totals of the file with those of the contracts that go.
func (p *Progress) totals(counts []moving.Count) {
	if p.Move.File == nil {
		return
	}
	goes := make(map[money.Currency]moving.Total)
	for _, c := range counts {
		if c.Fit == moving.Goes || c.Fit == moving.Changes {
			sum := goes[c.Currency]
			sum.Contracts, sum.Amount = sum.Contracts+c.N, sum.Amount+c.Amount
			goes[c.Currency] = sum
		}
	}
	for _, t := range p.Move.File.Totals {
		p.Totals = append(p.Totals, FileTotal{Currency: t.Currency, File: t, Goes: goes[t.Currency]})
		delete(goes, t.Currency)
	}
	for _, c := range slices.Sorted(maps.Keys(goes)) { // the file has none of these: a defect shows
		p.Totals = append(p.Totals, FileTotal{Currency: c, Goes: goes[c]})
	}
}

// Amount returns minor units in the sum's currency, as a decimal with the currency behind it.
func (s Sum) Amount(minor int64) string {
	a := money.Amount{Minor: minor, Currency: s.Currency}
	return a.String() + " " + string(a.Currency)
}

// Differences returns how many orders were compared, how many differ, and how many of these no rule
// explains.
func (p Progress) Differences() (compared, differ, unexplained int) {
	for _, t := range p.Tallies {
		compared += t.N
		if t.Verdict != moving.Same {
			differ += t.N
		}
		if !t.Verdict.Understood() {
			unexplained += t.N
		}
	}
	return compared, differ, unexplained
}

// PartsAt returns how many parts of a kind are at a stage.
func (p Progress) PartsAt(kind moving.PartKind, stage moving.PartStage) (n int) {
	for _, c := range p.Parts {
		if c.Kind == kind && c.Stage == stage {
			n += c.N
		}
	}
	return n
}

// Moves returns the moves of a store, the newest first.
func (s *Service) Moves(ctx context.Context, of shop.ID) ([]moving.Move, error) {
	var list []moving.Move
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		list, err = tx.Moves(ctx)
		return err
	})
	return list, err
}

// Progress returns how far a move has come, or NotFound.
func (s *Service) Progress(ctx context.Context, of shop.ID, id moving.ID) (Progress, error) {
	p := Progress{Now: s.Clock.Now(), ByFit: map[moving.Fit]int{}, Stages: map[moving.Stage]int{}}
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		if p.Move, err = tx.Move(ctx, id); err != nil {
			return err
		}
		counts, err := tx.MoveCounts(ctx, id)
		if err != nil {
			return err
		}
		p.add(counts)
		p.totals(counts)
		if p.Tallies, err = tx.MoveTallies(ctx, id); err != nil {
			return err
		}
		if p.Parts, err = tx.MovePartCounts(ctx, id); err != nil {
			return err
		}
		if p.Move.ReadAt.IsZero() {
			p.paceOfReading()
			return nil
		}
		arrived, first, err := tx.ArrivedSince(ctx, id, p.Now.Add(-paceTime))
		p.paceOfMoving(arrived, first)
		return err
	})
	return p, err
}

func (p *Progress) add(counts []moving.Count) {
	sums := map[money.Currency]int{}
	for _, c := range counts {
		p.Total += c.N
		p.Failing += c.Failing
		p.Stages[c.Stage] += c.N
		if c.Fit != "" {
			p.ByFit[c.Fit] += c.N
			p.Read += c.N
		}
		switch {
		case c.Stage == moving.Moved:
			p.Moved += c.N
		case c.Stage.UnderWay():
			p.Between += c.N
		}
		if c.Currency == "" || c.Fit == moving.Stays || c.Stage == moving.Moved {
			continue
		}
		at, known := sums[c.Currency]
		if !known {
			at = len(p.Sums)
			sums[c.Currency] = at
			p.Sums = append(p.Sums, Sum{Currency: c.Currency})
		}
		sum := &p.Sums[at]
		sum.Here, sum.HereOrders = sum.Here+c.Here, sum.HereOrders+c.HereOrders
		sum.There, sum.ThereOrders = sum.There+c.There, sum.ThereOrders+c.ThereOrders
	}
}

// paceTime is how far back arrivals count for the pace.
const paceTime = 10 * time.Minute

// paceOfReading computes how fast contracts are read, and when all are.
func (p *Progress) paceOfReading() {
	took := p.Now.Sub(p.Move.CreatedAt)
	if took < time.Second || p.Read == 0 {
		return
	}
	p.Pace = float64(p.Read) / took.Minutes()
	if p.Move.Status == moving.Reading {
		p.ends(p.Total - p.Read)
	}
}

// paceOfMoving computes how fast contracts are moved, and when all of the wave are.
func (p *Progress) paceOfMoving(arrived int, first time.Time) {
	gone := p.Moved + p.Between + p.Stages[moving.Chosen]
	p.Left = max(p.Move.Quota(gone+p.Stages[moving.Shadow])-p.Moved, 0)
	if took := p.Now.Sub(first); arrived > 0 && p.Left > 0 && took >= time.Second {
		p.Pace = float64(arrived) / took.Minutes()
		p.ends(p.Left)
	}
}

func (p *Progress) ends(left int) {
	if left > 0 && !p.Move.Paused {
		p.EndsAt = p.Now.Add(time.Duration(float64(left) / p.Pace * float64(time.Minute))).Truncate(time.Second)
	}
}

// Next is what a wave would begin.
type Next struct {
	Progress

	Percent   int
	Contracts int // that go next; those that were given back because of a failure wait for a person
	Sums      []Sum
}

// Next returns what a wave of so many percent would begin, or why it cannot be begun.
func (s *Service) Next(ctx context.Context, of shop.ID, id moving.ID, percent int) (Next, error) {
	p, err := s.Progress(ctx, of, id)
	if err != nil {
		return Next{}, err
	}
	n := Next{Progress: p, Percent: percent}
	if err := n.Move.SetWave(percent); err != nil {
		return n, err
	}
	gone := p.Moved + p.Between + p.Stages[moving.Chosen]
	free := n.Move.Quota(gone+p.Stages[moving.Shadow]) - gone
	if free <= 0 {
		return n, nil
	}
	err = s.Store.View(ctx, of, func(tx moving.ReadTx) error {
		counts, err := tx.NextToMove(ctx, id, free)
		for _, c := range counts {
			n.Contracts += c.N
			if c.Currency != "" {
				n.Sums = append(n.Sums, Sum{c.Currency, c.Coming})
			}
		}
		return err
	})
	return n, err
}

// Findings groups the findings about the contracts of a move that are not moved, the most frequent first.
func (s *Service) Findings(ctx context.Context, of shop.ID, id moving.ID) ([]moving.FindingCount, error) {
	var list []moving.FindingCount
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		list, err = tx.MoveFindings(ctx, id)
		return err
	})
	return list, err
}

// Items returns at most limit contracts of a move by their numbers, after one, that match.
func (s *Service) Items(ctx context.Context, of shop.ID, id moving.ID, match moving.Match, after int64, limit int) ([]moving.Item, error) {
	var list []moving.Item
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		if _, err = tx.Move(ctx, id); err != nil {
			return err
		}
		list, err = tx.MoveItems(ctx, id, match, after, limit)
		return err
	})
	return list, err
}

// Compared returns at most limit orders that were compared, the newest first; no verdicts: all.
func (s *Service) Compared(ctx context.Context, of shop.ID, id moving.ID, verdicts []moving.Verdict, limit int) ([]moving.Compared, error) {
	var list []moving.Compared
	err := s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		list, err = tx.ComparedOrders(ctx, id, verdicts, limit)
		return err
	})
	return list, err
}

// Retry has contracts of a move tried again whose last step failed, and reads those that stay again.
func (s *Service) Retry(ctx context.Context, of shop.ID, id moving.ID, there []int64) error {
	return s.Store.Update(ctx, of, func(tx moving.Tx) error {
		m, err := tx.Move(ctx, id)
		if err != nil {
			return err
		}
		if !m.Open() {
			return fault.New(fault.FailedPrecondition, "move %d has ended", id).Entity("move").Code("moveEnded")
		}
		now := s.Clock.Now()
		var items []moving.Item
		for _, number := range there {
			i, err := tx.MoveItem(ctx, id, number)
			if err != nil {
				return err
			}
			if i.Stage == moving.Moved {
				continue
			}
			i.DueAt, i.Failures, i.Code, i.Reason = now, 0, "", ""
			items = append(items, i)
		}
		if err := tx.PutMoveItems(ctx, items); err != nil {
			return err
		}
		m.DueAt = now
		if err := tx.PutMove(ctx, &m); err != nil {
			return err
		}
		return tx.Enqueue(ctx, moving.Work{Shop: of})
	})
}

// RetryFailing does the same with all whose last step failed, and returns how many there are.
func (s *Service) RetryFailing(ctx context.Context, of shop.ID, id moving.ID) (int, error) {
	sum, after := 0, int64(0)
	for {
		list, err := s.Items(ctx, of, id, moving.Match{Failing: true}, after, reportAtOnce)
		if err != nil || len(list) == 0 {
			return sum, err
		}
		numbers := make([]int64, len(list))
		for n, i := range list {
			numbers[n] = i.There
		}
		if err := s.Retry(ctx, of, id, numbers); err != nil {
			return sum, err
		}
		sum, after = sum+len(list), numbers[len(numbers)-1]
	}
}
