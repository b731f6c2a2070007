package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// contractRow is a row of contracts. All amounts are in the contract's currency.
type contractRow struct {
	bun.BaseModel `bun:"table:contracts,alias:c"`

	ShopID            int64 `bun:"shop_id,pk"`
	ID                int64 `bun:"id,pk"`
	Line              string
	Revision          int64 // the bits of the platform's unsigned number
	Status            string
	Currency          string
	CustomerID        int64
	CustomerEmail     string
	CustomerFirstName string
	CustomerLastName  string
	CustomerName      string
	CustomerPhone     string
	EmailFolded       string
	NameFolded        string
	BillingInterval   string
	BillingCount      int64
	BillingAnchors    string // JSON, as the rest of the lists
	DeliveryInterval  string
	DeliveryCount     int64
	DeliveryAnchors   string
	Lines             string
	OrderAmount       int64
	OriginOrderID     int64
	OriginOrderName   string
	PaymentMethod     string
	PaymentUsable     bool
	Card              string
	BillingCountry    string
	DeliveryCountry   string
	DeliveryPrice     int64
	Note              string
	Attributes        string
	ImportedID        string
	LastPayment       string
	SeriesCycle       int64
	SeriesStart       int64
	SeriesPassed      int64
	SeriesMoved       bool
	LaterSeries       string
	NextBillingDate   int64
	NotifyAt          int64 `bun:",nullzero"`
	RemindAt          int64 `bun:",nullzero"`
	CardRemindAt      int64 `bun:",nullzero"`
	QueueUpdatedAt    int64
	MaxCycles         int64
	PassedCycles      int64
	MinCycles         int64
	AutoCharge        bool
	DeliverySet       bool
	Overrides         string
	OneOffs           int64
	Orders            int64
	Lifetime          int64
	LastOrderID       int64
	LastOrderName     string
	LastOrderAt       int64
	LastOrderAmount   int64
	CreatedAt         int64
	UpdatedAt         int64
	ActivatedAt       int64
	PausedAt          int64
	CancelledAt       int64
	Version           int64

	Origin               string
	SplitFrom            int64
	EarlierOrders        int64
	Split                string
	PendingChange        string
	Priced               bool
	Pricing              string
	PlanPricing          string
	FirstAmount          int64 // -1: not known
	FirstPaid            int64 // -1: not known
	Discounts            string
	AmendAt              int64 `bun:",nullzero"`
	ChangingUntil        int64
	InFlightEdits        string
	Dunning              string
	DunningClass         string // of Dunning; empty: none
	CancellationFeedback string
	CancellationNote     string

	Moving             string
	Pause              string
	Ending             string
	CancelledOrderDate int64
	Trial              string
	Lifelong           bool
	ExpireAt           int64
}

// progress lists the columns that billing owns.
var progress = []string{
	"revision", "last_payment", "series_cycle", "series_start", "series_passed", "series_moved", "later_series", "passed_cycles", "ending", "next_billing_date", "notify_at", "remind_at", "card_remind_at", "queue_updated_at", "overrides", "one_offs", "orders", "lifetime",
	"last_order_id", "last_order_name", "last_order_at", "last_order_amount", "dunning", "dunning_class", "updated_at", "amend_at", "in_flight_edits", "expire_at",
}

