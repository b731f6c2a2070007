package people

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image/png"
	"net/http"
	"time"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"

	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// sessionRow is a session in the list.
type sessionRow struct {
	Name   string
	Agent  string
	Client string
	Begun  string
	Used   string
	Here   bool
}

// accountPage is what the page of the account shows.
type accountPage struct {
	Email    string
	Name     string
	TwoStep  bool
	Recovery int // codes that are left
	Sessions []sessionRow
	Others   int
	Form     string // which form is wrong: password or two-step
}

func (m *room) account(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showAccount(w, r, v, "", nil)
}

// showAccount shows the page, with what is wrong with one of its forms.
func (m *room) showAccount(w http.ResponseWriter, r *http.Request, v dashboard.Visit, form string, wrong error) error {
	list, err := m.Staff.Sessions(r.Context(), v.User)
	if err != nil {
		return err
	}
	u := v.User.User
	p := accountPage{Email: u.Email, Name: u.Name, TwoStep: u.Factor.On(), Recovery: len(u.Factor.Recovery), Form: form}
	for _, s := range list {
		row := sessionRow{Name: s.Name(), Agent: agentName(s.Agent), Client: s.Client, Begun: stamp(s.CreatedAt), Used: stamp(s.SeenAt), Here: s.Hash == v.User.Session.Hash}
		if !row.Here {
			p.Others++
		}
		p.Sessions = append(p.Sessions, row)
	}
	page := dashboard.Page{Name: "account", Title: "Your account", Lead: "How you sign in. It is the same account in every store that you belong to.", Content: p}
	if wrong != nil {
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

// stamp writes an instant of a session. Sessions belong to no store, so the zone is UTC.
func stamp(t time.Time) string { return t.UTC().Format(dashboard.InstantLayout) }

func (m *room) changePassword(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Staff.ChangePassword(r.Context(), v.User, r.PostForm.Get("current"), r.PostForm.Get("password"), dashboard.ClientOf(r)); err != nil {
		return m.showAccount(w, r, v, "password", err)
	}
	return v.Go(w, "/account", "password")
}

func (m *room) turnTwoStepOff(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Staff.DisableTwoFactor(r.Context(), v.User, r.PostForm.Get("current"), dashboard.ClientOf(r)); err != nil {
		return m.showAccount(w, r, v, "two-step", err)
	}
	return v.Go(w, "/account", "two-step-off")
}

func (m *room) revoke(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	if err := m.Staff.Revoke(r.Context(), v.User, r.PostForm.Get("session"), dashboard.ClientOf(r)); err != nil {
		return err
	}
	return v.Go(w, "/account", "sessions")
}

// twoStepPage is what the page that turns two-step sign-in on shows.
type twoStepPage struct {
	Secret  string
	Picture template.URL // QR code
	Codes   []string     // recovery codes; some: two-step sign-in is on
}

// qrSize is the width of a QR code, in pixels.
const qrSize = 200

func (m *room) twoStep(v dashboard.Visit, secret string) (dashboard.Page, error) {
	setup, err := m.Staff.StartTwoFactor(v.User, secret)
	if err != nil {
		return dashboard.Page{}, err
	}
	picture, err := qrCode(setup)
	return dashboard.Page{Name: "twostep", Title: "Turn on two-step sign-in", Content: twoStepPage{Secret: setup.Secret, Picture: picture}}, err
}

func qrCode(setup staff.Setup) (template.URL, error) {
	code, err := qr.Encode(setup.URL, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	if code, err = barcode.Scale(code, qrSize, qrSize); err != nil {
		return "", err
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, code); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Bytes())), nil //nolint:gosec // it is a picture
}

func (m *room) showTwoStep(w http.ResponseWriter, _ *http.Request, v dashboard.Visit) error {
	if v.User.User.Factor.On() {
		return v.Go(w, "/account", "")
	}
	page, err := m.twoStep(v, "")
	if err != nil {
		return err
	}
	return v.Answer(w, page)
}

func (m *room) turnTwoStepOn(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	secret := r.PostForm.Get("secret")
	page, err := m.twoStep(v, secret)
	if err != nil {
		return err
	}
	codes, err := m.Staff.ConfirmTwoFactor(r.Context(), v.User, secret, r.PostForm.Get("code"), r.PostForm.Get("current"), dashboard.ClientOf(r))
	if err != nil {
		return v.Refuse(w, r, page, err)
	}
	return v.Answer(w, dashboard.Page{Name: "recovery", Title: "Two-step sign-in is on", Content: twoStepPage{Codes: codes}})
}

// inAccount answers with a page of the user's own account. In the platform's admin there is
// none: the platform says who the user is, and knows no password of ours.
func inAccount(show dashboard.Show) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		if v.View.Embedded {
			return dashboard.PathNotFound()
		}
		return show(w, r, v)
	}
}
