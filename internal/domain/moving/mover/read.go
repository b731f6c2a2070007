package mover

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// list writes down one page of the contracts of the service that is left.
func (s *Service) list(ctx context.Context, store shop.Shop, taken moving.Move) error {
	from, _ := s.ends(taken)
	page, failed := from.List(ctx, store, moving.Query{Line: taken.Line, Page: taken.Page, Since: taken.Since})
	if failed != nil {
		s.Log.WarnContext(ctx, "the contracts of the other service could not be listed", "shop", store.Domain, "move", taken.ID, "error", failed)
	}
	return s.onLease(ctx, store.ID, taken, func(tx moving.Tx, m *moving.Move, now time.Time) error {
		m.DueAt = now
		rest(m, failed, now)
		if failed == nil {
			return listed(ctx, tx, m, page, now)
		}
		return nil
	})
}

// listed notes a page of the list.
func listed(ctx context.Context, tx moving.Tx, m *moving.Move, page moving.Page, now time.Time) error {
	added, err := tx.AddMoveItems(ctx, m.ID, m.Line, page.Found, now)
	if err != nil {
		return err
	}
	if m.Page == 0 {
		if m.Since.IsZero() {
			m.Announced += page.Total
		}
		if m.Line == shop.Subscriptions {
			m.ListedAt = now
		}
	}
	again, err := repeats(ctx, tx, m, page, added)
	if err != nil {
		return err
	}
	if page.More && !again {
		m.Page++
		return nil
	}
	if m.Page = 0; m.Line == shop.Subscriptions && (m.Peer.Memberships != "" || m.Direction == moving.Out) {
		m.Line = shop.Memberships
		return nil
	}
	m.Since, m.Line, m.ListAt = m.ListedAt.Add(-overlap), shop.Subscriptions, now.Add(refresh)
	if m.Status = moving.Reading; !m.ReadAt.IsZero() {
		m.Status = moving.Ready
	}
	return nil
}

// repeats reports whether a page brings nothing and more were listed than the move has contracts: a
// service that ignores the page lists the first one for ever.
func repeats(ctx context.Context, tx moving.Tx, m *moving.Move, page moving.Page, added int) (bool, error) {
	if m.Page == 0 || added > 0 {
		return false, nil
	}
	if m.Since.IsZero() && m.ReadAt.IsZero() {
		return true, nil
	}
	counts, err := tx.MoveCounts(ctx, m.ID)
	known := 0
	for _, c := range counts {
		known += c.N
	}
	return m.Page*len(page.Found) > known, err
}

const (
	// overlap is how far lists of changes go back before the last one: clocks differ.
	overlap = 10 * time.Minute
	// refresh is how often changes of shadows are listed.
	refresh = 6 * time.Hour
)

// read reads a contract where it is, and judges whether it can go.
func (w *worker) read(ctx context.Context, i *moving.Item) error {
	if w.move.File != nil {
		return w.judge(ctx, i)
	}
	c, err := w.from.Contract(ctx, w.store, i.Contract.Line, i.There)
	if fault.Is(err, fault.NotFound) {
		i.Judge([]moving.Finding{{Fit: moving.Stays, Code: "contractGone", Text: fmt.Sprintf("Contract %d no longer exists there.", i.There)}})
		return nil
	}
	if err != nil {
		return err
	}
	was := i.Contract
	i.Contract = c.Resuming(w.cal)
	if err := w.judge(ctx, i); err != nil {
		i.Contract = was
		return err
	}
	return nil
}

// judge judges contracts, many with few questions to the platform.
func (w *worker) judge(ctx context.Context, items ...*moving.Item) error {
	contracts := make([]*moving.Contract, len(items))
	for n, i := range items {
		contracts[n] = &i.Contract
	}
	facts, err := w.known.facts(ctx, w.Platform, w.store.At(), contracts)
	if err != nil {
		return err
	}
	here, err := w.imported(ctx, contracts)
	if err != nil {
		return err
	}
	for _, i := range items {
		found := w.check(i.Contract, facts)
		if id, is := here[i.Contract.ImportedID]; is {
			found = append(found, moving.Finding{
				Fit: moving.Stays, Code: "contractHere", Field: "importedId", Text: fmt.Sprintf("It is here already, as contract %d: cancel that one first if it is to come again.", id),
			})
		}
		i.Judge(found)
		i.Plan, i.Coming = w.next(i.Contract), i.Contract.Charges(w.Clock.Now().AddDate(0, 0, moving.ComingDays), w.cal)
	}
	return nil
}

// imported returns the contracts here that have come from those of a file.
func (w *worker) imported(ctx context.Context, contracts []*moving.Contract) (map[string]contract.ID, error) {
	if w.move.File == nil {
		return nil, nil
	}
	var ids []string
	for _, c := range contracts {
		if c.ImportedID != "" {
			ids = append(ids, c.ImportedID)
		}
	}
	return w.Imports.Imported(ctx, w.store.ID, ids)
}
