package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Plans changes subscription groups. Failures are faults.
type Plans interface {
	Create(ctx context.Context, of shop.ID, c plan.CreateCommand) (plan.Group, error)
	Update(ctx context.Context, of shop.ID, c plan.UpdateCommand) (plan.Group, error)
	Delete(ctx context.Context, of shop.ID, c plan.DeleteCommand) error
	RemoveEverywhere(ctx context.Context, of shop.ID, c plan.RemoveCommand) ([]plan.Group, error)
}

// Page sizes of the lists of groups and of options.
const (
	defaultGroups  = 20
	maxGroups      = 2000
	defaultOptions = 2000 // integrations read all of them at once
	maxOptions     = 2000
)

var (
	groupList  = web.List{Default: defaultGroups, Max: maxGroups, Fields: plan.SortFields}
	optionList = web.List{Default: defaultOptions, Max: maxOptions}
)

const groupsPath = base + "/subscription-groups"

// groupHandlers show and change subscription groups.
type groupHandlers struct {
	line  shop.Line
	plans Plans
	book  plan.Book
}

func (h groupHandlers) register(api *web.API) {
	read := web.Operation{Method: http.MethodGet, Tag: "Subscription groups", Scope: access.PlansRead}
	change := web.Operation{
		Method: http.MethodPut, Tag: "Subscription groups", Scope: access.PlansWrite, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}

	list := read
	list.ID, list.Path, list.Summary = "listSubscriptionGroups", groupsPath, "Subscription groups"
	list.Description = "The groups that were made on this host: those of the memberships host are membership groups, and contracts on their plans are memberships. " +
		"Oldest first unless they are sorted otherwise."
	list.List = &groupList
	web.Register(api, list, h.listGroups)

	one := read
	one.ID, one.Path, one.Summary = "getSubscriptionGroup", groupsPath+"/{id}", "One subscription group"
	one.Description = "A group with its plans and with what is sold on them."
	one.Errors = []int{http.StatusNotFound}
	web.Register(api, one, h.getGroup)

	create := change
	create.ID, create.Method, create.Path, create.Summary = "createSubscriptionGroup", http.MethodPost, groupsPath, "Make a subscription group"
	create.Description = "Makes the group at the platform too. What the platform refuses is refused here in its words, and nothing is left behind. " +
		"A group is made with at most 250 products and 250 variants; more are added with add-products."
	create.Body, create.Status, create.Errors = groupEdit{}, http.StatusCreated, []int{http.StatusNotFound}
	web.Register(api, once(create), h.createGroup)

	const keeping = "A field that a group or a plan does not have is 400 unknownField; id, productCount, productVariantCount and sellingPlanGroupId of a record that is sent back must say what they are, and groupName of a plan is ignored. A field that is absent keeps its value; null clears it where it may be empty. 'subscriptionPlans' replaces the list: a plan that is named by its id keeps the fields that are absent, " +
		"a plan without an id is new, and a plan that is not in the list is removed. Contracts keep what they took from a plan."
	edit := change
	edit.ID, edit.Path, edit.Summary = "updateSubscriptionGroup", groupsPath+"/{id}", "Change a subscription group"
	edit.Description, edit.Body = keeping, groupEdit{}
	web.Register(api, edit, h.editGroup)

	named := edit
	named.ID, named.Path, named.Summary = "updateSubscriptionGroupByBody", groupsPath, "Change the subscription group that the body names"
	named.Description = "The same as with the id in the path; the body's id is required. " + keeping
	web.Register(api, named, h.editNamedGroup)

	remove := change
	remove.ID, remove.Method, remove.Path, remove.Summary = "deleteSubscriptionGroup", http.MethodDelete, groupsPath+"/{id}", "Remove a subscription group"
	remove.Description = "Removes the group and its plans, here and at the platform. Contracts on them go on as they are: a contract keeps what it took from its plan."
	remove.Status = http.StatusNoContent
	web.Register(api, remove, h.deleteGroup)

	add := change
	add.ID, add.Path, add.Summary = "addGroupProducts", groupsPath+"/{id}/add-products", "Sell products on a group's plans"
	add.Description = "Adds products, variants, and up to 5000 products of a collection. What is in the group already is no error; a product or a variant that the store does not have is 404."
	web.Register(api, add, h.addProducts)

	leave := change
	leave.ID, leave.Path, leave.Summary = "removeGroupProducts", groupsPath+"/{id}/remove-products", "Take products out of a group"
	leave.Description = "Removes products, variants, and up to 5000 products of a collection, or everything. What is not in the group is no error."
	web.Register(api, leave, h.removeProducts)

	everywhere := change
	everywhere.ID, everywhere.Path, everywhere.Summary = "removeProductsFromAllGroups", groupsPath+"/remove-products", "Take products out of all groups"
	everywhere.Description = "Does the same in every group of this host and answers with the groups that changed. Sent again after a failure it does what is left to do."
	web.Register(api, everywhere, h.removeEverywhere)

	all := read
	all.ID, all.Path, all.Summary = "listSellingPlans", base+"/all-selling-plans", "All plans"
	all.List = &optionList
	all.Description = "The plans of all groups of this host, group by group, each in the order in which it is shown."
	web.Register(api, all, h.allPlans)
	all.ID, all.Path, all.Summary = "listGroupSellingPlans", groupsPath+"/all-selling-plans", "All plans, below the groups"
	all.Description = "The same as all-selling-plans."
	web.Register(api, all, h.allPlans)

	interval := web.Operation{
		ID: "listBillingIntervals", Method: http.MethodGet, Path: base + "/subscription-contract-details/billing-interval",
		Summary: "Plans by selling plan", Tag: "Subscription groups", Scope: access.ContractsRead,
		Description: "The plans of this host with the given numbers, [] when there are none.",
	}
	web.Register(api, interval, h.billingInterval)
}

