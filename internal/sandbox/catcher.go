package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/perennialhq/perennial/internal/sandbox/inbox"
)

// catcher is a mail server that delivers nothing: what it is sent lies in the
// mailbox.
type catcher struct {
	server *smtp.Server
	port   int
}

const (
	mailHost = "127.0.0.1"
	mailFrom = "subscriptions@sandbox.example"
	mailWait = 10 * time.Second
)

// openCatcher begins to catch on a free port of this machine.
// The instance is the name of the only sender.
func openCatcher(ctx context.Context, box *mailbox, instance string) (*catcher, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(mailHost, "0"))
	if err != nil {
		return nil, err
	}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &conversation{box: box, instance: instance}, nil }))
	server.Domain, server.MaxMessageBytes, server.MaxRecipients, server.EnableSMTPUTF8 = "sandbox.example", maxMail, 100, true
	server.ReadTimeout, server.WriteTimeout = mailWait, mailWait
	server.ErrorLog = log.New(io.Discard, "", 0)
	c := &catcher{server, portOf(l)}
	go server.Serve(l) //nolint:errcheck // it ends when it is closed
	return c, nil
}

func (c *catcher) close() error {
	if err := c.server.Close(); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
		return err
	}
	return nil
}

// conversation is one client that is talked to.
type conversation struct {
	box      *mailbox
	instance string
	to       []string
}

// Mail begins an e-mail.
func (c *conversation) Mail(string, *smtp.MailOptions) error {
	c.to = nil
	return nil
}

// refusedAddresses is the domain of addresses that the mail server does not take.
const refusedAddresses = "@refused.example"

// Rcpt adds a recipient.
func (c *conversation) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasSuffix(strings.ToLower(to), refusedAddresses) {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "refused by the simulated mail server"}
	}
	c.to = append(c.to, to)
	return nil
}

// Data takes it.
func (c *conversation) Data(r io.Reader) error { return c.box.take(c.instance, c.to, r) }

// Reset forgets what was begun.
func (c *conversation) Reset() { c.to = nil }

// Logout ends the conversation.
func (c *conversation) Logout() error { return nil }

// mail lists the e-mails that the service has sent, those included that are due
// now.
func (s *Sandbox) mail(r *http.Request) ([]message, error) {
	if err := s.steps.Settle(r.Context()); err != nil {
		return nil, err
	}
	q := r.URL.Query()
	return s.mails.find(q.Get("to"), q.Get("kind")), nil
}

// caught lists what was sent for the pages that show it, what is due now included.
func (s *Sandbox) caught(r *http.Request) ([]inbox.Item, error) {
	if err := s.steps.Settle(r.Context()); err != nil {
		return nil, err
	}
	var list []inbox.Item
	for _, m := range s.mails.find("", "") {
		list = append(list, inbox.Item{From: m.From, To: m.To, Kind: m.Kind, Subject: m.Subject, Text: m.Text, HTML: m.HTML, At: time.Time(*m.At), Unsubscribe: m.Unsubscribe})
	}
	for _, m := range s.texts.caught.all() {
		list = append(list, inbox.Item{From: m.From, To: m.To, Kind: cmp.Or(m.Kind, "reply"), Text: m.Text, At: time.Time(*m.At), Segments: m.Segments})
	}
	slices.SortStableFunc(list, func(a, b inbox.Item) int { return a.At.Compare(b.At) })
	return list, nil
}
