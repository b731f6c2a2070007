package notify

import (
	"strings"
	"time"
)

// Staff is what e-mails to the users of a dashboard say.
type Staff struct {
	Shop  string // the store's domain
	URL   string
	Until time.Time // in the time zone of the reader
	Role  string    // that the reader is invited to; empty: the link resets the password
	By    string    // who invites
}

// Ends returns when the link ends, in words.
func (s Staff) Ends() string { return s.Until.Format("15:04 MST on 2 January 2006") }

// RoleName returns the role in words.
func (s Staff) RoleName() string { return strings.ToLower(s.Role) }

const invitationText = `Hello,

{{.By}} invites you to the dashboard of {{.Shop}} on Perennial, with the role {{.RoleName}}. Open this link to join:

{{.URL}}

The link works once, until {{.Ends}}. If you do not expect it, ignore this e-mail.
`

const resetText = `Hello,

open this link to set a new password for the dashboard of {{.Shop}}:

{{.URL}}

The link works once, until {{.Ends}}. If you did not ask for it, ignore this e-mail: your password stays as it is.
`

const staffHTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body style="margin:0;padding:24px;background:#f2f5f4;color:#14201f;font-family:-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:16px;line-height:1.5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border-radius:9px"><tr><td style="padding:32px">
<p style="margin:0 0 16px">Hello,</p>
<p style="margin:0 0 24px">{{.Lead}}</p>
<p style="margin:0 0 24px"><a href="{{.URL}}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#0b5f5c;color:#ffffff;text-decoration:none">{{.Button}}</a></p>
<p style="margin:0;color:#53605e;font-size:14px">{{.Foot}}</p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`

// staffView is what the HTML of such an e-mail shows.
type staffView struct {
	Staff
	Subject, Lead, Button, Foot string
}

// Content returns the e-mail's words: of an invitation when there is a role, otherwise of
// a reset of the password.
func (s Staff) Content() (Content, error) {
	if s.Role != "" {
		v := staffView{
			s, "Your invitation to " + s.Shop, s.By + " invites you to the dashboard of " + s.Shop + " on Perennial, with the role " + s.RoleName() + ".", "Join the dashboard",
			"The link works once, until " + s.Ends() + ". If you do not expect it, ignore this e-mail.",
		}
		return written(v.Subject, invitationText, staffHTML, v)
	}
	v := staffView{
		s, "Set a new password", "Set a new password for the dashboard of " + s.Shop + ".", "Set a new password",
		"The link works once, until " + s.Ends() + ". If you did not ask for it, ignore this e-mail: your password stays as it is.",
	}
	return written(v.Subject, resetText, staffHTML, v)
}
