package simulator

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// maxProfileName is the first length that the platform finds too long.
const maxProfileName = 128

func (r registry) profileMutations() {
	r["Mutation"]["deliveryProfileCreate"] = createProfile
	r["Mutation"]["deliveryProfileUpdate"] = updateProfile
	r["Mutation"]["deliveryProfileRemove"] = removeProfile
}

func createProfile(x *exec, _ any, a args) any {
	const kind = "DeliveryProfileCreatePayload"
	p := &profile{Shop: x.shop.Domain, App: x.app, Version: 1}
	w := profileWriter{x: x, p: p}
	in := a.object("profile")
	if in.text("name") == "" {
		return done(kind, profileError("Add a profile name", "profile", "name"), part{"profile", nil})
	}
	w.write(in)
	if refused := w.refused; refused != nil || x.failed != nil {
		return done(kind, refused, part{"profile", nil})
	}
	p.ID = take(&x.shop.next.Profile)
	x.shop.profiles.add(p.ID, p)
	x.s.save(&x.shop.next)
	x.s.save(p)
	return done(kind, nil, part{"profile", typed("DeliveryProfile", p)})
}

func updateProfile(x *exec, _ any, a args) any {
	const kind = "DeliveryProfileUpdatePayload"
	n, ok := x.id(a, "id", "DeliveryProfile")
	if !ok {
		return nil
	}
	was := x.profile(n)
	if was == nil {
		return done(kind, profileError("The Delivery Profile could not be found for this shop.", "id"), part{"profile", nil})
	}
	w := profileWriter{x: x, p: was.clone()}
	w.write(a.object("profile"))
	if w.refused != nil || x.failed != nil {
		return done(kind, w.refused, part{"profile", nil})
	}
	w.p.Version++
	*was = *w.p
	x.s.save(&x.shop.next)
	x.s.save(was)
	return done(kind, nil, part{"profile", typed("DeliveryProfile", was)})
}

func removeProfile(x *exec, _ any, a args) any {
	const kind = "DeliveryProfileRemovePayload"
	n, ok := x.id(a, "id", "DeliveryProfile")
	if !ok {
		return nil
	}
	switch p := x.profile(n); {
	case p == nil:
		return done(kind, profileError("The Delivery Profile could not be found for this shop.", "id"), part{"job", nil})
	case p.Default:
		return done(kind, profileError("Cannot delete the default profile.", "id"), part{"job", nil})
	default:
		p.Removed = true
		x.s.save(p)
		return done(kind, nil, part{"job", object{"Job", p.gid()}})
	}
}

// profileError is a refusal; those of delivery profiles have no code.
func profileError(message string, field ...string) *userError {
	return &userError{Field: field, Message: message}
}

// profileWriter lays an input over a profile. What goes, goes before anything
// comes. The first refusal counts.
type profileWriter struct {
	x       *exec
	p       *profile
	refused *userError
}

func (w *profileWriter) refuse(message string, field ...string) {
	if w.refused == nil {
		w.refused = profileError(message, append([]string{"profile"}, field...)...)
	}
}

func (w *profileWriter) write(in args) {
	w.name(in)
	w.remove(in)
	for _, id := range w.ids(in, "sellingPlanGroupsToDissociate", "SellingPlanGroup") {
		w.p.PlanGroups = slices.DeleteFunc(w.p.PlanGroups, func(n int64) bool { return n == id })
	}
	for i, id := range w.ids(in, "sellingPlanGroupsToAssociate", "SellingPlanGroup") {
		if _, known := ownByID(w.x, &w.x.shop.planGroups, id); !known {
			w.refuse("The Selling Plan Group could not be found for this shop.", "sellingPlanGroupsToAssociate", strconv.Itoa(i))
		} else if !slices.Contains(w.p.PlanGroups, id) {
			w.p.PlanGroups = append(w.p.PlanGroups, id)
		}
	}
	for _, id := range w.ids(in, "variantsToDissociate", "ProductVariant") {
		w.p.Variants = slices.DeleteFunc(w.p.Variants, func(n int64) bool { return n == id })
	}
	for i, id := range w.ids(in, "variantsToAssociate", "ProductVariant") {
		if _, known := w.x.shop.variants.get(id); !known {
			w.refuse("The Product Variant could not be found for this shop.", "variantsToAssociate", strconv.Itoa(i))
		} else if !slices.Contains(w.p.Variants, id) {
			w.p.Variants = append(w.p.Variants, id)
		}
	}
	for i, g := range in.objects("locationGroupsToUpdate") {
		at := []string{"locationGroupsToUpdate", strconv.Itoa(i)}
		group := w.p.group(g.number("id"))
		if group == nil {
			w.refuse("The Location Group could not be found for this profile.", at...)
			continue
		}
		w.group(group, g, at)
	}
	for _, field := range []string{"profileLocationGroups", "locationGroupsToCreate"} {
		for i, g := range in.objects(field) {
			group := &locationGroup{ID: take(&w.x.shop.next.ProfilePart)}
			w.p.Groups = append(w.p.Groups, group)
			w.group(group, g, []string{field, strconv.Itoa(i)})
		}
	}
	w.checkWhole()
}

