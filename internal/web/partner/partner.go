// Package partner is the interface for applications of partners: how one connects
// with a store, fetches its token, and leaves.
package partner

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web"
)

// Path is where the operations live.
const Path = root + "/"

const (
	root = "/api/partner"
	base = Path + "{id}"
)

// Service carries out the handshake. Failures are faults.
type Service interface {
	Connect(ctx context.Context, a partner.App, cmd partner.ConnectCommand) (partner.Connection, error)
	Exchange(ctx context.Context, a partner.App, code string, id partner.ConnectionID, clientIP string) (string, partner.Connection, error)
	Status(ctx context.Context, a partner.App, id partner.ConnectionID) (partner.Connection, error)
	Withdraw(ctx context.Context, a partner.App, id partner.ConnectionID, clientIP string) (partner.Connection, error)
	RotateToken(ctx context.Context, a partner.App, id partner.ConnectionID, clientIP string) (string, partner.Connection, error)
	// DomainOf returns the domain of a connection's store.
	DomainOf(ctx context.Context, c partner.Connection) (string, error)
}

// Options are what the interface needs.
type Options struct {
	Frame   web.Frame
	Gate    web.Gate
	Service Service
	// PublicURL is the address of the service, for links; may be empty.
	PublicURL string
}

const about = "Connects applications of partners with stores. Every request carries the application's id and secret as Basic credentials. " +
	"An application asks to be connected and is called back at its own address to confirm that; the merchant approves; the application is sent a code and exchanges it for a token, which works as X-API-Key and has only the scopes that were approved. " +
	"What applications are sent is JSON, signed by the Standard Webhooks specification with the application's signing secret."

// New returns the handler of everything below Path. The interface describes itself
// at openapi.json there for machines, and at docs for people.
func New(o Options) http.Handler { return newAPI(o).Handler(o.Frame) }

// documents are what the services of a process say of the interface.
var documents web.Documents

func newAPI(o Options) *web.API {
	o.Gate.Apps = true
	return web.NewAPI(web.Info{Title: "Perennial partner interface", Version: "1.0.0", Description: about, Root: root}, o.Gate, &documents, func(api *web.API) {
		op := web.Operation{Tag: "Connections", Errors: []int{http.StatusNotFound}}

		connect := op
		connect.ID, connect.Method, connect.Path, connect.Summary, connect.Status = "connect", http.MethodPost, base+"/connect", "Ask to be connected", http.StatusAccepted
		connect.Description = "The service posts {shop, nonce, ts} to /verify below the application's address, which answers {nonce, ok: true} within 10 seconds. Then the merchant has 7 days to decide. " +
			"While one request waits the same is returned; a connection that stands is asked only for scopes that it lacks, and is sent another code when the token was never fetched."
		connect.Body, connect.Errors = connectBody{}, []int{http.StatusNotFound, http.StatusFailedDependency}
		web.Register(api, connect, o.connect)

		token := op
		token.ID, token.Method, token.Path, token.Summary = "exchangeCode", http.MethodPost, base+"/token", "Exchange a code for a token"
		token.Description = "A code works once, for 10 minutes. It is sent to /approved below the application's address, or to /connect when the merchant began."
		token.Body, token.Errors = tokenBody{}, nil
		web.Register(api, token, o.token)

		status := op
		status.ID, status.Method, status.Path, status.Summary = "connectionStatus", http.MethodGet, base+"/connections/{connection}", "Status of a connection"
		web.Register(api, status, o.status)

		leave := op
		leave.ID, leave.Method, leave.Path, leave.Summary = "disconnect", http.MethodPost, base+"/connections/{connection}/disconnect", "Disconnect"
		leave.Description = "Ends the connection; its token opens nothing from now on. Disconnecting again changes nothing."
		web.Register(api, leave, o.leave)

		rotate := op
		rotate.ID, rotate.Method, rotate.Path, rotate.Summary = "rotateToken", http.MethodPost, base+"/connections/{connection}/rotate", "Replace the token"
		rotate.Description = "Gives out another token. The one before opens nothing from now on."
		web.Register(api, rotate, o.rotate)
	})
}

