package store

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// maxCatalogues is of how many lines of stores it is remembered what they sell by.
const maxCatalogues = 1000

// catalogueKey is whose catalogue one is.
type catalogueKey struct {
	of   shop.ID
	line shop.Line
}

// catalogue is what a line sells by.
type catalogue struct {
	bundles []bundle.Settings
	offers  map[int64]plan.Offer
}

// Catalogue returns a line's bundles, oldest first, and the options of its plan
// groups by their selling plans, as they are now or were when the shop was read.
// Others have the same slice and map: they must not be changed.
//
// Every row of a contract needs them and they seldom change. So they are remembered
// for as long as the shop says that nothing has changed them.
func (db *DB) Catalogue(ctx context.Context, of shop.Shop, line shop.Line) ([]bundle.Settings, map[int64]plan.Offer, error) {
	key := catalogueKey{of.ID, line}
	if known, ok := db.catalogues.get(key, of.Catalogue); ok {
		return known.bundles, known.offers, nil
	}
	bundles, _, err := db.Bundles(ctx, of.ID, line, page.Request{})
	if err != nil {
		return nil, nil, err
	}
	list, err := offersOf(ctx, db.madeOptions(of.ID, line))
	if err != nil {
		return nil, nil, err
	}
	offers := make(map[int64]plan.Offer, len(list))
	for _, offer := range list {
		offers[offer.ID] = offer
	}
	db.catalogues.put(key, of.Catalogue, catalogue{bundles, offers}, maxCatalogues)
	return bundles, offers, nil
}

// Boxes returns the shop's bundles, by line, as they are now or were when the shop was read. Others
// have the same slices: they must not be changed.
func (tx *Tx) Boxes(ctx context.Context, of shop.Shop) (map[shop.Line][]bundle.Settings, error) {
	if known, ok := tx.db.boxes.get(tx.of, of.Catalogue); ok && !tx.selling {
		return known, nil
	}
	list, err := tx.AllBundles(ctx)
	if err != nil {
		return nil, err
	}
	boxes := make(map[shop.Line][]bundle.Settings)
	for _, b := range list {
		boxes[b.Line] = append(boxes[b.Line], b)
	}
	if !tx.selling {
		tx.db.boxes.put(tx.of, of.Catalogue, boxes, maxCatalogues)
	}
	return boxes, nil
}

// catalogued says that the transaction changes what the shop sells by.
func (tx *Tx) catalogued(ctx context.Context) error {
	tx.selling = true
	_, err := tx.q.NewUpdate().Model((*shopRow)(nil)).Set("catalogue = s.catalogue + 1").Where("s.id = ?", tx.of).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note the change of what shop %d sells by: %w", tx.of, err)
	}
	return nil
}
