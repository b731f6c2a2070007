package roomtest_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/sender"
)

// dnsZone is what DNS knows: the texts of a name, and after "MX " the servers that take its e-mails. A name
// without texts does not answer.
type dnsZone map[string][]string

func (z dnsZone) lookup(ctx context.Context, name string) ([]string, error) {
	list, known := z[name]
	if !known {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	if len(list) == 0 {
		if end, has := ctx.Deadline(); !has || time.Until(end) > 5*time.Second {
			return nil, errors.New("the page would wait for longer than 5 seconds")
		}
		return nil, context.DeadlineExceeded
	}
	return list, nil
}

func (z dnsZone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return z.lookup(ctx, name)
}

func (z dnsZone) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	hosts, err := z.lookup(ctx, "MX "+name)
	var list []*net.MX
	for _, host := range hosts {
		list = append(list, &net.MX{Host: host})
	}
	return list, err
}

var senderAccount = sender.Account{From: "subs@demo.example", DKIMSelector: "mail"}

const senderPath = dashboardtest.At + "/sender"

// senderSite is a dashboard with the room sender.
type senderSite struct {
	*dashboardtest.Site
	post *senderPost
}

// senderPost keeps tests.
type senderPost struct {
	sent    []string
	replyTo string
}

func (p *senderPost) Sender(context.Context, shop.Shop) (name, replyTo string, err error) {
	return "Demo <b>", p.replyTo, nil
}

func (p *senderPost) SendTest(_ context.Context, _ shop.ID, to string, l notify.Letter, by activity.Actor) error {
	p.sent = append(p.sent, strings.Join([]string{to, l.FromName, l.Subject, l.Text, l.HTML, by.By}, "|"))
	return nil
}

// openSender opens the room of an installation that sends e-mails as it says, with what DNS knows.
func openSender(t *testing.T, account sender.Account, z dnsZone) senderSite {
	t.Helper()
	here := senderSite{post: &senderPost{}}
	here.Site = dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, sender.New(sender.Options{Account: account, Resolver: z, Letters: here.post, Sender: here.post, Clock: s.Clock}))
	})
	here.SignIn(dashboardtest.Owner)
	return here
}

func TestSenderShowsRecordsAndWhatToDo(t *testing.T) {
	t.Parallel()
	z := dnsZone{"demo.example.": {"v=spf1 -all <b>"}, "_dmarc.demo.example.": {"v=DMARC1; p=none"}, "MX demo.example.": {"mx.demo.example."}}
	s := openSender(t, senderAccount, z)
	p := s.Get(senderPath)
	s.Want(p, http.StatusOK, "<dd>Demo &lt;b&gt;</dd>", "subs@demo.example", "Not set: replies go to", "DNS records of demo.example", "v=spf1 -all &lt;b&gt;", "mail._domainkey.demo.example has no DKIM key.",
		"<b>To do:</b> Publish the key that your mail server&#39;s operator names", "demo.example takes e-mails.", "mx.demo.example", "Wrong", "Right", "Check again", "Checked 25 Nov 2026, 12:00 UTC")
	if strings.Contains(p.Text, "All records are right") || strings.Contains(p.Text, "v=DMARC1; p=none</code><br>") {
		t.Error("what is wrong is called right, or a record that is right must be set")
	}
	s.post.replyTo = "<b>@demo.example"
	s.Want(s.Get(senderPath), http.StatusOK, "&lt;b&gt;@demo.example</dd>")
	z["demo.example."], z["mail._domainkey.demo.example."] = []string{"v=spf1 mx -all"}, []string{"v=DKIM1; p=MIIB"}
	p = s.Get(senderPath)
	s.Want(p, http.StatusOK, "All records are right.", "demo.example has an SPF record.")
	if strings.Contains(p.Text, "To do:") {
		t.Error("the page says that something must be done")
	}
}

// A name server that does not answer holds the page up for less than 5 seconds: what package maildns waits
// for ends with its context.
func TestSenderDoesNotWaitForDNS(t *testing.T) {
	t.Parallel()
	s := openSender(t, senderAccount, dnsZone{"demo.example.": nil, "_dmarc.demo.example.": {"v=DMARC1; p=none"}})
	s.Want(s.Get(senderPath), http.StatusOK, "Not checked", "DNS does not answer: context deadline exceeded.", "demo.example has a DMARC record.")
}

func TestSenderWithoutMailServerSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := openSender(t, sender.Account{Missing: []string{"PERENNIAL_MAIL_HOST", "PERENNIAL_MAIL_FROM"}}, dnsZone{})
	p := s.Get(senderPath)
	s.Want(p, http.StatusOK, "No mail server is set", "<code>PERENNIAL_MAIL_HOST</code>", "<code>PERENNIAL_MAIL_FROM</code>")
	if strings.Contains(p.Text, "DNS records of") || strings.Contains(p.Text, senderPath+"/test") {
		t.Error("the page checks records, or offers a test")
	}
	s.Want(s.Post(senderPath+"/test"), http.StatusConflict, "No mail server is set")
	if len(s.post.sent) != 0 {
		t.Errorf("sent were %v", s.post.sent)
	}
}

func TestSenderSendsTestToUser(t *testing.T) {
	t.Parallel()
	s := openSender(t, senderAccount, dnsZone{})
	s.Want(s.Get(senderPath), http.StatusOK, "Send test to "+dashboardtest.Owner)
	s.Want(s.Post(senderPath+"/test"), http.StatusOK, "A test is on its way to you.")
	if len(s.post.sent) != 1 || !strings.HasPrefix(s.post.sent[0], dashboardtest.Owner+"|Demo <b>|Test: e-mails arrive|This is a test from the dashboard of Demo <b>. ") ||
		!strings.Contains(s.post.sent[0], "<p>This is a test from the dashboard of Demo &lt;b&gt;. ") {
		t.Errorf("sent were %v", s.post.sent)
	}
	s.Want(s.Get("/admin/stores/second/sender"), http.StatusNotFound)
	s.Add("analyst@demo.example", staff.Analyst)
	s.SignIn("analyst@demo.example")
	p := s.Get(senderPath)
	s.Want(p, http.StatusOK, "DNS records of demo.example")
	if strings.Contains(p.Text, "Send test") {
		t.Error("an analyst is offered the test")
	}
	s.Want(s.Post(senderPath+"/test"), http.StatusForbidden)
	if len(s.post.sent) != 1 {
		t.Errorf("sent were %v", s.post.sent)
	}
}
