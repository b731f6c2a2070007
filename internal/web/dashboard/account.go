package dashboard

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

func (d *dashboard) account(w http.ResponseWriter, r *http.Request, v visit) error {
	return d.showAccount(w, r, v, "", nil)
}

// showAccount shows the page, with what is wrong with one of its forms.
func (d *dashboard) showAccount(w http.ResponseWriter, r *http.Request, v visit, form string, wrong error) error {
	list, err := d.Staff.Sessions(r.Context(), v.user)
	if err != nil {
		return err
	}
	u := v.user.User
	p := accountPage{Email: u.Email, Name: u.Name, TwoStep: u.Factor.On(), Recovery: len(u.Factor.Recovery), Form: form}
	for _, s := range list {
		row := sessionRow{Name: s.Name(), Agent: agentName(s.Agent), Client: s.Client, Begun: stamp(s.CreatedAt), Used: stamp(s.SeenAt), Here: s.Hash == v.user.Session.Hash}
		if !row.Here {
			p.Others++
		}
		p.Sessions = append(p.Sessions, row)
	}
	v.view.Title, v.view.Lead, v.view.Page = "Your account", "How you sign in. It is the same account in every store that you belong to.", p
	if wrong != nil {
		return d.again(w, r, "account", v.view, wrong)
	}
	return d.render(w, http.StatusOK, "account", v.view)
}

// stamp writes an instant of a session. Sessions belong to no store, so the zone is UTC.
func stamp(t time.Time) string { return t.UTC().Format(day + ", 15:04 MST") }

func (d *dashboard) changePassword(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := d.Staff.ChangePassword(r.Context(), v.user, r.PostForm.Get("current"), r.PostForm.Get("password"), clientOf(r)); err != nil {
		return d.showAccount(w, r, v, "password", err)
	}
	return redirect(w, v.done("/account", "password"))
}

func (d *dashboard) turnTwoStepOff(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := d.Staff.DisableTwoFactor(r.Context(), v.user, r.PostForm.Get("current"), clientOf(r)); err != nil {
		return d.showAccount(w, r, v, "two-step", err)
	}
	return redirect(w, v.done("/account", "two-step-off"))
}

func (d *dashboard) revoke(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := d.Staff.Revoke(r.Context(), v.user, r.PostForm.Get("session"), clientOf(r)); err != nil {
		return err
	}
	return redirect(w, v.done("/account", "sessions"))
}

// twoStepPage is what the page that turns two-step sign-in on shows.
type twoStepPage struct {
	Secret  string
	Picture template.URL // QR code
	Codes   []string     // recovery codes; some: two-step sign-in is on
}

// qrSize is the width of a QR code, in pixels.
const qrSize = 200

func (d *dashboard) twoStep(v *visit, secret string) error {
	setup, err := d.Staff.StartTwoFactor(v.user, secret)
	if err != nil {
		return err
	}
	picture, err := qrCode(setup)
	v.view.Title, v.view.Page = "Turn on two-step sign-in", twoStepPage{Secret: setup.Secret, Picture: picture}
	return err
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

func (d *dashboard) showTwoStep(w http.ResponseWriter, _ *http.Request, v visit) error {
	if v.user.User.Factor.On() {
		return redirect(w, v.at("/account"))
	}
	if err := d.twoStep(&v, ""); err != nil {
		return err
	}
	return d.render(w, http.StatusOK, "twostep", v.view)
}

func (d *dashboard) turnTwoStepOn(w http.ResponseWriter, r *http.Request, v visit) error {
	secret := r.PostForm.Get("secret")
	if err := d.twoStep(&v, secret); err != nil {
		return err
	}
	codes, err := d.Staff.ConfirmTwoFactor(r.Context(), v.user, secret, r.PostForm.Get("code"), r.PostForm.Get("current"), clientOf(r))
	if err != nil {
		return d.again(w, r, "twostep", v.view, err)
	}
	v.view.Title, v.view.Page = "Two-step sign-in is on", twoStepPage{Codes: codes}
	return d.render(w, http.StatusOK, "recovery", v.view)
}
