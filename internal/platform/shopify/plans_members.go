package shopify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// titlesAtOnce keeps the document under the platform's limit even if every node
// counts.
const titlesAtOnce = 200

// AssignToPlanGroup adds products and variants to a group.
func (c *Client) AssignToPlanGroup(ctx context.Context, shop platform.Shop, group int64, of platform.Assigned) error {
	s, id := c.session(shop), gid.Of(typePlanGroup, group)
	err := inBatches(of.Products, func(ids []int64) error {
		err := s.addProducts(ctx, id, ids)
		if !refusedWith(err, codeTaken) {
			return err
		}
		// The platform refuses all because of one: what is missing is added.
		have, err := s.productsOf(ctx, id)
		if err != nil {
			return err
		}
		if ids = without(ids, have); len(ids) == 0 {
			return nil
		}
		return s.addProducts(ctx, id, ids)
	})
	if err != nil {
		return about(err, "add products to plan group %d", group)
	}
	err = inBatches(of.Variants, func(ids []int64) error {
		err := s.addVariants(ctx, id, ids)
		if !refusedWith(err, codeTaken) {
			return err
		}
		have, err := s.variantsOf(ctx, id)
		if err != nil {
			return err
		}
		if ids = without(ids, have); len(ids) == 0 {
			return nil
		}
		return s.addVariants(ctx, id, ids)
	})
	return about(err, "add variants to plan group %d", group)
}

// RemoveFromPlanGroup removes products and variants from a group.
func (c *Client) RemoveFromPlanGroup(ctx context.Context, shop platform.Shop, group int64, of platform.Assigned) error {
	s, id := c.session(shop), gid.Of(typePlanGroup, group)
	err := inBatches(of.Products, func(ids []int64) error {
		err := s.removeProducts(ctx, id, ids)
		if !refusedWith(err, codeUnknownID, "PRODUCT_DOES_NOT_EXIST") {
			return err
		}
		// One that the store no longer has: those that the group still has go.
		have, err := s.productsOf(ctx, id)
		if err != nil {
			return err
		}
		if ids = among(ids, have); len(ids) == 0 {
			return nil
		}
		return s.removeProducts(ctx, id, ids)
	})
	if err != nil {
		return about(err, "remove products from plan group %d", group)
	}
	err = inBatches(of.Variants, func(ids []int64) error {
		err := s.removeVariants(ctx, id, ids)
		if !refusedWith(err, codeUnknownID, "PRODUCT_VARIANT_DOES_NOT_EXIST") {
			return err
		}
		have, err := s.variantsOf(ctx, id)
		if err != nil {
			return err
		}
		if ids = among(ids, have); len(ids) == 0 {
			return nil
		}
		return s.removeVariants(ctx, id, ids)
	})
	return about(err, "remove variants from plan group %d", group)
}

func inBatches(ids []int64, do func(ids []int64) error) error {
	for batch := range slices.Chunk(ids, platform.MaxAssigned) {
		if err := do(batch); err != nil {
			return err
		}
	}
	return nil
}

func without(ids, have []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(have, id) })
}

func among(ids, have []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !slices.Contains(have, id) })
}

func (s session) addProducts(ctx context.Context, group string, ids []int64) error {
	got, err := admin.AddPlanProducts(ctx, s, group, graphIDs(typeProduct, ids))
	if err != nil {
		return err
	}
	if got.SellingPlanGroupAddProducts == nil {
		return errNoPayload()
	}
	return answered(got.SellingPlanGroupAddProducts.UserErrors)
}

func (s session) addVariants(ctx context.Context, group string, ids []int64) error {
	got, err := admin.AddPlanVariants(ctx, s, group, graphIDs(typeVariant, ids))
	if err != nil {
		return err
	}
	if got.SellingPlanGroupAddProductVariants == nil {
		return errNoPayload()
	}
	return answered(got.SellingPlanGroupAddProductVariants.UserErrors)
}

func (s session) removeProducts(ctx context.Context, group string, ids []int64) error {
	got, err := admin.RemovePlanProducts(ctx, s, group, graphIDs(typeProduct, ids))
	if err != nil {
		return err
	}
	if got.SellingPlanGroupRemoveProducts == nil {
		return errNoPayload()
	}
	return answered(got.SellingPlanGroupRemoveProducts.UserErrors)
}

