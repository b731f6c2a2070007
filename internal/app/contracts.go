package app

import (
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/split"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/bulk"
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
	a.Lifecycle = &lifecycle.Service{Editor: editor, Splits: a.Splits, Pending: a.Edits, Due: a.Store}
	a.Bulk = &bulk.Service{
		Store: a.Store.Bulk(), Directory: a.Store, Statuses: a.Lifecycle, Edits: a.Edits, Orders: a.Command, Links: a.Login, Prices: a.Edits,
		Clock: a.options.Clock, Log: a.options.Log, Parallel: bulkParallel,
	}
	if a.options.Simulated != nil { // what it asks for is done in the goroutine that asks
		a.Bulk.Parallel = 1
	}
}
