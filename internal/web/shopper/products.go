package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (o Options) products(api *web.API) {
	always := o.operation("listProducts", http.MethodGet, "/contracts/{contractId}/products", linesTag, "Products for all future orders",
		"The variants that may be added to the contract, or take the place of a line: what is sold on the plans of its group, by title, at the prices of the next order. Empty where the contract is on no plan of the store's groups.")
	always.Errors = []int{http.StatusNotFound}
	web.Register(api, always, o.listProducts)

	once := o.operation("listOneTimeProducts", http.MethodGet, "/contracts/{contractId}/one-time-products", linesTag, "Products for one order",
		"The variants that may be added to one order of the contract: what is sold on the store's plans and also without one, by title, at its own price.")
	once.Errors = []int{http.StatusNotFound}
	web.Register(api, once, o.listOneTimeProducts)
}

// ProductQuery selects products.
type ProductQuery struct {
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`

	Text string `query:"search" maxLength:"100" example:"decaf" doc:"A part of the product's title. Absent: all."`
	Page int32  `query:"page" minimum:"0" maximum:"1000" example:"0" doc:"The page, counted from 0. A page has the variants of 20 products."`
}

func (q ProductQuery) query() portal.ProductQuery {
	return portal.ProductQuery{Text: q.Text, Page: int(q.Page)}
}

type lineProductQuery struct {
	ProductQuery

	Line string `query:"lineId" maxLength:"255" example:"3b9e2c" doc:"The line to replace: graph id or its last part. Absent: a product is added."`
}

// product is a variant that the shopper may choose.
type product struct {
	Variant   int64               `json:"variantId" doc:"The platform's number of the variant." example:"4002"`
	GraphID   string              `json:"graphVariantId" doc:"Its graph id." example:"gid://shopify/ProductVariant/4002"`
	Title     string              `json:"title" doc:"Title of the product." example:"Decaf Coffee"`
	Name      string              `json:"variantTitle" doc:"Title of the variant." example:"250 g"`
	Image     *string             `json:"image" format:"uri" doc:"Address of its picture; null when there is none." example:"https://cdn.example.com/decaf.jpg"`
	Available bool                `json:"available" doc:"Whether it can be bought now." example:"true"`
	Price     record.AmountObject `json:"price" doc:"Price of one, before taxes."`
}

// productPage is a page of products.
type productPage struct {
	Products []product `json:"products" nullable:"false" doc:"The variants, product by product."`
	More     bool      `json:"hasNextPage" doc:"Whether there is another page." example:"false"`
}

type productsOut struct{ Body productPage }

func (o Options) listProducts(ctx context.Context, in *lineProductQuery) (*productsOut, error) {
	q := in.query()
	q.Line = in.Line
	return o.productsOf(ctx, in.Contract, q, o.Portal.Products)
}

func (o Options) listOneTimeProducts(ctx context.Context, in *ProductQuery) (*productsOut, error) {
	return o.productsOf(ctx, in.Contract, in.query(), o.Portal.OneTimeProducts)
}

func (o Options) productsOf(
	ctx context.Context, of string, q portal.ProductQuery,
	read func(context.Context, portal.Caller, contract.ID, portal.ProductQuery) (portal.ProductList, error),
) (*productsOut, error) {
	ref, err := Versioned{}.ref("contractId", of)
	if err != nil {
		return nil, err
	}
	list, err := read(ctx, o.who(ctx), ref.ID, q)
	if err != nil {
		return nil, err
	}
	out := &productsOut{productPage{Products: make([]product, len(list.Products)), More: list.More}}
	for i, p := range list.Products {
		out.Body.Products[i] = newProduct(p)
	}
	return out, nil
}

func newProduct(p portal.Product) product {
	return product{
		Variant: p.ID, GraphID: gid.Of("ProductVariant", p.ID), Title: p.ProductTitle, Name: p.Title, Image: web.Some(p.Image), Available: p.Available,
		Price: record.NewAmount(p.Unit),
	}
}
