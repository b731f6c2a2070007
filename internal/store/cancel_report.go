package store

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
)

var _ report.Reader = (*Tx)(nil)

// CancelReports returns the store of the reports of cancelling.
func (db *DB) CancelReports() report.Store {
	return readScope(db, func(tx *Tx) report.Reader { return tx }, func(tx *Tx) report.Reader { return tx })
}

// CancelGroups returns the sessions that began in a period, summed up.
func (tx *Tx) CancelGroups(ctx context.Context, from, to, ripe time.Time) ([]report.Group, error) {
	band := "CASE"
	for i := len(report.Bands) - 1; i > 0; i-- {
		band += fmt.Sprintf(" WHEN n.orders >= %d THEN %d", report.Bands[i], i)
	}
	band += " ELSE 0 END"
	const old = "n.ended_at > 0 AND n.ended_at <= ?"
	var rows []struct {
		FlowVersion int64
		Reason      string
		OfferKind   string
		Shown       int64
		Arm         string
		Outcome     string
		PlanGroupID int64
		Band        int64
		Sessions    int64
		Ripe        int64
		Survived    int64
		Costs       int64
	}
	err := tx.cancelSessions((*cancelSessionRow)(nil)).
		Column("n.flow_version", "n.reason", "n.offer_kind", "n.arm", "n.outcome", "n.plan_group_id").
		ColumnExpr("CASE WHEN n.offered_at > 0 THEN 1 ELSE 0 END AS shown").ColumnExpr(band+" AS band").
		ColumnExpr("COUNT(*) AS sessions").
		ColumnExpr("SUM(CASE WHEN "+old+" THEN 1 ELSE 0 END) AS ripe", millis(ripe)).
		ColumnExpr("SUM(CASE WHEN "+old+" AND (n.lost_at = 0 OR n.lost_at > n.ended_at + ?) THEN 1 ELSE 0 END) AS survived", millis(ripe), report.Survival.Milliseconds()).
		ColumnExpr("CAST(SUM(CASE WHEN n.accepted_at > 0 THEN n.offer_cost ELSE 0 END) AS bigint) AS costs").
		Where("n.started_at >= ?", millis(from)).Where("n.started_at < ?", millis(to)).
		Group("n.flow_version", "n.reason", "n.offer_kind", "n.arm", "n.outcome", "n.plan_group_id").GroupExpr("shown").GroupExpr("band").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("sum the cancel sessions: %w", err)
	}
	list := make([]report.Group, len(rows))
	for i, r := range rows {
		list[i] = report.Group{
			Version: int(r.FlowVersion), Reason: r.Reason, Offer: flow.Kind(r.OfferKind), Shown: r.Shown == 1, Arm: session.Arm(r.Arm), Outcome: session.Outcome(r.Outcome),
			PlanGroup: r.PlanGroupID, Band: int(r.Band), Sessions: int(r.Sessions), Ripe: int(r.Ripe), Survived: int(r.Survived), Costs: r.Costs,
		}
	}
	return list, nil
}

// CancelComments returns the newest sessions that began in a period and have a comment.
func (tx *Tx) CancelComments(ctx context.Context, from, to time.Time, limit int) ([]session.Session, error) {
	var rows []cancelSessionRow
	q := tx.cancelSessions(&rows).Where("n.started_at >= ?", millis(from)).Where("n.started_at < ?", millis(to)).Where("n.comment <> ''").
		Order("n.started_at DESC", "n.id DESC").Limit(int64(limit))
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the comments of cancel sessions: %w", err)
	}
	return readRows[session.Session](rows)
}
