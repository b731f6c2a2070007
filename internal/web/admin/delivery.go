package admin

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
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

// shippingProfileBody is a delivery profile as it is asked for.
type shippingProfileBody struct {
	ID        web.AnyID     `json:"id,omitempty" doc:"The profile to be changed: our number or the platform's, or its graph id. Absent or empty: a new one."`
	Shop      string        `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	Name      *string       `json:"name,omitempty" minLength:"1" maxLength:"127" doc:"Required for a new profile." example:"Subscriptions"`
	Locations *[]placeInput `json:"locationInfos,omitempty" minItems:"1" maxItems:"50" doc:"Where things are sent from. Required for a new profile."`
}

// placeInput is a location and the countries that it delivers to.
type placeInput struct {
	Location  web.AnyID   `json:"locationId" doc:"A location of the store, once: number or graph id." example:"6001"`
	Countries []zoneInput `json:"countryInfos" minItems:"1" maxItems:"250" doc:"Where things are delivered to."`
}

// zoneInput is a country, a part of one, or the rest of the world.
type zoneInput struct {
	Code         string      `json:"code,omitempty" maxLength:"2" doc:"The country, two letters. Required unless restOfWorld." example:"US"`
	AllProvinces *bool       `json:"shouldIncludeAllProvince,omitempty" doc:"The whole country. Absent: true unless provinceCode is given."`
	RestOfWorld  bool        `json:"restOfWorld,omitempty" doc:"Every country that no other entry of the location names. Takes no code."`
	Province     string      `json:"provinceCode,omitempty" maxLength:"10" doc:"One part of the country alone, such as CA of US." example:"CA"`
	Methods      []rateInput `json:"deliveryMethodInfo" minItems:"1" maxItems:"50" doc:"The ways of delivery that a buyer chooses from."`
}

// rateInput is a way of delivery.
type rateInput struct {
	Name             string         `json:"name" minLength:"1" maxLength:"255" example:"Standard" doc:"Name of the way of delivery, as buyers read it."`
	Amount           *exactNumber   `json:"amount,omitempty" minimum:"0" maximum:"1000000" doc:"The price in the store's currency. Required unless carrierRate." example:"4.9"`
	CarrierServiceID web.AnyID      `json:"carrierServiceId,omitempty" doc:"The carrier service that says the price: number or graph id. Required with carrierRate."`
	CarrierRate      bool           `json:"carrierRate,omitempty" doc:"A carrier service says the price."`
	ConditionType    string         `json:"deliveryConditionType,omitempty" enum:"NONE,PRICE,WEIGHT" doc:"What the method depends on. Absent or empty: what conditions are given for. TOTAL_PRICE and TOTAL_WEIGHT are read too. In any letter case, as all such words."`
	Prices           []priceInput   `json:"priceConditions,omitempty" maxItems:"2" doc:"At most one from below and one from above. An order must meet them all, and those of the weight."`
	Weights          []weightsInput `json:"weightConditions,omitempty" maxItems:"2" doc:"At most one from below and one from above."`
}

// priceInput compares an order's price.
type priceInput struct {
	Amount   *exactNumber `json:"amount" minimum:"0" maximum:"1000000" doc:"In the store's currency." example:"50"`
	Operator string       `json:"deliverCondtion" enum:"GREATER_THAN_OR_EQUAL_TO,LESS_THAN_OR_EQUAL_TO" doc:"Whether the order must come to amount at least or at most. The name is spelt so." example:"GREATER_THAN_OR_EQUAL_TO"` // sic: the interface spells it so
}

// weightsInput compares an order's weight.
type weightsInput struct {
	Operator string   `json:"deliveryCondition" enum:"GREATER_THAN_OR_EQUAL_TO,LESS_THAN_OR_EQUAL_TO" doc:"Whether the order must weigh so much at least or at most." example:"LESS_THAN_OR_EQUAL_TO"`
	Weight   *float64 `json:"weight" minimum:"0" maximum:"1000000" doc:"The weight, in weightUnit." example:"2.5"`
	Unit     string   `json:"weightUnit" enum:"GRAMS,KILOGRAMS,OUNCES,POUNDS" doc:"Unit of weight." example:"KILOGRAMS"`
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
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
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

func required(field, what string) error {
	return fault.New(fault.Invalid, "field '%s' is required: %s", field, what).Code("bodyField").Field(field)
}

// domainWords are the words of the domain's paths and those of the interface.
var domainWords = map[string]string{
	"places": "locationInfos", "zones": "countryInfos", "rates": "deliveryMethodInfo", "location": "locationId",
	"country": "code", "province": "provinceCode", "price": "amount", "carrier": "carrierServiceId",
}

var number = regexp.MustCompile(`^\d+$`)

// wirePath spells the path of a failure as the interface does. Conditions stand
// in two lists there, those of the price first.
func wirePath(err error, places *[]placeInput) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Param == "" {
		return err
	}
	var path strings.Builder
	steps := strings.Split(f.Param, ".")
	rate := rateAt(places, steps)
	inCondition, weight := false, false
	for i, step := range steps {
		switch word, known := domainWords[step]; {
		case number.MatchString(step):
			path.WriteString("[" + step + "]")
			continue
		case step == "conditions":
			inCondition = true
			step = "priceConditions"
			if n, err := strconv.Atoi(steps[min(i+1, len(steps)-1)]); err == nil && rate != nil && n >= len(rate.Prices) {
				step, weight = "weightConditions", true
				steps[i+1] = strconv.Itoa(n - len(rate.Prices))
			}
		case step == "operator" && inCondition:
			step = "deliverCondtion"
			if weight {
				step = "deliveryCondition"
			}
		case known:
			step = word
		}
		if i > 0 {
			path.WriteByte('.')
		}
		path.WriteString(step)
	}
	told := *f
	return told.Field(path.String())
}
