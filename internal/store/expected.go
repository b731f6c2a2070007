package store

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

// priceWatch knows of the contracts that a transaction has read or written what the prices of their
// orders depend on, so that the transaction can price those orders again that it made cost
// something else.
type priceWatch struct {
	known map[contract.ID]priced
	stale map[contract.ID]bool // whose orders must be priced before the commit
	at    time.Time            // when they are; zero: when the transaction wrote them
}

// priced has a digest of everything that the prices of a contract's orders depend on.
type priced struct {
	digest uint64
	same   bool  // no order differs from the others, unless by a swap rule
	cost   int64 // of each, then, in minor units
}

var pricedSeed = maphash.MakeSeed()

// pricedOf returns a contract's digest, which does not change when one of its orders is made.
func pricedOf(c *contract.Contract) priced {
	p := priced{same: !c.Priced && c.OneOffs == 0 && !c.CountsOrders()}
	var h maphash.Hash
	h.SetSeed(pricedSeed)
	write := func(values ...any) {
		for _, v := range values {
			maphash.WriteComparable(&h, v)
		}
	}
	write(c.Line, c.DeliveryPrice.Minor, c.OneOffs, c.Priced, c.NextOrder()-c.Completed(), c.Deliveries())
	for _, l := range c.Lines {
		write(l.ID, l.VariantID, l.Quantity, l.Price.Minor, l.SellingPlanID)
		for _, prices := range []map[string]contract.Pricing{c.Pricing, c.PlanPricing} {
			if of, has := prices[l.ID]; has {
				write(of.Base)
				for _, step := range of.Cycles {
					write(step)
				}
			}
		}
	}
	for _, d := range c.Discounts {
		last := 0
		if d.CycleLimit > 0 {
			last = c.Completed() + d.CycleLimit - d.UsedCycles
		}
		write(d.Percent, d.Amount, d.EachItem, d.FreeShipping, last, d.AllLines, d.RejectedWhy == "", d.TargetIsOrder)
		for _, line := range d.Lines {
			write(line)
		}
	}
	if c.Dunning != nil && !p.same {
		write(c.Dunning.Cycle, c.EndsAfterDunning())
	}
	if p.digest = h.Sum64(); p.same {
		p.cost = c.Bill(c.Lines, 0).Total.Minor
	}
	return p
}

// note remembers a contract as the database has it, and returns what was known of it before.
func (w *priceWatch) note(c *contract.Contract) (was, is priced, has bool) {
	if w.known == nil {
		w.known = make(map[contract.ID]priced)
	}
	was, has = w.known[c.ID]
	is = pricedOf(c)
	w.known[c.ID] = is
	return was, is, has
}

// wrote remembers contracts that were written. The orders of those are priced again that are priced
// by something else than before.
func (w *priceWatch) wrote(contracts []contract.Contract) {
	for i := range contracts {
		c := &contracts[i]
		if was, is, has := w.note(c); !has && c.Version > 1 || has && was.digest != is.digest {
			w.price(c.ID)
		}
	}
}

// price has the orders of a contract priced before the commit.
func (w *priceWatch) price(id contract.ID) {
	if w.stale == nil {
		w.stale = make(map[contract.ID]bool)
	}
	w.stale[id] = true
}

// added returns what the order of a new attempt is expected to cost. If that takes more than the
// contract, its orders are priced before the commit.
func (w *priceWatch) added(a billing.Attempt) int64 {
	if of, has := w.known[a.Contract]; has && of.same {
		return of.cost
	}
	w.price(a.Contract)
	return 0
}

// moved prices a contract's orders again when one of them has another place among the others, was
// prepared, or is queued again.
func (w *priceWatch) moved(a billing.Attempt, was, is analytics.Wait) {
	of, has := w.known[a.Contract]
	again := !has || was != is || is == (analytics.Wait{})
	switch {
	case a.Status != billing.Queued:
		again = was != is && !of.same && !a.Status.InFlight()
	case a.Prep.Stage == billing.Ready || len(a.Prep.Declined) > 0:
		again = true
	case of.same:
		again = a.Expected != of.cost
	}
	if again {
		w.price(a.Contract)
	}
}

