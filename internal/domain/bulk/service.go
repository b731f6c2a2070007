package bulk

import (
	"context"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Statuses pauses, activates and cancels contracts.
type Statuses interface {
	SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error)
}

// Edits changes lines, discounts and limits of contracts.
type Edits interface {
	ChangeLine(ctx context.Context, of shop.ID, cmd amend.Command, l contractedit.LineChange) (contract.Detail, error)
	ApplyCode(ctx context.Context, of shop.ID, cmd amend.Command, code string) (contract.Detail, error)
	RemoveDiscount(ctx context.Context, of shop.ID, cmd amend.Command, id string) (contract.Detail, error)
	SetCycles(ctx context.Context, of shop.ID, cmd amend.Command, want terms.Cycles) (contract.Detail, error)
}

// Orders changes upcoming orders.
type Orders interface {
	Skip(ctx context.Context, of shop.ID, cmd command.Skip) (billing.Record, error)
	Reschedule(ctx context.Context, of shop.ID, cmd command.Reschedule) (billing.Record, error)
	AddOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
	RemoveOneOff(ctx context.Context, of shop.Shop, cmd command.OneOff) error
}

// Links sends customers links to the portal.
type Links interface {
	SendLink(ctx context.Context, of shop.ID, who login.CustomerRef, by activity.Actor) error
}

// Mails sends customers e-mails in a merchant's words.
type Mails interface {
	SendNews(ctx context.Context, of shop.ID, m notify.Mailing) error
}

// Reader reads what an action depends on.
type Reader interface {
	shop.Reader
	Contracts(ctx context.Context, ids []contract.ID) ([]contract.Contract, error)
	// AttemptsOf returns the contracts' attempts in any of the statuses, by contract and cycle.
	AttemptsOf(ctx context.Context, contracts []contract.ID, in ...billing.Status) ([]billing.Attempt, error)
	billing.InputReader
}

// JobReader reads jobs and their contracts.
type JobReader interface {
	// BulkJob returns a job, or NotFound.
	BulkJob(ctx context.Context, id JobID) (Job, error)
	// BulkJobByKey returns the job that a request with the key started; false: there is none.
	BulkJobByKey(ctx context.Context, key string) (Job, bool, error)
	// BulkJobs returns at most limit jobs, newest first; with open, only those that are.
	BulkJobs(ctx context.Context, open bool, limit int) ([]Job, error)
	// BulkItems returns at most limit contracts of a job in a status, by id, after one.
	BulkItems(ctx context.Context, job JobID, in ItemStatus, after contract.ID, limit int) ([]Item, error)
}

// ReadTx is one read-only transaction on one shop's data.
type ReadTx interface {
	Reader
	JobReader
}

// JobTx writes jobs. What it reads is locked until the transaction ends.
type JobTx interface {
	JobReader
	// PutBulkJob inserts a job whose ID is 0, giving it one, and writes another one if its
	// Version is still what was read; otherwise it fails with a Conflict. A second job with a
	// key is a Conflict too.
	PutBulkJob(ctx context.Context, j *Job) error
	// DueBulkJobs returns at most limit jobs whose DueAt is at or before now, the longest due
	// first, and skips those that another transaction has locked.
	DueBulkJobs(ctx context.Context, now time.Time, limit int) ([]Job, error)
}

// ItemTx writes the contracts of jobs.
type ItemTx interface {
	// AddBulkItems adds contracts that wait to a job and returns how many it did not have.
	AddBulkItems(ctx context.Context, job JobID, due time.Time, contracts []contract.ID) (int, error)
	// DueBulkItems returns at most limit contracts of a job whose DueAt is at or before now,
	// the longest due first, and skips those that another transaction has locked; with begun,
	// only those that were begun.
	DueBulkItems(ctx context.Context, job JobID, now time.Time, begun bool, limit int) ([]Item, error)
	// NextBulkItem returns the earliest DueAt of a job's contracts; zero: all are settled. With
	// begun, only those that were begun count.
	NextBulkItem(ctx context.Context, job JobID, begun bool) (time.Time, error)
	// BulkItemsOf returns the given contracts of a job, by id.
	BulkItemsOf(ctx context.Context, job JobID, contracts []contract.ID) ([]Item, error)
	// PutBulkItems writes contracts that were read in this transaction.
	PutBulkItems(ctx context.Context, items []Item) error
}

// Tx is one transaction on one shop's data.
type Tx interface {
	Reader
	JobTx
	ItemTx
	activity.Recorder
	Enqueue(ctx context.Context, tasks ...task.Task) error
}

// Store runs transactions. View is for what only reads.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
	View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error
}

// Service previews, starts and works jobs.
type Service struct {
	Store     Store
	Directory Directory
	Statuses  Statuses
	Edits     Edits
	Orders    Orders
	Links     Links
	Mails     Mails
	Prices    Prices
	Clock     clock.Clock
	Log       *slog.Logger
	// Parallel is how many contracts a worker changes at once; 0: one.
	Parallel int
}

// Jobs returns the jobs of a shop, newest first, at most 100.
func (s *Service) Jobs(ctx context.Context, of shop.ID) ([]Job, error) {
	const limit = 100
	var list []Job
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		list, err = tx.BulkJobs(ctx, false, limit)
		return err
	})
	return list, err
}

// Job returns a job, or NotFound.
func (s *Service) Job(ctx context.Context, of shop.ID, id JobID) (Job, error) {
	var j Job
	err := s.Store.View(ctx, of, func(tx ReadTx) (err error) {
		j, err = tx.BulkJob(ctx, id)
		return err
	})
	return j, err
}

// Failures returns at most limit contracts of a job that failed, by id, after one.
func (s *Service) Failures(ctx context.Context, of shop.ID, id JobID, after contract.ID, limit int) ([]Item, error) {
	var list []Item
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		if _, err := tx.BulkJob(ctx, id); err != nil {
			return err
		}
		var err error
		list, err = tx.BulkItems(ctx, id, Refused, after, limit)
		return err
	})
	return list, err
}