func (w *profileWriter) name(in args) {
	if !in.has("name") {
		return
	}
	w.p.Name = in.text("name")
	switch {
	case strings.TrimSpace(w.p.Name) == "":
		w.refuse("Add a profile name", "name")
	case utf8.RuneCountInString(w.p.Name) >= maxProfileName:
		w.refuse("Profile name must be less than 128 characters long", "name")
	}
}

func (w *profileWriter) remove(in args) {
	if in.has("coversAllItems") || in.has("conditionsToDelete") || in.has("methodDefinitionsToDelete") {
		w.x.fail(codeNotSimulated, "The simulator does not simulate profiles that cover all items, or the deletion of single rates and conditions.")
		return
	}
	for i, id := range w.ids(in, "locationGroupsToDelete", "DeliveryLocationGroup") {
		if w.p.group(id) == nil {
			w.refuse("The Location Group could not be found for this profile.", "locationGroupsToDelete", strconv.Itoa(i))
		}
		w.p.Groups = slices.DeleteFunc(w.p.Groups, func(g *locationGroup) bool { return g.ID == id })
	}
	for i, id := range w.ids(in, "zonesToDelete", "DeliveryZone") {
		is := func(z *zone) bool { return z.ID == id }
		if !slices.ContainsFunc(w.p.zones(), is) {
			w.refuse("The Zone could not be found for this profile.", "zonesToDelete", strconv.Itoa(i))
		}
		for _, g := range w.p.Groups {
			g.Zones = slices.DeleteFunc(g.Zones, is)
		}
	}
}

// ids reads graph ids of one type.
func (w *profileWriter) ids(in args, name, kind string) []int64 {
	var list []int64
	for _, text := range in.texts(name) {
		n, ok := w.x.id(args{"id": text}, "id", kind)
		if !ok {
			return nil
		}
		list = append(list, n)
	}
	return list
}

func (w *profileWriter) group(g *locationGroup, in args, at []string) {
	for _, id := range w.ids(in, "locationsToRemove", "Location") {
		g.Locations = slices.DeleteFunc(g.Locations, func(n int64) bool { return n == id })
	}
	for _, field := range []string{"locations", "locationsToAdd"} {
		for _, id := range w.ids(in, field, "Location") {
			if _, known := w.x.shop.locations.get(id); !known {
				w.refuse("The Location could not be found for this shop.", append(at, field)...)
			}
			g.Locations = append(g.Locations, id)
		}
	}
	if len(in.objects("zonesToUpdate")) > 0 {
		w.x.fail(codeNotSimulated, "The simulator does not simulate changes of single zones.")
	}
	for i, z := range in.objects("zonesToCreate") {
		g.Zones = append(g.Zones, w.zone(z, append(slices.Clone(at), "zonesToCreate", strconv.Itoa(i))))
	}
}

