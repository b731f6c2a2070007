package contract

import (
	"context"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Sheets reads contracts and keeps comments on them.
type Sheets interface {
	Contract(ctx context.Context, of shop.ID, id contract.ID) (contract.Contract, error)
	Sheet(ctx context.Context, of shop.ID, id contract.ID, past int) (support.Sheet, error)
	Timeline(ctx context.Context, of shop.ID, id contract.ID, f support.Filter) ([]support.Item, bool, error)
	Mail(ctx context.Context, of shop.ID, c contract.ID, id notify.MessageID) (notify.Message, error)
	Comment(ctx context.Context, of shop.ID, c support.Comment) error
	Uncomment(ctx context.Context, of shop.ID, c contract.ID, id support.CommentID, author string) error
}

// Orders changes single orders.
type Orders interface {
	Skip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Unskip(ctx context.Context, of shop.ID, c command.Skip) (billing.Record, error)
	Edit(ctx context.Context, of shop.ID, c command.Edit) (billing.Record, error)
	Trigger(ctx context.Context, of shop.ID, c command.Trigger) error
	AddOneOff(ctx context.Context, of shop.Shop, c command.OneOff) error
	RemoveOneOff(ctx context.Context, of shop.Shop, c command.OneOff) error
	PreviewOneOff(ctx context.Context, of shop.Shop, r billing.Record, c command.OneOff) (billing.Record, error)
}

// Statuses pauses, resumes and cancels.
type Statuses interface {
	SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error)
}

// Terms changes what a contract has.
type Terms interface {
	ChangeLine(ctx context.Context, of shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error)
	RemoveLine(ctx context.Context, of shop.ID, cmd amend.Command, line string, drop bool) (contract.Detail, error)
	ApplyCode(ctx context.Context, of shop.ID, cmd amend.Command, code string) (contract.Detail, error)
	AddDiscount(ctx context.Context, of shop.ID, cmd amend.Command, want contractedit.Discount) (contract.Detail, error)
	RemoveDiscount(ctx context.Context, of shop.ID, cmd amend.Command, id string) (contract.Detail, error)
	SetNote(ctx context.Context, of shop.ID, cmd amend.Command, text string) (contract.Detail, error)
	SetAttributes(ctx context.Context, of shop.ID, cmd amend.Command, list []contract.Attribute, overwrite bool) (contract.Detail, error)
	SetCycles(ctx context.Context, of shop.ID, cmd amend.Command, want terms.Cycles) (contract.Detail, error)
}

// Platform asks the platform about a contract.
type Platform interface {
	Detail(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error)
	SendPaymentUpdate(ctx context.Context, of shop.ID, cmd amend.Command) error
}

// Links opens the portal.
type Links interface {
	SendLink(ctx context.Context, of shop.ID, who login.CustomerRef, by activity.Actor) error
	OpenAs(ctx context.Context, of shop.ID, c contract.ID, customer int64, by activity.Actor) (login.Credential, error)
}

// Explainer says why an order is as it is.
type Explainer interface {
	Explain(ctx context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (explain.Explanation, error)
}

// Bundles finds the box of a contract.
type Bundles interface {
	BundleOf(ctx context.Context, of shop.ID, c contract.Contract) (bundle.Settings, bool, error)
}

// Options are what the pages need.
type Options struct {
	Sheets    Sheets
	Orders    Orders
	Statuses  Statuses
	Terms     Terms
	Platform  Platform
	Links     Links
	Explainer Explainer
	Bundles   Bundles
	Clock     clock.Clock
}

type room struct{ Options }

// number reads a number of the path.
func number(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, dashboard.PathNotFound()
	}
	return n, nil
}

// at returns the path of a contract's page.
func at(id contract.ID) string { return "/contracts/" + strconv.FormatInt(int64(id), 10) }

// crumb is the page of a contract, to which others belong.
func crumb(c contract.Contract) *dashboard.Crumb {
	return &dashboard.Crumb{Name: name(c), Path: at(c.ID)}
}

// name is what a contract is called: its customer.
func name(c contract.Contract) string {
	for _, text := range []string{c.Customer.Name, c.Customer.Email} {
		if text != "" {
			return text
		}
	}
	return "Contract " + strconv.FormatInt(int64(c.ID), 10)
}
