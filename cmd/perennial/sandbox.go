package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/perennialhq/perennial/internal/sandbox"
)

type sandboxCommand struct {
	Data           string     `help:"Directory that keeps the sandbox; started on it again, it goes on where it was. Empty: a fresh one." placeholder:"DIR"`
	Listen         string     `help:"Address; the other ports follow it. Port 0 takes free ports. Empty: 127.0.0.1 and ports 8080 to 8085, with --second to 8088." placeholder:"HOST:PORT"`
	Database       string     `help:"postgres:// address to use instead of the embedded database." placeholder:"URL"`
	Second         bool       `help:"A second instance of the service beside the first, as an app of its own with its own database, keys and three more ports."`
	SecondDatabase string     `help:"postgres:// address for the second instance; required with --second when --database is given." placeholder:"URL"`
	Seed           uint64     `help:"What chance is drawn from." default:"1"`
	Contracts      int        `help:"Contracts of the demo store." default:"200"`
	Kinds          bool       `help:"In addition a contract of each kind: discounts, prices by cycle, swap rules, boxes, a pause, a trial and others."`
	History        string     `help:"Time that passes before a new sandbox is ready, such as P1Y: orders, declines, cancellations. A year takes about a minute." placeholder:"DURATION"`
	Empty          bool       `help:"Stores and products only, without subscribers."`
	MembershipsApp bool       `help:"A second app at the platform that serves memberships, with its own client id and secret."`
	NotInstalled   bool       `help:"Stores that do not have the app yet; with --empty. Install it in the platform's admin."`
	Unconfirmed    bool       `help:"Have the stores wait for the merchant's confirmation before they are charged."`
	WallClock      bool       `help:"Let time pass at its real speed instead of standing still."`
	LogLevel       slog.Level `help:"DEBUG, INFO, WARN or ERROR." default:"WARN" env:"PERENNIAL_LOG_LEVEL"`
}

// Run runs the sandbox until the context ends.
func (c *sandboxCommand) Run(ctx context.Context, out io.Writer) error {
	return sandbox.Run(ctx, sandbox.Options{
		DataDir: c.Data, Listen: c.Listen, Database: c.Database, Second: c.Second, SecondDatabase: c.SecondDatabase, Seed: c.Seed, Contracts: c.Contracts, Kinds: c.Kinds, History: c.History, Empty: c.Empty, NotInstalled: c.NotInstalled, MembershipsApp: c.MembershipsApp, Unconfirmed: c.Unconfirmed,
		WallClock: c.WallClock, Out: out, Log: logger(os.Stderr, c.LogLevel), Version: version(),
	})
}
