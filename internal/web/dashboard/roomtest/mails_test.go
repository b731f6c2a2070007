package roomtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/mails"
)

const mailsPath = dashboardtest.At + "/mails"

// mailsSite is a dashboard with the room mails.
type mailsSite struct {
	*dashboardtest.Site
	templates *mailtemplate.Service
	post      *mailsPost
}

// mailsPost draws e-mails that say what they are drawn from, and keeps tests.
type mailsPost struct {
	sent   []string
	gone   []notify.Suppression
	lifted []string
	list   []notify.Message
	asked  notify.Filter
	again  []notify.MessageID
}

// checkMail finds a problem in every text with "wrong", and a warning in every one with "odd".
func checkMail(f mailtemplate.Fields) (list []mailtemplate.Problem) {
	if strings.Contains(f.Body, "wrong") {
		list = append(list, mailtemplate.Problem{Field: "body", Line: 3, Text: "it is wrong"})
	}
	if strings.Contains(f.Subject, "odd") {
		list = append(list, mailtemplate.Problem{Field: "subject", Text: "it is odd", Warning: true})
	}
	return list
}

func (*mailsPost) Preview(_ context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields, about contract.Contract) (mails.Preview, error) {
	p := mails.Preview{Problems: checkMail(f)}
	p.Subject, p.HTML, p.FromName = f.Subject, "<i>"+of.Domain+" "+string(k.Kind)+" "+k.Language+" "+about.Customer.FirstName+"</i>", "Demo"
	return p, nil
}

func (*mailsPost) Product(context.Context, shop.Shop, mailtemplate.Key) (mailtemplate.Fields, error) {
	return mailtemplate.Fields{Subject: "Product's <b>", Preheader: "Beside", Heading: "Above", Body: "Hello Ada,\n\nbye", Button: "Press"}, nil
}

func (*mailsPost) Values(context.Context, shop.Shop, mailtemplate.Key) ([]mails.Value, error) {
	return []mails.Value{{Name: "shop.name", Example: "Demo <b>"}, {Name: "order.name"}}, nil
}

func (p *mailsPost) SendTest(_ context.Context, _ shop.ID, to string, l notify.Letter, _ activity.Actor) error {
	p.sent = append(p.sent, to+": "+l.Subject)
	return nil
}

func (*mailsPost) Sheet(_ context.Context, _ shop.ID, id contract.ID, _ int) (support.Sheet, error) {
	if id != 42 {
		return support.Sheet{}, fault.New(fault.NotFound, "no")
	}
	return support.Sheet{Contract: contract.Contract{ID: id, Customer: contract.Customer{ID: 7, FirstName: "Grace"}}}, nil
}

func (p *mailsPost) Suppressions(context.Context, shop.ID, int) ([]notify.Suppression, error) {
	return p.gone, nil
}

func (p *mailsPost) MessageList(_ context.Context, _ shop.ID, f notify.Filter, limit int) ([]notify.Message, error) {
	p.asked = f
	return p.list[:min(limit, len(p.list))], nil
}

func (p *mailsPost) Resend(_ context.Context, _ shop.ID, id notify.MessageID, _ activity.Actor) (notify.Message, error) {
	p.again = append(p.again, id)
	return notify.Message{}, nil
}

func (p *mailsPost) Lift(_ context.Context, _ shop.ID, hash string, _ activity.Actor) error {
	if hash == "busy" {
		return fault.New(fault.Conflict, "its reader has complained")
	}
	p.lifted = append(p.lifted, hash)
	return nil
}

// ChangeSettings changes the settings of the first store.
func (s mailsSite) ChangeSettings(_ context.Context, domain string, _ activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error) {
	if domain != s.First.Domain {
		return shop.Settings{}, fault.New(fault.NotFound, "no store %q", domain)
	}
	err := fn(&s.First.Settings)
	s.Put()
	return s.First.Settings, err
}

func openMails(t *testing.T) mailsSite {
	t.Helper()
	here := mailsSite{post: &mailsPost{}}
	here.Site = dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		here.templates = &mailtemplate.Service{
			Store: s.DB.MailTemplates(), Languages: []string{"en", "de"}, Clock: s.Clock,
			Check: func(_ context.Context, _ shop.Shop, _ mailtemplate.Key, f mailtemplate.Fields) ([]mailtemplate.Problem, error) {
				return checkMail(f), nil
			},
		}
		o.Rooms = append(o.Rooms, mails.New(mails.Options{Templates: here.templates, Letters: here.post, Languages: here.templates.Languages, Contracts: here.post, Sender: here.post, Addresses: here.post, Switches: &here}))
	})
	here.SignIn(dashboardtest.Owner)
	return here
}

