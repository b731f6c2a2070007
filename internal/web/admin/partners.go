package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Connections decides about partners' applications for a merchant. Failures are
// faults.
type Connections interface {
	List(ctx context.Context, of shop.ID, state partner.State, p page.Request) ([]partner.View, int, error)
	Review(ctx context.Context, of shop.ID, id partner.ConnectionID) (partner.View, error)
	Request(ctx context.Context, of shop.ID, app access.AppID, scopes []access.Scope, by activity.Actor) (partner.View, error)
	Approve(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Reject(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Disconnect(ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)
	Reduce(ctx context.Context, of shop.ID, id partner.ConnectionID, to []access.Scope, by activity.Actor) (partner.View, error)
}

const connectionsPath = base + "/partner-connections"

// connectionHandlers show and decide on the connections of partners' applications.
type connectionHandlers struct {
	connections Connections
	clock       clock.Clock
}

func (h connectionHandlers) register(api *web.API) {
	op := web.Operation{Tag: "Partner connections", Scope: access.All, Errors: []int{http.StatusNotFound}}

	list := op
	list.ID, list.Method, list.Path, list.Summary = "listPartnerConnections", http.MethodGet, connectionsPath, "Partner connections"
	list.Description, list.Errors = "What partners' applications asked for and were given, newest first, ended connections too.", nil
	list.List = &keyList
	web.Register(api, list, h.listConnections)

	request := op
	request.ID, request.Method, request.Path, request.Summary = "requestPartnerConnection", http.MethodPost, connectionsPath, "Connect an application"
	request.Description = "Begins a connection from the store's side, which approves it: the application is sent a code for its token. A connection that is open or waits for approval gets the named scopes; an open one also keeps those that it has. Without scopes, what the application asked for already is approved."
	request.Body = newConnection{}
	web.Register(api, request, h.requestConnection)

	review := op
	review.ID, review.Method, review.Path, review.Summary = "reviewPartnerConnection", http.MethodGet, connectionsPath+"/{id}", "Review a connection"
	review.Description = "A connection with its scopes, its last use, and the calls of the last 30 days."
	web.Register(api, review, h.reviewConnection)

	approve := op
	approve.ID, approve.Method, approve.Path, approve.Summary = "approvePartnerConnection", http.MethodPost, connectionsPath+"/{id}/approve", "Approve"
	approve.Description = "Agrees to what the application asked for and sends it a code that it exchanges for its token within 10 minutes. Approving again sends another code while the application has no token."
	web.Register(api, approve, h.onConnection(Connections.Approve))

	reject := op
	reject.ID, reject.Method, reject.Path, reject.Summary = "rejectPartnerConnection", http.MethodPost, connectionsPath+"/{id}/reject", "Reject"
	reject.Description = "Refuses what the application asked for. A connection that stands keeps the scopes that it has."
	web.Register(api, reject, h.onConnection(Connections.Reject))

	disconnect := op
	disconnect.ID, disconnect.Method, disconnect.Path, disconnect.Summary = "disconnectPartnerConnection", http.MethodPost, connectionsPath+"/{id}/disconnect", "Disconnect"
	disconnect.Description = "Ends the connection; its token opens nothing from now on. Disconnecting again changes nothing."
	web.Register(api, disconnect, h.onConnection(Connections.Disconnect))

	reduce := op
	reduce.ID, reduce.Method, reduce.Path, reduce.Summary = "reducePartnerConnection", http.MethodPut, connectionsPath+"/{id}/scopes", "Take scopes away"
	reduce.Description = "Leaves the connection, and its token, the named scopes. They must be among those that it has."
	reduce.Body = fewerScopes{}
	web.Register(api, reduce, h.reduceConnection)
}

type connectionOut struct{ Body partnerConnection }

func (h connectionHandlers) connectionOut(v partner.View, err error) (*connectionOut, error) {
	if err != nil {
		return nil, err
	}
	return &connectionOut{newPartnerConnection(v, h.clock.Now())}, nil
}

type connectionsQuery struct {
	web.Paging
	Status string `query:"status" doc:"Only connections in this state: PENDING, CONNECTED, REJECTED, EXPIRED, DISCONNECTED or UNINSTALLED."`
}

type connectionPage struct {
	web.ListHeaders
	Body []partnerConnection
}

func (h connectionHandlers) listConnections(ctx context.Context, in *connectionsQuery) (*connectionPage, error) {
	p, err := in.Request(keyList)
	if err != nil {
		return nil, err
	}
	var state partner.State
	if in.Status != "" {
		if state, err = web.ParseEnum("status", in.Status, partner.States); err != nil {
			return nil, err
		}
	}
	list, total, err := h.connections.List(ctx, web.CallerOf(ctx).Shop.ID, state, p)
	if err != nil {
		return nil, err
	}
	out := &connectionPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]partnerConnection, len(list))}
	for i, v := range list {
		out.Body[i] = newPartnerConnection(v, h.clock.Now())
	}
	return out, nil
}