// connection is a connection as its application sees it.
type connection struct {
	ID         int64          `json:"connection_id" doc:"Number of the connection." example:"1301"`
	Shop       string         `json:"shop" doc:"Domain of the store." example:"demo.myshopify.com"`
	Status     string         `json:"status" enum:"pending_merchant_approval,connected,rejected,expired,disconnected,uninstalled" doc:"How far it has come."`
	Scopes     []access.Scope `json:"scopes" doc:"What was granted; while it waits for the merchant for the first time, what was asked for." example:"[\"contracts:read\"]"`
	Requested  []access.Scope `json:"requested_scopes" doc:"Further scopes that were asked for and wait for the merchant's approval." example:"[\"billing:write\"]"`
	Token      bool           `json:"token_issued" doc:"Whether the token was fetched."`
	ApproveURL *string        `json:"approve_url" format:"uri" doc:"Send the merchant here: a page of the dashboard on which a user of the store approves. null when there is nothing to approve." example:"https://perennial.example.com/admin/stores/demo/partners/1301/approve"`
	ExpiresAt  *web.Instant   `json:"expires_at" doc:"Until when the merchant can decide." format:"date-time" example:"2026-01-31T08:00:00Z"`
	State      *string        `json:"state" doc:"The application's own word." example:"shop-17"`
}

type connectionOut struct{ Body connection }

func (o Options) connection(ctx context.Context, c partner.Connection) (connection, error) {
	domain, err := o.Service.DomainOf(ctx, c)
	out := connection{
		ID: int64(c.ID), Shop: domain, Status: strings.ToLower(string(c.State)), Scopes: c.Scopes, Requested: c.Wanted,
		Token: c.Token != 0, ExpiresAt: web.At(c.ExpiresAt), State: web.Some(c.ClientState),
	}
	if out.Requested == nil {
		out.Requested = []access.Scope{}
	}
	if c.State == partner.Pending || c.State == partner.Connected && len(c.Wanted) > 0 {
		out.Status = "pending_merchant_approval"
		if o.PublicURL != "" {
			out.ApproveURL = new(strings.TrimRight(o.PublicURL, "/") + staff.Path + "/stores/" + login.Handle(domain) + "/partners/" + strconv.FormatInt(int64(c.ID), 10) + "/approve")
		}
	}
	return out, err
}

func (o Options) answer(ctx context.Context, c partner.Connection, err error) (*connectionOut, error) {
	if err != nil {
		return nil, err
	}
	body, err := o.connection(ctx, c)
	if err != nil {
		return nil, err
	}
	return &connectionOut{body}, nil
}

// connectBody is a wish to be connected.
type connectBody struct {
	Shop      string   `json:"shop_domain" required:"true" doc:"Domain of the store." example:"demo.myshopify.com"`
	Nonce     string   `json:"callback_nonce" required:"true" minLength:"8" maxLength:"200" doc:"A random value of yours, which you are asked to confirm." example:"f3a27c1e7d53"`
	Scopes    []string `json:"scopes" required:"true" doc:"What you ask for." example:"[\"contracts:read\"]"`
	ReturnURL string   `json:"return_url,omitempty" maxLength:"500" doc:"Where the merchant may be sent afterwards: on your own host." example:"https://reports.example.com/done"`
	State     string   `json:"state,omitempty" maxLength:"500" doc:"A word of yours, which is given back with every call." example:"shop-17"`
}

type connectIn struct {
	App string `path:"id" maxLength:"50" doc:"The application: the caller." example:"reports"`
	web.JSONBody
}

