package admin

import (
	"context"
	"strings"

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

// groupHandlers show and change subscription groups.
type groupHandlers struct {
	line  shop.Line
	plans Plans
	book  plan.Book
}

// GroupPath names a group. It is exported, as are the others that are embedded,
// because the library looks into no others.
type GroupPath struct {
	ID string `path:"id" format:"id" example:"17" doc:"The service's number of the group, or the platform's number or graph id of the selling plan group, percent-encoded. A number that is both names the service's."`
}

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
