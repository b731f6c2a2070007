package shopify

import (
	"context"
	"fmt"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// The names of the platform's types in graph ids of delivery profiles.
const (
	typeProfile   = "DeliveryProfile"
	typeLocation  = "Location"
	typeCarrier   = "DeliveryCarrierService"
	typePlanGroup = "SellingPlanGroup"
)

// Profiles returns all profiles, however many pages they take.
func (c *Client) Profiles(ctx context.Context, shop platform.Shop) ([]platform.Profile, error) {
	var list []platform.Profile
	for cursor, more := "", true; more; {
		got, err := admin.DeliveryProfiles(ctx, c.session(shop), cursor)
		if err != nil {
			return nil, fmt.Errorf("read the delivery profiles: %w", err)
		}
		page := got.DeliveryProfiles
		for _, n := range page.Nodes {
			id, err := gid.Parse(typeProfile, n.Id)
			if err != nil {
				return nil, fmt.Errorf("read the delivery profiles: %w", unknown(err))
			}
			list = append(list, platform.Profile{ID: id, Name: n.Name, Default: n.Default})
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return list, nil
}

// CreateProfile makes one location group of each place.
func (c *Client) CreateProfile(ctx context.Context, shop platform.Shop, p platform.ProfileSpec) (int64, error) {
	in := wire.ProfileInput{Name: p.Name, PlanGroups: gids(typePlanGroup, p.Groups)}
	var at []string
	for i, place := range p.Places {
		in.GroupsToCreate = append(in.GroupsToCreate, newGroup(place))
		at = append(at, placePath(i))
	}
	got, err := admin.CreateDeliveryProfile(ctx, c.session(shop), in)
	if err != nil {
		return 0, fmt.Errorf("create a delivery profile: %w", err)
	}
	payload := got.DeliveryProfileCreate
	if payload == nil {
		return 0, fmt.Errorf("create a delivery profile: %w", errNoPayload())
	}
	if err := profileRefusal(payload.UserErrors, at, nil); err != nil {
		return 0, fmt.Errorf("create a delivery profile: %w", err)
	}
	if payload.Profile == nil {
		return 0, fmt.Errorf("create a delivery profile: %w", errNoPayload())
	}
	id, err := gid.Parse(typeProfile, payload.Profile.Id)
	if err != nil {
		return 0, fmt.Errorf("create a delivery profile: %w", unknown(err))
	}
	return id, nil
}

// ReplaceProfile lets new zones take the place of all that are there. A place
// that is in a group of its own keeps the group.
func (c *Client) ReplaceProfile(ctx context.Context, shop platform.Shop, id int64, p platform.ProfileSpec) error {
	s := c.session(shop)
	in := wire.ProfileInput{Name: p.Name, PlanGroups: gids(typePlanGroup, p.Groups)}
	there, err := admin.DeliveryProfileParts(ctx, s, gid.Of(typeProfile, id))
	if err == nil && there.DeliveryProfile == nil {
		err = platform.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read delivery profile %d: %w", id, err)
	}
	var created, updated []string
	if len(p.Places) > 0 {
		created, updated = replaceGroups(&in, there.DeliveryProfile.ProfileLocationGroups, p.Places)
	}
	got, err := admin.UpdateDeliveryProfile(ctx, s, gid.Of(typeProfile, id), in)
	if err == nil && got.DeliveryProfileUpdate == nil {
		err = errNoPayload()
	}
	if err == nil {
		err = profileRefusal(got.DeliveryProfileUpdate.UserErrors, created, updated)
	}
	return about(err, "change delivery profile %d", id)
}

// replaceGroups puts into the input what makes the places of what is there. It
// returns the paths of the places that are created and of those that are updated.
func replaceGroups(in *wire.ProfileInput, there []admin.ProfileGroup, places []platform.Place) (created, updated []string) {
	own := map[string]admin.ProfileGroup{} // groups of one location
	for _, g := range there {
		if locations := g.LocationGroup.Locations.Nodes; len(locations) == 1 {
			own[locations[0].Id] = g
		}
	}
	kept := map[string]bool{}
	for i, place := range places {
		group := newGroup(place)
		if g, ok := own[group.Locations[0]]; ok {
			group.ID, group.Locations, kept[g.LocationGroup.Id] = g.LocationGroup.Id, nil, true
			in.GroupsToUpdate = append(in.GroupsToUpdate, group)
			updated = append(updated, placePath(i))
			for _, z := range g.LocationGroupZones.Nodes {
				in.ZonesToDelete = append(in.ZonesToDelete, z.Zone.Id)
			}
			continue
		}
		in.GroupsToCreate = append(in.GroupsToCreate, group)
		created = append(created, placePath(i))
	}
	for _, g := range there {
		if !kept[g.LocationGroup.Id] {
			in.GroupsToDelete = append(in.GroupsToDelete, g.LocationGroup.Id)
		}
	}
	return created, updated
}

func placePath(i int) string { return "places." + strconv.Itoa(i) }

// profileRefusal returns the first of the errors with its path in our words.
func profileRefusal(errs []wire.UserError, created, updated []string) error {
	r, ok := refused(errs)
	if !ok {
		return nil
	}
	r.Field = profilePath(errs[0].Field, created, updated)
	return r
}

// profilePath translates the path of an input into that of a specification. What
// it does not know ends the path.
func profilePath(field, created, updated []string) string {
	if len(field) > 0 && field[0] == "profile" {
		field = field[1:]
	}
	if len(field) == 1 && field[0] == "name" {
		return "name"
	}
	if len(field) < 2 {
		return ""
	}
	var places []string
	switch field[0] {
	case "locationGroupsToCreate":
		places = created
	case "locationGroupsToUpdate":
		places = updated
	}
	i, err := strconv.Atoi(field[1])
	if err != nil || i < 0 || i >= len(places) {
		return ""
	}
	path := places[i]
	words := map[string]string{"zonesToCreate": "zones", "methodDefinitionsToCreate": "rates"}
	for rest := field[2:]; len(rest) > 0; {
		word := words[rest[0]]
		if word == "" || len(rest) < 2 {
			switch rest[0] {
			case "locations":
				return path + ".location"
			case "countries":
				return path + ".country"
			case "participant":
				return path + ".carrier"
			case "name":
				return path + ".name"
			case "rateDefinition":
				return path + ".price"
			}
			return path
		}
		path += "." + word + "." + rest[1]
		rest = rest[2:]
	}
	return path
}

func newGroup(p platform.Place) wire.LocationGroupInput {
	group := wire.LocationGroupInput{Locations: []string{gid.Of(typeLocation, p.Location)}}
	for _, z := range p.Zones {
		group.ZonesToCreate = append(group.ZonesToCreate, newZone(z))
	}
	return group
}

// restOfWorld is the name of the zone that is everywhere else.
const restOfWorld = "Rest of world"

// newZone names the zone after what it covers.
func newZone(z platform.Zone) wire.ZoneInput {
	in := wire.ZoneInput{Name: z.Country}
	country := wire.CountryInput{Code: z.Country, AllProvinces: z.Province == ""}
	switch {
	case z.Country == "":
		in.Name, country.RestOfWorld = restOfWorld, true
	case z.Province != "":
		in.Name += "-" + z.Province
		country.Provinces = []wire.ProvinceInput{{Code: z.Province}}
	}
	in.Countries = []wire.CountryInput{country}
	for _, r := range z.Rates {
		in.Rates = append(in.Rates, newRate(r))
	}
	return in
}

func newRate(r platform.Rate) wire.RateInput {
	in := wire.RateInput{Name: r.Name, Active: true}
	if r.Carrier != 0 {
		in.Carrier = &wire.CarrierInput{Service: gid.Of(typeCarrier, r.Carrier), Adapt: true}
	} else {
		in.Fixed = &wire.FixedRateInput{Price: wireMoney(r.Price)}
	}
	for _, c := range r.Conditions {
		if c.Price != nil {
			in.Prices = append(in.Prices, wire.PriceConditionInput{Criteria: wireMoney(*c.Price), Operator: string(c.Operator)})
		}
		if c.Weight != nil {
			in.Weights = append(in.Weights, wire.WeightConditionInput{
				Criteria: wire.WeightInput{Value: c.Weight.Value, Unit: string(c.Weight.Unit)}, Operator: string(c.Operator),
			})
		}
	}
	return in
}

func wireMoney(a money.Amount) wire.Money {
	return wire.Money{Amount: a.String(), CurrencyCode: string(a.Currency)}
}

// gids returns the graph ids of objects of one type.
func gids(kind string, ids []int64) []string {
	var list []string
	for _, id := range ids {
		list = append(list, gid.Of(kind, id))
	}
	return list
}
