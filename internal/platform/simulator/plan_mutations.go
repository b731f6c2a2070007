package simulator

import (
	"slices"
	"strings"
)

// planMutations are the changes of groups of selling plans.
func planMutations() fields {
	return fields{
		"sellingPlanGroupCreate":                createPlanGroup,
		"sellingPlanGroupUpdate":                updatePlanGroup,
		"sellingPlanGroupDelete":                deletePlanGroup,
		"sellingPlanGroupAddProducts":           addToPlanGroup(productsOfGroup, "SellingPlanGroupAddProductsPayload"),
		"sellingPlanGroupAddProductVariants":    addToPlanGroup(variantsOfGroup, "SellingPlanGroupAddProductVariantsPayload"),
		"sellingPlanGroupRemoveProducts":        removeFromPlanGroup(productsOfGroup, "SellingPlanGroupRemoveProductsPayload", "removedProductIds"),
		"sellingPlanGroupRemoveProductVariants": removeFromPlanGroup(variantsOfGroup, "SellingPlanGroupRemoveProductVariantsPayload", "removedProductVariantIds"),
	}
}

// resources is one of the two kinds of things that are sold on plans.
type resources struct {
	argument string // the list's name in a call
	kind     string // in graph ids
	word     string // in messages
	of       func(g *planGroup) *[]int64
	known    func(sh *store, id int64) bool
}

var productsOfGroup = resources{
	"productIds", "Product", "Product",
	func(g *planGroup) *[]int64 { return &g.Products },
	func(sh *store, id int64) bool { _, ok := sh.products.get(id); return ok },
}

var variantsOfGroup = resources{
	"productVariantIds", "ProductVariant", "Product variant",
	func(g *planGroup) *[]int64 { return &g.Variants },
	func(sh *store, id int64) bool { _, ok := sh.variants.get(id); return ok },
}

// read returns the numbers of a list of graph ids. The store must have all of them.
func (r resources) read(sh *store, a args, path ...string) ([]int64, *userError) {
	texts := a.texts(r.argument)
	path = append(path, r.argument)
	if len(texts) > maxResourcesInCall {
		return nil, &userError{Code: "TOO_LONG", Field: path, Message: "The input array size is greater than the maximum allowed of 250."}
	}
	ids := make([]int64, len(texts))
	for i, text := range texts {
		ids[i] = args{"id": text}.number("id")
		if typeIn(text) != r.kind || !r.known(sh, ids[i]) {
			return nil, &userError{Code: "NOT_FOUND", Field: path, Message: r.word + " " + text + " does not exist."}
		}
	}
	return ids, nil
}

func noPlanGroup() *userError {
	return &userError{Code: "GROUP_DOES_NOT_EXIST", Field: []string{"id"}, Message: "Selling plan group does not exist."}
}

// planGroupArg returns the group that a call names; nil when the store has none,
// and false when the argument is not a group's id.
func (x *exec) planGroupArg(a args) (*planGroup, bool) {
	n, ok := x.id(a, "id", "SellingPlanGroup")
	g, _ := ownByID(x, &x.shop.planGroups, n)
	return g, ok
}

func createPlanGroup(x *exec, _ any, a args) any {
	const kind = "SellingPlanGroupCreatePayload"
	now := x.s.now()
	g := &planGroup{Shop: x.shop.Domain, App: x.app, Options: []string{}, CreatedAt: now, UpdatedAt: now}
	refused := x.fillPlanGroup(g, a.object("input"))
	if x.failed != nil {
		return nil
	}
	for _, r := range []resources{productsOfGroup, variantsOfGroup} {
		if refused == nil {
			*r.of(g), refused = r.read(x.shop, a.object("resources"), "resources")
		}
	}
	if refused != nil {
		return done(kind, refused, part{"sellingPlanGroup", nil})
	}
	g.ID = take(&x.shop.next.PlanGroup)
	// The plans of each group begin at a round hundred, so that people can tell
	// them apart.
	if rest := (x.shop.next.Plan - 1) % 100; rest != 0 {
		x.shop.next.Plan += 100 - rest
	}
	if g.Code == "" {
		g.Code = strings.ReplaceAll(strings.ToLower(g.Name), " ", "-")
	}
	x.numberPlans(g)
	x.shop.planGroups.add(g.ID, g)
	x.s.save(g)
	return done(kind, nil, part{"sellingPlanGroup", typed("SellingPlanGroup", g)})
}

