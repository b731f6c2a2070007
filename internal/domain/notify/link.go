package notify

import (
	"time"
)

// Link is what the e-mail with a sign-in link says.
type Link struct {
	Shop    string // the store's name
	URL     string
	Expires time.Time // in the time zone of the reader
}

// Until returns when the link ends, in words.
func (l Link) Until() string { return l.Expires.Format("15:04 MST on 2 January 2006") }

const linkText = `Hello,

open this link to manage your subscription at {{.Shop}}:

{{.URL}}

It works once, until {{.Until}}. If you did not ask for it, ignore this e-mail: nothing can be changed without the link.
`

const linkHTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Your link to {{.Shop}}</title></head>
<body style="margin:0;padding:24px;background:#f5f4f0;color:#1f2421;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border-radius:8px"><tr><td style="padding:32px">
<p style="margin:0 0 16px">Hello,</p>
<p style="margin:0 0 24px">open this link to manage your subscription at {{.Shop}}:</p>
<p style="margin:0 0 24px"><a href="{{.URL}}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#205b48;color:#ffffff;text-decoration:none">Manage my subscription</a></p>
<p style="margin:0;color:#565d58;font-size:14px">It works once, until {{.Until}}. If you did not ask for it, ignore this e-mail: nothing can be changed without the link.</p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`

// Content returns the e-mail's words.
func (l Link) Content() (Content, error) {
	return written("Your link to "+l.Shop, linkText, linkHTML, l)
}
