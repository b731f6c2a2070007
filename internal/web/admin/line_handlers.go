package admin

import (
	"context"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web"
)

// lineHandlers change the lines of a contract.
type lineHandlers struct {
	contractHandlers

	oneOffs billing.OneOffBook
}

// OfLine is the line that an operation is about.
type OfLine struct {
	OfContract
	Line string `query:"lineId" required:"true" maxLength:"255" example:"gid://shopify/SubscriptionLine/1f0c" doc:"Graph id of the line."`
}

// commandWithPrices names the contract to be changed and refuses a price under a name
// that the operation does not take.
func (h lineHandlers) commandWithPrices(ctx context.Context, id string, given web.Given, takes ...string) (amend.Command, error) {
	cmd, err := h.command(ctx, id)
	if err != nil {
		return cmd, err
	}
	return cmd, refuseOtherPrices(given, takes...)
}

// priceParams are the names under which integrations send the unit price of a line.
var priceParams = []string{"price", "basePrice", "currentPrice"}

// refuseOtherPrices refuses a price under a name that the operation does not take: a
// line at another price than the caller named would be a wrong result without an error.
func refuseOtherPrices(given web.Given, takes ...string) error {
	for _, name := range priceParams {
		if !given.Has(name) || slices.Contains(takes, name) {
			continue
		}
		if len(takes) == 0 {
			return fault.New(fault.Invalid, "this operation takes no price: leave out parameter '%s'", name).Entity(contractEntity).Code("parameterUnknown").Field(name)
		}
		return fault.New(fault.Invalid, "parameter '%s' is not known here: use %s", name, strings.Join(takes, " or ")).Entity(contractEntity).Code("parameterUnknown").Field(name)
	}
	return nil
}
