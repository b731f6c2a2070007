package shopper

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (o Options) variants(api *web.API) {
	price := o.operation("getVariantPricing", http.MethodGet, "/data/variant-contextual-pricing", "Products", "What a variant costs",
		"A variant of the store and its price: with contractId the one that it would have in that contract's next order, on the plan of its first line. "+
			"Prices are known in the store's currency, and are not converted: another currencyCode is answered 400 currencyMismatch. The customer's country changes no price.")
	price.Errors = []int{http.StatusNotFound}
	web.Register(api, price, o.variantPricing)
}

type pricingQuery struct {
	Variant  string `query:"variantId" required:"true" format:"id" doc:"The variant: number or graph id."`
	Contract string `query:"contractId" doc:"The contract for which it is: number or graph id."`
	Currency string `query:"currencyCode" maxLength:"3" example:"USD" doc:"The currency that is expected: ISO 4217."`
	Country  string `query:"countryCode" maxLength:"2" example:"CA" doc:"The customer's country: ISO 3166-1, two letters."`
}

// variantPricing is a variant and what it costs.
type variantPricing struct {
	ID      string          `json:"id" doc:"Graph id." example:"gid://shopify/ProductVariant/4001"`
	Title   string          `json:"title" doc:"Title of the variant." example:"250 g"`
	SKU     *string         `json:"sku" doc:"Stock keeping unit; null when there is none." example:"COFFEE-250"`
	Media   mediaConnection `json:"media" doc:"Pictures of the variant."`
	Product variantProduct  `json:"product" doc:"The product that it is a variant of."`
	Price   string          `json:"price" doc:"The store's own price of one, with the currency's decimals." example:"12.50"`
	Context contextualPrice `json:"contextualPricing" doc:"What this shopper would pay."`
}

type mediaConnection struct {
	Nodes []mediaNode `json:"nodes" nullable:"false" doc:"The pictures; empty when there is none."`
}

// mediaNode is a picture.
type mediaNode struct {
	ContentType string             `json:"mediaContentType" enum:"IMAGE" doc:"What it is." example:"IMAGE"`
	Image       record.ImageObject `json:"image" doc:"Where it is."`
}

type variantProduct struct {
	ID       string     `json:"id" doc:"Graph id." example:"gid://shopify/Product/3001"`
	Handle   *string    `json:"handle" doc:"The product's name in addresses of the storefront; null when not known." example:"house-blend"`
	Title    string     `json:"title" doc:"Title of the product." example:"House Blend Coffee"`
	Featured *mediaNode `json:"featuredMedia" doc:"The picture that is shown first; null when there is none."`
	Vendor   *string    `json:"vendor" doc:"Who makes it; null when the store does not say." example:"Khan Roasters"`
}

type contextualPrice struct {
	Price record.AmountObject `json:"price" doc:"Of one: in the contract's next order, or the store's own."`
}

type pricingOut struct{ Body variantPricing }

func (o Options) variantPricing(ctx context.Context, in *pricingQuery) (*pricingOut, error) {
	caller := web.CallerOf(ctx)
	variant, err := web.ParseID("ProductVariant", "variantId", in.Variant)
	if err != nil {
		return nil, err
	}
	of, err := web.ParseID(record.ContractTypename, "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	v, err := o.Prices.VariantPrice(ctx, caller.Shop.ID, amend.Command{Line: o.Line, Contract: contract.ID(of), Actor: caller.Actor}, variant)
	if err != nil {
		return nil, err
	}
	if in.Currency != "" && !strings.EqualFold(in.Currency, string(v.Unit.Currency)) {
		return nil, fault.New(fault.FailedPrecondition, "the price of variant %d is known in %s only", variant, v.Unit.Currency).Entity("productVariant").Code("currencyMismatch").Field("currencyCode")
	}
	body := variantPricing{
		ID: gid.Of("ProductVariant", v.ID), Title: v.Title, SKU: web.Some(v.SKU), Media: mediaConnection{Nodes: []mediaNode{}}, Price: v.Price.String(),
		Product: variantProduct{ID: gid.Of("Product", v.ProductID), Handle: web.Some(v.Handle), Title: v.ProductTitle, Vendor: web.Some(v.Vendor)},
		Context: contextualPrice{record.NewAmount(v.Unit)},
	}
	if v.Image != "" {
		picture := mediaNode{ContentType: "IMAGE", Image: record.ImageObject{TransformedSrc: v.Image}}
		body.Media.Nodes, body.Product.Featured = []mediaNode{picture}, &picture
	}
	return &pricingOut{body}, nil
}
