package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
)

type exportCommand struct {
	config.Database `embed:""`

	Shop string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	Out  string `help:"File to write: a zip file that must not be there yet." required:"" placeholder:"FILE"`
}

// Run writes everything that a store has to a file that only the operator may read. What is
// written is beside it until it is complete, and is removed when that fails.
func (c *exportCommand) Run(ctx context.Context, out io.Writer) error {
	if _, err := os.Lstat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: name another file", c.Out)
	}
	return app.WithArchive(ctx, c.Database, clock.System{}, version(), func(s *archive.Service) error {
		store, err := s.Find(ctx, c.Shop)
		if err != nil {
			return err
		}
		part := c.Out + ".part"
		var m archive.Manifest
		err = writeFile(part, func(to io.Writer) (err error) {
			m, err = s.Export(ctx, store, to, reporting(out))
			return err
		})
		if err == nil {
			err = publish(part, c.Out)
		}
		if err != nil {
			_ = os.Remove(part) // it may be gone; the failure says more
			return err
		}
		_, err = fmt.Fprintf(out, "%s holds everything of %s: %d records. It has customers' data: keep it as you keep the database\n", c.Out, c.Shop, m.Total())
		return err
	})
}

// publish gives a file its name. Where the file system has links, this replaces no file that came
// meanwhile.
func publish(part, name string) error {
	err := os.Link(part, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}

// writeFile writes a file to the disk that only the operator may read.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

type importCommand struct {
	config.Database `embed:""`

	Archive string   `help:"File that perennial export wrote." xor:"source" required:"" placeholder:"FILE"`
	From    string   `help:"Base address of another service with this interface, whose contracts are read." xor:"source" required:"" placeholder:"URL"`
	CSV     string   `name:"csv" help:"CSV file with contracts that were stopped where they come from." xor:"source" required:"" placeholder:"FILE"`
	Peer    moveFrom `embed:""`
	File    moveFile `embed:""`

	Shop      string `help:"The store's domain, as in the archive. A store that is not known here is added, without a connection." required:"" placeholder:"STORE.myshopify.com"`
	DryRun    bool   `help:"Check the archive and the store, and change nothing."`
	Restarted bool   `help:"Every process of the service was stopped, or restarted after the import asked for it."`
}

// Run imports an archive, or starts a move from another service or from a file.
func (c *importCommand) Run(ctx context.Context, out io.Writer) error {
	switch {
	case c.From != "":
		return c.Peer.start(ctx, out, c.Database, c.Shop, moving.In, c.From)
	case c.CSV != "":
		plans, err := c.Peer.plans()
		if err != nil {
			return err
		}
		return c.File.start(ctx, out, c.Database, c.Shop, c.CSV, plans)
	}
	f, err := os.Open(c.Archive)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := archive.Open(f, info.Size())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s was written on %s by perennial %s: %d records\n", c.Archive, shown(a.Manifest.CreatedAt), oneLine(a.Manifest.Service), a.Manifest.Total())
	return app.WithArchive(ctx, c.Database, clock.System{}, version(), func(s *archive.Service) error {
		done, err := s.Import(ctx, archive.Import{
			Archive: a, Domain: c.Shop, DryRun: c.DryRun, Restarted: c.Restarted, By: activity.Operator, Progress: reporting(out),
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, c.outcome(done))
		return err
	})
}

// outcome describes what an import did.
func (c *importCommand) outcome(done archive.Imported) string {
	switch {
	case done.Already:
		return c.Shop + " has this archive already: nothing was done"
	case c.DryRun:
		return fmt.Sprintf("%s can take the archive: %d records. Nothing was changed", c.Shop, done.Records)
	}
	return fmt.Sprintf("%s has the %d records of the archive, and is not charged until the merchant confirms it: connect the store (perennial shops connect), then perennial shops confirm", c.Shop, done.Records)
}

// reportEvery is how often a long file is reported.
const reportEvery = 5 * time.Second

// reporting returns what prints how far an export or import is: at most every few seconds.
func reporting(out io.Writer) archive.Progress {
	last := clock.System{}.Now()
	return func(of string, done int) {
		if now := (clock.System{}).Now(); now.Sub(last) >= reportEvery {
			last = now
			fmt.Fprintf(out, "%s: %d\n", of, done)
		}
	}
}
