package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var _ contract.Directory = (*DB)(nil)

// contractFields are the fields by which the search can be sorted; they are
// those of contract.SortFields.
var contractFields = map[string]field{
	"id":                       {"id", whole},
	"subscription_contract_id": {"id", whole},
	"created_at":               {"created_at", whole},
	"updated_at":               {"updated_at", whole},
	"next_billing_date":        {"next_billing_date", whole},
	"status":                   {"status", text},
	"customer_id":              {"customer_id", whole},
	"customer_name":            {"name_folded", text},
	"customer_email":           {"email_folded", text},
	"order_name":               {"origin_order_name", text},
	"order_amount":             {"order_amount", whole},
}

// Search returns the page of a shop's contracts that pass the filter, oldest
// first unless the page says otherwise, and how many there are.
func (db *DB) Search(ctx context.Context, of shop.ID, f contract.Filter, p page.Request) ([]contract.Contract, int, error) {
	var rows []contractRow
	q := db.reader.NewSelect().Model(&rows).Where("c.shop_id = ?", of).Where("c.line = ?", f.Line)
	q = byDates(q, f)
	q = byPolicy(q, f)
	q = byLines(q, of, f)
	for _, part := range []struct{ kind, text string }{
		{termNumber, f.IDPart}, {termCustomer, f.CustomerPart}, {termOrder, f.OrderPart},
	} {
		if part.text != "" {
			terms := db.reader.NewSelect().Model((*termRow)(nil)).Column("contract_id").Where("t.shop_id = ?", of).Where("t.kind = ?", part.kind)
			q = q.Where("c.id IN (?)", db.engine.dialect().part(terms, clean(fold(part.text))))
		}
	}
	if f.Status != "" {
		q = q.Where("c.status = ?", f.Status)
	}
	if f.CustomerID != 0 {
		q = q.Where("c.customer_id = ?", f.CustomerID)
	}
	if f.CustomerEmail != "" {
		q = q.Where("c.email_folded = ?", clean(fold(f.CustomerEmail)))
	}
	if len(p.Sort) == 0 {
		p.Sort = []page.Sort{{Field: "created_at"}}
	}
	total, err := fetch(ctx, q, contractFields, p, func() int { return len(rows) })
	if err != nil {
		return nil, 0, fmt.Errorf("search contracts: %w", err)
	}
	list, err := contractsOf(rows)
	return list, total, err
}

func byDates(q *bun.SelectQuery, f contract.Filter) *bun.SelectQuery {
	for _, span := range []struct {
		column   string
		from, to time.Time
	}{
		{"created_at", f.CreatedFrom, f.CreatedTo}, {"updated_at", f.UpdatedFrom, f.UpdatedTo}, {"next_billing_date", f.NextFrom, f.NextTo},
	} {
		if !span.from.IsZero() {
			q = q.Where("c.? >= ?", ident(span.column), millis(span.from))
		}
		if !span.to.IsZero() { // 0 is no date, and not before every other
			q = q.Where("c.? BETWEEN 1 AND ?", ident(span.column), millis(span.to))
		}
	}
	return q
}

func byPolicy(q *bun.SelectQuery, f contract.Filter) *bun.SelectQuery {
	if f.DeliveryInterval != nil {
		q = q.Where("c.delivery_interval = ?", f.DeliveryInterval.String())
	}
	if f.DeliveryCount != 0 {
		q = q.Where("c.delivery_count = ?", f.DeliveryCount)
	}
	if f.Prepaid != nil {
		q = q.Where("(c.billing_interval <> c.delivery_interval OR c.billing_count <> c.delivery_count) = ?", *f.Prepaid)
	}
	if f.Imported != nil {
		q = q.Where("(c.imported_id <> '') = ?", *f.Imported)
	}
	if f.MinAmount != nil {
		q = q.Where("c.order_amount >= ?", *f.MinAmount)
	}
	if f.MaxAmount != nil {
		q = q.Where("c.order_amount <= ?", *f.MaxAmount)
	}
	return q
}

func byLines(q *bun.SelectQuery, of shop.ID, f contract.Filter) *bun.SelectQuery {
	for _, has := range []struct {
		column string
		id     int64
	}{
		{"product_id", f.ProductID}, {"variant_id", f.VariantID}, {"selling_plan_id", f.SellingPlanID},
	} {
		if has.id != 0 {
			q = q.Where("c.id IN (SELECT l.contract_id FROM contract_lines AS l WHERE l.shop_id = ? AND l.? = ?)", of, ident(has.column), has.id)
		}
	}
	return q
}
