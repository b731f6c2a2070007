package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal/letters"
)

type mailCommand struct {
	Preview mailPreviewCommand `cmd:"" help:"Show the e-mail that subscribers get, to a made-up customer."`
}

type mailPreviewCommand struct {
	config.Database `embed:""`

	Kind   notify.Kind `arg:"" help:"What it is for, such as upcoming_order; with a wrong one all are listed."`
	Locale string      `help:"Language of the reader: a BCP 47 tag such as de or pt-BR. One that the product does not have reads English." default:"en" placeholder:"TAG"`
	Shop   string      `help:"A store, for its name, look, texts and templates. Empty: a store that has changed nothing; no database is needed then." placeholder:"STORE.myshopify.com"`
	HTML   string      `help:"Write the HTML part to a new file, to open in a browser." type:"path" placeholder:"FILE"`
}

// Run prints the subject and the text part, and writes the HTML part to a file when it has one.
func (c *mailPreviewCommand) Run(ctx context.Context, out io.Writer) error {
	if !slices.Contains(notify.CustomerKinds(), c.Kind) {
		return fmt.Errorf("%q is no e-mail to subscribers: use %s", c.Kind, enumerated(notify.CustomerKinds()))
	}
	return app.WithLetters(ctx, c.Database, clock.System{}, c.Shop, func(w *letters.Writer, of shop.Shop) error {
		l, err := w.Sample(ctx, of, c.Kind, c.Locale)
		if err != nil {
			return err
		}
		if c.HTML != "" {
			if err := writeNew(c.HTML, l.HTML); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(out, "From: %s\nSubject: %s\n\n%s\n", l.FromName, l.Subject, l.Text)
		return err
	})
}

// writeNew writes a file that does not exist yet.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // a preview is no secret
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close() // the first error tells
		return err
	}
	return f.Close()
}
