package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ billing.Book = (*DB)(nil)

// Attempt returns one attempt of the line, or NotFound.
func (db *DB) Attempt(ctx context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (billing.Record, error) {
	var rows []attemptRow
	err := db.in(of).NewSelect().Model(&rows).Where("a.shop_id = ?", of).Where("a.id = ?", id).Scan(ctx)
	if err != nil {
		return billing.Record{}, fmt.Errorf("read attempt %d: %w", id, err)
	}
	records, err := db.records(ctx, of, line, rows)
	if err != nil {
		return billing.Record{}, err
	}
	if len(records) == 0 {
		return billing.Record{}, fault.New(fault.NotFound, "billing attempt %d does not exist", id).
			Entity("subscriptionBillingAttempt").Code("billingAttemptNotFound")
	}
	return records[0], nil
}

// attemptFields are the fields by which lists of attempts can be sorted; they are
// those of billing.SortFields.
var attemptFields = map[string]field{
	"id": {"id", whole}, "billingDate": {"billing_date", whole}, "attemptTime": {"attempted_at", whole}, "status": {"status", text},
	"attemptCount": {"try", whole}, "contractId": {"contract_id", whole}, "orderId": {"order_id", whole}, "orderName": {"order_name", text},
	"createdAt": {"created_at", whole}, "updatedAt": {"updated_at", whole},
}

// AttemptsWhere returns a page of the attempts of a contract, or of all contracts
// of a customer, and how many there are. Their order is the question's, unless the page
// has one. A contract that the line does not have is NotFound, and so is one that
// is not the question's customer's.
func (db *DB) AttemptsWhere(ctx context.Context, of shop.ID, ask billing.Question, p page.Request) ([]billing.Record, int, error) {
	contracts := db.in(of).NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", of).Where("c.line = ?", ask.Line)
	if ask.Contract != 0 {
		contracts = contracts.Where("c.id = ?", ask.Contract)
	}
	if ask.Contract == 0 || ask.Customer != 0 {
		contracts = contracts.Where("c.customer_id = ?", ask.Customer)
	}
	var rows []attemptRow
	q := db.in(of).NewSelect().Model(&rows).Where("a.shop_id = ?", of).Where("a.contract_id IN (?)", contracts)
	if ask.Upcoming {
		q = q.Where("a.status = ?", billing.Queued)
	} else {
		q = q.Where("a.status <> ?", billing.Queued)
	}
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "billingDate", Desc: !ask.Upcoming}, {Field: "id", Desc: !ask.Upcoming}}
	}
	total, err := fetch(ctx, q, attemptFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("list attempts: %w", err)
	}
	if total == 0 && ask.Contract != 0 {
		if err := there(ctx, contracts, ask.Contract); err != nil {
			return nil, 0, err
		}
	}
	records, err := db.records(ctx, of, ask.Line, rows)
	return records, total, err
}

// there is NotFound unless the query finds the contract that a list is about.
func there(ctx context.Context, contracts *bun.SelectQuery, id contract.ID) error {
	known, err := contracts.Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for contract %d: %w", id, err)
	}
	if !known {
		return contractNotFound(id)
	}
	return nil
}

func contractNotFound(id contract.ID) error {
	return fault.New(fault.NotFound, "contract %d does not exist", id).Entity("subscriptionContract").Code("contractNotFound")
}

// records joins attempts with their contracts. Those of another line are left
// out.
func (db *DB) records(ctx context.Context, of shop.ID, line shop.Line, attempts []attemptRow) ([]billing.Record, error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	var records []billing.Record
	err := db.View(ctx, of, func(tx *Tx) (err error) {
		records, err = tx.recordsOf(ctx, attempts)
		return err
	})
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r billing.Record) bool { return r.Of.Line != line })
	return records, db.addMails(ctx, of, records)
}
