package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// discountText is a discount as it is kept, in the contract's currency.
type discountText struct {
	ID       string   `json:"id"`
	Title    string   `json:"title,omitempty"`
	Code     string   `json:"code,omitempty"`
	Percent  int      `json:"percent,omitempty"`
	Amount   int64    `json:"amount,omitempty"`
	EachItem bool     `json:"eachItem,omitempty"`
	Free     bool     `json:"freeShipping,omitempty"`
	Shipping bool     `json:"shipping,omitempty"`
	Limit    int      `json:"limit,omitempty"`
	Used     int      `json:"used,omitempty"`
	All      bool     `json:"all,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Rejected string   `json:"rejected,omitempty"`
}

func discountsText(list []contract.Discount) (string, error) {
	texts := make([]discountText, len(list))
	for i, d := range list {
		texts[i] = discountText{
			d.ID, d.Title, d.Code, d.Percent, d.Amount.Minor, d.EachItem, d.FreeShipping, d.TargetIsOrder, d.CycleLimit, d.UsedCycles, d.AllLines, d.Lines, d.RejectedWhy,
		}
	}
	return jsonText(texts)
}

func parseDiscounts(text string, c money.Currency) ([]contract.Discount, error) {
	texts, err := parseJSON[[]discountText](text)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	list := make([]contract.Discount, len(texts))
	for i, t := range texts {
		list[i] = contract.Discount{
			ID: t.ID, Title: t.Title, Code: t.Code, Percent: t.Percent, EachItem: t.EachItem, FreeShipping: t.Free, TargetIsOrder: t.Shipping,
			CycleLimit: t.Limit, UsedCycles: t.Used, AllLines: t.All, Lines: t.Lines, RejectedWhy: t.Rejected,
		}
		if t.Amount != 0 {
			list[i].Amount = money.Amount{Minor: t.Amount, Currency: c}
		}
	}
	return list, nil
}

// pricesText is how a line's price changes, as it is kept in the contract's currency.
type pricesText struct {
	Line  string      `json:"line"`
	Base  int64       `json:"base"`
	Steps []priceText `json:"steps"`
}

type priceText struct {
	After   int                 `json:"after,omitempty"`
	Kind    platform.Adjustment `json:"kind,omitempty"`
	Percent float64             `json:"percent,omitempty"`
	Amount  int64               `json:"amount,omitempty"`
	Price   int64               `json:"price"`
}

func pricingText(prices map[string]contract.Pricing) (string, error) {
	var texts []pricesText
	for _, line := range sortedKeys(prices) {
		t := pricesText{Line: line, Base: prices[line].Base.Minor}
		for _, c := range prices[line].Cycles {
			t.Steps = append(t.Steps, priceText{c.After, c.Kind, c.Percent, c.Amount.Minor, c.Computed.Minor})
		}
		texts = append(texts, t)
	}
	return jsonText(texts)
}

func parsePricing(text string, c money.Currency) (map[string]contract.Pricing, error) {
	texts, err := parseJSON[[]pricesText](text)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	prices := make(map[string]contract.Pricing, len(texts))
	for _, t := range texts {
		p := contract.Pricing{Base: money.Amount{Minor: t.Base, Currency: c}}
		for _, s := range t.Steps {
			step := contract.CyclePrice{After: s.After, Kind: s.Kind, Percent: s.Percent, Computed: money.Amount{Minor: s.Price, Currency: c}}
			if s.Kind == platform.AmountOff || s.Kind == platform.FixedPrice {
				step.Amount = money.Amount{Minor: s.Amount, Currency: c}
			}
			p.Cycles = append(p.Cycles, step)
		}
		prices[t.Line] = p
	}
	return prices, nil
}

// addOrders adds to records what their orders depend on.
func (db *DB) addOrders(ctx context.Context, of shop.ID, records []billing.Record) error {
	if len(records) == 0 {
		return nil
	}
	return db.View(ctx, of, func(tx *Tx) error { return tx.addOrders(ctx, records) })
}

func (tx *Tx) addOrders(ctx context.Context, records []billing.Record) error {
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	contracts := make(map[contract.ID]*contract.Contract, len(records))
	for i := range records {
		contracts[records[i].Of.ID] = &records[i].Of
	}
	inputs, err := billing.ReadInputs(ctx, tx, store, contracts)
	if err != nil {
		return err
	}
	var counting []contract.ID
	for i := range records {
		r := &records[i]
		r.OneOffs, r.Rules = inputs[r.Of.ID].For(r.Cycle), inputs[r.Of.ID].Rules
		if r.CountsOrders() {
			counting = append(counting, r.Of.ID)
		}
	}
	open, err := tx.openOrders(ctx, counting)
	for i := range records {
		records[i].SetBefore(open)
	}
	return err
}

// recordsOf joins attempts, in their order, with their contracts and what their orders depend on.
func (tx *Tx) recordsOf(ctx context.Context, rows []attemptRow) ([]billing.Record, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	attempts, err := readRows[billing.Attempt](rows)
	if err != nil {
		return nil, err
	}
	contracts, err := billing.ContractsByID(tx.ReadContracts(ctx, billing.ContractIDs(attempts)))
	if err != nil {
		return nil, err
	}
	records := make([]billing.Record, 0, len(attempts))
	for _, a := range attempts {
		if c := contracts[a.Contract]; c != nil {
			records = append(records, billing.Record{Attempt: a, Of: *c})
		}
	}
	return records, tx.addOrders(ctx, records)
}

// openOrders reads of contracts' open attempts what tells in which order they are made.
func (tx *Tx) openOrders(ctx context.Context, contracts []contract.ID) ([]billing.Attempt, error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	var rows []attemptRow
	err := tx.q.NewSelect().Model(&rows).Column("contract_id", "cycle", "status", "billing_date", "preparation").Where("a.shop_id = ?", tx.of).
		Where("a.contract_id IN (?)", bun.List(contracts)).Where("a.status IN (?)", bun.List(billing.Open)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the orders to come of %d contracts: %w", len(contracts), err)
	}
	open := make([]billing.Attempt, len(rows))
	for i, r := range rows {
		open[i] = billing.Attempt{Contract: contract.ID(r.ContractID), Cycle: int(r.Cycle), Status: billing.Status(r.Status), BillingDate: instant(r.BillingDate)}
		if open[i].Prep, err = parseJSON[billing.Preparation](r.Preparation); err != nil {
			return nil, err
		}
	}
	return open, nil
}
