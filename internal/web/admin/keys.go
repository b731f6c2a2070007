package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Keys manages the keys of a shop. Failures are faults.
type Keys interface {
	List(ctx context.Context, of shop.ID) ([]access.Key, error)
	Create(ctx context.Context, of shop.ID, n access.NewKey) (string, access.Key, error)
	Rotate(ctx context.Context, of shop.ID, r access.Rotation) (string, access.Key, error)
	Revoke(ctx context.Context, of shop.ID, id access.KeyID, by activity.Actor) error
}

const keysPath = base + "/api-keys"

// Page sizes of the lists of keys and of connections.
const (
	defaultKeys = 20
	maxKeys     = 100
)

// keyList is what both lists allow to be asked for.
var keyList = web.List{Default: defaultKeys, Max: maxKeys}

// keyHandlers show, make and revoke API keys.
type keyHandlers struct {
	keys  Keys
	clock clock.Clock
}

func (h keyHandlers) register(api *web.API) {
	op := web.Operation{Tag: "API keys", Scope: access.All}

	list := op
	list.ID, list.Method, list.Path, list.Summary = "listAPIKeys", http.MethodGet, keysPath, "API keys"
	list.List = &keyList
	list.Description = "The store's keys, oldest first, including revoked ones. Their values are not included: they cannot be read again."
	web.Register(api, list, h.listKeys)

	create := op
	create.ID, create.Method, create.Path, create.Summary = "createAPIKey", http.MethodPost, keysPath, "Create an API key"
	create.Description = "A store has at most 10 active keys. The full value is in this answer and in no other: a repetition of the request under its Idempotency-Key gets null in its place."
	create.Body, create.Errors, create.Secret = newKey{}, nil, "apiKey"
	web.Register(api, create, h.createKey)

	rotate := op
	rotate.ID, rotate.Method, rotate.Path, rotate.Summary = "rotateAPIKey", http.MethodPost, keysPath+"/{id}/rotate", "Replace an API key"
	rotate.Description = "Makes a key with the same name and scopes. The old one works until it is revoked, or for graceSeconds. While both work both count among the 10: a store that has as many replaces a key with graceSeconds=0."
	rotate.Errors, rotate.Secret = []int{http.StatusNotFound}, "apiKey"
	web.Register(api, rotate, h.rotateKey)

	revoke := op
	revoke.ID, revoke.Method, revoke.Path, revoke.Summary = "revokeAPIKey", http.MethodDelete, keysPath+"/{id}", "Revoke an API key"
	revoke.Description = "The key opens nothing from now on, on every node. Revoking it again changes nothing."
	revoke.Errors = []int{http.StatusNotFound}
	web.Register(api, revoke, h.revokeKey)
}

// apiKey is a key as it is listed.
type apiKey struct {
	ID         int64          `json:"id" doc:"Number of the key." example:"1201"`
	Name       string         `json:"name" doc:"What the key is for." maxLength:"100" example:"Warehouse"`
	Hint       string         `json:"hint" doc:"First characters of the value, to recognise it by." example:"prn_8fQz"`
	Scopes     []access.Scope `json:"scopes" doc:"What the key may do. x:write includes x:read; * is everything." example:"[\"*\"]"`
	Active     bool           `json:"active" doc:"Whether the key opens the store now."`
	CreatedAt  *web.Instant   `json:"createdAt" doc:"When it was created." format:"date-time" example:"2026-01-31T08:00:00Z"`
	LastUsedAt *web.Instant   `json:"lastUsedAt" doc:"When it was last used, to the minute; null when never." format:"date-time" example:"2026-01-31T08:00:00Z"`
	RevokedAt  *web.Instant   `json:"revokedAt" doc:"From when it opens nothing, which may lie ahead after a rotation; null when there is no end." format:"date-time" example:"2026-01-31T08:00:00Z"`
}