func TestEMailIsPublishedRestoredAndReset(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Get(mailsPath), http.StatusOK, `href="`+dashboardtest.At+`/sender"`, "Upcoming order", "The product’s", "Not sent")
	s.Want(s.Get(mailsPath+"/paused/de"), http.StatusOK, s.First.Domain+" paused de", "{{ shop.name }}", "Demo &lt;b&gt;", "nothing in this e-mail",
		`placeholder="Product&#39;s &lt;b&gt;"`, `placeholder="Beside"`, `placeholder="Above"`, "placeholder=\"Hello Ada,\n\nbye\"", `placeholder="Press"`)
	s.Want(s.Post(mailsPath+"/paused/de", "seen", "0", "subject", " odd ", "heading", "H", "do", "publish"), http.StatusOK, "The e-mail was published.", `value="odd"`, `name="seen" value="1"`)
	s.Want(s.Get(mailsPath), http.StatusOK, "Yours in Deutsch")
	s.Want(s.Post(mailsPath+"/paused/de", "seen", "1", "subject", "second", "do", "publish"), http.StatusOK, `name="seen" value="2"`)
	s.Want(s.Get(mailsPath+"/paused/de/history"), http.StatusOK, "Version 2", "It is sent.", "<del>odd</del>", "<ins>second</ins>", "As the product writes it")
	s.Want(s.Get(mailsPath+"/paused/de?version=1"), http.StatusOK, `value="odd"`, "This is version 1", `name="seen" value="2"`)
	s.Want(s.Get(mailsPath+"/paused/de?version=9"), http.StatusNotFound)
	s.Want(s.Get(mailsPath+"/paused/de/reset"), http.StatusOK, "Customers get the product’s e-mail from now on.", `name="seen" value="2"`)
	s.Want(s.Post(mailsPath+"/paused/de/reset", "seen", "1"), http.StatusUnprocessableEntity, "Another user has published a version")
	s.Want(s.Post(mailsPath+"/paused/de/reset", "seen", "2"), http.StatusOK, "The e-mail is the product’s again.")
	if list, err := s.templates.Live(t.Context(), s.First.ID); err != nil || len(list) != 0 {
		t.Errorf("after the reset %+v is sent, %v", list, err)
	}
	for _, path := range []string{"/merchant_notice/en", "/staff_link/en", "/newsletter/en", "/paused/fr"} {
		s.Want(s.Get(mailsPath+path), http.StatusNotFound)
	}
}

func TestPublishAfterAnotherUsersKeepsTheFormAndMayReplace(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "theirs", "do", "publish"), http.StatusOK, "The e-mail was published.")
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "mine", "do", "publish"), http.StatusUnprocessableEntity,
		"Another user has published a version meanwhile: version 1, by ", "What you typed is kept and not published.", `value="mine"`, `name="seen" value="1"`)
	if list, err := s.templates.Live(t.Context(), s.First.ID); err != nil || len(list) != 1 || list[0].Subject != "theirs" {
		t.Fatalf("after the conflict %+v is sent, %v", list, err)
	}
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "1", "subject", "mine", "do", "publish"), http.StatusOK, "The e-mail was published.", `name="seen" value="2"`)
	s.Want(s.Get(mailsPath+"/paused/en/history"), http.StatusOK, "<del>theirs</del>", "<ins>mine</ins>")
	// A version that never was, of an e-mail that has none.
	s.Want(s.Post(mailsPath+"/resumed/en", "seen", "7", "subject", "mine", "do", "publish"), http.StatusUnprocessableEntity, "publish again", `value="mine"`, `name="seen" value="0"`)
}

