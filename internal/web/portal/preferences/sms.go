package preferences

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/sms"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/web/portal"
)

const smsPath = path + "/sms"

// Fields of the form about SMS.
const (
	agreed = "agreed" // ticked: the subscriber agrees
	phone  = "phone"
)

// smsForm is the form in which a subscriber agrees to SMS.
type smsForm struct {
	Form   portal.Form
	Phone  portal.Field
	Agree  string // the words that are agreed to
	Agreed bool
	Ended  bool // by STOP
}

// smsForm returns the form; nil when the store sends no SMS and none can be ended.
func (m room) smsForm(r *http.Request, v portal.Visit) (*smsForm, error) {
	var kinds []string
	for _, k := range notify.SMSKinds {
		if v.Shop.SendsSMS(k) {
			kinds = append(kinds, v.T("mail."+string(k)))
		}
	}
	is, err := m.Consents.Consent(r.Context(), v.Shop.ID, v.Customer())
	if err != nil || len(kinds) == 0 && !is.Holds() {
		return nil, err
	}
	f := &smsForm{
		Form: v.View.Form(smsPath, 0), Agree: v.T("preferences.sms.agree") + ": " + strings.Join(kinds, "; "), Agreed: is.Holds(),
		Ended: is.EndedBy == optin.ByAnswer || is.EndedBy == optin.ByProvider,
		Phone: portal.Field{
			Name: phone, Type: "tel", Label: v.T("preferences.sms.phone"), Hint: v.T("preferences.sms.phone.text"), Max: sms.MaxPhone, Complete: "tel",
			Value: portal.Typed(r, phone, is.Phone),
		},
	}
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, smsPath) {
		f.Agreed = r.PostForm.Has(agreed)
	}
	return f, nil
}

// setSMS takes the form.
func (m room) setSMS(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	err := v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Consents.Set(ctx, v.Shop.ID, optin.Wish{Phone: r.PostForm.Get(phone), Agreed: r.PostForm.Has(agreed), Actor: v.Actor(r)})
		return path + "?done=preferences", err
	})
	return v.Again(err, func() error {
		page, failed := m.read(r, v)
		if failed != nil {
			return failed
		}
		return v.Refuse(w, r, page, err)
	})
}
