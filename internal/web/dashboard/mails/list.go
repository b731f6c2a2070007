package mails

import (
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// listPage is the list of the kinds of e-mail.
type listPage struct {
	Switches   string // address of the page on which kinds are switched on and off
	Sent       string // address of the list of messages
	Suppressed string // address of the list of addresses that get none
	Sender     string // address of the page about the sender
	Groups     []listGroup
	May        bool // the reader may switch kinds on and off
}

// listGroup is kinds of e-mail that belong together.
type listGroup struct {
	Title string
	Rows  []kindRow
}

// kindRow is a kind of e-mail in the list.
type kindRow struct {
	Name, About, Path string
	State             dashboard.Badge
	Switch            string // address of the form that switches it on or off
	Sent              bool   // the store sends it
	Own               string // languages in which it is the store's; empty: none
	Last              string // when its newest version was published, with its author
}

// list shows the kinds of e-mail.
func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	live, err := m.Templates.Live(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := listPage{Switches: v.At("/settings/mail"), Sent: v.At(sentPath), Suppressed: v.At(suppressedPath), Sender: v.At("/sender")}
	for _, section := range words.Mails {
		g := listGroup{Title: section.Title}
		for _, mail := range section.Kinds {
			if slices.Contains(notify.CustomerKinds(), mail.Kind) {
				g.Rows = append(g.Rows, m.row(v, mail, live))
			}
		}
		if len(g.Rows) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	p.May = v.May(staff.ManageStore)
	return v.Answer(w, dashboard.Page{
		Name: "mails", Title: "E-mail texts", Content: p,
		Lead: "What customers are sent. An e-mail that you write is yours in that language; all others follow the product and your portal texts.",
	})
}

func (m *room) row(v dashboard.Visit, mail words.Mail, live []mailtemplate.Template) kindRow {
	row := kindRow{Name: mail.Name, About: strings.TrimSpace(mail.About + " Customers can refuse it."), State: dashboard.Badge{Tone: dashboard.Good, Text: "Sent"}}
	row.Sent, row.Switch = v.Shop.Settings.Sends(mail.Kind), v.At(path+"/"+string(mail.Kind)+"/switch")
	if notify.Required(mail.Kind) {
		row.About = strings.TrimSpace(mail.About + " Customers cannot refuse it.")
	}
	if !row.Sent {
		row.State = dashboard.Badge{Tone: dashboard.Neutral, Text: "Not sent", Hollow: true}
	}
	shown := locale.Fallback
	var own []string
	var newest mailtemplate.Template
	for _, t := range live {
		if t.Kind != mail.Kind {
			continue
		}
		own = append(own, locale.Name(t.Language))
		if t.PublishedAt.After(newest.PublishedAt) {
			newest, shown = t, t.Language
		}
	}
	if row.Own = strings.Join(own, ", "); row.Own != "" {
		row.Last = "since " + v.Instant(newest.PublishedAt) + ", by " + newest.Author
	}
	row.Path = v.At(address(mailtemplate.Key{Kind: mail.Kind, Language: shown}))
	return row
}

// turn switches a kind on or off, as the settings do.
func (m *room) turn(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	kind := notify.Kind(r.PathValue("kind"))
	if !slices.Contains(notify.CustomerKinds(), kind) {
		return fault.New(fault.NotFound, "there is no e-mail %.40q", kind).Code("mailTemplateUnknown")
	}
	done, on := "mail-off", false
	switch to := r.PostForm.Get("to"); to {
	case "on":
		done, on = "mail-on", true
	case "off":
	default:
		return fault.New(fault.Invalid, "an e-mail is switched on or off, not %.20q", to).Field("to")
	}
	if _, err := m.Switches.ChangeSettings(r.Context(), v.Shop.Domain, v.Actor(r), func(s *shop.Settings) error {
		s.SetSends(kind, on)
		return nil
	}); err != nil {
		return err
	}
	return v.Go(w, path, done)
}

// address returns the path of a template, below the store's.
func address(k mailtemplate.Key) string { return path + "/" + string(k.Kind) + "/" + k.Language }
