package simulator

import (
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// profiles answers what is asked of delivery profiles, locations and carriers.
func (r registry) profiles() {
	r.profileQueries()
	r.profileMutations()
	r.profileFields()
	r.zoneFields()
	r.locationFields()
}

func (r registry) profileQueries() {
	q := r["QueryRoot"]
	q["deliveryProfile"] = func(x *exec, _ any, a args) any {
		n, ok := x.id(a, "id", "DeliveryProfile")
		if !ok {
			return nil
		}
		return typed("DeliveryProfile", x.profile(n))
	}
	q["deliveryProfiles"] = func(x *exec, _ any, a args) any {
		var entries []entry
		for _, p := range x.shop.profiles.order {
			if x.profile(p.ID) != nil {
				entries = append(entries, entry{0, p.ID, typed("DeliveryProfile", p)})
			}
		}
		return x.paginate("DeliveryProfile", entries, a)
	}
	q["location"] = func(x *exec, _ any, a args) any {
		if !a.has("id") { // the first one
			return typed("Location", x.shop.locations.order[0])
		}
		return byID("Location", func(sh *store) *objects[*place] { return &sh.locations })(x, nil, a)
	}
	q["locations"] = findLocations
	q["locationsAvailableForDeliveryProfilesConnection"] = findLocations
	q["carrierServices"] = func(x *exec, _ any, a args) any {
		list := search(x, x.shop.carriers.order, a.text("query"), func(c *carrier, t term) (ok, known bool) {
			return t.matchID(c.ID), t.key == "id"
		})
		entries := make([]entry, len(list))
		for i, c := range list {
			entries[i] = entry{0, c.ID, typed("DeliveryCarrierService", c)}
		}
		return x.paginate("DeliveryCarrierService", entries, a)
	}
	q["carrierService"] = byID("DeliveryCarrierService", func(sh *store) *objects[*carrier] { return &sh.carriers })
}

func findLocations(x *exec, _ any, a args) any {
	list := search(x, x.shop.locations.order, a.text("query"), func(l *place, t term) (ok, known bool) {
		switch t.key {
		case "name":
			return t.matchText(l.Name), true
		case "id", "location_id":
			return t.matchID(l.ID), true
		case "active":
			return t.matchText("true"), true
		}
		return false, false
	})
	return x.locations(list, a)
}

func (x *exec) locations(list []*place, a args) *page {
	entries := make([]entry, len(list))
	for i, l := range list {
		entries[i] = entry{0, l.ID, typed("Location", l)}
	}
	return x.paginate("Location", entries, a)
}

// groupOf is a location group and the profile that it belongs to.
type groupOf struct {
	*locationGroup
	of *profile
}

func (r registry) profileFields() {
	r["DeliveryProfile"] = fields{
		"id":      get(func(p *profile) any { return p.gid() }),
		"name":    get(func(p *profile) any { return p.Name }),
		"default": get(func(p *profile) any { return p.Default }),
		"version": get(func(p *profile) any { return p.Version }),
		// The default profile alone covers what is in no other.
		"coversAllItems":       get(func(p *profile) any { return p.Default }),
		"productVariantsCount": get(func(p *profile) any { return object{"Count", len(p.Variants)} }),
		"originLocationCount": get(func(p *profile) any {
			n := 0
			for _, g := range p.Groups {
				n += len(g.Locations)
			}
			return n
		}),
		"locationsWithoutRatesCount": get(func(p *profile) any {
			n := 0
			for _, g := range p.Groups {
				if !slices.ContainsFunc(g.Zones, func(z *zone) bool { return len(z.Rates) > 0 }) {
					n += len(g.Locations)
				}
			}
			return n
		}),
		"activeMethodDefinitionsCount": get(func(p *profile) any {
			n := 0
			for _, z := range p.zones() {
				for _, m := range z.Rates {
					if !m.Inactive {
						n++
					}
				}
			}
			return n
		}),
		"zoneCountryCount": get(func(p *profile) any {
			n := 0
			for _, z := range p.zones() {
				n += len(z.Countries)
			}
			return n
		}),
		"sellingPlanGroups": on(func(x *exec, p *profile, a args) any {
			var entries []entry
			for _, id := range p.PlanGroups {
				if g, ok := ownByID(x, &x.shop.planGroups, id); ok {
					entries = append(entries, entry{0, g.ID, typed("SellingPlanGroup", g)})
				}
			}
			return x.paginate("SellingPlanGroup", entries, a)
		}),
		"profileLocationGroups": on(func(_ *exec, p *profile, a args) any {
			var list []object
			for _, g := range p.Groups {
				if !a.has("locationGroupId") || a.number("locationGroupId") == g.ID {
					list = append(list, object{"DeliveryProfileLocationGroup", groupOf{g, p}})
				}
			}
			return list
		}),
		"unassignedLocations": on(func(x *exec, p *profile, _ args) any {
			var list []object
			for _, l := range x.shop.locations.order {
				if !slices.ContainsFunc(p.Groups, func(g *locationGroup) bool { return slices.Contains(g.Locations, l.ID) }) {
					list = append(list, typed("Location", l))
				}
			}
			return list
		}),
	}
	r["DeliveryProfileLocationGroup"] = fields{
		"locationGroup": get(func(g groupOf) any { return object{"DeliveryLocationGroup", g} }),
		"locationGroupZones": on(func(x *exec, g groupOf, a args) any {
			entries := make([]entry, len(g.Zones))
			for i, z := range g.Zones {
				entries[i] = entry{0, z.ID, object{"DeliveryLocationGroupZone", z}}
			}
			return x.paginate("DeliveryLocationGroupZone", entries, a)
		}),
	}
	r["DeliveryLocationGroup"] = fields{
		"id":             get(func(g groupOf) any { return gid.Of("DeliveryLocationGroup", g.ID) }),
		"locationsCount": get(func(g groupOf) any { return object{"Count", len(g.Locations)} }),
		"locations": on(func(x *exec, g groupOf, a args) any {
			var list []*place
			for _, id := range g.Locations {
				if l, ok := x.shop.locations.get(id); ok {
					list = append(list, l)
				}
			}
			return x.locations(list, a)
		}),
	}
}

func (r registry) zoneFields() {
	r["DeliveryLocationGroupZone"] = fields{
		"zone": get(func(z *zone) any { return object{"DeliveryZone", z} }),
		"methodDefinitions": on(func(x *exec, z *zone, a args) any {
			var entries []entry
			for _, m := range z.Rates {
				kind := "MERCHANT"
				if m.Carrier != 0 {
					kind = "PARTICIPANT"
				}
				if !a.has("type") || a.text("type") == kind {
					entries = append(entries, entry{0, m.ID, object{"DeliveryMethodDefinition", m}})
				}
			}
			return x.paginate("DeliveryMethodDefinition", entries, a)
		}),
	}
	r["DeliveryZone"] = fields{
		"id":   get(func(z *zone) any { return gid.Of("DeliveryZone", z.ID) }),
		"name": get(func(z *zone) any { return z.Name }),
		"countries": get(func(z *zone) any {
			list := make([]object, len(z.Countries))
			for i, c := range z.Countries {
				list[i] = object{"DeliveryCountry", c}
			}
			return list
		}),
	}
	countryName := get(func(c zoneCountry) any { return or(c.Code, "Rest of world") })
	r["DeliveryCountry"] = fields{
		"id":             get(func(c zoneCountry) any { return gid.Of("DeliveryCountry", c.ID) }),
		"name":           countryName,
		"translatedName": countryName,
		"code":           get(func(c zoneCountry) any { return object{"DeliveryCountryCodeOrRestOfWorld", c} }),
		"provinces": get(func(c zoneCountry) any {
			list := make([]object, len(c.Provinces))
			for i, p := range c.Provinces {
				list[i] = object{"DeliveryProvince", p}
			}
			return list
		}),
	}
	r["DeliveryCountryCodeOrRestOfWorld"] = fields{
		"countryCode": get(func(c zoneCountry) any { return textOrNull(c.Code) }),
		"restOfWorld": get(func(c zoneCountry) any { return c.Code == "" }),
	}
	word := get(func(code string) any { return code })
	r["DeliveryProvince"] = fields{"code": word, "name": word, "translatedName": word}
	r["DeliveryMethodDefinition"] = fields{
		"id":          get(func(m *rate) any { return gid.Of("DeliveryMethodDefinition", m.ID) }),
		"name":        get(func(m *rate) any { return m.Name }),
		"description": get(func(m *rate) any { return textOrNull(m.Text) }),
		"active":      get(func(m *rate) any { return !m.Inactive }),
		"rateProvider": get(func(m *rate) any {
			if m.Carrier != 0 {
				return object{"DeliveryParticipant", m}
			}
			return object{"DeliveryRateDefinition", m}
		}),
		"methodConditions": get(func(m *rate) any {
			list := make([]object, len(m.Conditions))
			for i, c := range m.Conditions {
				list[i] = object{"DeliveryCondition", c}
			}
			return list
		}),
	}
	r["DeliveryRateDefinition"] = fields{
		"id":    get(func(m *rate) any { return gid.Of("DeliveryRateDefinition", m.ID) }),
		"price": get(func(m *rate) any { return m.Price }),
	}
	r["DeliveryParticipant"] = fields{
		"id":                     get(func(m *rate) any { return gid.Of("DeliveryParticipant", m.ID) }),
		"adaptToNewServicesFlag": get(func(m *rate) any { return m.Adapts }),
		"percentageOfRateFee":    get(func(m *rate) any { return m.FeePercent }),
		"fixedFee": get(func(m *rate) any {
			if m.Fee == nil {
				return nil
			}
			return *m.Fee
		}),
		"carrierService": on(func(x *exec, m *rate, _ args) any {
			c, _ := x.shop.carriers.get(m.Carrier)
			return typed("DeliveryCarrierService", c)
		}),
	}
	r["DeliveryCondition"] = fields{
		"id":       get(func(c rateCondition) any { return gid.Of("DeliveryCondition", c.ID) }),
		"operator": get(func(c rateCondition) any { return c.Operator }),
		"field": get(func(c rateCondition) any {
			if c.Price != nil {
				return "TOTAL_PRICE"
			}
			return "TOTAL_WEIGHT"
		}),
		"conditionCriteria": get(func(c rateCondition) any {
			if c.Price != nil {
				return *c.Price
			}
			return object{"Weight", *c.Weight}
		}),
	}
	r["Weight"] = fields{
		"value": get(func(w weight) any { return w.Value }),
		"unit":  get(func(w weight) any { return w.Unit }),
	}
}

func (r registry) locationFields() {
	r["Location"] = fields{
		"id":                   get(func(l *place) any { return l.gid() }),
		"legacyResourceId":     get(func(l *place) any { return itoa(l.ID) }),
		"name":                 get(func(l *place) any { return l.Name }),
		"isActive":             always(true),
		"isFulfillmentService": always(false),
		"shipsInventory":       always(true),
		"fulfillsOnlineOrders": always(true),
		"activatable":          always(false),
		"deactivatable":        always(true),
		"deletable":            always(false),
		"createdAt":            get(func(l *place) any { return l.CreatedAt }),
		"updatedAt":            get(func(l *place) any { return l.CreatedAt }),
		"address":              get(func(l *place) any { return object{"LocationAddress", l} }),
	}
	r["LocationAddress"] = fields{
		"city":        get(func(l *place) any { return l.City }),
		"countryCode": get(func(l *place) any { return l.Country }),
		"country":     get(func(l *place) any { return l.Country }),
		"formatted":   get(func(l *place) any { return []string{l.City, l.Country} }),
		"address1":    always("1 Warehouse Road"), "address2": always(nil), "phone": always(nil),
		"province": always(nil), "provinceCode": always(nil), "zip": always(nil),
	}
	r["DeliveryCarrierService"] = fields{
		"id":            get(func(c *carrier) any { return gid.Of("DeliveryCarrierService", c.ID) }),
		"name":          get(func(c *carrier) any { return c.Name }),
		"formattedName": get(func(c *carrier) any { return c.Name + " (Rates provided by app)" }),
		"callbackUrl": get(func(c *carrier) any {
			return "https://" + strings.ToLower(strings.ReplaceAll(c.Name, " ", "-")) + ".example/rates"
		}),
		"active":                   always(true),
		"supportsServiceDiscovery": always(false),
	}
	r["Job"] = fields{"id": get(func(id string) any { return "gid://shopify/Job/" + itoa(gid.Number(id)) }), "done": always(true)}
}
