package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
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
	Turns             string
	NextBillingDate   int64
	AnnounceAt        int64 `bun:",nullzero"`
	QueueUpdatedAt    int64
	MaxCycles         int64
	PassedCycles      int64
	MinCycles         int64
	AutoCharge        bool
	Wishes            string
	OneOffs           int64
	Orders            int64
	Lifetime          int64
	LastOrderID       int64
	LastOrder         string
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
	Discounts            string
	AmendAt              int64 `bun:",nullzero"`
	ChangingUntil        int64
	Amending             string
	Dunning              string
	CancellationFeedback string
	CancellationNote     string

	Moving   string
	Pause    string
	Ending   string
	NextWas  int64
	Trial    string
	Lifelong bool
	ExpireAt int64
}

// progress lists the columns that billing owns.
var progress = []string{
	"revision", "last_payment", "series_cycle", "series_start", "series_passed", "series_moved", "turns", "passed_cycles", "ending", "next_billing_date", "announce_at", "queue_updated_at", "wishes", "one_offs", "orders", "lifetime",
	"last_order_id", "last_order", "last_order_at", "last_order_amount", "dunning", "updated_at", "amend_at", "amending", "expire_at",
}

func contractRowOf(of shop.ID, c contract.Contract) (contractRow, error) {
	lines, err := linesText(c.Lines)
	if err != nil {
		return contractRow{}, err
	}
	billing, err := listText(c.Billing.Anchors)
	if err != nil {
		return contractRow{}, err
	}
	delivery, err := listText(c.Delivery.Anchors)
	if err != nil {
		return contractRow{}, err
	}
	attributes, err := listText(c.Attributes)
	if err != nil {
		return contractRow{}, err
	}
	wishes, err := listText(c.Overrides)
	if err != nil {
		return contractRow{}, err
	}
	turns, err := listText(c.LaterSeries)
	if err != nil {
		return contractRow{}, err
	}
	split, err := optionalText(c.Split)
	if err != nil {
		return contractRow{}, err
	}
	pending, err := optionalText(c.Pending)
	if err != nil {
		return contractRow{}, err
	}
	waits, err := waitsOf(c)
	if err != nil {
		return contractRow{}, err
	}
	pricing, err := pricingText(c.Pricing)
	if err != nil {
		return contractRow{}, err
	}
	planPricing, err := pricingText(c.PlanPricing)
	if err != nil {
		return contractRow{}, err
	}
	discounts, err := discountsText(c.Discounts)
	if err != nil {
		return contractRow{}, err
	}
	dunned, err := optionalText(c.Dunning)
	if err != nil {
		return contractRow{}, err
	}
	amending, err := listText(c.InFlightEdits)
	if err != nil {
		return contractRow{}, err
	}
	card := ""
	if c.Card != (contract.Card{}) {
		if card, err = optionalText(&c.Card); err != nil {
			return contractRow{}, err
		}
	}
	return contractRow{
		Moving: waits.moving, Pause: waits.pause, Ending: waits.ending, NextWas: millis(c.CancelledOrderDate), Trial: waits.trial, Lifelong: c.Lifelong, ExpireAt: millis(c.ExpireAt),
		ShopID: int64(of), ID: int64(c.ID), Line: string(c.Line), Revision: int64(c.Revision), Status: string(c.Status), Currency: string(c.Currency),
		CustomerID: c.Customer.ID, CustomerEmail: c.Customer.Email, CustomerFirstName: c.Customer.FirstName, CustomerLastName: c.Customer.LastName,
		CustomerName: c.Customer.Name, CustomerPhone: c.Customer.Phone, EmailFolded: fold(c.Customer.Email), NameFolded: fold(c.Customer.Name),
		BillingInterval: c.Billing.Interval.String(), BillingCount: int64(c.Billing.Count), BillingAnchors: billing,
		DeliveryInterval: c.Delivery.Interval.String(), DeliveryCount: int64(c.Delivery.Count), DeliveryAnchors: delivery,
		Lines: lines, OrderAmount: c.Amount().Milli(),
		OriginOrderID: c.OriginOrderID, OriginOrderName: c.OriginOrderName, PaymentMethod: c.PaymentMethod, PaymentUsable: c.PaymentUsable, Card: card,
		BillingCountry: c.BillingCountry, DeliveryCountry: c.DeliveryCountry, DeliveryPrice: c.DeliveryPrice.Minor,
		Note: c.Note, Attributes: attributes, ImportedID: c.ImportedID, LastPayment: c.LastPayment,
		SeriesCycle: int64(c.Series.Cycle), SeriesStart: millis(c.Series.Start), SeriesPassed: int64(c.Series.Passed), SeriesMoved: c.Series.Moved, Turns: turns, NextBillingDate: millis(c.NextBillingDate), AnnounceAt: millis(c.NotifyAt()), QueueUpdatedAt: millis(c.QueueUpdatedAt),
		MaxCycles: int64(c.MaxCycles), PassedCycles: int64(c.PassedCycles), MinCycles: int64(c.MinCycles), AutoCharge: c.AutoCharge,
		Wishes: wishes, OneOffs: int64(c.OneOffs), Orders: int64(c.Orders), Lifetime: c.Lifetime.Minor, LastOrderID: c.LastOrderID, LastOrder: c.LastOrder, LastOrderAt: millis(c.LastOrderAt), LastOrderAmount: c.LastOrderAmount.Minor,
		CreatedAt: millis(c.CreatedAt), UpdatedAt: millis(c.UpdatedAt), ActivatedAt: millis(c.ActivatedAt), PausedAt: millis(c.PausedAt),
		CancelledAt: millis(c.CancelledAt), Version: c.Version,
		Origin: string(c.Origin), SplitFrom: int64(c.SplitFrom), EarlierOrders: int64(c.EarlierOrders), Split: split, PendingChange: pending, Priced: c.Priced, Pricing: pricing, PlanPricing: planPricing, FirstAmount: firstAmountOf(c), Discounts: discounts, AmendAt: millis(c.AmendAt), Dunning: dunned, ChangingUntil: millis(c.ChangingUntil), Amending: amending, CancellationFeedback: c.CancellationFeedback, CancellationNote: c.CancellationNote,
	}, nil
}

