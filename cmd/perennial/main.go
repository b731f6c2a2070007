// Command perennial runs subscriptions for stores on a commerce platform. Its
// subcommands are the whole product: the service, its sandbox, and the tools to
// look after both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // for machines that have no time zone database

	"github.com/alecthomas/kong"

	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
)

// cli is every command.
type cli struct {
	Config kong.ConfigFlag `help:"YAML file with settings, named like the flags." placeholder:"FILE" env:"PERENNIAL_CONFIG"`

	Serve     serveCommand     `cmd:"" help:"Run the service."`
	Sandbox   sandboxCommand   `cmd:"" help:"Run a store that works, with a simulated platform and a clock that you move."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database up to date and exit."`
	App       appCommand       `cmd:"" help:"Set up the app at the platform."`
	Shops     shopsCommand     `cmd:"" help:"Connect stores and look at them."`
	Users     usersCommand     `cmd:"" help:"Look after the users of a store's dashboard."`
	Keys      keysCommand      `cmd:"" help:"Create, import, list, rotate and revoke API keys."`
	Key       keyCommand       `cmd:"" help:"Rotate the secret key."`
	Partners  partnersCommand  `cmd:"" help:"Register applications of partners."`
	Export    exportCommand    `cmd:"" help:"Write everything that a store has to one file."`
	Import    importCommand    `cmd:"" help:"Read the file of an export into an empty store, or the contracts of another service or of a CSV file."`
	Moves     movesCommand     `cmd:"" help:"Moves of a store's contracts from one service to another."`
	Privacy   privacyCommand   `cmd:"" help:"Answer requests for personal data."`
	Mail      mailCommand      `cmd:"" help:"Look at the e-mails that subscribers get."`
	Loyalty   loyaltyCommand   `cmd:"" help:"Start and stop the loyalty programmes of stores."`
	Analytics analyticsCommand `cmd:"" help:"Look after the figures of stores."`
	Explain   explainCommand   `cmd:"" help:"Say why a billing attempt is as it is, and what comes next."`
	Prove     proveCommand     `cmd:"" help:"Run the billing engine through simulated years under faults, and hold it against the platform's books."`
	Stuck     stuckCommand     `cmd:"" help:"List what of a store a person has to look at: charges without an end, differences, work that was given up."`
	Retry     retryCommand     `cmd:"" help:"Have a charge without an end looked into now."`
	Unfreeze  unfreezeCommand  `cmd:"" help:"Let a frozen store be charged again."`
	Doctor    doctorCommand    `cmd:"" help:"Check settings, mail, database and connections, and say what to do."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run parses and runs one command line and returns the exit code: 0 for
// success, 1 for a failure, 2 for words that cannot be understood.
func run(args []string, out, errs io.Writer) int {
	out, errs = &terminal{to: out}, &terminal{to: errs}
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("perennial"),
		kong.Description("Subscriptions, memberships and loyalty for stores: no customer charged twice, none forgotten."),
		kong.Configuration(loadSettings),
		kong.Vars{"mails": enumerated(notify.Kinds()), "sms": enumerated(notify.SMSKinds), "toggles": enumerated(portal.Toggles)},
		kong.Writers(out, errs),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(errs, "perennial:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(errs, "perennial:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.BindTo(out, (*io.Writer)(nil))
	if err := parsed.Run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(errs, "perennial:", err)
		return 1
	}
	return 0
}

type versionCommand struct{}

// Run prints the version and the commit that it was built from.
func (versionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprintf(out, "perennial %s (commit %s)\n", version(), commit())
	return err
}

// version returns the tag that the program was built from. Between tags it is a version that
// names the commit, and "(devel)" where the build had no version control.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func logger(out io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level}))
}

type serveCommand struct {
	config.Server `embed:""`
}

type migrateCommand struct {
	config.Database `embed:""`
}
