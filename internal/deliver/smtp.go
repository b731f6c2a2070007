// Package deliver hands what the service sends to the world outside: e-mails to
// a mail server, SMS to a provider.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

var _ notify.Transport = (*SMTP)(nil)

// TLS says how a connection to the mail server is encrypted.
type TLS string

// The ways of encrypting.
const (
	StartTLS TLS = "starttls" // the connection becomes encrypted, or nothing is sent
	Implicit TLS = "tls"      // it is encrypted from the start
	NoTLS    TLS = "none"     // it never is: for servers on the same machine
)

// SMTPOptions are the address of the mail server and its credentials.
type SMTPOptions struct {
	Host     string
	Port     int
	User     string // empty: the server asks for none
	Password string
	From     string // the sender's bare address
	TLS      TLS
	Timeout  time.Duration // of one step of the conversation
}

// SMTP is a mail server that takes letters.
type SMTP struct {
	options []gomail.Option
	host    string
	from    string
}

// NewSMTP returns the mail server. Nothing is connected yet.
func NewSMTP(o SMTPOptions) (*SMTP, error) {
	from, err := mail.ParseAddress(o.From)
	if err != nil {
		return nil, fmt.Errorf("the sender's address %q: %w", o.From, err)
	}
	options := []gomail.Option{gomail.WithPort(o.Port), gomail.WithTimeout(o.Timeout), gomail.WithoutNoop()}
	switch o.TLS {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case Implicit:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, fmt.Errorf("%q is not a way to encrypt mail: use %s, %s or %s", o.TLS, StartTLS, Implicit, NoTLS)
	}
	if o.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(o.User), gomail.WithPassword(o.Password))
	}
	s := &SMTP{options, o.Host, from.Address}
	_, err = s.client()
	return s, err
}

func (s *SMTP) client() (*gomail.Client, error) { return gomail.NewClient(s.host, s.options...) }

// Check enters the mail server and leaves it again.
func (s *SMTP) Check(ctx context.Context) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	if err := c.DialWithContext(ctx); err != nil {
		return err
	}
	return c.Close()
}

// Send sends letters over one connection. When it breaks, the letters after that
// fail too.
func (s *SMTP) Send(ctx context.Context, letters []notify.Email) []error {
	failures := make([]error, len(letters))
	c, err := s.client()
	if err == nil {
		err = c.DialWithContext(ctx)
	}
	if err != nil {
		return fill(failures, fmt.Errorf("connect to the mail server: %w", err))
	}
	defer c.Close() //nolint:errcheck // every letter has its answer
	for i, l := range letters {
		if err := ctx.Err(); err != nil {
			fill(failures[i:], err)
			break
		}
		m, err := s.compose(l)
		if err != nil {
			failures[i] = fmt.Errorf("%w: %w", notify.ErrRejected, err)
			continue
		}
		err = c.Send(m)
		if err == nil || m.IsDelivered() {
			continue
		}
		var broken bool
		if broken, failures[i] = verdict(err); broken {
			fill(failures[i:], failures[i])
			break
		}
	}
	return failures
}

func fill(failures []error, err error) []error {
	for i := range failures {
		failures[i] = err
	}
	return failures
}

// verdict tells the failure of a letter that the server will never take from one
// that may pass, and whether the connection is broken: then there was no answer.
func verdict(err error) (broken bool, failure error) {
	sent, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return true, err
	}
	code := sent.ErrorCode()
	ofLetter := sent.Reason == gomail.ErrSMTPRcptTo || sent.Reason == gomail.ErrSMTPData || sent.Reason == gomail.ErrSMTPDataClose
	if code/100 == 5 && sent.Reason == gomail.ErrSMTPRcptTo && noMailbox(sent.EnhancedStatusCode()) {
		return false, fmt.Errorf("%w: %w: %w", notify.ErrRejected, notify.ErrNoMailbox, err)
	}
	if code/100 == 5 && ofLetter {
		return false, fmt.Errorf("%w: %w", notify.ErrRejected, err)
	}
	return code == 0, err
}

// noMailbox reports whether an enhanced status code (RFC 3463) says that the recipient's address does
// not exist: bad mailbox, bad system, bad syntax, moved, or null MX (RFC 7505). Other permanent
// failures are about the letter or the sender.
func noMailbox(code string) bool {
	return slices.Contains([]string{"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"}, code)
}

// kindHeader says which kind of message a letter is.
const kindHeader = "X-Perennial-Kind"

// compose writes a letter. The library encodes what is in its headers, so that a
// value never becomes another header.
func (s *SMTP) compose(l notify.Email) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(&mail.Address{Name: l.FromName, Address: s.from})
	if err := m.To(l.To); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(s.from, "@")
	m.SetMessageIDWithValue(l.ID + "@" + domain)
	m.SetDateWithValue(l.At)
	m.Subject(l.Subject)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader(kindHeader, string(l.Kind))
	if l.ReplyTo != "" {
		if err := m.ReplyTo(l.ReplyTo); err != nil {
			return nil, err
		}
	}
	if l.Unsubscribe != "" {
		m.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+l.Unsubscribe+">")
		m.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	return m, nil
}