// priceOrders prices the orders of contracts that the transaction has changed, where that changes
// what they cost. Subscribers learn what rules do to them. Once those have notified customers of
// higher prices, later orders have them.
func (tx *Tx) priceOrders(ctx context.Context) error {
	if err := tx.addRuled(ctx); err != nil {
		return err
	}
	news, err := tx.priceStale(ctx)
	if err != nil || news.None() {
		return err
	}
	now := tx.prices.at
	if now.IsZero() {
		now = tx.published.latest()
	}
	if now.IsZero() {
		return nil
	}
	for _, subscriber := range tx.db.subscribers.News {
		if err := subscriber(ctx, tx, news, now); err != nil {
			return err
		}
	}
	for _, r := range news.Rises {
		tx.prices.price(r.Contract)
	}
	_, err = tx.priceStale(ctx)
	return err
}

// priceStale prices the orders of contracts and returns what rules do to them.
func (tx *Tx) priceStale(ctx context.Context) (news billing.News, err error) {
	ids := slices.Sorted(maps.Keys(tx.prices.stale))
	tx.prices.stale = nil
	attempts, err := tx.toPrice(ctx, ids) // before their contracts, as everywhere
	if err != nil || len(attempts) == 0 {
		return news, err
	}
	contracts, err := tx.Contracts(ctx, ids)
	if err != nil {
		return news, err
	}
	store, err := tx.Shop(ctx)
	if err != nil {
		return news, err
	}
	byID, _ := billing.ContractsByID(contracts, nil)
	inputs, err := billing.ReadInputs(ctx, tx, store, byID)
	if err != nil {
		return news, err
	}
	all := billing.ByContract(attempts)
	var changed []billing.Attempt
	for _, c := range contracts {
		expected, more := billing.ExpectedOf(c, inputs[c.ID], all[c.ID])
		news.Rises, news.Swaps = append(news.Rises, more.Rises...), append(news.Swaps, more.Swaps...)
		for _, a := range all[c.ID] {
			if is, has := expected[a.ID]; has && is != a.Expected {
				a.Expected = is
				changed = append(changed, a)
			}
		}
	}
	return news, tx.putExpected(ctx, changed)
}

// addRuled adds to the contracts whose orders are priced those with new places in the queue, if
// the shop has swap rules or bundles.
func (tx *Tx) addRuled(ctx context.Context) error {
	var of []contract.ID
	for _, c := range tx.queue.changed {
		if c.Was != c.Is && c.Is != (analytics.Wait{}) && !tx.prices.stale[contract.ID(c.Is.Contract)] {
			of = append(of, contract.ID(c.Is.Contract))
		}
	}
	if len(of) == 0 {
		return nil
	}
	ruled, err := tx.ruled(ctx)
	if err != nil {
		return err
	}
	for _, id := range of {
		if ruled {
			tx.prices.price(id)
		}
	}
	return nil
}

