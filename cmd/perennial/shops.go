package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

type shopsCommand struct {
	Connect shopsConnectCommand `cmd:"" help:"Connect a store, or give it a new token; bring in its contracts."`
	Confirm shopsConfirmCommand `cmd:"" help:"Show what a store will be charged in the next 7 days, and confirm that its orders are charged."`
	Sync    shopsSyncCommand    `cmd:"" help:"Show how far the first reading of a store's contracts has come."`
	Set     shopsSetCommand     `cmd:"" help:"Change a store's settings."`
	Portal  shopsPortalCommand  `cmd:"" help:"Change what subscribers of a store may do in the portal."`
	Solved  shopsSolvedCommand  `cmd:"" help:"Say that a store can take payments again: orders that were held are charged at the next order time."`
	Migrate shopsMigrateCommand `cmd:"" name:"migrate-token" help:"Exchange a store's access token that never expires for one that is refreshed."`
	List    shopsListCommand    `cmd:"" help:"List the stores."`
}

type shopsConnectCommand struct {
	config.Database `embed:""`
	config.Platform `embed:""`

	Shop            string  `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	TokenFile       string  `help:"File that holds the store's access token; - reads standard input." required:"" placeholder:"FILE"`
	OrderTime       string  `help:"Local time of day at which orders of a new store are charged; a known one keeps its own." default:"09:00"`
	ImmediateOrders bool    `help:"Permit immediate orders over the admin interface; of a new store."`
	Memberships     []int64 `help:"Numbers of the selling plans whose contracts are memberships; of a new store." placeholder:"PLAN"`
	KeyLost         bool    `help:"The secret key with which the store was connected is lost: replace its token, and remove what no key opens."`
}

// Run connects a store.
func (c *shopsConnectCommand) Run(ctx context.Context, out io.Writer) error {
	var hour, minute int
	if n, err := fmt.Sscanf(c.OrderTime, "%d:%d", &hour, &minute); n != 2 || err != nil {
		return fmt.Errorf("order time: %q is not a time of day such as 09:00", c.OrderTime)
	}
	token, err := readToken(c.TokenFile)
	if err != nil {
		return err
	}
	store, lost, err := app.Connect(ctx, c.Database, c.Platform, clock.System{}, app.Connecting{
		At: platform.Shop{Domain: c.Shop, Token: token}, Hour: hour, Minute: minute, KeyLost: c.KeyLost,
		Settings: shop.Settings{ImmediateOrders: c.ImmediateOrders, Memberships: c.Memberships},
	})
	if err != nil {
		return err
	}
	if lost != nil {
		fmt.Fprintf(out, "lost with the secret key: the secrets of %d webhook endpoints, which are disabled (rotate them); %d webhooks and %d e-mails that were kept; the signing secrets of %d applications (perennial partners rotate)\n",
			lost.Endpoints, lost.Webhooks, lost.Mails, lost.Apps)
	}
	_, err = fmt.Fprintf(out, "%s is connected: shop %d, %s, orders at %02d:%02d, %s\n", store.Domain, store.ID, store.TimeZone, store.OrderHour, store.OrderMinute, store.Currency)
	return err
}

func readToken(file string) (platform.Token, error) {
	text, err := readSecret("the token", file)
	return platform.Token(text), err
}

// readSecret reads the first line of a file, or of standard input for -.
func readSecret(what, file string) (string, error) {
	in := os.Stdin
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // the operator names the file
		if err != nil {
			return "", err
		}
		defer opened.Close()
		in = opened
	}
	line, err := bufio.NewReader(io.LimitReader(in, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("%s is empty", what)
	}
	return line, nil
}

type shopsSetCommand struct {
	config.Database `embed:""`
	Shop            string   `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
	ImmediateOrders *bool    `help:"Permit immediate orders over the admin interface." negatable:""`
	Rate            *float64 `help:"Requests per second that a key of the store, and the store, may make; 0: the installation's."`
	CatchUpHours    *int     `help:"Hours over which charges are spread that an outage made late, 1 to 48; 0: 6."`
	RateBurst       *int     `help:"Requests that a key of the store, and the store, may make at once; 0: the installation's."`

	FreezeUntilMinCycles *bool `help:"Hold subscribers to the orders that they committed to; memberships do in any case." negatable:""`

	DisableMails      []shop.MailKind    `help:"Kinds of e-mail that the store no longer sends: ${mails}." placeholder:"KIND"`
	EnableMails       []shop.MailKind    `help:"Kinds of e-mail that the store sends again." placeholder:"KIND"`
	EnableSMS         []shop.MailKind    `help:"Kinds of e-mail that the store also sends as SMS, to customers who agree: ${sms}." name:"enable-sms" placeholder:"KIND"`
	DisableSMS        []shop.MailKind    `help:"Kinds that it no longer sends as SMS." name:"disable-sms" placeholder:"KIND"`
	FailureDigest     *shop.DigestMode   `help:"How often the owner gets an e-mail that sums up declined charges: AT_ONCE, WEEKLY or MONTHLY. Never: --disable-mails failure_digest." placeholder:"MODE"`
	DeliveryRule      *shop.DeliveryRule `help:"How orders are shipped to a new address to which the old way does not lead: CHEAPEST, the cheapest that the platform offers; KEEP, as before." placeholder:"RULE"`
	AddMemberships    []int64            `help:"Numbers of selling plans whose contracts are memberships from now on." placeholder:"PLAN"`
	RemoveMemberships []int64            `help:"Numbers of selling plans whose contracts are subscriptions from now on." placeholder:"PLAN"`

	DunningMode    *dunning.Mode   `help:"How retries of declined charges are planned: SMART, by what the decline says; SIMPLE, so many every so many days." placeholder:"MODE"`
	DunningRetries *int            `help:"Retries of SIMPLE, 0 to 10."`
	DunningEvery   *int            `help:"Days between two retries of SIMPLE, 1 to 14."`
	DunningThen    *dunning.Action `help:"What is done when no retry is left: PAUSE, SKIP or CANCEL." placeholder:"ACTION"`
	StockRetries   *int            `help:"Retries of orders that are not in stock, 0 to 10."`
	StockEvery     *int            `help:"Days between two of them, 1 to 14."`
	StockThen      *dunning.Action `help:"What is done in the end when there is no stock: PAUSE, SKIP or CANCEL." placeholder:"ACTION"`
}

