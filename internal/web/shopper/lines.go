package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
)

const linesTag = "Products"

func (o Options) lines(api *web.API) {
	add := o.operation("addLine", http.MethodPost, "/contracts/{contractId}/lines", linesTag, "Add a product to all future orders",
		"Adds a product of the contract's plans, at the price that the plan gives. 400 variantNotOffered for one that is not sold on them. Answers with the contract.")
	add.Body, add.Once, add.Errors = newLine{}, true, append(add.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, add, o.addLine)

	change := o.operation("updateLine", http.MethodPut, "/contracts/{contractId}/lines/{lineId}", linesTag, "Swap a product or change its quantity",
		"Another variant comes at the price that the contract's plan gives: 400 variantNotOffered for one that is not sold on its plans. A shopper who is held to a number of orders cannot take fewer, nor swap unless the store allows it: 400 contractFrozen. Answers with the contract.")
	change.Body, change.Errors = lineEdit{}, append(change.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, change, o.changeLine)

	web.Register(api, o.operation("removeLine", http.MethodDelete, "/contracts/{contractId}/lines/{lineId}", linesTag, "Remove a product from all future orders",
		"A contract keeps at least one product: pause or cancel it instead. Discounts that only this product has go with it. Answers with the contract."), o.removeLine)
}

// newLine is a product to add.
type newLine struct {
	Variant  web.AnyID `json:"variantId" doc:"The variant: number or graph id."`
	Quantity *int32    `json:"quantity,omitempty" nullable:"true" minimum:"1" maximum:"9999" doc:"Pieces in every order. Default 1." example:"1"`
}

func (o Options) addLine(ctx context.Context, in *bodyIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body newLine
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	w := portal.NewProduct{Quantity: 1}
	if w.Variant, err = required(body.Variant, "ProductVariant", "variantId"); err != nil {
		return nil, err
	}
	if body.Quantity != nil {
		if w.Quantity, err = pieces(*body.Quantity); err != nil {
			return nil, err
		}
	}
	return newContractOut(o.Portal.AddProduct(ctx, o.who(ctx), ref, w))
}

// lineEdit is a change of a line.
type lineEdit struct {
	Variant  web.AnyID `json:"variantId,omitempty" doc:"Another variant: number or graph id. Absent: it stays."`
	Quantity *int32    `json:"quantity,omitempty" nullable:"true" minimum:"1" maximum:"9999" doc:"Pieces in every order. Absent: as many as now." example:"2"`
}

// OfLine names a line by its path.
type OfLine struct {
	OfContract
	Line string `path:"lineId" maxLength:"255" example:"3b9e2c" doc:"The line: graph id, percent-encoded, or its last part."`
}

type lineIn struct {
	OfLine
	web.JSONBody
}

func (o Options) changeLine(ctx context.Context, in *lineIn) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	var body lineEdit
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	w := portal.LineEdit{Line: in.Line}
	variant, err := body.Variant.Parse("ProductVariant", "variantId")
	if err != nil {
		return nil, err
	}
	if variant != 0 {
		w.Variant = &variant
	}
	if body.Quantity != nil {
		n, err := pieces(*body.Quantity)
		if err != nil {
			return nil, err
		}
		w.Quantity = &n
	}
	if w.Variant == nil && w.Quantity == nil {
		return nil, fault.New(fault.Invalid, "send variantId, quantity or both").Code("bodyField").Field("variantId")
	}
	return newContractOut(o.Portal.ChangeLine(ctx, o.who(ctx), ref, w))
}

func (o Options) removeLine(ctx context.Context, in *OfLine) (*contractOut, error) {
	ref, err := in.ref()
	if err != nil {
		return nil, err
	}
	r, err := o.Portal.RemoveProduct(ctx, o.who(ctx), ref, in.Line)
	return newContractOut(r.Detail, err)
}

// pieces checks a quantity of a body.
func pieces(n int32) (int, error) {
	if n < 1 || n > terms.MaxQuantity {
		return 0, fault.New(fault.Invalid, "field 'quantity' is %d and must be from 1 to %d", n, terms.MaxQuantity).Code("bodyField").Field("quantity")
	}
	return int(n), nil
}
