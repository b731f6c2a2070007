package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/app/doctor"
	"github.com/perennialhq/perennial/internal/config"
)

type doctorCommand struct {
	config.Server `embed:""`
	config.Doctor `embed:""`
	JSON          bool `help:"Print JSON."`
}

// errUnwell is the error of a command whose checks failed.
var errUnwell = errors.New("some checks failed: each says what to do")

// Run makes all checks and prints them. It fails when one does.
func (c *doctorCommand) Run(ctx context.Context, out io.Writer) error {
	findings := app.Doctor(ctx, c.Server, c.Doctor)
	if err := printFindings(out, findings, c.JSON); err != nil {
		return err
	}
	if doctor.AnyFailed(findings) {
		return errUnwell
	}
	return nil
}

// printFindings prints findings as a table, or as JSON for programs.
func printFindings(out io.Writer, findings []doctor.Finding, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Failed bool             `json:"failed"`
			Checks []doctor.Finding `json:"checks"`
		}{doctor.AnyFailed(findings), findings})
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STATE\tCHECK\tSTORE\tFOUND")
	for _, f := range findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.State, f.Check, cmp.Or(f.Shop, "–"), oneLine(f.Found))
		if f.Do != "" {
			fmt.Fprintf(table, "\t\t\t→ %s\n", oneLine(f.Do))
		}
	}
	return table.Flush()
}
