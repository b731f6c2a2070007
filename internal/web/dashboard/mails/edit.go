package mails

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// editPage is the form of an e-mail, with how it is read.
type editPage struct {
	Path, History, Reset string
	Tabs                 []dashboard.Tab // languages
	Switches             string          // address of the page that switches the kind on; empty: it is sent
	Seen                 int64           // the newest version when the form was opened
	Fields               []dashboard.Field
	Contract             dashboard.Field
	Values               []Value
	Problems             []string
	Subject, From        string
	Text, HTML, Dark     string
	May                  bool
	Own                  bool   // the store has its own words
	Unsaved              string // what the preview shows that is not published; empty: it is what is sent
	To                   string // address to which a test is sent
}

// entered is what a form says, or what is sent when none was.
type entered struct {
	mailtemplate.Draft

	contract string // as typed
	unsaved  string // see editPage
}

// find returns the template that the path names, and its versions, newest first.
func (m *room) find(r *http.Request, v dashboard.Visit) (mailtemplate.Key, []mailtemplate.Template, error) {
	k := mailtemplate.Key{Kind: notify.Kind(r.PathValue("kind")), Language: r.PathValue("language")}
	versions, err := m.Templates.History(r.Context(), v.Shop.ID, k)
	return k, versions, err
}

// newest returns the number of the newest version; 0: there is none.
func newest(versions []mailtemplate.Template) int64 {
	if len(versions) == 0 {
		return 0
	}
	return versions[0].Version
}

// live returns what is sent in place of the product's e-mail.
func live(versions []mailtemplate.Template) (f mailtemplate.Fields) {
	for _, t := range versions {
		if t.Live {
			return t.Fields
		}
	}
	return f
}

// edit shows the form, with what is sent or with an earlier version.
func (m *room) edit(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, versions, err := m.find(r, v)
	if err != nil {
		return err
	}
	e := entered{Draft: mailtemplate.Draft{Key: k, Fields: live(versions), Seen: newest(versions)}}
	if text := r.URL.Query().Get("version"); text != "" {
		old, found := version(versions, text)
		if !found {
			return fault.New(fault.NotFound, "the e-mail has no version %.20q", text).Code("mailTemplateUnknown")
		}
		e.Fields, e.unsaved = old.Fields, fmt.Sprintf("This is version %d of %s. Publish it to have it sent again.", old.Version, v.Instant(old.PublishedAt))
	}
	p, err := m.page(r.Context(), v, e, versions)
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

func version(versions []mailtemplate.Template, text string) (mailtemplate.Template, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	for _, t := range versions {
		if err == nil && t.Version == n {
			return t, true
		}
	}
	return mailtemplate.Template{}, false
}

// page returns the form with what was entered, and the e-mail that it makes.
func (m *room) page(ctx context.Context, v dashboard.Visit, e entered, versions []mailtemplate.Template) (dashboard.Page, error) {
	at := address(e.Key)
	p := editPage{
		Path: v.At(at), Reset: v.At(at + "/reset"), Seen: e.Seen, May: v.May(staff.ManageStore), Own: !live(versions).Empty(), Unsaved: e.unsaved, To: v.User.User.Email,
		Contract: dashboard.Field{Name: "contract", Label: "Preview with a contract", Plain: true, Max: 20, Value: e.contract, Hint: "Its number. Empty: a made-up customer."},
	}
	for _, l := range m.Languages {
		p.Tabs = append(p.Tabs, dashboard.Tab{Name: locale.Name(l), Path: v.At(address(mailtemplate.Key{Kind: e.Kind, Language: l})), Here: l == e.Language})
	}
	if len(versions) > 0 {
		p.History = v.At(at + "/history")
	}
	if !v.Shop.Settings.Sends(e.Kind) {
		p.Switches = v.At("/settings/mail")
	}
	page := dashboard.Page{
		Name: "mail", Title: words.MailName(e.Kind) + ", " + locale.Name(e.Language), Lead: "Leave a field empty to have it as the product writes it.",
		Crumb: &dashboard.Crumb{Name: "E-mail texts", Path: path}, Letters: true,
	}
	about, err := m.contract(ctx, v, e.contract)
	if err != nil {
		page.Content = p.with(e, Preview{})
		return page, err
	}
	shown, err := m.Letters.Preview(ctx, v.Shop, e.Key, e.Fields, about)
	if err != nil {
		page.Content = p.with(e, Preview{})
		return page, err
	}
	if p.Values, err = m.Letters.Values(ctx, v.Shop, e.Key); err != nil {
		return page, err
	}
	page.Sheets = shown.Sheets
	p = p.with(e, shown)
	product, err := m.Letters.Product(ctx, v.Shop, e.Key)
	if err != nil {
		return page, err
	}
	for i, text := range []string{product.Subject, product.Preheader, product.Heading, product.Body, product.Button} {
		p.Fields[i].Instead = text
	}
	page.Content = p
	return page, nil
}

// with returns the form with fields and a preview.
func (p editPage) with(e entered, shown Preview) editPage {
	field := func(name, label, value, hint string) dashboard.Field {
		return dashboard.Field{Name: name, Label: label, Value: value, Hint: hint, Plain: true, Max: mailtemplate.MaxLine}
	}
	body := field("body", "Body", e.Body, "HTML. {{ letter.text }} is what the product writes, {{ letter.orders }} the products and amounts, {{ letter.button }} the button.")
	body.Type, body.Max = "textarea", 0
	p.Fields = []dashboard.Field{
		field("subject", "Subject", e.Subject, ""), field("preheader", "Preview text", e.Preheader, "What mail programs show beside the subject."),
		field("heading", "Heading", e.Heading, ""), body, field("button", "Label of the button", e.Button, ""),
	}
	p.Subject, p.From, p.Text, p.HTML, p.Dark = shown.Subject, shown.FromName, shown.Text, shown.HTML, shown.Dark
	for _, problem := range shown.Problems {
		p.Problems = append(p.Problems, says(problem))
	}
	return p
}

// says says what is wrong, and where.
func says(p mailtemplate.Problem) string {
	where := strings.ToUpper(p.Field[:1]) + p.Field[1:]
	if p.Line > 0 {
		where += ", line " + strconv.Itoa(p.Line)
	}
	return where + ": " + p.Text
}

// number returns the number of something that is typed into a field; 0 when nothing is.
func number(typed, what, field string) (int64, error) {
	if typed = strings.TrimSpace(typed); typed == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(typed, 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.Invalid, "%.40q is not the number of a %s", typed, what).Field(field)
	}
	return n, nil
}