func newAPIKey(k access.Key, now time.Time) apiKey {
	return apiKey{
		ID: int64(k.ID), Name: k.Name, Hint: k.Hint, Scopes: k.Scopes, Active: k.Live(now),
		CreatedAt: web.At(k.CreatedAt), LastUsedAt: web.At(k.LastUsedAt), RevokedAt: web.At(k.RevokedAt),
	}
}

// madeKey is a key together with its value.
type madeKey struct {
	apiKey
	Value *string `json:"apiKey" doc:"The full value, shown only this once; null when the request is a repetition." example:"prn_…"`
}

type madeKeyOut struct{ Body madeKey }

func (h keyHandlers) madeKey(value string, k access.Key, err error) (*madeKeyOut, error) {
	if err != nil {
		return nil, err
	}
	return &madeKeyOut{madeKey{newAPIKey(k, h.clock.Now()), &value}}, nil
}

type keyPage struct {
	web.ListHeaders
	Body []apiKey
}

func (h keyHandlers) listKeys(ctx context.Context, in *struct{ web.Paging }) (*keyPage, error) {
	p, err := in.Request(keyList)
	if err != nil {
		return nil, err
	}
	all, err := h.keys.List(ctx, web.CallerOf(ctx).Shop.ID)
	if err != nil {
		return nil, err
	}
	out := &keyPage{ListHeaders: web.Paged(ctx, p, len(all)), Body: []apiKey{}}
	from := min(p.Offset(), len(all))
	for _, k := range all[from:min(from+p.Size, len(all))] {
		out.Body = append(out.Body, newAPIKey(k, h.clock.Now()))
	}
	return out, nil
}

// newKey is the body of a request for a key.
type newKey struct {
	Shop   string   `json:"shop,omitempty" doc:"The caller's store, when given." example:"demo.myshopify.com"`
	Name   string   `json:"name" required:"true" minLength:"1" maxLength:"100" doc:"What the key is for." example:"Warehouse"`
	Scopes []string `json:"scopes,omitempty" doc:"What the key may do; absent: everything." example:"[\"contracts:read\",\"billing:write\"]"`
}

func (h keyHandlers) createKey(ctx context.Context, in *struct{ web.JSONBody }) (*madeKeyOut, error) {
	caller := web.CallerOf(ctx)
	var body newKey
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	if err := web.CheckText("field 'name'", "name", body.Name); err != nil {
		return nil, err
	}
	scopes, err := access.ParseScopes(body.Scopes)
	if err != nil {
		return nil, err
	}
	if body.Scopes != nil && len(scopes) == 0 {
		return nil, fault.New(fault.Invalid, "field 'scopes' is empty: leave it out for a key that may do everything").Entity("apiKey").Field("scopes")
	}
	value, made, err := h.keys.Create(ctx, caller.Shop.ID, access.NewKey{Name: body.Name, Scopes: scopes, Actor: caller.Actor})
	return h.madeKey(value, made, err)
}

type rotateQuery struct {
	ID    int64          `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The key to be replaced."`
	Grace web.Opt[int64] `query:"graceSeconds" minimum:"0" maximum:"2592000" doc:"How long the old key still works; absent: until it is revoked."`
}

func (h keyHandlers) rotateKey(ctx context.Context, in *rotateQuery) (*madeKeyOut, error) {
	caller := web.CallerOf(ctx)
	r := access.Rotation{Key: access.KeyID(in.ID), Actor: caller.Actor}
	if in.Grace.Set {
		r.Grace = new(time.Duration(in.Grace.Value) * time.Second)
	}
	value, made, err := h.keys.Rotate(ctx, caller.Shop.ID, r)
	return h.madeKey(value, made, err)
}

type keyQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The key."`
}

func (h keyHandlers) revokeKey(ctx context.Context, in *keyQuery) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, h.keys.Revoke(ctx, caller.Shop.ID, access.KeyID(in.ID), caller.Actor)
}
