package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
)

type partnersCommand struct {
	Add     partnersAddCommand     `cmd:"" help:"Register an application and print its secrets, which are shown only this once."`
	List    partnersListCommand    `cmd:"" help:"List the applications."`
	Suspend partnersSuspendCommand `cmd:"" help:"Stop serving an application: its tokens and its key open nothing."`
	Resume  partnersResumeCommand  `cmd:"" help:"Serve a suspended application again."`
	Rotate  partnersRotateCommand  `cmd:"" help:"Exchange an application's secrets and print the new ones."`
}

type partnersAddCommand struct {
	config.Database `embed:""`
	ID              string   `arg:"" help:"Short name in addresses: lower-case letters, digits, hyphens."`
	Name            string   `help:"Name that merchants see." required:""`
	URL             string   `help:"Address below which the application is called." required:"" placeholder:"https://…"`
	Scopes          []string `help:"What its connections may ask for." required:""`
	Contact         string   `help:"Contact of the application's developer."`
	About           string   `help:"What it does."`
	Private         bool     `help:"Permit an address without TLS; the service needs the same setting." env:"PERENNIAL_PRIVATE_PARTNERS"`
}

// Run registers an application.
func (c *partnersAddCommand) Run(ctx context.Context, out io.Writer) error {
	scopes, err := access.ParseScopes(c.Scopes)
	if err != nil {
		return err
	}
	return app.WithPartners(ctx, c.Database, clock.System{}, func(s *partner.Service) error {
		s.PlainHTTP = c.Private
		made, secrets, err := s.Add(ctx, partner.App{
			ID: access.AppID(c.ID), Name: c.Name, BaseURL: c.URL, Scopes: scopes, Contact: c.Contact, About: c.About,
		})
		if err != nil {
			return err
		}
		return printSecrets(out, made.ID, secrets)
	})
}

func printSecrets(out io.Writer, id access.AppID, s partner.Secrets) error {
	_, err := fmt.Fprintf(out, "id              %s\nsecret          %s\napplication key %s\nsigning secret  %s\n\nthese values are not shown again\n", id, s.Secret, s.AppKey, s.Signing)
	return err
}

type partnersListCommand struct {
	config.Database `embed:""`
}

// Run lists applications.
func (c *partnersListCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithPartners(ctx, c.Database, clock.System{}, func(s *partner.Service) error {
		apps, err := s.Apps(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tNAME\tADDRESS\tSTATUS\tSCOPES\tCREATED\tLAST USED")
		for _, a := range apps {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.ID, oneLine(a.Name), oneLine(a.BaseURL), a.Status, listed(a.Scopes, " "), shown(a.CreatedAt), shown(a.LastUsedAt))
		}
		return table.Flush()
	})
}

type partnersSuspendCommand struct {
	config.Database `embed:""`
	ID              string `arg:"" help:"The application."`
}

// Run suspends an application.
func (c *partnersSuspendCommand) Run(ctx context.Context, out io.Writer) error {
	return setPartner(ctx, out, c.Database, c.ID, partner.Suspended)
}

type partnersResumeCommand struct {
	config.Database `embed:""`
	ID              string `arg:"" help:"The application."`
}

// Run serves an application again.
func (c *partnersResumeCommand) Run(ctx context.Context, out io.Writer) error {
	return setPartner(ctx, out, c.Database, c.ID, partner.Live)
}

func setPartner(ctx context.Context, out io.Writer, d config.Database, id string, to partner.Status) error {
	return app.WithPartners(ctx, d, clock.System{}, func(s *partner.Service) error {
		a, err := s.SetStatus(ctx, access.AppID(id), to)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is %s\n", a.ID, a.Status)
		return err
	})
}

type partnersRotateCommand struct {
	config.Database `embed:""`
	ID              string        `arg:"" help:"The application."`
	Grace           time.Duration `help:"How long the old secret and application key still work." default:"24h"`
}

// Run exchanges secrets.
func (c *partnersRotateCommand) Run(ctx context.Context, out io.Writer) error {
	return app.WithPartners(ctx, c.Database, clock.System{}, func(s *partner.Service) error {
		secrets, err := s.RotateApp(ctx, access.AppID(c.ID), c.Grace)
		if err != nil {
			return err
		}
		return printSecrets(out, access.AppID(c.ID), secrets)
	})
}
