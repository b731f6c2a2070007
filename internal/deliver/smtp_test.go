package deliver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/perennialhq/perennial/internal/deliver"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

var noon = time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC)

// inbox is a mail server that answers what the recipients' addresses say.
type inbox struct {
	mu       sync.Mutex
	sessions int
	taken    []string // raw
	to       []string
}

type session struct {
	*inbox
	to string
}

func (i *inbox) NewSession(*smtp.Conn) (smtp.Session, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sessions++
	return &session{inbox: i}, nil
}

func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	switch {
	case strings.HasPrefix(to, "unknown@"):
		return &smtp.SMTPError{Code: 550, Message: "no such user"}
	case strings.HasPrefix(to, "gone@"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case strings.HasPrefix(to, "blocked@"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "your address is blocked"}
	case strings.HasPrefix(to, "full@"):
		return &smtp.SMTPError{Code: 452, Message: "the mailbox is full"}
	}
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if strings.HasPrefix(s.to, "spam@") {
		return &smtp.SMTPError{Code: 554, Message: "looks like spam"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken, s.inbox.to = append(s.taken, string(text)), append(s.inbox.to, s.to)
	return nil
}

func (s *session) Reset()        { s.to = "" }
func (s *session) Logout() error { return nil }

// serve starts the mail server and returns how it is reached.
func serve(t *testing.T, box *inbox) deliver.SMTPOptions {
	t.Helper()
	l := listen(t)
	server := smtp.NewServer(box)
	server.Domain, server.EnableSMTPUTF8 = "mail.example", true
	go server.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { server.Close() })
	return options(l)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func options(l net.Listener) deliver.SMTPOptions {
	return deliver.SMTPOptions{
		Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, From: "subs@service.example", TLS: deliver.NoTLS, Timeout: 2 * time.Second,
	}
}

func letter(to string) notify.Email {
	return notify.Email{
		ID: "0123456789abcdef", Kind: notify.ManagementLink, To: to, FromName: "Café \"Müller\"", ReplyTo: "help@demo.example", At: noon,
		Content: notify.Content{Subject: "Grüße", Text: "öffnen:\nhttps://x.example/" + strings.Repeat("a", 100) + "\n", HTML: "<p>öffnen</p>\n"},
	}
}

func send(t *testing.T, o deliver.SMTPOptions, letters ...notify.Email) []error {
	t.Helper()
	s, err := deliver.NewSMTP(o)
	if err != nil {
		t.Fatal(err)
	}
	failures := s.Send(t.Context(), letters)
	if len(failures) != len(letters) {
		t.Fatalf("%d answers to %d letters", len(failures), len(letters))
	}
	return failures
}

func TestEmailArrivesComplete(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	if failures := send(t, serve(t, box), letter("ada@shopper.example")); failures[0] != nil {
		t.Fatal(failures[0])
	}
	got, err := mail.ReadMessage(strings.NewReader(box.taken[0]))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<0123456789abcdef@service.example>", "Date": "Fri, 31 Jan 2025 12:00:00 +0000", "X-Perennial-Kind": "management_link",
		"To": "<ada@shopper.example>", "Auto-Submitted": "auto-generated",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	from, err := got.Header.AddressList("From")
	if err != nil || len(from) != 1 || *from[0] != (mail.Address{Name: `Café "Müller"`, Address: "subs@service.example"}) {
		t.Errorf("from %v, %v", from, err)
	}
}

func TestEmailEndsByOneRequest(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]string{"optional": "https://subs.example/p/demo/u/abc", "required": ""} {
		box, l := &inbox{}, letter("ada@shopper.example")
		l.Unsubscribe = ends
		if failures := send(t, serve(t, box), l); failures[0] != nil {
			t.Fatal(failures[0])
		}
		got, err := mail.ReadMessage(strings.NewReader(box.taken[0]))
		if err != nil {
			t.Fatal(err)
		}
		if to := got.Header.Get("Reply-To"); to != "<help@demo.example>" {
			t.Errorf("replies go to %q", to)
		}
		address, how := got.Header.Get("List-Unsubscribe"), got.Header.Get("List-Unsubscribe-Post")
		if ends != "" && (address != "<"+ends+">" || how != "List-Unsubscribe=One-Click") || ends == "" && address+how != "" {
			t.Errorf("%s: %q %q", name, address, how)
		}
	}
}

func TestEachEmailHasOwnResultOverOneConnection(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	failures := send(t, serve(t, box), letter("unknown@x.example"), letter("ada@x.example"), letter("full@x.example"), letter("spam@x.example"), letter("not an address"), letter("bob@x.example"))
	for i, want := range []string{"rejected", "taken", "later", "rejected", "rejected", "taken"} {
		got := "later"
		switch {
		case failures[i] == nil:
			got = "taken"
		case errors.Is(failures[i], notify.ErrRejected):
			got = "rejected"
		}
		if got != want {
			t.Errorf("letter %d: %v, want it %s", i, failures[i], want)
		}
	}
	if strings.Join(box.to, " ") != "ada@x.example bob@x.example" || box.sessions > 2 { // EHLO begins one, too
		t.Errorf("arrived at %v in %d conversations", box.to, box.sessions)
	}
}

// What a store is called, or what a template says, never becomes a header.
func TestHeadersAreNotInjected(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"x\r\nBcc: evil@x.example", "x\nBcc: evil@x.example", "x\rBcc: evil@x.example", "x\r\n\r\n<script>", "x\u2028Bcc: evil@x.example", "\"\r\nBcc: evil@x.example"} {
		box := &inbox{}
		l := letter("ada@shopper.example")
		l.Subject, l.FromName = evil, evil
		if failures := send(t, serve(t, box), l); failures[0] != nil {
			t.Logf("%q: %v", evil, failures[0])
			continue // refused is well, too
		}
		got, err := mail.ReadMessage(strings.NewReader(box.taken[0]))
		if err != nil {
			t.Fatalf("%q: %v", evil, err)
		}
		if got.Header.Get("Bcc") != "" || len(box.to) != 1 {
			t.Errorf("%q wrote a header of its own: %v", evil, got.Header)
		}
		if ct := got.Header.Get("Content-Type"); !strings.HasPrefix(ct, "multipart/alternative") {
			t.Errorf("%q ended the headers: %q", evil, ct)
		}
	}
}