func TestListSwitchesKindsOnAndOff(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	off := `value="off" aria-label="Switch off: Paused"`
	s.Want(s.Get(mailsPath), http.StatusOK, "Signing in", off, `aria-label="Switch on: Order placed"`)
	s.Want(s.Get(mailsPath), http.StatusOK, "Loyalty", `aria-label="Switch on: Points earned"`, `aria-label="Switch off: Points expire"`, `aria-label="Switch off: Tier reached"`,
		`aria-label="Switch off: Reward issued"`, `aria-label="Switch on: Birthday"`)
	s.Want(s.Post(mailsPath+"/paused/switch", "to", "off"), http.StatusOK, "The e-mail is not sent any more.", `value="on" aria-label="Switch on: Paused"`)
	if s.First.Settings.Sends(notify.Paused) || !s.First.Settings.Sends(notify.Resumed) {
		t.Errorf("the settings are %+v", s.First.Settings)
	}
	s.Want(s.Get(mailsPath+"/paused/en"), http.StatusOK, "The store does not send this e-mail.")
	s.Want(s.Post(mailsPath+"/paused/switch", "to", "on"), http.StatusOK, "The e-mail is sent from now on.", off)
	s.Want(s.Post(mailsPath+"/transaction_success/switch", "to", "on"), http.StatusOK, `aria-label="Switch off: Order placed"`)
	s.Want(s.Post(mailsPath+"/birthday/switch", "to", "on"), http.StatusOK, `aria-label="Switch off: Birthday"`)
	s.Want(s.Post(mailsPath+"/points_expiring/switch", "to", "off"), http.StatusOK, `aria-label="Switch on: Points expire"`)
	if is := s.First.Settings; !is.Sends(notify.Birthday) || is.Sends(notify.PointsEarned) || is.Sends(notify.PointsExpiring) {
		t.Errorf("the settings are %+v", is)
	}
	for path, status := range map[string]int{"/newsletter": http.StatusNotFound, "/merchant_notice": http.StatusNotFound, "/paused": http.StatusBadRequest} {
		s.Want(s.Post(mailsPath+path+"/switch", "to", "sideways"), status)
	}
	s.Want(s.Post("/admin/stores/second/mails/paused/switch", "to", "off"), http.StatusNotFound)
	s.Add("analyst@demo.example", staff.Analyst)
	s.SignIn("analyst@demo.example")
	if p := s.Get(mailsPath); strings.Contains(p.Text, "Switch off") {
		t.Error("an analyst is offered the switch")
	}
	s.Want(s.Post(mailsPath+"/paused/switch", "to", "off"), http.StatusForbidden)
	if !s.First.Settings.Sends(notify.Paused) {
		t.Error("it was switched off by a user who may not")
	}
}

func TestFormThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "S", "do", "publish"), http.StatusOK, "published")
	long := strings.Repeat("ä", mailtemplate.MaxLine+1)
	for name, row := range map[string]struct {
		fields []string
		status int
		says   string
	}{
		"a problem":            {[]string{"seen", "1", "body", "<p>wrong</p>", "do", "publish"}, 422, "Body, line 3: it is wrong"},
		"a problem, as a test": {[]string{"seen", "1", "body", "<p>wrong</p>", "do", "test"}, 422, "Body, line 3: it is wrong"},
		"a longer line":        {[]string{"seen", "1", "subject", long, "do", "publish"}, 422, "has 501 characters"},
		"two lines":            {[]string{"seen", "1", "heading", "a\nBcc: eve@evil.example", "do", "publish"}, 422, "more than one line"},
		"a large body":         {[]string{"seen", "1", "body", strings.Repeat("x", mailtemplate.MaxBody+1), "do", "preview"}, 422, "bytes: up to 102400 are allowed"},
		"an older form":        {[]string{"seen", "0", "body", "<p>typed</p>", "do", "publish"}, 422, "Another user has published a version"},
		"no version":           {[]string{"seen", "x", "body", "<p>typed</p>", "do", "publish"}, 422, "Another user has published a version"},
		"no contract":          {[]string{"seen", "1", "contract", "43", "body", "<p>typed</p>", "do", "preview"}, 422, "has no contract 43"},
		"no number":            {[]string{"seen", "1", "contract", "<b>", "body", "<p>typed</p>", "do", "test"}, 422, "is not the number of a contract"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := *s.Site
			here.TB = t
			p := here.Post(mailsPath+"/paused/en", row.fields...)
			here.Want(p, row.status, row.says)
			if body := row.fields[len(row.fields)-3]; strings.HasPrefix(body, "<p>") && !strings.Contains(p.Text, "&lt;p&gt;"+strings.Trim(body, "</p>")) {
				t.Errorf("what was typed is lost: %s", body)
			}
		})
	}
	if len(s.post.sent) != 0 {
		t.Errorf("sent were %v", s.post.sent)
	}
}

func TestPreviewAndTestPublishNothing(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "odd one", "contract", "42", "do", "preview"), http.StatusOK, "It is not published.", "Subject: it is odd", "paused en Grace")
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "odd one", "do", "test"), http.StatusOK, "A test is on its way to "+dashboardtest.Owner)
	if len(s.post.sent) != 1 || s.post.sent[0] != dashboardtest.Owner+": Test: odd one" {
		t.Errorf("sent were %v", s.post.sent)
	}
	if list, err := s.templates.Live(t.Context(), s.First.ID); err != nil || len(list) != 0 {
		t.Errorf("%+v is sent, %v", list, err)
	}
	s.Add("analyst@demo.example", staff.Analyst)
	s.SignIn("analyst@demo.example")
	p := s.Get(mailsPath + "/paused/en")
	s.Want(p, http.StatusOK, "An owner or admin of the store can change this.")
	if strings.Contains(p.Text, `value="publish"`) {
		t.Error("an analyst can publish")
	}
	s.Want(s.Post(mailsPath+"/paused/en", "seen", "0", "subject", "S", "do", "preview"), http.StatusForbidden)
}