// newConnection is the body of a connection that the merchant begins.
type newConnection struct {
	Shop    string   `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	Partner string   `json:"partnerId" required:"true" doc:"Id of the application." example:"reports"`
	Scopes  []string `json:"scopes,omitempty" doc:"What it may do; absent: what it has asked for, or all that it may ask for when there is no connection yet." example:"[\"contracts:read\"]"`
}

func (h connectionHandlers) requestConnection(ctx context.Context, in *struct{ web.JSONBody }) (*connectionOut, error) {
	caller := web.CallerOf(ctx)
	var body newConnection
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	if body.Partner == "" {
		return nil, fault.New(fault.Invalid, "field 'partnerId' is required").Entity("partnerConnection").Code("bodyField").Field("partnerId")
	}
	if err := web.CheckText("field 'partnerId'", "partnerId", body.Partner); err != nil {
		return nil, err
	}
	scopes, err := access.ParseScopes(body.Scopes)
	if err != nil {
		return nil, err
	}
	return h.connectionOut(h.connections.Request(ctx, caller.Shop.ID, access.AppID(body.Partner), scopes, caller.Actor))
}

type connectionQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The connection."`
}

func (h connectionHandlers) reviewConnection(ctx context.Context, in *connectionQuery) (*connectionOut, error) {
	return h.connectionOut(h.connections.Review(ctx, web.CallerOf(ctx).Shop.ID, partner.ConnectionID(in.ID)))
}

// decision is a change of a connection that needs no more than the connection.
type decision func(c Connections, ctx context.Context, of shop.ID, id partner.ConnectionID, by activity.Actor) (partner.View, error)

func (h connectionHandlers) onConnection(decide decision) func(context.Context, *connectionQuery) (*connectionOut, error) {
	return func(ctx context.Context, in *connectionQuery) (*connectionOut, error) {
		caller := web.CallerOf(ctx)
		return h.connectionOut(decide(h.connections, ctx, caller.Shop.ID, partner.ConnectionID(in.ID), caller.Actor))
	}
}

// fewerScopes is the body of a reduction.
type fewerScopes struct {
	Shop   string   `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	Scopes []string `json:"scopes" required:"true" doc:"What the connection keeps." example:"[\"contracts:read\"]"`
}

type reduceIn struct {
	web.JSONBody
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The connection."`
}

func (h connectionHandlers) reduceConnection(ctx context.Context, in *reduceIn) (*connectionOut, error) {
	caller := web.CallerOf(ctx)
	var body fewerScopes
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	scopes, err := access.ParseScopes(body.Scopes)
	if err != nil {
		return nil, err
	}
	return h.connectionOut(h.connections.Reduce(ctx, caller.Shop.ID, partner.ConnectionID(in.ID), scopes, caller.Actor))
}
