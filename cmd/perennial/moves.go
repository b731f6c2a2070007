package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

// moveFrom says how another service is called.
type moveFrom struct {
	Memberships string   `help:"Base address of the other service's memberships, if it has any." placeholder:"URL"`
	Loyalty     string   `help:"Base address of the other service's loyalty, to move members with their points." placeholder:"URL"`
	KeyFile     string   `help:"File with the API key of the other service." placeholder:"FILE"`
	Rate        float64  `help:"Requests per second to the other service." default:"10"`
	Plan        []string `help:"Selling plan that takes the place of another one; repeat it for each." placeholder:"THERE=HERE"`
}

// start starts a move.
func (c moveFrom) start(ctx context.Context, out io.Writer, d config.Database, domain string, direction moving.Direction, address string) error {
	if c.KeyFile == "" {
		return errors.New("--key-file: name the file with the API key of the other service")
	}
	key, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return err
	}
	plans, err := c.plans()
	if err != nil {
		return err
	}
	return app.WithMoves(ctx, d, clock.System{}, domain, func(s *mover.Service, of app.ShopRef) error {
		m, err := s.Start(ctx, of.ID, mover.New{
			Direction: direction, Peer: moving.Peer{Address: address, Memberships: c.Memberships, Loyalty: c.Loyalty, Key: strings.TrimSpace(string(key)), Rate: c.Rate}, Plans: plans, By: activity.Operator,
		})
		if err != nil {
			return err
		}
		return begun(out, m.ID, domain)
	})
}

func (c moveFrom) plans() (map[int64]int64, error) {
	plans := make(map[int64]int64, len(c.Plan))
	for _, text := range c.Plan {
		there, here, both := strings.Cut(text, "=")
		from, err := strconv.ParseInt(there, 10, 64)
		to, err2 := strconv.ParseInt(here, 10, 64)
		if !both || err != nil || err2 != nil {
			return nil, fmt.Errorf("--plan %q: write it as THERE=HERE, with the numbers of two selling plans", text)
		}
		plans[from] = to
	}
	return plans, nil
}

// moveFile says how a CSV file is read.
type moveFile struct {
	Map          map[string]string `help:"Column of the file that holds a field; repeat it for each. What is not named is guessed. An empty column leaves a field out." placeholder:"FIELD=COLUMN" mapsep:"none"`
	Kind         string            `help:"What the rows of the file are: contracts, customers (consent to e-mails, language, birthday) or points (of loyalty members)." enum:"contracts,customers,points" default:"contracts"`
	LeaveOut     []string          `help:"Column that is not read though it looks like an amount, a quantity or a date; repeat it for each." placeholder:"COLUMN" sep:"none"`
	DecimalComma *bool             `help:"Numbers that may be written either way have a decimal comma, or with --no-decimal-comma a point. Without either each column decides." negatable:""`
	DayFirst     *bool             `help:"In dates that may be written either way, such as 03/04/2027, the day comes first, or with --no-day-first the month. Without either each column decides." negatable:""`
}

// start uploads a file, maps its columns and has it read.
func (c moveFile) start(ctx context.Context, out io.Writer, d config.Database, domain, name string, plans map[int64]int64) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return app.WithMoves(ctx, d, clock.System{}, domain, func(s *mover.Service, of app.ShopRef) error {
		m, err := s.Upload(ctx, of.ID, mover.NewFile{Name: filepath.Base(name), Kind: table.Kind(strings.ToUpper(c.Kind)), Body: file, Plans: plans, By: activity.Operator})
		if err != nil {
			return err
		}
		choices := c.choices(m.File.Choices)
		if err := showMapping(out, *m.File, choices); err != nil {
			return err
		}
		if _, err := s.SetMapping(ctx, of.ID, m.ID, activity.Operator, choices); err != nil {
			_, ended := s.End(ctx, of.ID, m.ID, activity.Operator)
			return errors.Join(fmt.Errorf("%w. Name columns with --map FIELD=COLUMN, and those that are not read with --leave-out COLUMN", err), ended)
		}
		return begun(out, m.ID, domain)
	})
}

