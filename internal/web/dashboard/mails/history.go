package mails

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// historyPage is the versions of an e-mail.
type historyPage struct{ Rows []versionRow }

// versionRow is a version.
type versionRow struct {
	Name, At, Author string
	Live             bool
	Path             string // of the form with it
	Changes          []change
}

// change is a field that differs from the version before.
type change struct{ Field, Before, After string }

// history shows the versions of an e-mail, newest first.
func (m *room) history(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, versions, err := m.find(r, v)
	if err != nil {
		return err
	}
	var p historyPage
	for i, t := range versions {
		before := mailtemplate.Fields{}
		if i+1 < len(versions) {
			before = versions[i+1].Fields
		}
		p.Rows = append(p.Rows, versionRow{
			Name: fmt.Sprintf("Version %d", t.Version), At: v.Instant(t.PublishedAt), Author: t.Author, Live: t.Live,
			Path: v.At(address(k) + "?version=" + strconv.FormatInt(t.Version, 10)), Changes: changes(before, t.Fields),
		})
	}
	return v.Answer(w, dashboard.Page{
		Name: "mail-history", Title: "History of " + words.MailName(k.Kind) + ", " + locale.Name(k.Language), Lead: "What was published, newest first.",
		Crumb: &dashboard.Crumb{Name: words.MailName(k.Kind), Path: address(k)}, Content: p,
	})
}

// changes returns the fields in which two versions differ.
func changes(before, after mailtemplate.Fields) (list []change) {
	for _, f := range []change{
		{"Subject", before.Subject, after.Subject}, {"Preview text", before.Preheader, after.Preheader}, {"Heading", before.Heading, after.Heading},
		{"Body", before.Body, after.Body}, {"Label of the button", before.Button, after.Button},
	} {
		if f.Before != f.After {
			list = append(list, f)
		}
	}
	return list
}

func question(k mailtemplate.Key, seen int64) dashboard.Question {
	at := address(k)
	return dashboard.Question{
		Title: "Reset " + words.MailName(k.Kind) + " in " + locale.Name(k.Language), Back: at, Path: at + "/reset", Button: "Reset to the product’s", Keep: "Keep my e-mail",
		Hidden: map[string]string{"seen": strconv.FormatInt(seen, 10)},
		Says:   []string{"Customers get the product’s e-mail from now on.", "Your versions stay in the history, and each can be published again."},
	}
}

func (m *room) askReset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, versions, err := m.find(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, question(k, newest(versions)), nil)
}

// reset has the product's e-mail sent again.
func (m *room) reset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, versions, err := m.find(r, v)
	if err != nil {
		return err
	}
	seen, _ := strconv.ParseInt(r.PostForm.Get("seen"), 10, 64) // no number is a version that never was
	if err := m.Templates.Publish(r.Context(), v.Shop.ID, mailtemplate.Draft{Key: k, Seen: seen}, v.Actor(r)); err != nil {
		return v.Ask(w, r, question(k, newest(versions)), err)
	}
	return v.Go(w, address(k), "mail-reset")
}
