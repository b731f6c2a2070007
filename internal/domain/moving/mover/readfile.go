package mover

import (
	"context"
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// rowsAtOnce is how many contracts of a file are judged and stored together.
const rowsAtOnce = 500

// readFile reads the contracts of a file and judges them, from the line on at which an earlier turn
// has ended.
func (s *Service) readFile(ctx context.Context, store shop.Shop, taken moving.Move) error {
	cal, err := store.Calendar()
	if err != nil {
		return err
	}
	r := &fileReading{Service: s, w: s.worker(store, taken, cal), taken: taken}
	read := r.contracts
	if kindOf(taken) != table.ContractRows {
		read = r.people
	}
	failed := read(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(failed, errLeaseLost) {
		return nil
	}
	if failed != nil {
		s.Log.WarnContext(ctx, "a file of contracts could not be read", "shop", store.Domain, "move", taken.ID, "line", r.taken.Page, "error", failed)
	}
	return s.onLease(ctx, store.ID, r.taken, func(_ moving.Tx, m *moving.Move, now time.Time) error {
		m.DueAt = now
		switch f, _ := errors.AsType[*fault.Error](failed); {
		case f != nil && (f.Kind == fault.Invalid || f.Kind == fault.NotFound): // it is the file
			m.Status, m.DueAt, m.Failure, m.FailedAt = moving.Mapping, time.Time{}, f.Message, now
		case failed != nil:
			rest(m, failed, now)
		case r.done:
			rest(m, nil, now)
			m.Status = moving.Reading
		}
		return nil
	})
}

// fileReading is one turn of reading a file.
type fileReading struct {
	*Service

	w      *worker
	taken  moving.Move // the lease; its Page is the last line that was stored
	until  time.Time
	done   bool // the file was read to its end
	batch  []*moving.Item
	totals moving.Totals // of the contracts in the batch
	line   int           // of the last contract in the batch
	asked  error         // why the platform could not be asked for an SKU
}

var errLeaseLost = errors.New("another worker has the move")

// rows opens the file after its scan, and returns how it is read.
func (r *fileReading) rows(ctx context.Context) (*table.File, *table.Scan, table.Options, error) {
	zone, err := time.LoadLocation(r.w.store.TimeZone)
	if err != nil {
		return nil, nil, table.Options{}, err
	}
	scan, err := r.scan(ctx)
	if err != nil {
		return nil, nil, table.Options{}, err
	}
	f, err := r.openTable(ctx, r.w.store.ID, r.taken)
	r.until = r.Clock.Now().Add(turn)
	file := r.taken.File
	return f, scan, table.Options{
		Currency: r.w.store.Currency, Zone: zone, DecimalComma: file.DecimalComma, DayFirst: file.DayFirst,
		Variants: func(sku string) []int64 { return r.variants(ctx, sku) },
	}, err
}

// scan returns the scan of the file, which later turns of this process use again.
func (r *fileReading) scan(ctx context.Context) (*table.Scan, error) {
	if s := r.w.known.scan.Load(); s != nil && s.Fits(r.taken.File.Fields) {
		return s, nil
	}
	f, err := r.openTable(ctx, r.w.store.ID, r.taken)
	if err != nil {
		return nil, err
	}
	s, err := f.Scan(kindOf(r.taken), r.taken.File.Fields)
	if err != nil {
		return nil, err
	}
	r.w.known.scan.Store(s)
	return s, nil
}

// people reads customers, or the points of members: they become parts of the move.
func (r *fileReading) people(ctx context.Context) error {
	f, scan, options, err := r.rows(ctx)
	if err != nil {
		return err
	}
	if kindOf(r.taken) == table.PointRows {
		_, err = r.Parts.AddMembers(ctx, r.w.store.ID, r.taken.ID, table.Points(f, scan, options))
	} else {
		_, err = r.Parts.AddCustomers(ctx, r.w.store.ID, r.taken.ID, table.Customers(f, scan, options))
	}
	r.done = err == nil
	return err
}

// contracts reads contracts until the turn is over.
func (r *fileReading) contracts(ctx context.Context) error {
	f, scan, options, err := r.rows(ctx)
	if err != nil {
		return err
	}
	for row, err := range table.Contracts(f, scan, options) {
		if err = errors.Join(err, r.asked); err != nil {
			return err
		}
		if row.Line <= r.taken.Page {
			continue
		}
		r.batch, r.line = append(r.batch, itemOf(r.taken.ID, row)), row.Line
		r.totals.Add(row.Contract.Amount(0, r.w.cal), row.Priced())
		if len(r.batch) < rowsAtOnce {
			continue
		}
		if err := r.store(ctx); err != nil || !r.Clock.Now().Before(r.until) {
			return err
		}
	}
	if err := r.store(ctx); err != nil {
		return err
	}
	r.done = true
	return nil
}

// itemOf returns a contract of a file. One without an ID of its own is named by its line.
func itemOf(of moving.ID, row table.Row) *moving.Item {
	c := row.Contract
	c.Remarks = row.Findings
	if c.ID == 0 || row.Again {
		c.ID = -int64(row.Line)
	}
	c.Line = shop.Subscriptions
	return &moving.Item{Move: of, There: c.ID, Stage: moving.Found, Contract: c}
}

// variants returns the variants with an SKU. The first failure ends the turn.
func (r *fileReading) variants(ctx context.Context, sku string) []int64 {
	found, err := r.w.known.variantsOf(ctx, r.Platform, r.w.store.At(), sku)
	r.asked = errors.Join(r.asked, err)
	return found
}

// store judges and stores the contracts that were read, and renews the lease.
func (r *fileReading) store(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	if err := r.w.judge(ctx, r.batch...); err != nil {
		return err
	}
	kept := false
	err := r.onLease(ctx, r.w.store.ID, r.taken, func(tx moving.Tx, m *moving.Move, now time.Time) error {
		items := make([]moving.Item, len(r.batch))
		for n, i := range r.batch {
			i.Stage, i.Since = moving.Shadow, now
			if i.Fit == moving.Stays {
				i.Stage = moving.Staying
			}
			items[n] = *i
		}
		if err := tx.AddReadItems(ctx, items); err != nil {
			return err
		}
		m.File.Totals.Plus(r.totals)
		m.Page, m.Announced, m.DueAt = r.line, m.Announced+len(r.batch), now.Add(lease)
		rest(m, nil, now)
		r.taken, kept = *m, true
		return nil
	})
	if err == nil && !kept {
		return errLeaseLost
	}
	r.batch, r.totals = r.batch[:0], nil
	return err
}
