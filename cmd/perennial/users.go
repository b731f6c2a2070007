package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/staff"
)

type usersCommand struct {
	Add    usersAddCommand    `cmd:"" help:"Add a user to a store. The first one must be an OWNER."`
	List   usersListCommand   `cmd:"" help:"List the users of a store."`
	Role   usersRoleCommand   `cmd:"" help:"Give a user of a store another role."`
	Remove usersRemoveCommand `cmd:"" help:"Remove a user from a store. The last owner stays."`
	Reset  usersResetCommand  `cmd:"" help:"Give a user a new password and end the user's sessions."`
	Roles  usersRolesCommand  `cmd:"" help:"List the roles and what each may do."`
}

// usersOf is what every command about the users of a store is given.
type usersOf struct {
	config.Database `embed:""`
	Shop            string `help:"The store's domain." required:"" placeholder:"STORE.myshopify.com"`
}

func (c usersOf) with(ctx context.Context, fn func(*staff.Service, app.ShopRef) error) error {
	return app.WithStaff(ctx, c.Database, clock.System{}, c.Shop, fn)
}

// password returns the password in a file, or a new one when no file is named.
func password(file string) (value string, isNew bool, err error) {
	if file != "" {
		value, err = readSecret("the password", file)
		return value, false, err
	}
	text := strings.ToLower(rand.Text())
	return text[:5] + "-" + text[5:10] + "-" + text[10:15] + "-" + text[15:20], true, nil
}

type usersAddCommand struct {
	usersOf      `embed:""`
	Email        string `arg:"" help:"E-mail address of the user."`
	Name         string `help:"Name of the user."`
	Role         string `help:"OWNER, ADMIN, SUPPORT, ANALYST or DEVELOPER." default:"OWNER"`
	PasswordFile string `help:"File that holds the password; - reads standard input. Without it, a new one is made and printed." placeholder:"FILE"`
	KeepPassword bool   `help:"The user has a password already, in another store."`
}

// Run adds a user.
func (c *usersAddCommand) Run(ctx context.Context, out io.Writer) error {
	role, err := staff.ParseRole(c.Role)
	if err != nil {
		return err
	}
	var value string
	var isNew bool
	if !c.KeepPassword {
		if value, isNew, err = password(c.PasswordFile); err != nil {
			return err
		}
	}
	return c.with(ctx, func(s *staff.Service, store app.ShopRef) error {
		if err := s.Add(ctx, store.ID, c.Email, c.Name, role, value); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s is a user of %s with the role %s\n", oneLine(c.Email), store.Domain, role)
		return printPassword(out, value, isNew)
	})
}

func printPassword(out io.Writer, value string, isNew bool) error {
	if !isNew {
		return nil
	}
	_, err := fmt.Fprintf(out, "\n%s\n\nThis password is not shown again. Change it in the dashboard.\n", value)
	return err
}

type usersListCommand struct {
	usersOf `embed:""`
}

// Run lists users, in the order in which they joined.
func (c *usersListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *staff.Service, store app.ShopRef) error {
		people, err := s.People(ctx, store.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tEMAIL\tNAME\tROLE\tPASSWORD\tTWO-STEP\tJOINED")
		for _, p := range people {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", p.User, oneLine(p.Email), oneLine(p.Name), p.Role, yesNo(p.HasPassword), yesNo(p.TwoFactor), shown(p.CreatedAt))
		}
		return table.Flush()
	})
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type usersRoleCommand struct {
	usersOf `embed:""`
	Email   string `arg:"" help:"E-mail address of the user."`
	Role    string `arg:"" help:"OWNER, ADMIN, SUPPORT, ANALYST or DEVELOPER."`
}

// Run changes a role.
func (c *usersRoleCommand) Run(ctx context.Context, out io.Writer) error {
	role, err := staff.ParseRole(c.Role)
	if err != nil {
		return err
	}
	return c.with(ctx, func(s *staff.Service, store app.ShopRef) error {
		p, err := s.Find(ctx, store.ID, c.Email)
		if err != nil {
			return err
		}
		if err := s.ChangeRole(ctx, store.ID, staff.Acting{}, p.User, role); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s has the role %s in %s\n", p.Email, role, store.Domain)
		return err
	})
}

type usersRemoveCommand struct {
	usersOf `embed:""`
	Email   string `arg:"" help:"E-mail address of the user."`
}

// Run removes a user.
func (c *usersRemoveCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(s *staff.Service, store app.ShopRef) error {
		p, err := s.Find(ctx, store.ID, c.Email)
		if err != nil {
			return err
		}
		if err := s.Remove(ctx, store.ID, staff.Acting{}, p.User); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is no longer a user of %s\n", p.Email, store.Domain)
		return err
	})
}

type usersResetCommand struct {
	usersOf      `embed:""`
	Email        string `arg:"" help:"E-mail address of the user."`
	PasswordFile string `help:"File that holds the password; - reads standard input. Without it, a new one is made and printed." placeholder:"FILE"`
	TwoStep      bool   `help:"Turn two-step sign-in off too."`
}

// Run resets a password.
func (c *usersResetCommand) Run(ctx context.Context, out io.Writer) error {
	value, isNew, err := password(c.PasswordFile)
	if err != nil {
		return err
	}
	return c.with(ctx, func(s *staff.Service, store app.ShopRef) error {
		p, err := s.Find(ctx, store.ID, c.Email)
		if err != nil {
			return err
		}
		if err := s.Reset(ctx, p.User, value, c.TwoStep); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s has a new password, and all sessions of the user have ended\n", p.Email)
		return printPassword(out, value, isNew)
	})
}

type usersRolesCommand struct{}

// Run lists the roles.
func (usersRolesCommand) Run(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "PERMISSION")
	for _, r := range staff.Roles {
		fmt.Fprint(table, "\t", r)
	}
	fmt.Fprintln(table)
	for _, p := range staff.Permissions {
		fmt.Fprint(table, p)
		for _, r := range staff.Roles {
			fmt.Fprint(table, "\t", yesNo(r.May(p)))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
