package amend

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Variants reads variants by id. One that the store does not have is NotFound.
func (ed *Editor) Variants(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	sold, err := ed.findVariants(ctx, store, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if _, ok := sold[id]; !ok {
			return nil, fault.New(fault.NotFound, "the store does not sell variant %d", id).Entity("productVariant").Code("variantNotFound").Field("variantId")
		}
	}
	return sold, nil
}

// VariantsOfLines reads the variants of lines. Those that the store no longer sells are
// left out.
func (ed *Editor) VariantsOfLines(ctx context.Context, store shop.Shop, lines []contract.LineItem) (map[int64]platform.Variant, error) {
	ids := make([]int64, len(lines))
	for i, l := range lines {
		ids[i] = l.VariantID
	}
	return ed.findVariants(ctx, store, ids)
}

// findVariants reads variants by id. Those that the store does not sell are left out.
func (ed *Editor) findVariants(ctx context.Context, store shop.Shop, ids []int64) (map[int64]platform.Variant, error) {
	sold := make(map[int64]platform.Variant, len(ids))
	for chunk := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), platform.MaxIDs) {
		found, err := ed.Platform.Variants(ctx, store.At(), chunk)
		if err != nil {
			return nil, PlatformError(err)
		}
		for _, v := range found {
			sold[v.ID] = v
		}
	}
	return sold, nil
}

// ProductVariants returns the variants of products, at most platform.MaxProducts, product by product.
// Products that the store does not have are left out.
func (ed *Editor) ProductVariants(ctx context.Context, store shop.Shop, products []int64) ([]platform.Variant, error) {
	sold, err := ed.Platform.ProductVariants(ctx, store.At(), products)
	if err != nil {
		return nil, PlatformError(err)
	}
	return sold, nil
}
