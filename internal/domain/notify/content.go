package notify

import (
	"bytes"
	htmltemplate "html/template"
	"strings"
	texttemplate "text/template"
)

// Content is what is read.
type Content struct {
	Subject string
	Text    string
	HTML    string
}

// written fills the two templates of an e-mail.
func written(subject, text, html string, with any) (Content, error) {
	plain, err := texttemplate.New("").Parse(text)
	if err != nil {
		return Content{}, err
	}
	rich, err := htmltemplate.New("").Parse(html)
	if err != nil {
		return Content{}, err
	}
	var asText strings.Builder
	var asHTML bytes.Buffer
	if err := plain.Execute(&asText, with); err != nil {
		return Content{}, err
	}
	err = rich.Execute(&asHTML, with)
	return Content{Subject: subject, Text: asText.String(), HTML: asHTML.String()}, err
}