func TestAddressIsSentToAgain(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Get(dashboardtest.At+"/suppressed"), http.StatusOK, "No address is suppressed")
	for _, hash := range []string{"one", "busy"} {
		s.post.gone = append(s.post.gone, notify.Suppression{Hash: hash, Hint: "<b>…@shopper.example", Reason: notify.HardBounce, Source: "mail server"})
	}
	s.post.gone = append(s.post.gone, notify.Suppression{Hash: "spam", Reason: notify.Complaint, Source: "Mailgun"})
	p := s.Get(dashboardtest.At + "/suppressed")
	s.Want(p, http.StatusOK, "&lt;b&gt;…@shopper.example", "There is no such mailbox (mail server)", "An erased customer", "reported an e-mail as spam (Mailgun)", "Stays", "/suppressed/one")
	if strings.Contains(p.Text, "/suppressed/spam") {
		t.Error("a complaint can be lifted")
	}
	s.Want(s.Get(dashboardtest.At+"/suppressed/one"), http.StatusOK, "E-mails are sent to the address from now on.")
	s.Want(s.Post(dashboardtest.At+"/suppressed/one"), http.StatusOK, "E-mails are sent to the address again.")
	s.Want(s.Post(dashboardtest.At+"/suppressed/busy"), http.StatusUnprocessableEntity, "reader has complained")
	s.Want(s.Post(dashboardtest.At+"/suppressed/none"), http.StatusNotFound)
	if len(s.post.lifted) != 1 || s.post.lifted[0] != "one" {
		t.Errorf("lifted were %v", s.post.lifted)
	}
}

func TestSentEMailsAreListedAndSentAgain(t *testing.T) {
	t.Parallel()
	s := openMails(t)
	s.Want(s.Get(dashboardtest.At+"/sent-mails"), http.StatusOK, "No message fits.")
	message := func(id notify.MessageID, status notify.Status, contract contract.ID) notify.Message {
		m := notify.Message{ID: id, Kind: notify.Paused, To: "<b>@shopper.example", Status: status, Contract: contract, LastError: "550 <i>gone", DueAt: s.Clock.Now()}
		m.Subject = "Subject <b>"
		return m
	}
	s.post.list = []notify.Message{message(9, notify.Failed, 42), message(8, notify.Sent, 0), message(7, notify.Queued, 0), {ID: 6, Kind: notify.Canceled, Status: notify.Suppressed},
		{ID: 5, Kind: notify.UpcomingOrder, Channel: notify.BySMS, To: "+15550001234", Status: notify.Sent, Delivery: notify.Undelivered, DeliveryError: "error 30003"},
		{ID: 4, Kind: notify.UpcomingOrder, Channel: notify.BySMS, Status: notify.Suppressed},
	}
	p := s.Get(dashboardtest.At + "/sent-mails?show=failed&to=+ana@shopper.example&contract=42")
	s.Want(p, http.StatusOK, "Subject &lt;b&gt;", "&lt;b&gt;@shopper.example", "550 &lt;i&gt;gone", "/contracts/42/mails/9", "/sent-mails/9/resend", "An erased customer", "Cancelled", "due ", "SMS: Upcoming order", "error 30003", "No phone number")
	if want := (notify.Filter{Show: notify.ShowFailed, To: "ana@shopper.example", Contract: 42}); s.post.asked != want || strings.Contains(p.Text, "/sent-mails/8/resend") {
		t.Errorf("asked was %+v", s.post.asked)
	}
	for _, query := range []string{"show=odd", "contract=x", "contract=-1", "before=1.5"} {
		s.Want(s.Get(dashboardtest.At+"/sent-mails?"+query), http.StatusBadRequest)
	}
	s.Want(s.Post(dashboardtest.At+"/sent-mails/9/resend"), http.StatusOK, "The e-mail is sent again")
	if len(s.post.again) != 1 || s.post.again[0] != 9 {
		t.Errorf("sent again were %v", s.post.again)
	}
	s.post.list = nil
	for i := range 51 {
		s.post.list = append(s.post.list, message(notify.MessageID(100-i), notify.Sent, 0))
	}
	s.Want(s.Get(dashboardtest.At+"/sent-mails"), http.StatusOK, "before=51")
}
