package moves

import (
	"context"
	"io"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Moves starts, knows and steers moves.
type Moves interface {
	Moves(ctx context.Context, of shop.ID) ([]moving.Move, error)
	Progress(ctx context.Context, of shop.ID, id moving.ID) (mover.Progress, error)
	Next(ctx context.Context, of shop.ID, id moving.ID, percent int) (mover.Next, error)
	Findings(ctx context.Context, of shop.ID, id moving.ID) ([]moving.FindingCount, error)
	Items(ctx context.Context, of shop.ID, id moving.ID, match moving.Match, after int64, limit int) ([]moving.Item, error)
	Compared(ctx context.Context, of shop.ID, id moving.ID, verdicts []moving.Verdict, limit int) ([]moving.Compared, error)
	ReportCSV(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error
	ReportJSON(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error

	PartsOf(ctx context.Context, of shop.ID, id moving.ID, match moving.PartMatch, after moving.PartKey, limit int) ([]moving.Part, error)
	MakeParts(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)
	DeclineParts(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)

	Start(ctx context.Context, of shop.ID, n mover.New) (moving.Move, error)
	Upload(ctx context.Context, of shop.ID, f mover.NewFile) (moving.Move, error)
	Sample(ctx context.Context, of shop.ID, id moving.ID, limit int) (header []string, rows [][]string, err error)
	SetMapping(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, c moving.Choices) (moving.Move, error)
	SetPaused(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, paused bool) (moving.Move, error)
	SetWave(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, percent int) (moving.Move, error)
	ReadAgain(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)
	RetryFailing(ctx context.Context, of shop.ID, id moving.ID) (int, error)
	End(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor) (moving.Move, error)
}

// Book knows the plan groups, whose options are the selling plans of the store here.
type Book interface {
	PlanGroups(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]plan.Group, int, error)
}

// Options are what the pages need.
type Options struct {
	Moves Moves
	Book  Book
}

type room struct{ Options }