func (r *contractRow) Columns(m *mapping, c *contract.Contract) {
	r.progress(m, c)
	mapText(m, &r.Line, &c.Line)
	mapText(m, &r.Status, &c.Status)
	mapSame(m, &r.CustomerID, &c.Customer.ID)
	mapText(m, &r.CustomerEmail, &c.Customer.Email)
	mapText(m, &r.CustomerFirstName, &c.Customer.FirstName)
	mapText(m, &r.CustomerLastName, &c.Customer.LastName)
	mapText(m, &r.CustomerName, &c.Customer.Name)
	mapText(m, &r.CustomerPhone, &c.Customer.Phone)
	mapVia(m, "billing_interval", &r.BillingInterval, &c.Billing.Interval, intervalText, cadence.ParseInterval)
	mapInt(m, &r.BillingCount, &c.Billing.Count)
	mapJSON(m, "billing_anchors", &r.BillingAnchors, &c.Billing.Anchors)
	mapVia(m, "delivery_interval", &r.DeliveryInterval, &c.Delivery.Interval, intervalText, cadence.ParseInterval)
	mapInt(m, &r.DeliveryCount, &c.Delivery.Count)
	mapJSON(m, "delivery_anchors", &r.DeliveryAnchors, &c.Delivery.Anchors)
	mapVia(m, "lines", &r.Lines, &c.Lines, linesText, parseLines)
	mapSame(m, &r.OriginOrderID, &c.OriginOrderID)
	mapText(m, &r.OriginOrderName, &c.OriginOrderName)
	mapText(m, &r.PaymentMethod, &c.PaymentMethod)
	mapSame(m, &r.PaymentUsable, &c.PaymentUsable)
	mapJSON(m, "card", &r.Card, &c.Card)
	mapText(m, &r.BillingCountry, &c.BillingCountry)
	mapText(m, &r.DeliveryCountry, &c.DeliveryCountry)
	mapAmount(m, &r.DeliveryPrice, &c.DeliveryPrice, c.Currency)
	mapText(m, &r.Note, &c.Note)
	mapJSON(m, "attributes", &r.Attributes, &c.Attributes)
	mapText(m, &r.ImportedID, &c.ImportedID)
	mapInt(m, &r.MaxCycles, &c.MaxCycles)
	mapInt(m, &r.MinCycles, &c.MinCycles)
	mapSame(m, &r.AutoCharge, &c.AutoCharge)
	mapSame(m, &r.DeliverySet, &c.DeliverySet)
	mapTime(m, &r.CreatedAt, &c.CreatedAt)
	mapTime(m, &r.ActivatedAt, &c.ActivatedAt)
	mapTime(m, &r.PausedAt, &c.PausedAt)
	mapTime(m, &r.CancelledAt, &c.CancelledAt)
	mapText(m, &r.Origin, &c.Origin)
	mapInt(m, &r.SplitFrom, &c.SplitFrom)
	mapInt(m, &r.EarlierOrders, &c.EarlierOrders)
	mapJSON(m, "split", &r.Split, &c.Split)
	mapJSON(m, "pending_change", &r.PendingChange, &c.Pending)
	mapSame(m, &r.Priced, &c.Priced)
	mapVia(m, "pricing", &r.Pricing, &c.Pricing, pricingText, inCurrency(c.Currency, parsePricing))
	mapVia(m, "plan_pricing", &r.PlanPricing, &c.PlanPricing, pricingText, inCurrency(c.Currency, parsePricing))
	mapVia(m, "discounts", &r.Discounts, &c.Discounts, discountsText, inCurrency(c.Currency, parseDiscounts))
	mapTime(m, &r.ChangingUntil, &c.ChangingUntil)
	mapText(m, &r.CancellationFeedback, &c.CancellationFeedback)
	mapText(m, &r.CancellationNote, &c.CancellationNote)
	mapJSON(m, "moving", &r.Moving, &c.Moving)
	mapJSON(m, "pause", &r.Pause, &c.Pause)
	mapTime(m, &r.CancelledOrderDate, &c.CancelledOrderDate)
	mapJSON(m, "trial", &r.Trial, &c.Trial)
	mapSame(m, &r.Lifelong, &c.Lifelong)
	mapKnown(m, &r.FirstAmount, &c.FirstAmount, c.Currency)
	mapKnown(m, &r.FirstPaid, &c.FirstPaid, c.Currency)
	if m.toRow {
		r.EmailFolded, r.NameFolded, r.OrderAmount = fold(c.Customer.Email), fold(c.Customer.Name), c.Amount().Milli()
	}
	m.within(r.ID)
}

// progress maps the columns that billing owns, and those that identify the contract. It is
// all that PutProgress writes.
func (r *contractRow) progress(m *mapping, c *contract.Contract) {
	m.shop(&r.ShopID)
	mapInt(m, &r.ID, &c.ID)
	mapSame(m, &r.Version, &c.Version)
	mapText(m, &r.Currency, &c.Currency)
	mapInt(m, &r.Revision, &c.Revision)
	mapText(m, &r.LastPayment, &c.LastPayment)
	mapInt(m, &r.SeriesCycle, &c.Series.Cycle)
	mapTime(m, &r.SeriesStart, &c.Series.Start)
	mapInt(m, &r.SeriesPassed, &c.Series.Passed)
	mapSame(m, &r.SeriesMoved, &c.Series.Moved)
	mapJSON(m, "later_series", &r.LaterSeries, &c.LaterSeries)
	mapInt(m, &r.PassedCycles, &c.PassedCycles)
	mapJSON(m, "ending", &r.Ending, &c.Ending)
	mapTime(m, &r.NextBillingDate, &c.NextBillingDate)
	mapTime(m, &r.QueueUpdatedAt, &c.QueueUpdatedAt)
	mapJSON(m, "overrides", &r.Overrides, &c.Overrides)
	mapInt(m, &r.OneOffs, &c.OneOffs)
	mapInt(m, &r.Orders, &c.Orders)
	mapAmount(m, &r.Lifetime, &c.Lifetime, c.Currency)
	mapSame(m, &r.LastOrderID, &c.LastOrderID)
	mapText(m, &r.LastOrderName, &c.LastOrder)
	mapTime(m, &r.LastOrderAt, &c.LastOrderAt)
	mapAmount(m, &r.LastOrderAmount, &c.LastOrderAmount, c.Currency)
	mapJSON(m, "dunning", &r.Dunning, &c.Dunning)
	if m.toRow && c.Dunning != nil {
		r.DunningClass = string(c.Dunning.Class)
	}
	mapTime(m, &r.UpdatedAt, &c.UpdatedAt)
	mapTime(m, &r.AmendAt, &c.AmendAt)
	mapJSON(m, "in_flight_edits", &r.InFlightEdits, &c.InFlightEdits)
	mapTime(m, &r.ExpireAt, &c.ExpireAt)
	if m.toRow {
		r.NotifyAt, r.RemindAt, r.CardRemindAt = millis(c.NotifyAt()), millis(c.RemindAt()), millis(c.CardRemindAt())
	}
}