// Run changes settings. What is not named stays.
func (c *shopsSetCommand) Run(ctx context.Context, out io.Writer) error {
	settings, err := app.ChangeSettings(ctx, c.Database, clock.System{}, c.Shop, activity.Operator, func(s *shop.Settings) error {
		set(&s.ImmediateOrders, c.ImmediateOrders)
		set(&s.RatePerSecond, c.Rate)
		set(&s.RateBurst, c.RateBurst)
		set(&s.FreezeUntilMinCycles, c.FreezeUntilMinCycles)
		d := s.Dunning.Effective()
		given := []bool{
			set(&d.Mode, c.DunningMode), set(&d.Retries, c.DunningRetries), set(&d.EveryDays, c.DunningEvery), set(&d.Then, c.DunningThen),
			set(&d.OutOfStock.Retries, c.StockRetries), set(&d.OutOfStock.EveryDays, c.StockEvery), set(&d.OutOfStock.Then, c.StockThen),
		}
		set(&s.CatchUpHours, c.CatchUpHours)
		set(&s.FailureDigest, c.FailureDigest)
		set(&s.DeliveryRule, c.DeliveryRule)
		if slices.Contains(given, true) {
			s.Dunning = d
		}
		if err := errors.Join(notify.CheckKinds("", c.EnableMails), notify.CheckKinds("", c.DisableMails), notify.CheckSMSKinds("", c.EnableSMS), notify.CheckSMSKinds("", c.DisableSMS)); err != nil {
			return err
		}
		for _, k := range c.DisableMails {
			s.SetSends(k, false)
		}
		for _, k := range c.EnableMails {
			s.SetSends(k, true)
		}
		for _, k := range c.DisableSMS {
			s.SetSendsSMS(k, false)
		}
		for _, k := range c.EnableSMS {
			s.SetSendsSMS(k, true)
		}
		s.Memberships = changed(s.Memberships, c.AddMemberships, c.RemoveMemberships)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: immediate orders %t, requests per second %g, at once %d (0: the installation's), e-mails not sent %s, SMS sent %s, declined charges summed up %s, membership plans %s, late charges are spread over %g hours, subscribers are held to what they committed to %t\n%s\n",
		c.Shop, settings.ImmediateOrders, settings.RatePerSecond, settings.RateBurst, enumerated(notify.Unsent(settings)), enumerated(settings.EnabledSMS), settings.Digest(), enumerated(settings.Memberships), settings.CatchUp().Hours(), settings.FreezeUntilMinCycles, settings.Dunning)
	return err
}

// set takes over what was given, and reports whether it was.
func set[T any](into, given *T) bool {
	if given != nil {
		*into = *given
	}
	return given != nil
}

type shopsSolvedCommand struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

// Run has held orders charged again.
func (c *shopsSolvedCommand) Run(ctx context.Context, out io.Writer) error {
	n, err := app.ReleaseHeld(ctx, c.Database, clock.System{}, c.Shop, activity.Operator)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d orders are charged at the next order time\n", c.Shop, n)
	return err
}

// changed returns a list with some values and without others, in order.
func changed[T cmp.Ordered](list, with, without []T) []T {
	list = slices.DeleteFunc(slices.Concat(list, with), func(v T) bool { return slices.Contains(without, v) })
	slices.Sort(list)
	return slices.Compact(list)
}

// enumerated writes a list for people.
func enumerated[T any](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

type shopsListCommand struct {
	config.Database `embed:""`
}

// Run lists the stores.
func (c *shopsListCommand) Run(ctx context.Context, out io.Writer) error {
	stores, err := app.Shops(ctx, c.Database)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTORE\tZONE\tORDERS AT\tCURRENCY\tCONNECTED\tRECONCILED")
	for _, s := range stores {
		fmt.Fprintf(table, "%d\t%s\t%s\t%02d:%02d\t%s\t%t\t%s\n", s.ID, oneLine(s.Domain), oneLine(s.TimeZone), s.OrderHour, s.OrderMinute, s.Currency, s.Connected, shown(s.ReconciledAt))
	}
	return table.Flush()
}
