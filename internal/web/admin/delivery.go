package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Delivery makes and changes delivery profiles. Failures are faults; those about
// a field of the places have a path such as "places.0.zones.1.country".
type Delivery interface {
	Create(ctx context.Context, of shop.ID, c delivery.CreateCommand) (delivery.Profile, error)
	Update(ctx context.Context, of shop.ID, c delivery.UpdateCommand) (delivery.Profile, error)
}

// profileHandlers make and change delivery profiles.
type profileHandlers struct{ profiles Delivery }

func (h profileHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "createShippingProfile", Method: http.MethodPost, Path: base + "/delivery-profiles/v2/create-shipping-profile",
		Summary: "Create or change a delivery profile", Tag: "Delivery profiles", Scope: access.DeliveryWrite, Body: shippingProfileBody{},
		Description: "Makes a delivery profile at the platform, for the orders of all selling plan groups of the store. With an id that profile is changed instead: " +
			"a name or locationInfos that are absent stay, and locationInfos that are given replace all. " +
			"A location that the store does not have is 404. Any other refusal of the platform is 400 with its message and changes nothing. When the platform's answer is lost, the service looks for the profile; a 503 means that the outcome is not known yet, and sending the same request again completes it.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, h.createShippingProfile)
}

// shippingProfile is a delivery profile as it is shown.
type shippingProfile struct {
	Shop              string   `json:"shop" example:"demo.myshopify.com" doc:"The store's domain."`
	DeliveryProfileID string   `json:"deliveryProfileId" doc:"The platform's graph id." example:"gid://shopify/DeliveryProfile/8002"`
	ID                int64    `json:"id" doc:"Our number of the profile." example:"1001"`
	SellerGroupIDs    []string `json:"sellerGroupIds" nullable:"false" doc:"Graph ids of the selling plan groups whose orders the profile is for." example:"[\"gid://shopify/SellingPlanGroup/8001\"]"`
	Name              string   `json:"name" example:"Subscriptions" doc:"Name of the profile."`
}

type profileIn struct {
	web.JSONBody
}

type profileOut struct {
	Body shippingProfile
}

func (h profileHandlers) createShippingProfile(ctx context.Context, in *profileIn) (*profileOut, error) {
	caller := web.CallerOf(ctx)
	var body shippingProfileBody
	if err := intoOwn(&in.JSONBody, caller, &body, &body.Shop); err != nil {
		return nil, err
	}
	ref, err := profileRef(string(body.ID))
	if err != nil {
		return nil, err
	}
	isNew := ref == (delivery.Ref{})
	if isNew && body.Name == nil {
		return nil, required("name", "the name of the profile")
	}
	if isNew && body.Locations == nil {
		return nil, required("locationInfos", "the locations of the profile")
	}
	var p delivery.Profile
	read := shippingReader{caller.Shop.Currency}
	places := body.Locations
	if isNew {
		c := delivery.CreateCommand{Name: *body.Name, Actor: caller.Actor}
		if c.Places, err = read.places(*places); err != nil {
			return nil, err
		}
		p, err = h.profiles.Create(ctx, caller.Shop.ID, c)
	} else {
		c := delivery.UpdateCommand{Profile: ref, Name: body.Name, Actor: caller.Actor}
		if places != nil {
			if c.Places, err = read.places(*places); err != nil {
				return nil, err
			}
		}
		if c.Name == nil && c.Places == nil {
			return nil, required("name", "a name, locationInfos or both")
		}
		p, err = h.profiles.Update(ctx, caller.Shop.ID, c)
	}
	if err != nil {
		return nil, wirePath(err, places)
	}
	return &profileOut{newShippingProfile(caller.Shop.Domain, p)}, nil
}

func newShippingProfile(domain string, p delivery.Profile) shippingProfile {
	out := shippingProfile{
		Shop: domain, DeliveryProfileID: gid.Of("DeliveryProfile", p.PlatformID), ID: int64(p.ID), SellerGroupIDs: make([]string, len(p.Groups)), Name: p.Name,
	}
	for i, id := range p.Groups {
		out.SellerGroupIDs[i] = gid.Of("SellingPlanGroup", id)
	}
	return out
}

// profileRef reads which profile is meant; the zero value is none.
func profileRef(id string) (delivery.Ref, error) {
	id = strings.TrimSpace(id)
	n, err := web.ParseID("DeliveryProfile", "id", id)
	return delivery.Ref{Number: n, Platform: strings.HasPrefix(id, "gid:")}, err
}
