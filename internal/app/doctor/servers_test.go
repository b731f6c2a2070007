package doctor_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/miekg/dns"
)

// mailbox is a mail server that knows one password.
type mailbox struct{ port int }

const mailPassword = "right"

func serveMail(t *testing.T) *mailbox {
	t.Helper()
	l := listen(t)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{}, nil }))
	server.Domain, server.TLSConfig = "mail.example", &tls.Config{Certificates: mailCertificate, MinVersion: tls.VersionTLS12}
	go server.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { server.Close() })
	return &mailbox{l.Addr().(*net.TCPAddr).Port}
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

type mailSession struct{ smtp.Session }

func (mailSession) Reset()                   {}
func (mailSession) Logout() error            { return nil }
func (mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }
func (mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, password string) error {
		if password != mailPassword {
			return errors.New("wrong password")
		}
		return nil
	}), nil
}

// names is a name server.
type names struct {
	address string
	mu      sync.Mutex
	texts   map[string][]string // of a name with its last dot, after "mx " the servers that take its e-mails
	broken  bool
}

func serveNames(t *testing.T) *names {
	t.Helper()
	n := &names{texts: map[string][]string{
		"shop.example.": {"unrelated", "v=spf1 include:mail.example -all"}, "_dmarc.shop.example.": {"v=DMARC1; p=none"}, "mail._domainkey.shop.example.": {"v=DKIM1; k=rsa; p=MIIB"},
		"mx shop.example.": {"mx.shop.example."},
	}}
	c, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.address = c.LocalAddr().String()
	server := &dns.Server{PacketConn: c, Handler: n}
	go server.ActivateAndServe() //nolint:errcheck // it ends with the test
	t.Cleanup(func() { c.Close() })
	return n
}

// ServeDNS answers questions for texts and for servers that take e-mails.
func (n *names) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := new(dns.Msg)
	m.SetReply(q)
	asked := q.Question[0]
	name := strings.ToLower(asked.Name)
	if asked.Qtype == dns.TypeMX {
		name = "mx " + name
	}
	switch texts, known := n.texts[name]; {
	case n.broken:
		m.Rcode = dns.RcodeServerFailure
	case !known:
		m.Rcode = dns.RcodeNameError
	default:
		for _, text := range texts {
			if asked.Qtype == dns.TypeMX {
				m.Answer = append(m.Answer, &dns.MX{Hdr: dns.RR_Header{Name: asked.Name, Rrtype: dns.TypeMX, Class: dns.ClassINET, Ttl: 1}, Preference: 10, Mx: text})
				continue
			}
			m.Answer = append(m.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: asked.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 1}, Txt: []string{text}})
		}
	}
	w.WriteMsg(m) //nolint:errcheck // the test fails
}

// set gives a name of the sender's domain other texts; none: it is not there.
func (n *names) set(name string, texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.texts, name)
	if len(texts) > 0 {
		n.texts[name] = texts
	}
}

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", n.address)
	}}
}
