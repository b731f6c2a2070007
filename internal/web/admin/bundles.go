package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Page sizes of the list of bundles.
const (
	defaultBundles = 20
	maxBundles     = 100
)

var bundleList = web.List{Default: defaultBundles, Max: maxBundles, Fields: []string{"id", "createdAt", "updatedAt"}}

const bundlesPath = base + "/subscription-bundle-settings"

// Bundles keeps bundles. Failures are faults whose field is spelled as the
// interface does.
type Bundles interface {
	Create(ctx context.Context, of shop.ID, s bundle.Settings, by activity.Actor) (bundle.Settings, error)
	Update(ctx context.Context, of shop.ID, s bundle.Settings, by activity.Actor) (bundle.Settings, error)
	Delete(ctx context.Context, of shop.ID, id bundle.ID, by activity.Actor) error
}

// bundleHandlers show and change bundles.
type bundleHandlers struct {
	line    shop.Line
	bundles Bundles
	shelf   bundle.Shelf
}

func (h bundleHandlers) register(api *web.API) {
	read := web.Operation{Method: http.MethodGet, Tag: "Bundles", Scope: access.BundlesRead, Errors: []int{http.StatusNotFound}}
	change := web.Operation{
		Tag: "Bundles", Scope: access.ProductsWrite, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}

	list := read
	list.ID, list.Path, list.Summary, list.Errors = "listBundleSettings", bundlesPath, "Bundles", nil
	list.List = &bundleList
	list.Description = "The settings of every bundle, oldest first."
	web.Register(api, list, h.listBundles)

	one := read
	one.ID, one.Path, one.Summary = "getBundleSettings", bundlesPath+"/{id}", "A bundle's settings"
	one.Description = "How the page looks on which a box is put together, what the box may hold, and when it may be changed."
	web.Register(api, one, h.getBundle)

	create := change
	create.ID, create.Method, create.Path, create.Summary, create.Body = "createBundleSettings", http.MethodPost, bundlesPath, "Create a bundle", bundleChange{}
	create.Description = "Every field that is absent or null has its default."
	web.Register(api, once(create), h.createBundle)

	update := change
	update.ID, update.Method, update.Path, update.Summary, update.Body = "updateBundleSettings", http.MethodPut, bundlesPath, "Change a bundle", bundleUpdate{}
	update.Description = "A field that is absent keeps its value, also inside displaySettings and its like; null gives it its default. Lists and categoryLimits are replaced as a whole. " +
		"The settings may be sent back as they were read."
	web.Register(api, update, h.updateBundle)

	remove := change
	remove.ID, remove.Method, remove.Path, remove.Summary = "deleteBundleSettings", http.MethodDelete, bundlesPath+"/{id}", "Delete a bundle"
	remove.Description = "Contracts that were boxes of the bundle are ordinary ones from then on. Answers with no body."
	remove.Errors = []int{http.StatusNotFound, http.StatusConflict}
	web.Register(api, remove, h.deleteBundle)
}

type bundleQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The bundle."`
}

type bundleOut struct {
	Body bundleSettings
}

func newBundleOut(caller web.Caller, s bundle.Settings, err error) (*bundleOut, error) {
	if err != nil {
		return nil, err
	}
	return &bundleOut{newBundleSettings(caller.Shop.Domain, s)}, nil
}

type bundlePage struct {
	web.ListHeaders
	Body []bundleSettings
}

func (h bundleHandlers) listBundles(ctx context.Context, in *struct{ web.Paging }) (*bundlePage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(bundleList)
	if err != nil {
		return nil, err
	}
	list, total, err := h.shelf.Bundles(ctx, caller.Shop.ID, h.line, p)
	if err != nil {
		return nil, err
	}
	out := &bundlePage{ListHeaders: web.Paged(ctx, p, total), Body: make([]bundleSettings, len(list))}
	for i, s := range list {
		out.Body[i] = newBundleSettings(caller.Shop.Domain, s)
	}
	return out, nil
}

func (h bundleHandlers) getBundle(ctx context.Context, in *bundleQuery) (*bundleOut, error) {
	caller := web.CallerOf(ctx)
	s, err := h.shelf.Bundle(ctx, caller.Shop.ID, h.line, bundle.ID(in.ID))
	return newBundleOut(caller, s, err)
}

func (h bundleHandlers) createBundle(ctx context.Context, in *bundleIn) (*bundleOut, error) {
	caller := web.CallerOf(ctx)
	wanted, err := in.over(caller, bundle.New())
	if err != nil {
		return nil, err
	}
	wanted.Line = h.line
	s, err := h.bundles.Create(ctx, caller.Shop.ID, wanted, caller.Actor)
	return newBundleOut(caller, s, err)
}

// updateBundle lays the body over the settings as they are. What can be said of
// the body alone is said before they are read.
func (h bundleHandlers) updateBundle(ctx context.Context, in *bundleIn) (*bundleOut, error) {
	caller := web.CallerOf(ctx)
	var head struct {
		ID int64 `json:"id"`
	}
	if err := in.Into(&head); err != nil {
		return nil, err
	}
	if head.ID < 1 {
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the bundle").Code("bodyField").Field("id")
	}
	blank := bundle.New()
	blank.ID = bundle.ID(head.ID)
	if err := in.readable(caller, blank); err != nil {
		return nil, err
	}
	is, err := h.shelf.Bundle(ctx, caller.Shop.ID, h.line, bundle.ID(head.ID))
	if err != nil {
		return nil, err
	}
	wanted, err := in.over(caller, is)
	if err != nil {
		return nil, err
	}
	wanted.Line = h.line
	s, err := h.bundles.Update(ctx, caller.Shop.ID, wanted, caller.Actor)
	return newBundleOut(caller, s, err)
}

func (h bundleHandlers) deleteBundle(ctx context.Context, in *bundleQuery) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	if _, err := h.shelf.Bundle(ctx, caller.Shop.ID, h.line, bundle.ID(in.ID)); err != nil { // one of the other line
		return nil, err
	}
	return nil, h.bundles.Delete(ctx, caller.Shop.ID, bundle.ID(in.ID), caller.Actor)
}