func firstAmountOf(c contract.Contract) int64 {
	if c.FirstAmount.Currency == "" {
		return -1
	}
	return c.FirstAmount.Minor
}

// waits is what a contract waits for, as it is kept.
type waits struct{ moving, pause, ending, trial string }

func waitsOf(c contract.Contract) (w waits, err error) {
	if w.moving, err = optionalText(c.Moving); err != nil {
		return w, err
	}
	if w.pause, err = optionalText(c.Pause); err != nil {
		return w, err
	}
	if w.ending, err = optionalText(c.Ending); err != nil {
		return w, err
	}
	w.trial, err = optionalText(c.Trial)
	return w, err
}

// progressRowOf fills the columns that billing owns, and the keys.
func progressRowOf(of shop.ID, c contract.Contract) (contractRow, error) {
	wishes, err := listText(c.Overrides)
	if err != nil {
		return contractRow{}, err
	}
	turns, err := listText(c.LaterSeries)
	if err != nil {
		return contractRow{}, err
	}
	amending, err := listText(c.InFlightEdits)
	if err != nil {
		return contractRow{}, err
	}
	ending, err := optionalText(c.Ending)
	if err != nil {
		return contractRow{}, err
	}
	dunned, err := optionalText(c.Dunning)
	return contractRow{
		ShopID: int64(of), ID: int64(c.ID), Revision: int64(c.Revision), LastPayment: c.LastPayment, SeriesCycle: int64(c.Series.Cycle), SeriesStart: millis(c.Series.Start),
		SeriesPassed: int64(c.Series.Passed), SeriesMoved: c.Series.Moved, Turns: turns, PassedCycles: int64(c.PassedCycles), Ending: ending, NextBillingDate: millis(c.NextBillingDate), AnnounceAt: millis(c.NotifyAt()), QueueUpdatedAt: millis(c.QueueUpdatedAt), Wishes: wishes, OneOffs: int64(c.OneOffs), Orders: int64(c.Orders), Lifetime: c.Lifetime.Minor, LastOrderID: c.LastOrderID,
		LastOrder: c.LastOrder, LastOrderAt: millis(c.LastOrderAt), LastOrderAmount: c.LastOrderAmount.Minor, UpdatedAt: millis(c.UpdatedAt), Version: c.Version,
		Dunning: dunned, AmendAt: millis(c.AmendAt), Amending: amending, ExpireAt: millis(c.ExpireAt),
	}, err
}