// ruled reports whether orders of the shop may cost something else than their contracts say, by swap
// rules or bundles.
func (tx *Tx) ruled(ctx context.Context) (bool, error) {
	for _, q := range []*bun.SelectQuery{
		tx.q.NewSelect().TableExpr("swap_rules AS w").ColumnExpr("1").Where("w.shop_id = ?", bound{tx.of}).Where("NOT w.switched_off"),
		tx.q.NewSelect().TableExpr("bundles AS b").ColumnExpr("1").Where("b.shop_id = ?", bound{tx.of}),
	} {
		if has, err := q.Limit(1).Exists(ctx); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// toPrice reads the open attempts of contracts, and those that were declined.
func (tx *Tx) toPrice(ctx context.Context, ids []contract.ID) ([]billing.Attempt, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []attemptRow
	q := tx.q.NewSelect().Model(&rows).Where("a.shop_id = ?", bound{tx.of}).Where("a.contract_id IN (?)", boundList[contract.ID](ids)).
		Where("a.status IN (?)", bun.List(append([]billing.Status{billing.Failure}, billing.Open...))).Order("a.contract_id", "a.cycle")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the orders to price of %d contracts: %w", len(ids), err)
	}
	return tx.noted(readRows[billing.Attempt](rows))
}

// expectedRow has the columns that are written of an attempt that was priced. It is no change that
// others who have read the attempt need to know: its version stays.
type expectedRow struct {
	bun.BaseModel `bun:"table:attempts,alias:a"`

	ID       int64
	Expected int64
}

// putExpected writes what orders are expected to cost.
func (tx *Tx) putExpected(ctx context.Context, attempts []billing.Attempt) error {
	if len(attempts) == 0 {
		return nil
	}
	rows := make([]expectedRow, len(attempts))
	priced := make(map[billing.AttemptID]int64, len(attempts))
	for i, a := range attempts {
		rows[i] = expectedRow{ID: int64(a.ID), Expected: a.Expected}
		priced[a.ID] = a.Expected
		tx.queue.move(a.ID, analytics.WaitOf(a))
	}
	tx.queue.note(attempts)
	for i, a := range tx.published.attempts {
		if is, has := priced[a.ID]; has {
			tx.published.attempts[i].Expected = is
		}
	}
	table, columns := tableOf[expectedRow](tx)
	query := tx.dialect().set(table, int64(tx.of), columns[1:], columns[:1])
	if _, err := tx.many(ctx, query, batch{append(columns[1:2:2], columns[0]), reflect.ValueOf(rows)}); err != nil {
		return fmt.Errorf("write what %d orders are expected to cost: %w", len(rows), err)
	}
	return nil
}

// repricingRow is a row of repricings.
type repricingRow struct {
	bun.BaseModel `bun:"table:repricings,alias:p"`

	ShopID        int64 `bun:"shop_id,pk"`
	AfterContract int64
}

// reprice asks for the orders of all contracts of the shop to be priced again, because something
// has changed on which many of them depend.
func (tx *Tx) reprice(ctx context.Context) error {
	if err := tx.unpriced(ctx); err != nil {
		return err
	}
	return tx.Enqueue(ctx, billing.Task{Shop: tx.of})
}

// unpriced notes that the orders of the shop's contracts must be priced.
func (tx *Tx) unpriced(ctx context.Context) error {
	_, err := insert(ctx, tx, []repricingRow{{ShopID: int64(tx.of)}}, "ON CONFLICT (shop_id) DO UPDATE SET after_contract = 0")
	return err
}

// RepriceNext prices the orders of at most limit contracts of those that reprice was asked for, and
// reports whether more of them wait.
func (tx *Tx) RepriceNext(ctx context.Context, now time.Time, limit int) (more bool, err error) {
	tx.prices.at = now
	var rows []repricingRow
	if err := tx.dialect().forUpdate(tx.q.NewSelect().Model(&rows).Where("p.shop_id = ?", bound{tx.of})).Scan(ctx); err != nil || len(rows) == 0 {
		return false, err
	}
	var ids []contract.ID
	err = tx.q.NewSelect().TableExpr("contracts AS c").Column("c.id").Where("c.shop_id = ?", bound{tx.of}).Where("c.id > ?", bound{rows[0].AfterContract}).
		Order("c.id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return false, fmt.Errorf("read the contracts to price: %w", err)
	}
	for _, id := range ids {
		tx.prices.price(id)
	}
	if more = len(ids) == limit; !more {
		_, err = tx.q.NewDelete().Model((*repricingRow)(nil)).Where("p.shop_id = ?", bound{tx.of}).Exec(ctx)
		return false, err
	}
	_, err = tx.q.NewUpdate().Model((*repricingRow)(nil)).Set("after_contract = ?", bound{int64(ids[len(ids)-1])}).Where("p.shop_id = ?", bound{tx.of}).Exec(ctx)
	return true, err
}
