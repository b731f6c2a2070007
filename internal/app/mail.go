package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/perennialhq/perennial/internal/base/maildns"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard/sender"
)

// mailServer returns the mail server of the settings, or nil when they name none.
func mailServer(m config.Mail) (*deliver.SMTP, error) {
	if m.MailHost == "" {
		return nil, nil
	}
	server, err := deliver.NewSMTP(deliver.SMTPOptions{
		Host: m.MailHost, Port: m.MailPort, User: m.MailUser, Password: string(m.MailPassword), From: m.MailFrom,
		TLS: deliver.TLS(m.MailTLS), Timeout: m.MailTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("mail settings: %w", err)
	}
	return server, nil
}

// mailAccount returns how e-mails are sent, as the dashboard shows it.
func mailAccount(m config.Mail) sender.Account {
	account := sender.Account{From: m.MailFrom, DKIMSelector: m.DKIMSelector}
	if m.MailHost != "" {
		return account // the settings were checked
	}
	account.Missing = append(account.Missing, "PERENNIAL_MAIL_HOST")
	if m.MailFrom == "" {
		account.Missing = append(account.Missing, "PERENNIAL_MAIL_FROM")
	}
	return account
}

// resolver returns what asks DNS.
func (a *App) resolver() maildns.Resolver {
	if a.options.Resolver != nil {
		return a.options.Resolver
	}
	return net.DefaultResolver
}

// errNoMail says that e-mails wait.
var errNoMail = errors.New("no mail server is set, so e-mails wait: set PERENNIAL_MAIL_HOST and PERENNIAL_MAIL_FROM")

// mailSet is the check of readiness: without a mail server requests are served,
// and what they send waits.
func mailSet(m config.Mail) func(context.Context) error {
	return func(context.Context) error {
		if m.MailHost == "" {
			return fmt.Errorf("%w: %w", web.ErrDegraded, errNoMail)
		}
		return nil
	}
}
