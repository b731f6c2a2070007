package analytics

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// RecoveryWeek is what became of the orders whose first payment was declined in a week.
type RecoveryWeek struct {
	Week Day // its Monday
	RecoverySum
}

// RecoverySum is numbers and amounts of declined orders.
type RecoverySum struct {
	Failed, FailedAmount       int64
	Recovered, RecoveredAmount int64
	Stages
}

// Open returns the number and the amount of the orders that are neither paid nor given up.
func (s RecoverySum) Open() (orders, amount int64) {
	return max(s.Failed-s.Recovered-s.Lost, 0), max(s.FailedAmount-s.RecoveredAmount-s.LostAmount, 0)
}

func (s *RecoverySum) add(f FailureFigures) {
	s.Failed += f.Failed
	s.FailedAmount += f.FailedAmount
	s.Recovered += f.Recovered
	s.RecoveredAmount += f.RecoveredAmount
	s.Stages = s.plus(f.Stages)
}

// Recovery is declined orders by week, by class, and by the try that was paid.
type Recovery struct {
	Total   RecoverySum
	Weeks   []RecoveryWeek // every week of the period
	Classes []RecoveryClass
	Tries   []RecoveryTry // of recovered orders
}

// RecoveryClass is the orders whose first decline was of a class.
type RecoveryClass struct {
	Class dunning.Class
	RecoverySum
}

// RecoveryTry is the orders that a try recovered.
type RecoveryTry struct {
	Try               int64
	Recovered, Amount int64
}

// Recovery returns what became of the orders of a currency whose first payment was declined
// in a period. The first and the last week may be cut.
func (s *Service) Recovery(ctx context.Context, of shop.ID, p Period, f Filter) (r Recovery, err error) {
	if err := p.Check(); err != nil {
		return r, err
	}
	if f.Currency == "" {
		return r, errNoCurrency()
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		rows, err := tx.FailureDays(ctx, p.From, p.To, f)
		r = recovery(rows, p)
		return err
	})
	return r, err
}

func recovery(rows []FailureFigures, p Period) Recovery {
	var r Recovery
	for week := p.From.Week(); week <= p.To; week += 7 {
		r.Weeks = append(r.Weeks, RecoveryWeek{Week: week})
	}
	for _, row := range rows {
		r.Total.add(row)
		r.Weeks[(row.Day.Week()-p.From.Week())/7].add(row)
		at := slices.IndexFunc(r.Classes, func(c RecoveryClass) bool { return c.Class == row.Class })
		if at < 0 {
			at = len(r.Classes)
			r.Classes = append(r.Classes, RecoveryClass{Class: row.Class})
		}
		r.Classes[at].add(row)
		if row.Try > 0 {
			at := slices.IndexFunc(r.Tries, func(t RecoveryTry) bool { return t.Try == row.Try })
			if at < 0 {
				at = len(r.Tries)
				r.Tries = append(r.Tries, RecoveryTry{Try: row.Try})
			}
			r.Tries[at].Recovered += row.Recovered
			r.Tries[at].Amount += row.RecoveredAmount
		}
	}
	slices.SortFunc(r.Classes, func(a, b RecoveryClass) int { return int(b.FailedAmount - a.FailedAmount) })
	slices.SortFunc(r.Tries, func(a, b RecoveryTry) int { return int(a.Try - b.Try) })
	return r
}