func (s session) removeVariants(ctx context.Context, group string, ids []int64) error {
	got, err := admin.RemovePlanVariants(ctx, s, group, graphIDs(typeVariant, ids))
	if err != nil {
		return err
	}
	if got.SellingPlanGroupRemoveProductVariants == nil {
		return errNoPayload()
	}
	return answered(got.SellingPlanGroupRemoveProductVariants.UserErrors)
}

func (s session) productsOf(ctx context.Context, group string) ([]int64, error) {
	var ids []int64
	for cursor, more := "", true; more; {
		got, err := admin.PlanProducts(ctx, s, group, cursor)
		if err == nil && got.SellingPlanGroup == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		page := got.SellingPlanGroup.Products
		for _, n := range page.Nodes {
			ids = append(ids, gid.Number(n.Id))
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return ids, nil
}

func (s session) variantsOf(ctx context.Context, group string) ([]int64, error) {
	var ids []int64
	for cursor, more := "", true; more; {
		got, err := admin.PlanVariants(ctx, s, group, cursor)
		if err == nil && got.SellingPlanGroup == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		page := got.SellingPlanGroup.ProductVariants
		for _, n := range page.Nodes {
			ids = append(ids, gid.Number(n.Id))
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return ids, nil
}

// Titles returns what products and variants are called. A variant's title begins
// with its product's, unless it is the only one.
func (c *Client) Titles(ctx context.Context, shop platform.Shop, of platform.Assigned) (products, variants []platform.Titled, err error) {
	if products, err = c.session(shop).titles(ctx, graphIDs(typeProduct, of.Products)); err != nil {
		return nil, nil, about(err, "read the titles of %d products", len(of.Products))
	}
	if variants, err = c.session(shop).titles(ctx, graphIDs(typeVariant, of.Variants)); err != nil {
		return nil, nil, about(err, "read the titles of %d variants", len(of.Variants))
	}
	return products, variants, nil
}

func (s session) titles(ctx context.Context, ids []string) ([]platform.Titled, error) {
	var list []platform.Titled
	for batch := range slices.Chunk(ids, titlesAtOnce) {
		var got struct {
			Nodes []*wire.Titled `json:"nodes"`
		}
		if err := s.nodes(ctx, "Titles", admin.Titles_Operation, batch, &got); err != nil {
			return nil, err
		}
		if len(got.Nodes) != len(batch) {
			return nil, errNodes(len(got.Nodes), len(batch))
		}
		for _, n := range got.Nodes {
			if n != nil {
				list = append(list, platform.Titled{ID: gid.Number(n.ID), Title: variantTitle(n.Product.Title, n.Title)})
			}
		}
	}
	return list, nil
}

func variantTitle(product, title string) string {
	switch {
	case product == "":
		return title
	case title == platform.OnlyVariant:
		return product
	}
	return product + " - " + title
}

// CollectionProducts returns the products of a collection.
func (c *Client) CollectionProducts(ctx context.Context, shop platform.Shop, collection int64, limit int) ([]platform.Titled, error) {
	var list []platform.Titled
	for cursor, more := "", true; more && len(list) < limit; {
		got, err := admin.CollectionProducts(ctx, c.session(shop), gid.Of(typeCollection, collection), cursor)
		if err == nil && got.Collection == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read the products of collection %d: %w", collection, err)
		}
		page := got.Collection.Products
		for _, n := range page.Nodes {
			list = append(list, platform.Titled{ID: gid.Number(n.Id), Title: n.Title})
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return list[:min(len(list), limit)], nil
}

// maxSearchWords is how many words of a search the platform is asked about.
const maxSearchWords = 10

// FindProducts returns products by words of their titles. What the platform's search syntax gives a
// meaning separates words (https://shopify.dev/docs/api/usage/search-syntax).
func (c *Client) FindProducts(ctx context.Context, shop platform.Shop, text string) (list []platform.Titled, more bool, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`:()"'*<>=\-`, r)
	})
	query := make([]string, 0, maxSearchWords)
	for _, word := range words[:min(len(words), maxSearchWords)] {
		query = append(query, "title:"+word+"*")
	}
	got, err := admin.FindProducts(ctx, c.session(shop), strings.Join(query, " AND "))
	if err != nil {
		return nil, false, fmt.Errorf("search for products: %w", err)
	}
	for _, n := range got.Products.Nodes {
		list = append(list, platform.Titled{ID: gid.Number(n.Id), Title: n.Title})
	}
	return list, got.Products.PageInfo.HasNextPage, nil
}
