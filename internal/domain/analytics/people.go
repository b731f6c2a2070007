package analytics

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Churn is how many of the subscribers at the start of a month have left.
type Churn struct {
	ChurnMonth
	Start int64 // subscribers when the month began
}

// Churn returns churn of each month of a period. The present month is counted to now.
func (s *Service) Churn(ctx context.Context, of shop.ID, p Period) (list []Churn, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		first, last := p.From.Month(), p.To.Month()
		lost, err := tx.ChurnMonths(ctx, first, last)
		if err != nil {
			return err
		}
		levels, err := subscriberSeries(ctx, tx, Period{first.First() - 1, p.To})
		if err != nil {
			return err
		}
		byMonth := make(map[Month]ChurnMonth)
		for _, l := range lost {
			byMonth[l.Month] = l
		}
		list = nil
		for m := first; m <= last; m++ {
			c := Churn{ChurnMonth: byMonth[m], Start: levels[m.First()-first.First()].Value}
			c.Month = m
			list = append(list, c)
		}
		return nil
	})
	return list, err
}

// CohortCells is how many months after its own a cohort is followed.
const CohortCells = 24

// SmallCohort is below how many subscribers a cohort is marked.
const SmallCohort = 10

// Cohort is the subscribers whose first contract began in a month.
type Cohort struct {
	Month   Month
	Size    int64
	Active  []int64 // at the end of months 0, 1, …, to the present one
	Revenue []int64 // of their renewals in those months, in the currency that was asked for
}

// Cohorts returns the cohorts of a number of months up to the present one, oldest first.
// Months without a new subscriber are left out.
func (s *Service) Cohorts(ctx context.Context, of shop.ID, months int, f Filter) (list []Cohort, err error) {
	err = s.Store.View(ctx, of, func(tx ReadTx) error {
		zone, err := tx.Zone(ctx)
		if err != nil {
			return err
		}
		now := DayOf(s.Clock.Now(), zone).Month()
		rows, err := tx.CohortMonths(ctx, now-Month(months)+1)
		if err != nil {
			return err
		}
		list = cohorts(rows, now, f)
		return nil
	})
	return list, err
}

func cohorts(rows []CohortMonth, now Month, f Filter) []Cohort {
	var list []Cohort
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1].Month != r.Cohort {
			cells := min(int(now-r.Cohort), CohortCells) + 1
			list = append(list, Cohort{Month: r.Cohort, Active: make([]int64, cells), Revenue: make([]int64, cells)})
		}
		c := &list[len(list)-1]
		if r.Currency == "" {
			c.Size += r.Joined
		}
		for at := max(int(r.Month-r.Cohort), 0); at < len(c.Active); at++ {
			c.Active[at] += r.Change
		}
		if at := int(r.Month - r.Cohort); at >= 0 && at < len(c.Revenue) && r.Currency == f.Currency && f.Currency != "" {
			c.Revenue[at] += r.Revenue
		}
	}
	kept := list[:0]
	for _, c := range list {
		if c.Size > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}