func (w *profileWriter) zone(in args, at []string) *zone {
	z := &zone{ID: take(&w.x.shop.next.ProfilePart), Name: in.text("name")}
	if z.Name == "" {
		w.refuse("Zone name can't be blank", append(at, "name")...)
	}
	for _, c := range in.objects("countries") {
		country := zoneCountry{ID: take(&w.x.shop.next.ProfilePart), Code: c.text("code"), Whole: c.flag("includeAllProvinces")}
		if c.flag("restOfWorld") == (country.Code != "") {
			w.refuse("A country needs a code, or to be the rest of the world.", append(at, "countries")...)
		}
		for _, p := range c.objects("provinces") {
			country.Provinces = append(country.Provinces, p.text("code"))
		}
		z.Countries = append(z.Countries, country)
	}
	if len(z.Countries) == 0 {
		w.refuse("Profile is invalid: cannot create LocationGroupZone without countries.", at...)
	}
	for i, m := range in.objects("methodDefinitionsToCreate") {
		z.Rates = append(z.Rates, w.rate(m, append(slices.Clone(at), "methodDefinitionsToCreate", strconv.Itoa(i))))
	}
	if len(in.objects("methodDefinitionsToUpdate")) > 0 {
		w.x.fail(codeNotSimulated, "The simulator does not simulate changes of single rates.")
	}
	return z
}

func (w *profileWriter) rate(in args, at []string) *rate {
	r := &rate{ID: take(&w.x.shop.next.ProfilePart), Name: in.text("name"), Text: in.text("description"), Inactive: in.given("active") && !in.flag("active")}
	if r.Name == "" {
		w.refuse("Method definition name can't be blank", append(at, "name")...)
	}
	fixed, carried := in.object("rateDefinition"), in.object("participant")
	switch {
	case (fixed != nil) == (carried != nil):
		w.refuse("A method definition needs a rate definition or a participant.", at...)
	case fixed != nil:
		r.Price = w.money(fixed.object("price"), append(at, "rateDefinition", "price"))
	default:
		r.Carrier, r.Adapts, r.FeePercent = carried.number("carrierServiceId"), carried.flag("adaptToNewServices"), carried.float("percentageOfRateFee")
		if _, known := w.x.shop.carriers.get(r.Carrier); !known {
			w.refuse("The Carrier Service could not be found for this shop.", append(at, "participant")...)
		}
		if carried.has("fixedFee") {
			fee := w.money(carried.object("fixedFee"), append(at, "participant"))
			r.Fee = &fee
		}
	}
	for _, c := range in.objects("priceConditionsToCreate") {
		price := w.money(c.object("criteria"), append(at, "priceConditionsToCreate"))
		r.Conditions = append(r.Conditions, rateCondition{ID: take(&w.x.shop.next.ProfilePart), Operator: c.text("operator"), Price: &price})
	}
	for _, c := range in.objects("weightConditionsToCreate") {
		criteria := c.object("criteria")
		r.Conditions = append(r.Conditions, rateCondition{
			ID: take(&w.x.shop.next.ProfilePart), Operator: c.text("operator"), Weight: &weight{criteria.float("value"), criteria.text("unit")},
		})
	}
	return r
}

func (w *profileWriter) money(in args, at []string) money.Amount {
	currency := money.Currency(in.text("currencyCode"))
	amount := in.amount("amount", currency)
	if currency != w.x.shop.Currency {
		w.refuse("The currency must be that of the shop.", at...)
	}
	if amount.Minor < 0 {
		w.refuse("Price must be greater than or equal to 0", at...)
	}
	return amount
}

// checkWhole refuses a profile in which a location or a country stands twice.
func (w *profileWriter) checkWhole() {
	placed := map[int64]bool{}
	for _, g := range w.p.Groups {
		for _, id := range g.Locations {
			if placed[id] {
				w.refuse("A location can be in one location group of a profile only.", "locationGroupsToCreate")
			}
			placed[id] = true
		}
		covered := map[string]bool{}
		for _, z := range g.Zones {
			for _, c := range z.Countries {
				parts := c.Provinces
				if len(parts) == 0 {
					parts = []string{""}
				}
				for _, p := range parts {
					if covered[c.Code+"-"+p] {
						w.refuse("A country can be in one zone of a location group only.", "locationGroupsToCreate")
					}
					covered[c.Code+"-"+p] = true
				}
			}
		}
	}
}

// profileNode returns the object with a graph id of delivery; false when the
// type is none of them.
func (x *exec) profileNode(kind, id string) (object, bool) {
	n := gid.Number(id)
	switch kind {
	case "DeliveryProfile":
		return typed(kind, x.profile(n)), true
	case "Location":
		v, _ := x.shop.locations.get(n)
		return typed(kind, v), true
	case "DeliveryCarrierService":
		v, _ := x.shop.carriers.get(n)
		return typed(kind, v), true
	}
	return object{}, false
}
