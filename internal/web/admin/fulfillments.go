package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// fulfillmentHandlers show what was sent of a contract's orders.
type fulfillmentHandlers struct{ contractHandlers }

func (h fulfillmentHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "getContractFulfillments", Method: http.MethodGet, Path: base + "/subscription-contract-details/subscription-fulfillments/{contractId}", Tag: "Contracts",
		Summary:     "Fulfillments of the last renewal order",
		Description: "What the platform has of the sending of a contract's last renewal order: at most 50 fulfillments. Before the first renewal order the names of the order are null and the list is empty.",
		Scope:       access.ContractsRead, Errors: []int{http.StatusNotFound},
	}, h.contractFulfillments)
}

// contractFulfillments is what was sent of a contract's last renewal order.
type contractFulfillments struct {
	OrderID      *int64                `json:"lastSuccessfulOrderId" doc:"Number of the contract's last renewal order; null before the first one." example:"5004"`
	OrderName    *string               `json:"lastSuccessfulOrderName" doc:"Name of the order, as the store writes it; null before the first one." example:"#1004"`
	Fulfillments fulfillmentConnection `json:"fulfillments" doc:"What was sent of the order."`
}

type fulfillmentConnection struct {
	Nodes    []fulfillmentNode `json:"nodes" nullable:"false" doc:"The fulfillments."`
	Edges    []fulfillmentEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo record.PageInfo   `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type fulfillmentEdge struct {
	Node fulfillmentNode `json:"node" doc:"The fulfillment."`
}

// fulfillmentNode is a part of an order that was sent.
type fulfillmentNode struct {
	ID            string                  `json:"id" doc:"Graph id." example:"gid://shopify/Fulfillment/5201"`
	Status        string                  `json:"status" doc:"SUCCESS, CANCELLED, ERROR or FAILURE, in the platform's own words." example:"SUCCESS"`
	DisplayStatus *string                 `json:"displayStatus" doc:"How far it is, such as IN_TRANSIT or DELIVERED, in the platform's own words; null when the platform does not say." example:"IN_TRANSIT"`
	CreatedAt     *web.Instant            `json:"createdAt" format:"date-time" doc:"When it was sent, in UTC." example:"2026-01-31T08:00:00Z"`
	EstimatedAt   *web.Instant            `json:"estimatedDeliveryAt" format:"date-time" doc:"When it is expected to arrive, in UTC; null when that is not known." example:"2026-02-03T17:00:00Z"`
	DeliveredAt   *web.Instant            `json:"deliveredAt" format:"date-time" doc:"When it arrived, in UTC; null before." example:"2026-02-03T11:30:00Z"`
	Tracking      []trackingObject        `json:"trackingInfo" nullable:"false" doc:"Where it can be followed."`
	Lines         fulfilledLineConnection `json:"fulfillmentLineItems" doc:"What it has of the order's lines: the first 20."`
}

type trackingObject struct {
	Company *string `json:"company" doc:"Carrier; null when it is not known." example:"DHL"`
	Number  *string `json:"number" doc:"Tracking number; null when there is none." example:"00340434161094000000"`
	URL     *string `json:"url" doc:"Address of the carrier's page; null when there is none." example:"https://www.dhl.com/track?id=1"`
}

type fulfilledLineConnection struct {
	Nodes    []fulfilledLineNode `json:"nodes" nullable:"false" doc:"The lines."`
	Edges    []fulfilledLineEdge `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo record.PageInfo     `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type fulfilledLineEdge struct {
	Node fulfilledLineNode `json:"node" doc:"The line."`
}

type fulfilledLineNode struct {
	ID       string          `json:"id" doc:"Graph id." example:"gid://shopify/FulfillmentLineItem/5301"`
	Quantity int32           `json:"quantity" doc:"Pieces that were sent." example:"2"`
	LineItem orderLineObject `json:"lineItem" doc:"The order's line."`
}

type orderLineObject struct {
	ID    string  `json:"id" doc:"Graph id." example:"gid://shopify/LineItem/5401"`
	Title string  `json:"title" doc:"Title of the product." example:"House Blend Coffee"`
	SKU   *string `json:"sku" doc:"Stock keeping unit of the variant; null when it has none." example:"COFFEE-250"`
}

type fulfillmentsOut struct {
	Body contractFulfillments
}

func (h fulfillmentHandlers) contractFulfillments(ctx context.Context, in *contractPath) (*fulfillmentsOut, error) {
	cmd, err := h.command(ctx, in.Contract)
	if err != nil {
		return nil, err
	}
	sent, err := h.edits.Fulfillments(ctx, web.CallerOf(ctx).Shop.ID, cmd)
	if err != nil {
		return nil, err
	}
	return &fulfillmentsOut{newContractFulfillments(sent)}, nil
}

func newContractFulfillments(sent contractedit.OrderFulfillments) contractFulfillments {
	n := len(sent.Fulfillments)
	out := contractFulfillments{
		OrderID: web.Some(sent.Contract.LastOrderID), OrderName: web.Some(sent.Contract.LastOrder),
		Fulfillments: fulfillmentConnection{Nodes: make([]fulfillmentNode, n), Edges: make([]fulfillmentEdge, n)},
	}
	for i, f := range sent.Fulfillments {
		node := newFulfillmentNode(f)
		out.Fulfillments.Nodes[i], out.Fulfillments.Edges[i] = node, fulfillmentEdge{node}
	}
	return out
}

func newFulfillmentNode(f contract.Fulfillment) fulfillmentNode {
	n := fulfillmentNode{
		ID: f.ID, Status: f.Status, DisplayStatus: web.Some(f.DisplayStatus), CreatedAt: web.At(f.CreatedAt), EstimatedAt: web.At(f.EstimatedAt), DeliveredAt: web.At(f.DeliveredAt),
		Tracking: make([]trackingObject, len(f.Tracking)),
		Lines:    fulfilledLineConnection{Nodes: make([]fulfilledLineNode, len(f.Lines)), Edges: make([]fulfilledLineEdge, len(f.Lines))},
	}
	for i, t := range f.Tracking {
		n.Tracking[i] = trackingObject{web.Some(t.Company), web.Some(t.Number), web.Some(t.URL)}
	}
	for i, l := range f.Lines {
		line := fulfilledLineNode{ID: l.ID, Quantity: int32(l.Quantity), LineItem: orderLineObject{ID: l.Line, Title: l.Title, SKU: web.Some(l.SKU)}}
		n.Lines.Nodes[i], n.Lines.Edges[i] = line, fulfilledLineEdge{line}
	}
	return n
}
