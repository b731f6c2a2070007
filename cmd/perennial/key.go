package main

import (
	"context"
	"fmt"
	"io"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/config"
)

type keyCommand struct {
	Rotate keyRotateCommand `cmd:"" help:"Encrypt everything with the secret key that another one has encrypted, while nodes run."`
}

type keyRotateCommand struct {
	config.Database `embed:""`
}

// Run seals everything with the present key. It fails when something is lost, which no key
// opens.
func (c *keyRotateCommand) Run(ctx context.Context, out io.Writer) error {
	done, err := app.RotateKey(ctx, c.Database)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d secrets were encrypted with the new key\n", done.Texts)
	if done.Lost > 0 {
		return fmt.Errorf("%d secrets are opened by none of the keys: name the key that has encrypted them in PERENNIAL_OTHER_SECRET_KEYS too, or see Secret key in docs/operating.md", done.Lost)
	}
	_, err = fmt.Fprintln(out, "all secrets are encrypted with the new key: PERENNIAL_OTHER_SECRET_KEYS may go")
	return err
}