func intervalText(i cadence.Interval) (string, error) { return i.String(), nil }

// inCurrency returns a reader of texts whose amounts are in a currency.
func inCurrency[T any](c money.Currency, read func(string, money.Currency) (T, error)) func(string) (T, error) {
	return func(text string) (T, error) { return read(text, c) }
}

// fold makes letters of both cases one.
func fold(s string) string { return strings.ToLower(s) }

// lineText is a line item as it is kept.
type lineText struct {
	ID              string         `json:"id"`
	ProductID       int64          `json:"product,omitempty"`
	VariantID       int64          `json:"variant,omitempty"`
	Gone            int64          `json:"gone,omitempty"`
	SKU             string         `json:"sku,omitempty"`
	Title           string         `json:"title,omitempty"`
	VariantTitle    string         `json:"variantTitle,omitempty"`
	Image           string         `json:"image,omitempty"`
	Quantity        int            `json:"quantity,omitempty"`
	Price           int64          `json:"price,omitempty"`
	Currency        money.Currency `json:"currency,omitempty"`
	SellingPlanID   int64          `json:"plan,omitempty"`
	SellingPlanName string         `json:"planName,omitempty"`
	Taxable         bool           `json:"taxable,omitempty"`
}

func linesText(lines []contract.LineItem) (string, error) {
	texts := make([]lineText, len(lines))
	for i, l := range lines {
		texts[i] = lineText{
			l.ID, l.ProductID, l.VariantID, l.FormerVariantID, l.SKU, l.Title, l.VariantTitle, l.Image, l.Quantity, l.Price.Minor, l.Price.Currency,
			l.SellingPlanID, l.SellingPlanName, l.Taxable,
		}
	}
	return jsonText(texts)
}

func parseLines(text string) ([]contract.LineItem, error) {
	texts, err := parseJSON[[]lineText](text)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	lines := make([]contract.LineItem, len(texts))
	for i, t := range texts {
		lines[i] = contract.LineItem{
			ID: t.ID, ProductID: t.ProductID, VariantID: t.VariantID, FormerVariantID: t.Gone, SKU: t.SKU, Title: t.Title, VariantTitle: t.VariantTitle, Image: t.Image,
			Quantity: t.Quantity, Price: money.Amount{Minor: t.Price, Currency: t.Currency},
			SellingPlanID: t.SellingPlanID, SellingPlanName: t.SellingPlanName, Taxable: t.Taxable,
		}
	}
	return lines, nil
}

// Contracts returns contracts, locked, in the order of their ids.
func (tx *Tx) Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error) {
	list, err := tx.contracts(ctx, ids, tx.dialect().forUpdate)
	if !tx.readOnly {
		for i := range list {
			tx.prices.note(&list[i])
		}
	}
	return list, err
}

// ReadContracts returns contracts, unlocked, in the order of their ids.
func (tx *Tx) ReadContracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error) {
	return tx.contracts(ctx, ids, func(q *bun.SelectQuery) *bun.SelectQuery { return q })
}

func (tx *Tx) contracts(ctx context.Context, ids []contract.ID, lock func(*bun.SelectQuery) *bun.SelectQuery) ([]contract.Contract, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows := make([]contractRow, 0, len(ids))
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", bound{tx.of}).Where("c.id IN (?)", boundList[contract.ID](ids)).Order("c.id")
	if err := lock(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read %d contracts: %w", len(ids), err)
	}
	return readRows[contract.Contract](rows)
}

// ContractsWithSeries returns at most limit contracts that have a calendar, locked, by id, after
// one.
func (tx *Tx) ContractsWithSeries(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.id > ?", after).Where("c.series_start > 0").Order("c.id").Limit(int64(limit))
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts that have a calendar: %w", err)
	}
	return readRows[contract.Contract](rows)
}

// ContractsPaidWith returns the ids of contracts that use a payment method.
func (tx *Tx) ContractsPaidWith(ctx context.Context, paymentMethod string) ([]contract.ID, error) {
	var ids []contract.ID
	if paymentMethod == "" {
		return nil, nil
	}
	err := tx.q.NewSelect().Model((*contractRow)(nil)).Column("id").Where("c.shop_id = ?", tx.of).
		Where("c.payment_method = ?", clean(paymentMethod)).Where("c.payment_method <> ''").OrderExpr(tx.dialect().unindexed+"c.id").Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("find the contracts with a payment method: %w", err)
	}
	return ids, nil
}
