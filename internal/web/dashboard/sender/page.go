package sender

import (
	"context"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/maildns"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// checkTime is the longest time of the checks of DNS records, for which the page waits.
const checkTime = 4 * time.Second

// content is the sender of e-mails, with the DNS records of its domain.
type content struct {
	Missing       []string
	Name, Address string
	ReplyTo       string // empty: replies go to Address
	Domain        string
	Good          bool // no record needs anything
	Records       []recordRow
	Checked       string // when
	Again         string // address of this page
	Test          string // address that sends a test; empty: the user may not
	To            string // address of the user; empty: there is none to send a test to
}

// recordRow is a DNS record.
type recordRow struct {
	Check, About string
	Type, Name   string
	Value        string // to set; empty: what is there is right
	Is           []string
	State        dashboard.Badge
	Found, Do    string
}

// aboutRecords says what each record is for.
var aboutRecords = map[string]string{
	"SPF": "Which servers send e-mails of the domain.", "DKIM": "The key that proves that an e-mail was not changed on its way.",
	"DMARC": "What receivers do about e-mails that neither proves.", "MX": "Where replies go, and reports of what was not delivered.",
}

var stateBadges = map[maildns.State]dashboard.Badge{
	maildns.OK: {Tone: dashboard.Good, Text: "Right"}, maildns.Warning: {Tone: dashboard.Warning, Text: "Needs attention"},
	maildns.Failed: {Tone: dashboard.Bad, Text: "Wrong"}, maildns.NotChecked: {Tone: dashboard.Neutral, Text: "Not checked", Hollow: true},
}

// show shows the sender of e-mails, and whether receivers can recognise it.
func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p := content{Missing: m.Account.Missing, Again: v.At(path)}
	page := dashboard.Page{
		Name: "sender", Title: "Sender", Lead: "The name and the address that e-mails come from, and the DNS records by which receivers trust them.",
		Crumb: &dashboard.Crumb{Name: "E-mail texts", Path: "/mails"},
	}
	if len(p.Missing) > 0 {
		page.Content = p
		return v.Answer(w, page)
	}
	var err error
	if p.Name, p.ReplyTo, err = m.Letters.Sender(r.Context(), v.Shop); err != nil {
		return err
	}
	from := maildns.SenderOf(m.Account.From, m.Account.DKIMSelector)
	p.Address, p.Domain, p.To, p.Checked = m.Account.From, from.Domain, v.User.User.Email, v.Instant(m.Clock.Now())
	if v.May(staff.ManageStore) && p.To != "" {
		p.Test = v.At(path + "/test")
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	p.Good = true
	for _, is := range maildns.All(ctx, m.Resolver, from) {
		p.Good = p.Good && is.State == maildns.OK
		p.Records = append(p.Records, newRecordRow(is))
	}
	page.Content = p
	return v.Answer(w, page)
}

func newRecordRow(is maildns.Result) recordRow {
	row := recordRow{Check: is.Check, About: aboutRecords[is.Check], Type: is.Type, Name: is.Name, Is: is.Is, State: stateBadges[is.State], Found: sentence(is.Found), Do: sentence(is.Do)}
	if is.State != maildns.OK {
		row.Value = is.Value
	}
	return row
}

// sentence begins a text with a capital letter, unless its first word is a name, and ends it.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if first, _, _ := strings.Cut(text, " "); !strings.ContainsAny(first, "._") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text + "."
}

// try sends a test to the user.
func (m *room) try(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if len(m.Account.Missing) > 0 {
		return fault.New(fault.FailedPrecondition, "no mail server is set, so e-mails wait").Code("mailServerMissing")
	}
	name, _, err := m.Letters.Sender(r.Context(), v.Shop)
	if err != nil {
		return err
	}
	const subject = "Test: e-mails arrive"
	text := "This is a test from the dashboard of " + name + ". E-mails to customers come from the same sender, " + m.Account.From + "."
	l := notify.Letter{FromName: name, Content: notify.Content{
		Subject: subject, Text: text + "\n",
		HTML: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>` + subject + `</title></head><body><p>` + html.EscapeString(text) + `</p></body></html>`,
	}}
	if err := m.Sender.SendTest(r.Context(), v.Shop.ID, v.User.User.Email, l, v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, path, "sender-tested")
}