func (r contractRow) contract() (contract.Contract, error) {
	currency := money.Currency(r.Currency)
	c := contract.Contract{
		ID: contract.ID(r.ID), Line: shop.Line(r.Line), Revision: uint64(r.Revision), Status: contract.Status(r.Status), Currency: currency,
		Customer: contract.Customer{
			ID: r.CustomerID, Email: r.CustomerEmail, FirstName: r.CustomerFirstName, LastName: r.CustomerLastName, Name: r.CustomerName, Phone: r.CustomerPhone,
		},
		Billing: contract.Policy{Count: int(r.BillingCount)}, Delivery: contract.Policy{Count: int(r.DeliveryCount)},
		OriginOrderID: r.OriginOrderID, OriginOrderName: r.OriginOrderName, PaymentMethod: r.PaymentMethod, PaymentUsable: r.PaymentUsable,
		BillingCountry: r.BillingCountry, DeliveryCountry: r.DeliveryCountry, DeliveryPrice: money.Amount{Minor: r.DeliveryPrice, Currency: currency},
		Note: r.Note, ImportedID: r.ImportedID, LastPayment: r.LastPayment,
		Series:          contract.Series{Cycle: int(r.SeriesCycle), Start: instant(r.SeriesStart), Passed: int(r.SeriesPassed), Moved: r.SeriesMoved},
		NextBillingDate: instant(r.NextBillingDate), QueueUpdatedAt: instant(r.QueueUpdatedAt), MaxCycles: int(r.MaxCycles), PassedCycles: int(r.PassedCycles), MinCycles: int(r.MinCycles), AutoCharge: r.AutoCharge,
		OneOffs: int(r.OneOffs), Orders: int(r.Orders), Lifetime: money.Amount{Minor: r.Lifetime, Currency: currency},
		LastOrderID: r.LastOrderID, LastOrder: r.LastOrder, LastOrderAt: instant(r.LastOrderAt),
		LastOrderAmount: money.Amount{Minor: r.LastOrderAmount, Currency: currency},
		CreatedAt:       instant(r.CreatedAt), UpdatedAt: instant(r.UpdatedAt), ActivatedAt: instant(r.ActivatedAt), PausedAt: instant(r.PausedAt),
		CancelledAt: instant(r.CancelledAt), Version: r.Version,
		CancelledOrderDate: instant(r.NextWas), Lifelong: r.Lifelong, ExpireAt: instant(r.ExpireAt),
		Origin: contract.Origin(r.Origin), SplitFrom: contract.ID(r.SplitFrom), EarlierOrders: int(r.EarlierOrders), AmendAt: instant(r.AmendAt), ChangingUntil: instant(r.ChangingUntil), Priced: r.Priced, CancellationFeedback: r.CancellationFeedback, CancellationNote: r.CancellationNote,
	}
	if r.FirstAmount >= 0 {
		c.FirstAmount = money.Amount{Minor: r.FirstAmount, Currency: currency}
	}
	var err error
	read := func(step error) {
		if err == nil {
			err = step
		}
	}
	c.Billing.Interval, err = cadence.ParseInterval(r.BillingInterval)
	interval, deliveryErr := cadence.ParseInterval(r.DeliveryInterval)
	c.Delivery.Interval = interval
	read(deliveryErr)
	read(parseList(r.BillingAnchors, &c.Billing.Anchors))
	read(parseList(r.DeliveryAnchors, &c.Delivery.Anchors))
	read(parseList(r.Attributes, &c.Attributes))
	if r.Card != "" {
		read(json.Unmarshal([]byte(r.Card), &c.Card))
	}
	read(parseList(r.Wishes, &c.Overrides))
	read(parseList(r.Turns, &c.LaterSeries))
	read(parseList(r.Amending, &c.InFlightEdits))
	read(parseOptional(r.Split, &c.Split))
	read(parseOptional(r.PendingChange, &c.Pending))
	c.Pricing, deliveryErr = parsePricing(r.Pricing, currency)
	read(deliveryErr)
	c.PlanPricing, deliveryErr = parsePricing(r.PlanPricing, currency)
	read(deliveryErr)
	c.Discounts, deliveryErr = parseDiscounts(r.Discounts, currency)
	read(deliveryErr)
	read(parseOptional(r.Moving, &c.Moving))
	read(parseOptional(r.Pause, &c.Pause))
	read(parseOptional(r.Ending, &c.Ending))
	read(parseOptional(r.Trial, &c.Trial))
	read(parseOptional(r.Dunning, &c.Dunning))
	c.Lines, deliveryErr = parseLines(r.Lines)
	read(deliveryErr)
	if err != nil {
		return contract.Contract{}, fmt.Errorf("read contract %d: %w", r.ID, err)
	}
	return c, nil
}

// fold makes letters of both cases one.
func fold(s string) string { return strings.ToLower(s) }

// parsed returns what rows say, or why one cannot be read.
func parsed[R, T any](rows []R, parse func(R) (T, error)) ([]T, error) {
	list := make([]T, len(rows))
	for i, r := range rows {
		var err error
		if list[i], err = parse(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// listText writes a list as JSON; nothing when it is empty.
func listText[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	text, err := json.Marshal(list)
	return string(text), err
}

func parseList[T any](text string, into *[]T) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// optionalText writes a value as JSON; nothing when there is none.
func optionalText[T any](v *T) (string, error) {
	if v == nil {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

func parseOptional[T any](text string, into **T) error {
	if text == "" {
		return nil
	}
	*into = new(T)
	return json.Unmarshal([]byte(text), *into)
}

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
	return listText(texts)
}

func parseLines(text string) ([]contract.LineItem, error) {
	var texts []lineText
	if err := parseList(text, &texts); err != nil || len(texts) == 0 {
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
	return tx.contracts(ctx, ids, tx.dialect().forUpdate)
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
	return contractsOf(rows)
}

// ContractsWithSeries returns at most limit contracts that have a calendar, locked, by id, after
// one.
func (tx *Tx) ContractsWithSeries(ctx context.Context, after contract.ID, limit int) ([]contract.Contract, error) {
	var rows []contractRow
	q := tx.q.NewSelect().Model(&rows).Where("c.shop_id = ?", tx.of).Where("c.id > ?", after).Where("c.series_start > 0").Order("c.id").Limit(int64(limit))
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the contracts that have a calendar: %w", err)
	}
	return contractsOf(rows)
}

func contractsOf(rows []contractRow) ([]contract.Contract, error) {
	return parsed(rows, contractRow.contract)
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
