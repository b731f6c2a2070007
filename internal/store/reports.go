package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ billing.Reports = (*DB)(nil)

// PastAttempts returns a page of the attempts that pass the survey, newest first
// unless the page says otherwise, and how many there are. A contract that the line
// does not have is NotFound.
func (db *DB) PastAttempts(ctx context.Context, of shop.ID, s billing.Survey, p page.Request) ([]billing.Record, int, error) {
	if s.Contract != 0 {
		one := db.in(of).NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", of).Where("c.line = ?", s.Line).Where("c.id = ?", s.Contract)
		if err := there(ctx, one, s.Contract); err != nil {
			return nil, 0, err
		}
	}
	if len(s.Statuses) == 0 {
		return nil, 0, nil
	}
	var rows []attemptRow
	// The status is named twice: the index of what is past holds no QUEUED ones.
	q := db.in(of).NewSelect().Model(&rows).Where("a.shop_id = ?", of).Where("a.status IN (?)", bun.List(s.Statuses)).Where("a.status <> 'QUEUED'")
	if s.Contract != 0 {
		q = q.Where("a.contract_id = ?", s.Contract)
	}
	if !s.From.IsZero() {
		q = q.Where("a.billing_date >= ?", millis(s.From))
	}
	if !s.To.IsZero() {
		q = q.Where("a.billing_date <= ?", millis(s.To))
	}
	if s.Tries != nil {
		q = q.Where("a.try = ?", *s.Tries)
	}
	contracts := db.in(of).NewSelect().Model((*contractRow)(nil)).ColumnExpr("1").
		Where("c.shop_id = ?", of).Where("c.id = a.contract_id").Where("c.line = ?", s.Line)
	if s.ContractStatus != "" {
		contracts = contracts.Where("c.status = ?", s.ContractStatus)
	}
	q = q.Where("EXISTS (?)", contracts)
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "billingDate", Desc: true}, {Field: "id", Desc: true}}
	}
	total, err := fetch(ctx, q, attemptFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("report on attempts: %w", err)
	}
	records, err := db.records(ctx, of, s.Line, rows)
	return records, total, err
}

// Analytics returns the figures of a contract, or NotFound.
func (db *DB) Analytics(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (billing.Analytics, error) {
	var rows []contractRow
	err := db.in(of).NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.line = ?", line).Where("c.id = ?", id).Scan(ctx)
	if err != nil {
		return billing.Analytics{}, fmt.Errorf("read contract %d: %w", id, err)
	}
	contracts, err := readRows[contract.Contract](rows)
	if err != nil {
		return billing.Analytics{}, err
	}
	if len(contracts) == 0 {
		return billing.Analytics{}, contractNotFound(id)
	}
	var counts []struct {
		Status      string
		Attempts    int
		First, Last int64
	}
	err = db.in(of).NewSelect().Model((*attemptRow)(nil)).Column("status").ColumnExpr("count(*) AS attempts").
		ColumnExpr("min(a.attempted_at) AS first").ColumnExpr("max(a.attempted_at) AS last").
		Where("a.shop_id = ?", of).Where("a.contract_id = ?", id).Group("status").Scan(ctx, &counts)
	if err != nil {
		return billing.Analytics{}, fmt.Errorf("count the attempts of contract %d: %w", id, err)
	}
	figures := billing.Analytics{Of: contracts[0]}
	for _, c := range counts {
		figures.Add(billing.Status(c.Status), c.Attempts, instant(c.First), instant(c.Last))
	}
	return figures, nil
}
