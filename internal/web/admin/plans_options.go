package admin

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/web"
)

// Page sizes of the list of plans.
const (
	defaultOptions = 2000 // integrations read all of them at once
	maxOptions     = 2000
)

var optionList = web.List{Default: defaultOptions, Max: maxOptions}

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