// choices adds the flags to what was guessed, or chosen for the last file with the same columns.
func (c moveFile) choices(known moving.Choices) moving.Choices {
	maps.Copy(known.Fields, c.Map)
	known.LeftOut = slices.Concat(known.LeftOut, c.LeaveOut)
	known.DecimalComma = cmp.Or(c.DecimalComma, known.DecimalComma)
	known.DayFirst = cmp.Or(c.DayFirst, known.DayFirst)
	return known
}

// showMapping prints which column holds which field, and which columns are not read.
func showMapping(out io.Writer, f moving.File, choices moving.Choices) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COLUMN\tFIELD")
	for _, column := range f.Header {
		var held []string
		for _, field := range slices.Sorted(maps.Keys(choices.Fields)) {
			if column != "" && choices.Fields[field] == column {
				held = append(held, field)
			}
		}
		if len(held) > 0 {
			fmt.Fprintf(table, "%s\t%s\n", oneLine(column), strings.Join(held, ", "))
		}
	}
	for _, u := range f.Unread(choices) {
		fmt.Fprintf(table, "%s\t%s\n", oneLine(u.Name), unreadText(u))
	}
	return table.Flush()
}

// unreadText says what becomes of a column that no field reads.
func unreadText(u moving.Unread) string {
	switch {
	case u.LeftOut:
		return "is left out, as you chose"
	case u.Looks != "":
		return "is not read, and looks like " + u.Looks.String()
	case u.Values == 0:
		return "is not read, and is empty"
	}
	return "is not read"
}

// begun says that a move has begun.
func begun(out io.Writer, id moving.ID, domain string) error {
	_, err := fmt.Fprintf(out, "move %[1]d has begun: the service reads the contracts and changes nothing. Look at it with: perennial moves show --shop %[2]s %[1]d\n", id, domain)
	return err
}

type movesCommand struct {
	List     movesListCommand     `cmd:"" help:"List the moves of a store."`
	Show     movesShowCommand     `cmd:"" help:"Show how far a move has come."`
	Parts    movesPartsCommand    `cmd:"" help:"List plan groups, swap rules, bundles and members of a move, or make those that go."`
	Report   movesReportCommand   `cmd:"" help:"Write every part and contract of a move with what is not carried over as it is."`
	Wave     movesWaveCommand     `cmd:"" help:"Let so many percent of the contracts be moved."`
	Pause    movesPauseCommand    `cmd:"" help:"Begin no further contract."`
	Resume   movesResumeCommand   `cmd:"" help:"Go on with a move that was paused."`
	Read     movesReadCommand     `cmd:"" help:"List and read the contracts again."`
	Retry    movesRetryCommand    `cmd:"" help:"Try the contracts again whose last step failed."`
	End      movesEndCommand      `cmd:"" help:"End a move: nothing is compared or moved any more."`
	Out      movesOutCommand      `cmd:"" help:"Start the move of a store to another service."`
	Template movesTemplateCommand `cmd:"" help:"Write a CSV file with the columns that are read, and examples."`
}