// contract returns the contract that is typed; an empty one when none is.
func (m *room) contract(ctx context.Context, v dashboard.Visit, typed string) (contract.Contract, error) {
	id, err := number(typed, "contract", "contract")
	if err != nil || id == 0 {
		return contract.Contract{}, err
	}
	sheet, err := m.Contracts.Sheet(ctx, v.Shop.ID, contract.ID(id), 0)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.Invalid, "the store has no contract %d", id).Field("contract")
	}
	return sheet.Contract, err
}

// overtaken says which version was published since the form was opened.
func overtaken(v dashboard.Visit, versions []mailtemplate.Template) error {
	if len(versions) == 0 {
		return fault.New(fault.Conflict, "the versions of this e-mail have changed since the form was opened: look at it, and publish again").Code("changedMeanwhile")
	}
	last := versions[0]
	return fault.New(fault.Conflict, "another user has published a version meanwhile: version %d, by %s, on %s. What you typed is kept and not published. Look at the history, and publish again to replace that version",
		last.Version, last.Author, v.Instant(last.PublishedAt)).Code("changedMeanwhile")
}

// save publishes the form, sends it as a test, or shows how it is read.
func (m *room) save(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, versions, err := m.find(r, v)
	if err != nil {
		return err
	}
	form := r.PostForm
	seen, _ := strconv.ParseInt(form.Get("seen"), 10, 64) // no number is a version that never was
	e := entered{contract: strings.TrimSpace(form.Get("contract")), Draft: mailtemplate.Draft{
		Key: k, Seen: seen,
		Fields: mailtemplate.Fields{Subject: form.Get("subject"), Preheader: form.Get("preheader"), Heading: form.Get("heading"), Body: form.Get("body"), Button: form.Get("button")},
	}}
	e.unsaved = "This is the e-mail of the form. It is not published."
	refuse := func(err error) error {
		p, other := m.page(r.Context(), v, e, versions)
		if p.Content == nil {
			return other
		}
		if err == nil {
			err = other
		}
		if err == nil {
			return v.Answer(w, p)
		}
		return v.Refuse(w, r, p, err)
	}
	if err := e.Fields.Check(); err != nil {
		return refuse(err)
	}
	switch form.Get("do") {
	case "publish":
		if err := m.Templates.Publish(r.Context(), v.Shop.ID, e.Draft, v.Actor(r)); fault.Is(err, fault.Conflict) {
			// What is typed stays, and can replace the version that its author has not seen.
			if _, versions, err = m.find(r, v); err != nil {
				return err
			}
			e.Seen = newest(versions)
			return refuse(overtaken(v, versions))
		} else if err != nil {
			return refuse(err)
		}
		return v.Go(w, address(k), "mail-published")
	case "test":
		about, err := m.contract(r.Context(), v, e.contract)
		if err != nil {
			return refuse(err)
		}
		shown, err := m.Letters.Preview(r.Context(), v.Shop, k, e.Fields, about)
		if err != nil {
			return refuse(err)
		}
		for _, p := range shown.Problems {
			if !p.Warning {
				return refuse(fault.New(fault.Invalid, "%s", says(p)).Field(p.Field))
			}
		}
		shown.Subject = "Test: " + shown.Subject
		if err := m.Sender.SendTest(r.Context(), v.Shop.ID, v.User.User.Email, shown.Letter, v.Actor(r)); err != nil {
			return refuse(err)
		}
		e.unsaved = "A test is on its way to " + v.User.User.Email + ". The e-mail of the form is not published."
	}
	return refuse(nil)
}