func TestUnavailableServerFailsEveryEmail(t *testing.T) {
	t.Parallel()
	l := listen(t)
	o := options(l)
	l.Close()
	for i, err := range send(t, o, letter("ada@x.example"), letter("bob@x.example")) {
		if err == nil || errors.Is(err, notify.ErrRejected) {
			t.Errorf("letter %d: %v", i, err)
		}
	}
}

// A server that accepts connections and says nothing costs one timeout, however
// many letters wait.
func TestHangingServerTimesOut(t *testing.T) {
	t.Parallel()
	l := listen(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	o := options(l)
	o.Timeout = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := deliver.NewSMTP(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range s.Send(ctx, []notify.Email{letter("ada@x.example"), letter("bob@x.example")}) {
		if err == nil || errors.Is(err, notify.ErrRejected) || ctx.Err() != nil {
			t.Errorf("letter %d: %v", i, err)
		}
	}
}

// One that falls silent in the middle is not asked for the letters after that.
func TestSilentServerTimesOut(t *testing.T) {
	t.Parallel()
	l := listen(t)
	var begun atomic.Int32
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprint(c, "220 mail.example\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "MAIL") {
				begun.Add(1)
				continue
			}
			fmt.Fprint(c, "250 mail.example\r\n")
		}
	}()
	o := options(l)
	o.Timeout = 100 * time.Millisecond
	for i, err := range send(t, o, letter("ada@x.example"), letter("bob@x.example"), letter("eve@x.example")) {
		if err == nil || errors.Is(err, notify.ErrRejected) {
			t.Errorf("letter %d: %v", i, err)
		}
	}
	if begun.Load() != 1 {
		t.Errorf("%d letters were begun", begun.Load())
	}
}

func TestServerWithoutTLSGetsNothing(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	o := serve(t, box)
	o.TLS = deliver.StartTLS
	if failures := send(t, o, letter("ada@x.example")); failures[0] == nil || len(box.taken) != 0 {
		t.Errorf("sent in the clear: %v, %d letters", failures[0], len(box.taken))
	}
}

func TestCheckAuthenticates(t *testing.T) {
	t.Parallel()
	box := &inbox{}
	s, err := deliver.NewSMTP(serve(t, box))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil || len(box.taken) != 0 {
		t.Errorf("%v", err)
	}
}

func TestInvalidSettingsFail(t *testing.T) {
	t.Parallel()
	good := deliver.SMTPOptions{Host: "mail.example", Port: 587, From: "subs@service.example", TLS: deliver.StartTLS, Timeout: time.Second}
	if _, err := deliver.NewSMTP(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*deliver.SMTPOptions){
		"no host":                   func(o *deliver.SMTPOptions) { o.Host = "" },
		"no sender":                 func(o *deliver.SMTPOptions) { o.From = "" },
		"another way of encryption": func(o *deliver.SMTPOptions) { o.TLS = "ssl" },
	} {
		bad := good
		change(&bad)
		if _, err := deliver.NewSMTP(bad); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestOnlyMissingMailboxIsReportedAsOne(t *testing.T) {
	t.Parallel()
	failures := send(t, serve(t, &inbox{}), letter("gone@shopper.example"), letter("blocked@shopper.example"), letter("unknown@shopper.example"), letter("ana@shopper.example"))
	for i, want := range []bool{true, false, false, false} {
		if errors.Is(failures[i], notify.ErrNoMailbox) != want || errors.Is(failures[i], notify.ErrRejected) != (i < 3) {
			t.Errorf("letter %d: %v", i, failures[i])
		}
	}
}