// oneMove names a move.
type oneMove struct {
	config.Database `embed:""`

	Shop string    `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Move moving.ID `arg:"" help:"Number of the move."`
}

func (c oneMove) with(ctx context.Context, fn func(*mover.Service, app.ShopRef) error) error {
	return app.WithMoves(ctx, c.Database, clock.System{}, c.Shop, fn)
}

type movesListCommand struct {
	config.Database `embed:""`

	Shop string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run lists the moves of a store.
func (c *movesListCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithMoves(ctx, c.Database, clock.System{}, c.Shop, func(s *mover.Service, of app.ShopRef) error {
		list, err := s.Moves(ctx, of.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "MOVE\tDIRECTION\tSERVICE OR FILE\tSTATUS\tWAVE\tSTARTED")
		for _, m := range list {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d %%\t%s\n", m.ID, m.Direction, oneLine(m.Other()), m.Status, m.Wave, shown(m.CreatedAt))
		}
		return table.Flush()
	})
}

type movesShowCommand struct{ oneMove }

// Run shows how far a move has come.
func (c *movesShowCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *mover.Service, of app.ShopRef) error {
		p, err := s.Progress(ctx, of.ID, c.Move)
		if err != nil {
			return err
		}
		return showProgress(out, p)
	})
}

// showProgress prints how far a move has come.
func showProgress(out io.Writer, p mover.Progress) error {
	m := p.Move
	state := string(m.Status)
	if m.Paused {
		state += ", paused"
	}
	fmt.Fprintf(out, "move %d %s %s: %s, %d %% may be moved\n", m.ID, m.Direction, oneLine(m.Other()), state, m.Wave)
	switch {
	case m.Status == moving.Mapping && m.Failure != "":
		fmt.Fprintf(out, "the file cannot be read: %s. Correct it, end this move and import the file again\n", oneLine(m.Failure))
	case m.Failure != "":
		fmt.Fprintf(out, "the other service has failed since %s: %s. It is tried again at %s\n", shown(m.FailedAt), oneLine(m.Failure), shown(m.DueAt))
	}
	if m.Announced != p.Total && m.Status == moving.Ready {
		fmt.Fprintf(out, "the other service said that it has %d contracts, and listed %d\n", m.Announced, p.Total)
	}
	fmt.Fprintf(out, "%d contracts: %d read, %d moved, %d between the services, %d failing\n", p.Total, p.Read, p.Moved, p.Between, p.Failing)
	fmt.Fprintf(out, "%d go as they are, %d go with differences, %d cannot go\n", p.ByFit[moving.Goes], p.ByFit[moving.Changes], p.ByFit[moving.Stays])
	if !p.EndsAt.IsZero() {
		step := "moved: those of the wave"
		if m.ReadAt.IsZero() {
			step = "read: all"
		}
		fmt.Fprintf(out, "%.0f contracts a minute are %s by %s\n", p.Pace, step, shown(p.EndsAt))
	}
	showTotals(out, p.Totals)
	for _, sum := range p.Sums {
		fmt.Fprintf(out, "the next %d days: %d orders of together %s here, and %d orders of together %s there\n", moving.ComingDays,
			sum.HereOrders, sum.Amount(sum.Here), sum.ThereOrders, sum.Amount(sum.There))
	}
	if m.File == nil {
		showDifferences(out, p)
	}
	showParts(out, p)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, stage := range moving.Stages {
		if n := p.Stages[stage]; n > 0 {
			fmt.Fprintf(table, "  %s\t%d\n", stage, n)
		}
	}
	return table.Flush()
}

// showTotals prints the totals of a file beside those of the contracts that go.
func showTotals(out io.Writer, totals []mover.FileTotal) {
	for _, t := range totals {
		if t.Currency == "" {
			fmt.Fprintf(out, "without a currency: the file has %d contracts, %d go\n", t.File.Contracts, t.Goes.Contracts)
			continue
		}
		fmt.Fprintf(out, "an order of each contract in %s: the file has %s, %s go, %s stay", t.Currency,
			contractsOf(t.Currency, t.File), contractsOf(t.Currency, t.Goes), contractsOf(t.Currency, t.Stays()))
		if n := t.File.Unpriced; n > 0 {
			fmt.Fprintf(out, ", %d of them with an amount that cannot be read and is not in the sums", n)
		}
		fmt.Fprintln(out)
	}
}

// contractsOf returns a number of contracts and the sum of their orders.
func contractsOf(c money.Currency, t moving.Total) string {
	return fmt.Sprintf("%d contracts of together %s %s", t.Contracts, money.Amount{Minor: t.Amount, Currency: c}, c)
}

// showDifferences prints how the orders of both services compare.
func showDifferences(out io.Writer, p mover.Progress) {
	compared, differ, unexplained := p.Differences()
	fmt.Fprintf(out, "%d orders were compared: %d differ, %d of them without a known reason\n", compared, differ, unexplained)
}

type movesReportCommand struct {
	oneMove

	Format string `help:"csv or json (JSON Lines)." enum:"csv,json" default:"csv"`
}

// Run writes the report.
func (c *movesReportCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *mover.Service, of app.ShopRef) error {
		if c.Format == "json" {
			return s.ReportJSON(ctx, of.ID, c.Move, out)
		}
		return s.ReportCSV(ctx, of.ID, c.Move, out)
	})
}

type movesWaveCommand struct {
	oneMove

	Percent      int  `arg:"" help:"1 to 100."`
	WithoutParts bool `help:"Move contracts though plan groups, swap rules, bundles or members that go are not made (perennial moves parts --make makes them)."`
}

// Run lets contracts be moved.
func (c *movesWaveCommand) Run(ctx context.Context, out io.Writer) error {
	return c.steer(ctx, out, func(s *mover.Service, of app.ShopRef) (moving.Move, error) {
		if c.WithoutParts {
			if m, err := s.DeclineParts(ctx, of.ID, c.Move, activity.Operator); err != nil {
				return m, err
			}
		}
		return s.SetWave(ctx, of.ID, c.Move, activity.Operator, c.Percent)
	})
}

// steer changes a move and shows how far it has come.
func (c oneMove) steer(ctx context.Context, out io.Writer, fn func(*mover.Service, app.ShopRef) (moving.Move, error)) error {
	return c.with(ctx, func(s *mover.Service, of app.ShopRef) error {
		if _, err := fn(s, of); err != nil {
			return err
		}
		p, err := s.Progress(ctx, of.ID, c.Move)
		if err != nil {
			return err
		}
		return showProgress(out, p)
	})
}

type movesPauseCommand struct{ oneMove }

// Run pauses a move.
func (c *movesPauseCommand) Run(ctx context.Context, out io.Writer) error {
	return c.steer(ctx, out, func(s *mover.Service, of app.ShopRef) (moving.Move, error) {
		return s.SetPaused(ctx, of.ID, c.Move, activity.Operator, true)
	})
}

type movesResumeCommand struct{ oneMove }

// Run lets a move go on.
func (c *movesResumeCommand) Run(ctx context.Context, out io.Writer) error {
	return c.steer(ctx, out, func(s *mover.Service, of app.ShopRef) (moving.Move, error) {
		return s.SetPaused(ctx, of.ID, c.Move, activity.Operator, false)
	})
}

type movesReadCommand struct{ oneMove }

// Run has all contracts read again.
func (c *movesReadCommand) Run(ctx context.Context, out io.Writer) error {
	return c.steer(ctx, out, func(s *mover.Service, of app.ShopRef) (moving.Move, error) {
		return s.ReadAgain(ctx, of.ID, c.Move, activity.Operator)
	})
}

type movesRetryCommand struct{ oneMove }

// Run has contracts tried again.
func (c *movesRetryCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *mover.Service, of app.ShopRef) error {
		n, err := s.RetryFailing(ctx, of.ID, c.Move)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%d contracts are tried again\n", n)
		return err
	})
}

type movesEndCommand struct{ oneMove }

// Run ends a move.
func (c *movesEndCommand) Run(ctx context.Context, out io.Writer) error {
	return c.steer(ctx, out, func(s *mover.Service, of app.ShopRef) (moving.Move, error) {
		return s.End(ctx, of.ID, c.Move, activity.Operator)
	})
}

type movesOutCommand struct {
	config.Database `embed:""`

	Shop string   `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	To   string   `help:"Base address of the other service." required:"" placeholder:"URL"`
	Peer moveFrom `embed:""`
}

// Run starts a move to another service.
func (c *movesOutCommand) Run(ctx context.Context, out io.Writer) error {
	return c.Peer.start(ctx, out, c.Database, c.Shop, moving.Out, c.To)
}

type movesTemplateCommand struct {
	Kind string `arg:"" help:"contracts, customers or points." enum:"contracts,customers,points"`
}

// Run writes a template.
func (c *movesTemplateCommand) Run(out io.Writer) error {
	_, err := out.Write(table.Template(table.Kind(strings.ToUpper(c.Kind))))
	return err
}