func (o Options) connect(ctx context.Context, in *connectIn) (*connectionOut, error) {
	var body connectBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	for field, text := range map[string]string{"shop_domain": body.Shop, "callback_nonce": body.Nonce, "return_url": body.ReturnURL, "state": body.State} {
		if err := web.CheckText("field '"+field+"'", field, text); err != nil {
			return nil, err
		}
	}
	scopes, err := access.ParseScopes(body.Scopes)
	if err != nil {
		return nil, err
	}
	c, err := o.Service.Connect(ctx, web.AppOf(ctx), partner.ConnectCommand{
		Domain: body.Shop, Nonce: body.Nonce, Scopes: scopes, ReturnURL: body.ReturnURL, ClientState: body.State, ClientIP: web.ClientIP(ctx),
	})
	return o.answer(ctx, c, err)
}

// tokenBody is a code to be exchanged.
type tokenBody struct {
	Code       string `json:"code" required:"true" doc:"The code that was sent." example:"c_f3a27c1e7d53"`
	Connection int64  `json:"connection_id,omitempty" doc:"The connection that it was sent for. When given it must fit." example:"1301"`
}

type tokenIn struct {
	App string `path:"id" maxLength:"50" doc:"The application: the caller." example:"reports"`
	web.JSONBody
}

// token is what opens a store for an application.
type token struct {
	Value      string         `json:"token" doc:"Sent as X-API-Key. It is shown only this once." example:"prn_…"`
	Type       string         `json:"token_type" enum:"api_key" doc:"How it is used."`
	Scopes     []access.Scope `json:"scopes" doc:"What it may do." example:"[\"contracts:read\"]"`
	Shop       string         `json:"shop" doc:"Domain of the store." example:"demo.myshopify.com"`
	Connection int64          `json:"connection_id" doc:"Number of the connection." example:"1301"`
	IssuedAt   *web.Instant   `json:"issued_at" doc:"When it was given out." format:"date-time" example:"2026-01-31T08:00:00Z"`
}

type tokenOut struct{ Body token }

func (o Options) tokenOut(ctx context.Context, value string, c partner.Connection, err error) (*tokenOut, error) {
	if err != nil {
		return nil, err
	}
	domain, err := o.Service.DomainOf(ctx, c)
	if err != nil {
		return nil, err
	}
	return &tokenOut{token{value, "api_key", c.Scopes, domain, int64(c.ID), web.At(c.TokenAt)}}, nil
}

func (o Options) token(ctx context.Context, in *tokenIn) (*tokenOut, error) {
	var body tokenBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if body.Code == "" {
		return nil, fault.New(fault.Invalid, "field 'code' is required").Entity("partnerConnection").Code("bodyField").Field("code")
	}
	value, c, err := o.Service.Exchange(ctx, web.AppOf(ctx), body.Code, partner.ConnectionID(body.Connection), web.ClientIP(ctx))
	return o.tokenOut(ctx, value, c, err)
}

type connectionIn struct {
	App        string `path:"id" maxLength:"50" doc:"The application: the caller." example:"reports"`
	Connection int64  `path:"connection" minimum:"1" maximum:"9007199254740991" doc:"The connection."`
}

func (o Options) status(ctx context.Context, in *connectionIn) (*connectionOut, error) {
	c, err := o.Service.Status(ctx, web.AppOf(ctx), partner.ConnectionID(in.Connection))
	return o.answer(ctx, c, err)
}

func (o Options) leave(ctx context.Context, in *connectionIn) (*connectionOut, error) {
	c, err := o.Service.Withdraw(ctx, web.AppOf(ctx), partner.ConnectionID(in.Connection), web.ClientIP(ctx))
	return o.answer(ctx, c, err)
}

func (o Options) rotate(ctx context.Context, in *connectionIn) (*tokenOut, error) {
	value, c, err := o.Service.RotateToken(ctx, web.AppOf(ctx), partner.ConnectionID(in.Connection), web.ClientIP(ctx))
	return o.tokenOut(ctx, value, c, err)
}