// numberPlans gives new plans their numbers.
func (x *exec) numberPlans(g *planGroup) {
	for i := range g.Plans {
		if g.Plans[i].ID == 0 {
			g.Plans[i].ID, g.Plans[i].CreatedAt = take(&x.shop.next.Plan), x.s.now()
		}
	}
	x.s.save(&x.shop.next)
}

func updatePlanGroup(x *exec, _ any, a args) any {
	const kind = "SellingPlanGroupUpdatePayload"
	g, ok := x.planGroupArg(a)
	if !ok {
		return nil
	}
	refuse := func(e *userError) any {
		return done(kind, e, part{"deletedSellingPlanIds", nil}, part{"sellingPlanGroup", nil})
	}
	if g == nil {
		return refuse(noPlanGroup())
	}
	changed := g.clone()
	refused := x.fillPlanGroup(changed, a.object("input"))
	if x.failed != nil {
		return nil
	}
	if refused != nil {
		return refuse(refused)
	}
	changed.UpdatedAt = x.s.now()
	x.numberPlans(changed)
	*g = *changed
	x.s.save(g)
	deleted := a.object("input").texts("sellingPlansToDelete")
	return done(kind, nil, part{"deletedSellingPlanIds", deleted}, part{"sellingPlanGroup", typed("SellingPlanGroup", g)})
}

func deletePlanGroup(x *exec, _ any, a args) any {
	const kind = "SellingPlanGroupDeletePayload"
	g, ok := x.planGroupArg(a)
	if !ok {
		return nil
	}
	if g == nil {
		return done(kind, noPlanGroup(), part{"deletedSellingPlanGroupId", nil})
	}
	x.s.removePlanGroup(x.shop, g)
	return done(kind, nil, part{"deletedSellingPlanGroupId", g.gid()})
}

func addToPlanGroup(r resources, kind string) fieldFunc {
	return func(x *exec, _ any, a args) any {
		g, ok := x.planGroupArg(a)
		if !ok {
			return nil
		}
		refuse := func(e *userError) any { return done(kind, e, part{"sellingPlanGroup", nil}) }
		if g == nil {
			return refuse(noPlanGroup())
		}
		ids, refused := r.read(x.shop, a)
		if refused != nil {
			return refuse(refused)
		}
		list := r.of(g)
		for i, id := range ids {
			if slices.Contains(*list, id) || slices.Contains(ids[:i], id) {
				return refuse(&userError{Code: "TAKEN", Field: []string{r.argument}, Message: "Resource has already been taken"})
			}
		}
		*list = append(*list, ids...)
		g.UpdatedAt = x.s.now()
		x.s.save(g)
		return done(kind, nil, part{"sellingPlanGroup", typed("SellingPlanGroup", g)})
	}
}

func removeFromPlanGroup(r resources, kind, removed string) fieldFunc {
	return func(x *exec, _ any, a args) any {
		g, ok := x.planGroupArg(a)
		if !ok {
			return nil
		}
		refuse := func(e *userError) any { return done(kind, e, part{removed, nil}) }
		if g == nil {
			return refuse(noPlanGroup())
		}
		ids, refused := r.read(x.shop, a)
		if refused != nil {
			return refuse(refused)
		}
		list := r.of(g)
		gone := []string{}
		for i, id := range ids {
			if at := slices.Index(*list, id); at >= 0 {
				*list = slices.Delete(*list, at, at+1)
				gone = append(gone, a.texts(r.argument)[i])
			}
		}
		g.UpdatedAt = x.s.now()
		x.s.save(g)
		return done(kind, nil, part{removed, gone})
	}
}
