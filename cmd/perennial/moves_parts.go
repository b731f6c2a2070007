package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
)

type movesPartsCommand struct {
	oneMove

	Make bool `help:"Read them again, and make those that go."`
}

// Run lists what moves beside contracts, or has it made.
func (c *movesPartsCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *mover.Service, of app.ShopRef) error {
		if c.Make {
			if _, err := s.MakeParts(ctx, of.ID, c.Move, activity.Operator); err != nil {
				return err
			}
			_, err := fmt.Fprintf(out, "the service reads them again and makes those that go. Look at it with: perennial moves show --shop %s %d\n", c.Shop, c.Move)
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "KIND\tNUMBER\tNAME\tSTAGE\tFIT\tMADE AS\tFINDING")
		for after := (moving.PartKey{}); ; {
			list, err := s.PartsOf(ctx, of.ID, c.Move, moving.PartMatch{}, after, partsAtOnce)
			if err != nil {
				return err
			}
			for _, p := range list {
				showPart(table, p)
				after = p.PartKey
			}
			if len(list) < partsAtOnce {
				return table.Flush()
			}
		}
	})
}

// partsAtOnce is how many parts one transaction reads.
const partsAtOnce = 500

// showPart prints a part, with a line for each finding.
func showPart(out io.Writer, p moving.Part) {
	here := ""
	if p.Here != 0 {
		here = fmt.Sprint(p.Here)
	}
	texts := []string{""}
	if len(p.Findings) > 0 {
		texts = nil
	}
	for _, f := range p.Findings {
		texts = append(texts, f.Text)
	}
	for n, text := range texts {
		if n == 0 {
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Kind, oneLine(p.There), oneLine(p.Name), p.Stage, p.Fit, here, oneLine(text))
		} else {
			fmt.Fprintf(out, "\t\t\t\t\t\t%s\n", oneLine(text))
		}
	}
}

// showParts prints how many parts of each kind are at each stage.
func showParts(out io.Writer, p mover.Progress) {
	switch parts := p.Move.Parts; {
	case parts.ReadAt.IsZero():
		fmt.Fprintln(out, "plan groups, swap rules, bundles and members are being read")
	case parts.Make:
		fmt.Fprintln(out, "plan groups, swap rules, bundles and members are being made")
	}
	for _, kind := range moving.PartKinds {
		line := ""
		for _, stage := range moving.PartStages {
			if n := p.PartsAt(kind, stage); n > 0 {
				line += fmt.Sprintf(" %d %s", n, stage)
			}
		}
		if line != "" {
			fmt.Fprintf(out, "  %s:%s\n", kind, line)
		}
	}
}
