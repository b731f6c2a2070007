package doctor

import (
	"context"

	"github.com/perennialhq/perennial/internal/deliver"
)

// mailServer enters the mail server and leaves it again: connection, TLS, authentication.
func mailServer(ctx context.Context, c *checkup) Finding {
	m := c.Settings.Mail
	if m.MailHost == "" {
		return failed("set PERENNIAL_MAIL_HOST and PERENNIAL_MAIL_FROM", "no mail server is set, so e-mails wait")
	}
	server, err := c.MailServer()
	if err != nil {
		return failed("correct the settings PERENNIAL_MAIL_…", "%v", err)
	}
	if err := server.Check(ctx); err != nil {
		return failed("check PERENNIAL_MAIL_HOST, _PORT, _TLS, _USER and _PASSWORD against what the mail server's operator says", "%v", err)
	}
	if m.MailTLS == string(deliver.NoTLS) {
		return ok("%s takes e-mails, without TLS", m.MailHost)
	}
	return ok("%s takes e-mails", m.MailHost)
}
