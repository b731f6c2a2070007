package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// termHandlers change the note and the attributes of a contract.
type termHandlers struct{ contractHandlers }

func (h termHandlers) register(api *web.API) {
	attributes := withBody(attributesBody{}, amendment(contractTerms, "updateCustomNoteAttributes", "/subscription-contracts-update-custom-note-attributes", "Change a contract's attributes",
		"Replaces the contract's attributes, or lays the given ones over those it has. They are copied to every future order. Answers with no body."))
	web.Register(api, attributes, h.setAttributes)
	posted := attributes
	posted.ID, posted.Method, posted.Path = "postCustomNoteAttributes", http.MethodPost, base+"/update-custom-note-attributes"
	posted.Description = "As the PUT, and says so in words."
	web.Register(api, posted, h.postAttributes)
	web.Register(api, amendment(contractTerms, "updateOrderNote", "/subscription-contracts-update-order-note/{contractId}", "Change a contract's order note",
		"Replaces the note that every future order carries. An empty text clears it. Where the next order has a note of its own, the order carries both. Answers true."), h.setNote)
}

// attributesBody is a contract's attributes.
type attributesBody struct {
	Shop                   string                   `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	SubscriptionContractID web.AnyID                `json:"subscriptionContractId" doc:"The contract: number or graph id."`
	CustomAttributesList   []record.AttributeObject `json:"customAttributesList" maxItems:"100" doc:"Keys are unique."`
}

type attributesIn struct {
	Overwrite bool `query:"overwriteExistingAttributes" default:"true" doc:"Whether the given attributes replace all; otherwise they are laid over those that are there."`
	web.JSONBody
}

func (h termHandlers) setAttributes(ctx context.Context, in *attributesIn) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	var body attributesBody
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	n, err := body.SubscriptionContractID.Parse(record.ContractTypename, "subscriptionContractId")
	if err != nil {
		return nil, err
	}
	for field, missing := range map[string]bool{"subscriptionContractId": n == 0, "customAttributesList": body.CustomAttributesList == nil} {
		if missing {
			return nil, fault.New(fault.Invalid, "field '%s' is required", field).Code("bodyField").Field(field)
		}
	}
	cmd := amend.Command{Line: h.line, Contract: contract.ID(n), Actor: caller.Actor}
	_, err = h.edits.SetAttributes(ctx, caller.Shop.ID, cmd, parseAttributes(body.CustomAttributesList), in.Overwrite)
	return nil, err
}

func (h termHandlers) postAttributes(ctx context.Context, in *attributesIn) (*messageOut, error) {
	if _, err := h.setAttributes(ctx, in); err != nil {
		return nil, err
	}
	return &messageOut{messageBody{"Attributes updated successfully"}}, nil
}

type noteQuery struct {
	web.Given
	Contract string `path:"contractId" format:"id" example:"9001" doc:"The contract: number or graph id, percent-encoded."`
	Note     string `query:"orderNote" maxLength:"5000" doc:"The note; empty clears it. Plain text; lines end with newline characters. Required."`
	Other    string `query:"note" maxLength:"5000" doc:"Another spelling of orderNote. Both may be given when they say the same."`
}

// trueOut answers true.
type trueOut struct {
	Body bool
}

func (h termHandlers) setNote(ctx context.Context, in *noteQuery) (*trueOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	text, err := noteOf(in.Given, in.Note, in.Other)
	if err != nil {
		return nil, err
	}
	if _, err = h.edits.SetNote(ctx, web.CallerOf(ctx).Shop.ID, cmd, text); err != nil {
		return nil, err
	}
	return &trueOut{true}, nil
}