type groupsQuery struct {
	web.Paging
}

type groupPage struct {
	web.ListHeaders
	Body []subscriptionGroup
}

func (h groupHandlers) listGroups(ctx context.Context, in *groupsQuery) (*groupPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(groupList)
	if err != nil {
		return nil, err
	}
	groups, total, err := h.book.PlanGroups(ctx, caller.Shop.ID, h.line, p)
	if err != nil {
		return nil, err
	}
	return &groupPage{ListHeaders: web.Paged(ctx, p, total), Body: newGroups(groups)}, nil
}

func newGroups(groups []plan.Group) []subscriptionGroup {
	list := make([]subscriptionGroup, len(groups))
	for i, g := range groups {
		list[i] = newSubscriptionGroup(g)
	}
	return list
}

// GroupPath names a group. It is exported, as are the others that are embedded,
// because the library looks into no others.
type GroupPath struct {
	ID string `path:"id" format:"id" example:"17" doc:"The service's number of the group, or the platform's number or graph id of the selling plan group, percent-encoded. A number that is both names the service's."`
}

// groupObject is the platform's name for a group.
const groupObject = "SellingPlanGroup"

// groupID returns the service's number of a group that is named by it or by the
// platform's number or graph id.
func (h groupHandlers) groupID(ctx context.Context, caller web.Caller, param, named string) (plan.ID, error) {
	number, err := web.ParseID(groupObject, param, named)
	if err != nil {
		return 0, err
	}
	return h.book.PlanGroupID(ctx, caller.Shop.ID, h.line, number, strings.HasPrefix(named, "gid://"))
}

// groupOut answers with a group.
type groupOut struct {
	Body subscriptionGroup
}

func newGroupOut(g plan.Group, err error) (*groupOut, error) {
	if err != nil {
		return nil, err
	}
	return &groupOut{newSubscriptionGroup(g)}, nil
}

func (h groupHandlers) getGroup(ctx context.Context, in *GroupPath) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	id, err := h.groupID(ctx, caller, "id", in.ID)
	if err != nil {
		return nil, err
	}
	return newGroupOut(h.book.PlanGroup(ctx, caller.Shop.ID, h.line, id))
}

func (h groupHandlers) deleteGroup(ctx context.Context, in *GroupPath) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	id, err := h.groupID(ctx, caller, "id", in.ID)
	if err != nil {
		return nil, err
	}
	return nil, h.plans.Delete(ctx, caller.Shop.ID, plan.DeleteCommand{Line: h.line, ID: id, Actor: caller.Actor})
}

// ItemsQuery names products and variants.
type ItemsQuery struct {
	Products   string `query:"productIds" doc:"Numbers of products, separated by commas." example:"3001,3002"`
	Variants   string `query:"variantIds" doc:"Numbers of variants, separated by commas."`
	Collection string `query:"collectionId" doc:"Also all products of this collection, up to 5000: number or graph id."`
}

func (q ItemsQuery) read() (named plan.Assigned, collection int64, err error) {
	if named.Products, err = numberList("Product", "productIds", q.Products); err != nil {
		return named, 0, err
	}
	if named.Variants, err = numberList("ProductVariant", "variantIds", q.Variants); err != nil {
		return named, 0, err
	}
	collection, err = web.ParseID("Collection", "collectionId", q.Collection)
	return named, collection, err
}

