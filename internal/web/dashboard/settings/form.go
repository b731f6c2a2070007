package settings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// group is fields of a form that belong together.
type group struct {
	Title, About string
	Fields       []dashboard.Field
}

// fact is something that is shown and not set here.
type fact struct{ Name, Value string }

// formPage is a page with a form of settings.
type formPage struct {
	Path     string // that the form is sent to, below the store's
	Words    string // path of the page on which e-mails are written; empty: the form is about others
	Groups   []group
	Register []fact // addresses that the merchant enters at the platform
	Facts    []fact
	Seen     string   // the settings as the reader has seen them, so that changes made since are not overwritten
	May      bool     // the reader may save
	Preview  *outlook // nil: none was asked for
	Offers   bool     // the form has a preview
}

// seenSettings returns a text that differs when the settings do.
func seenSettings(s shop.Settings) string {
	text, err := json.Marshal(s)
	if err != nil { // it has only plain values
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// save stores what a form has changed, if the settings are those that its reader has seen.
func (m *room) save(r *http.Request, v dashboard.Visit, change func(*shop.Settings) error) error {
	_, err := m.Changes.ChangeSettings(r.Context(), v.Shop.Domain, v.Actor(r), func(s *shop.Settings) error {
		if seenSettings(*s) != r.PostForm.Get("seen") {
			return settingsChanged()
		}
		return change(s)
	})
	return err
}

// settingsChanged refuses a form whose reader has seen other settings.
func settingsChanged() error {
	return fault.New(fault.Conflict, "the settings were changed since the page was opened: look at them, and enter your changes again").Code("settingsChanged")
}

// answer shows a form, with why it was not saved.
func (m *room) answer(w http.ResponseWriter, r *http.Request, v dashboard.Visit, title, lead string, p formPage, refused error) error {
	p.May = v.May(staff.ManageStore)
	if p.Seen == "" {
		p.Seen = seenSettings(v.Shop.Settings)
	}
	page := dashboard.Page{Name: "settings", Title: title, Lead: lead, Content: p}
	if refused != nil {
		return v.Refuse(w, r, page, atField(refused))
	}
	return v.Answer(w, page)
}

// fields are the fields of the forms, by the name that the failures of the domain give them.
var fields = map[string]string{
	"catchUpHours": "catch-up", "requestsPerSecond": "rate", "requestBurst": "burst", "dunning.mode": "mode", "dunning.retries": "retries",
	"dunning.everyDays": "every", "dunning.finalAction": "then", "dunning.outOfStock.retries": "stock-retries", "dunning.outOfStock.everyDays": "stock-every",
	"dunning.outOfStock.finalAction": "stock-then",
}

// atField names the field of the form that a failure is about.
func atField(err error) error {
	return dashboard.AtForm(err, func(param, message string) (string, string) { return cmp.Or(fields[param], param), message })
}

// whole reads a whole number from a field.
func whole(r *http.Request, field, what string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(r.PostForm.Get(field)))
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s is a whole number", what).Field(field)
	}
	return n, nil
}

func ticked(r *http.Request, field string) bool { return r.PostForm.Get(field) != "" }
