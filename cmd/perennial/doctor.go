package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/config"
)

type doctorCommand struct {
	config.Server `embed:""`
}

// Run checks everything and prints a line each. It fails when a check does.
func (c *doctorCommand) Run(ctx context.Context, out io.Writer) error {
	failed := false
	for _, check := range app.Doctor(ctx, c.Server) {
		verdict := "ok  "
		if check.Err != nil {
			verdict, failed = "FAIL", true
		}
		fmt.Fprintf(out, "%s  %s", verdict, check.Name)
		if check.Err != nil {
			fmt.Fprintf(out, ": %s", oneLine(check.Err.Error()))
		}
		fmt.Fprintln(out)
	}
	if failed {
		return errors.New("some checks failed: each line says what to do")
	}
	return nil
}