func nothingNamed(also string) error {
	return fault.New(fault.Invalid, "give productIds, variantIds or collectionId%s", also).Entity("subscriptionGroup").Code("nothingNamed").Field("productIds")
}

type addGroupQuery struct {
	GroupPath
	ItemsQuery
}

func (h groupHandlers) addProducts(ctx context.Context, in *addGroupQuery) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	named, collection, err := in.read()
	if err == nil && named.Empty() && collection == 0 {
		err = nothingNamed("")
	}
	if err != nil {
		return nil, err
	}
	id, err := h.groupID(ctx, caller, "id", in.ID)
	if err != nil {
		return nil, err
	}
	return newGroupOut(h.plans.Update(ctx, caller.Shop.ID, plan.UpdateCommand{
		Line: h.line, ID: id, Assign: plan.Assignment{Add: named}, Collection: collection, Actor: caller.Actor,
	}))
}

// LeaveQuery names the products or variants to remove.
type LeaveQuery struct {
	ItemsQuery
	All web.Opt[bool] `query:"deleteAllProductsAndVariants" doc:"Removes all products and variants. Default false."`
}

func (q LeaveQuery) read() (named plan.Assigned, collection int64, err error) {
	named, collection, err = q.ItemsQuery.read()
	if err == nil && named.Empty() && collection == 0 && !q.All.Value {
		err = nothingNamed(", or deleteAllProductsAndVariants=true")
	}
	return named, collection, err
}

type leaveGroupQuery struct {
	GroupPath
	LeaveQuery
}

func (h groupHandlers) removeProducts(ctx context.Context, in *leaveGroupQuery) (*groupOut, error) {
	caller := web.CallerOf(ctx)
	named, collection, err := in.read()
	if err != nil {
		return nil, err
	}
	id, err := h.groupID(ctx, caller, "id", in.ID)
	if err != nil {
		return nil, err
	}
	return newGroupOut(h.plans.Update(ctx, caller.Shop.ID, plan.UpdateCommand{
		Line: h.line, ID: id, Assign: plan.Assignment{Remove: named, RemoveAll: in.All.Value},
		Collection: collection, CollectionLeaves: true, Actor: caller.Actor,
	}))
}

type groupListOut struct {
	web.ListHeaders
	Body []subscriptionGroup
}

func (h groupHandlers) removeEverywhere(ctx context.Context, in *LeaveQuery) (*groupListOut, error) {
	caller := web.CallerOf(ctx)
	named, collection, err := in.read()
	if err != nil {
		return nil, err
	}
	groups, err := h.plans.RemoveEverywhere(ctx, caller.Shop.ID, plan.RemoveCommand{
		Line: h.line, Remove: named, Collection: collection, All: in.All.Value, Actor: caller.Actor,
	})
	if err != nil {
		return nil, err
	}
	whole := page.Request{Size: max(len(groups), 1)}
	return &groupListOut{ListHeaders: web.Paged(ctx, whole, len(groups)), Body: newGroups(groups)}, nil
}

type optionsQuery struct{ web.Paging }

type optionPage struct {
	web.ListHeaders
	Body []planOption
}

func (h groupHandlers) allPlans(ctx context.Context, in *optionsQuery) (*optionPage, error) {
	p, err := in.Request(optionList)
	if err != nil {
		return nil, err
	}
	return h.offers(ctx, nil, p)
}

type offersQuery struct {
	Plans string `query:"sellingPlanIds" required:"true" doc:"Numbers or graph ids of selling plans, separated by commas: at most 250." example:"6001,6003"`
}

// maxIntervals is how many selling plans can be asked for at once.
const maxIntervals = 250

func (h groupHandlers) billingInterval(ctx context.Context, in *offersQuery) (*optionPage, error) {
	ids, err := idList("SellingPlan", "sellingPlanIds", in.Plans)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, web.MissingParameter("sellingPlanIds", "String")
	}
	if len(ids) > maxIntervals {
		return nil, fault.New(fault.Invalid, "parameter 'sellingPlanIds' names %d selling plans and can name at most %d", len(ids), maxIntervals).Field("sellingPlanIds")
	}
	return h.offers(ctx, ids, page.Request{Size: maxIntervals})
}

func (h groupHandlers) offers(ctx context.Context, ids []int64, p page.Request) (*optionPage, error) {
	offers, total, err := h.book.PlanOptions(ctx, web.CallerOf(ctx).Shop.ID, h.line, ids, p)
	if err != nil {
		return nil, err
	}
	out := &optionPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]planOption, len(offers))}
	for i, offer := range offers {
		out.Body[i] = newPlanOption(offer.Option, offer.Group, offer.GroupName)
	}
	return out, nil
}
