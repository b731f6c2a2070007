package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// Page sizes of the list of groups.
const (
	defaultGroups = 20
	maxGroups     = 2000
)

var groupList = web.List{Default: defaultGroups, Max: maxGroups, Fields: plan.SortFields}

const groupsPath = base + "/subscription-groups"

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
