package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web/admin"
)

type explainCommand struct {
	config.Database `embed:""`
	config.Platform `embed:""`

	Attempt int64  `arg:"" help:"Number of the billing attempt."`
	Shop    string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	JSON    bool   `help:"Print what the admin interface answers, in place of words."`
}

// Run explains an attempt.
func (c *explainCommand) Run(ctx context.Context, out io.Writer) error {
	e, err := app.Explain(ctx, c.Database, c.Platform, clock.System{}, c.Shop, billing.AttemptID(c.Attempt))
	if err != nil {
		return err
	}
	if !c.JSON {
		_, err = io.WriteString(out, e.Text())
		return err
	}
	text := json.NewEncoder(out)
	text.SetIndent("", "  ")
	return text.Encode(admin.NewAttemptExplanation(e))
}
