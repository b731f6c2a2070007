package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/perennialhq/perennial/internal/prove"
)

type proveCommand struct {
	Renewals int      `help:"Orders to be made at least." default:"10000"`
	Faults   int      `help:"Faults to happen at least." default:"1000"`
	Seed     uint64   `help:"What everything is drawn from." default:"1"`
	Database string   `help:"sqlite, or the postgres:// address of a database in which schemas can be made." default:"sqlite"`
	Nodes    int      `help:"Nodes of the service; 0: as the seed says." default:"0"`
	World    int      `help:"Run only the world with this number." default:"0"`
	Upto     uint64   `help:"End each world after so many steps; 0: at its end." default:"0"`
	Without  []string `help:"Kinds of faults to leave out."`
	Moving   bool     `help:"Two services beside one platform, and contracts that move from one to the other and back under the faults."`
	Out      string   `help:"File for the proof." type:"path" placeholder:"proof.md"`
}

// Run runs the proof. It fails when the proof does not hold.
func (c *proveCommand) Run(ctx context.Context, out io.Writer) error {
	o := prove.Options{
		Seed: c.Seed, Renewals: c.Renewals, Faults: c.Faults, Nodes: c.Nodes, World: c.World, UpTo: c.Upto, Moving: c.Moving, Progress: out,
	}
	if c.Database != "sqlite" {
		o.Database = c.Database
	}
	for _, k := range c.Without {
		o.Without = append(o.Without, prove.Kind(k))
	}
	proof, failure := prove.Run(ctx, o)
	to := out
	if c.Out != "" {
		file, err := os.Create(c.Out)
		if err != nil {
			return fmt.Errorf("write the proof: %w", err)
		}
		defer file.Close()
		to = file
	}
	if err := proof.Report(to, c.line(), commit(), failure); err != nil {
		return fmt.Errorf("write the proof: %w", err)
	}
	if errors.Is(failure, context.Canceled) { // which ends other commands well
		return errors.New("stopped before the end: nothing is proven")
	}
	return failure
}

// line is the command that repeats the run, without what an address may hide.
func (c *proveCommand) line() string {
	line := fmt.Sprintf("perennial prove --renewals %d --faults %d --seed %d", c.Renewals, c.Faults, c.Seed)
	if c.Database != "sqlite" {
		line += " --database postgres://…"
	}
	if c.Nodes != 0 {
		line += fmt.Sprintf(" --nodes %d", c.Nodes)
	}
	if c.World != 0 {
		line += fmt.Sprintf(" --world %d", c.World)
	}
	if c.Upto != 0 {
		line += fmt.Sprintf(" --upto %d", c.Upto)
	}
	if c.Moving {
		line += " --moving"
	}
	if len(c.Without) > 0 {
		line += " --without " + strings.Join(c.Without, ",")
	}
	return line
}

// commit is what the program was built from.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
