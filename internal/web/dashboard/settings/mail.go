package settings

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// mailForm returns the form of the kinds of e-mail and, where the installation sends them, of SMS.
func mailForm(of shop.Shop) formPage {
	s := of.Settings
	p := formPage{Path: "/settings/mail", Words: "/mails"}
	for _, section := range words.Mails {
		g := group{Title: section.Title}
		for _, m := range section.Kinds {
			g.Fields = append(g.Fields, dashboard.Field{Name: "mail-" + string(m.Kind), Type: "checkbox", Label: m.Name, Hint: m.About, Value: dashboard.Tick(s.Sends(m.Kind))})
		}
		p.Groups = append(p.Groups, g)
	}
	often := dashboard.Field{Name: "failure-digest", Type: "select", Label: "How often the summary comes", Value: string(s.Digest())}
	for _, mode := range shop.DigestModes {
		often.Choices = append(often.Choices, dashboard.Choice{Value: string(mode), Name: digestNames[mode], Selected: mode == s.Digest()})
	}
	last := &p.Groups[len(p.Groups)-1]
	last.Fields = append(last.Fields, often)
	if of.SMS {
		g := group{Title: "SMS", About: "Sent between 9:00 and 20:00 to customers who agreed to them in the portal, beside the e-mail."}
		for _, k := range notify.SMSKinds {
			g.Fields = append(g.Fields, dashboard.Field{Name: "sms-" + string(k), Type: "checkbox", Label: words.MailName(k), Value: dashboard.Tick(of.SendsSMS(k))})
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

var digestNames = map[shop.DigestMode]string{shop.DigestAtOnce: "Within 15 minutes", shop.DigestWeekly: "On Monday morning", shop.DigestMonthly: "On the first day of a month"}

const (
	mailTitle = "E-mails"
	mailLead  = "Which e-mails and SMS are sent. A kind that is not ticked is not sent to anybody."
)

func (m *room) mail(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.answer(w, r, v, mailTitle, mailLead, mailForm(v.Shop), nil)
}

func (m *room) saveMail(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	err := m.save(r, v, func(s *shop.Settings) error {
		for _, k := range notify.Kinds() {
			s.SetSends(k, ticked(r, "mail-"+string(k)))
		}
		for _, k := range notify.SMSKinds {
			if v.Shop.SMS { // else the form does not show them
				s.SetSendsSMS(k, ticked(r, "sms-"+string(k)))
			}
		}
		s.FailureDigest = shop.DigestMode(r.PostFormValue("failure-digest"))
		return nil
	})
	if err != nil {
		return m.answer(w, r, v, mailTitle, mailLead, asEntered(mailForm(v.Shop), r), err)
	}
	return v.Go(w, "/settings/mail", "settings")
}
