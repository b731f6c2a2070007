package app

import (
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/platform/shopify"
)

// bulkParallel is how many contracts of one store a worker of a bulk action changes at once.
const bulkParallel = 4

// changeContracts assembles the services that change contracts.
func (a *App) changeContracts(client *shopify.Client) {
	editor := &amend.Editor{
		Store: a.Store.Intake(), Platform: client, Adopter: a.Intake, Publish: a.Charge.Publish, Bundles: a.Store, Trail: a.Store,
		Clock: a.options.Clock, Log: a.options.Log,
	}
	pricer := &terms.Pricer{Editor: editor, Plans: a.Store}
	a.Edits = &contractedit.Service{Pricer: pricer, Orders: a.Command, OneOffs: a.Command}
	a.Creations = &create.Service{Pricer: pricer, Creations: a.Store}
	a.Splits = &split.Service{Pricer: pricer, Orders: a.Command}
	a.Lifecycle = &lifecycle.Service{Editor: editor, Splits: a.Splits, Pending: a.Edits, Creations: a.Creations, Due: a.Store}
	a.Cancelling = &session.Service{
		Store: a.Store.CancelSessions(), Statuses: a.Lifecycle, Edits: a.Edits, Orders: a.Command, Prices: a.Edits, Clock: a.options.Clock, Log: a.options.Log,
	}
	a.Portal = &portal.Service{
		Store: a.Store.Portal(), Orders: a.Command, Edits: a.Edits, Statuses: a.Lifecycle, Creations: a.Creations, Plans: a.Store, Members: a.Store,
		Answers: a.Store.Answers(), Clock: a.options.Clock, UnsubscribeKey: a.keyFor("links that end e-mails"),
	}
	a.Bulk = &bulk.Service{
		Store: a.Store.Bulk(), Directory: a.Store, Statuses: a.Lifecycle, Edits: a.Edits, Orders: a.Command, Links: a.Login, Mails: a.Notify, Prices: a.Edits,
		Clock: a.options.Clock, Log: a.options.Log, Parallel: bulkParallel,
	}
	a.moveContracts(client, editor)
	a.Overview = &overview.Service{Store: a.Store.Overview(), Clock: a.options.Clock}
	if a.options.Simulated != nil { // what it asks for is done in the goroutine that asks
		a.Bulk.Parallel, a.Moves.Parallel = 1, 1
	}
}
