package sandbox

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/web"
)

// mailsFile keeps the e-mails that were caught, one JSON object a line.
const mailsFile = "mails.jsonl"

// message is an e-mail as it was sent.
type message struct {
	ID      string       `json:"id"` // the Message-ID, without its brackets
	From    string       `json:"from,omitempty"`
	To      string       `json:"to"`
	Kind    string       `json:"kind"`
	Subject string       `json:"subject"`
	Text    string       `json:"text"`
	HTML    string       `json:"html"`
	At      *web.Instant `json:"at"`
	Links   []string     `json:"links"` // in the order in which they are read

	Instance    string `json:"instance,omitempty"`    // that sent it, when there are two
	Unsubscribe string `json:"unsubscribe,omitempty"` // where one request ends e-mails of its kind
}

// mailbox keeps every e-mail that was caught.
type mailbox struct {
	*journal[message]

	clock clock.Clock
}

// openMailbox reads what was caught before.
func openMailbox(path string, c clock.Clock) (*mailbox, error) {
	b := &mailbox{&journal[message]{path: path}, c}
	return b, b.reload()
}

// take keeps an e-mail of an instance for each of its recipients.
func (b *mailbox) take(instance string, to []string, raw io.Reader) error {
	m, err := parseMail(raw)
	if err != nil {
		return err
	}
	m.At, m.Instance = web.At(b.clock.Now()), instance
	var taken []message
	for _, m.To = range to {
		taken = append(taken, m)
	}
	return b.add(taken...)
}

// find returns the e-mails to an address and of a kind, oldest first. Empty
// texts leave nothing out.
func (b *mailbox) find(to, kind string) []message {
	found := []message{}
	for _, m := range b.all() {
		if (to == "" || strings.EqualFold(m.To, to)) && (kind == "" || strings.EqualFold(m.Kind, kind)) {
			found = append(found, m)
		}
	}
	return found
}

// maxMail is the largest e-mail that is taken, in bytes.
const maxMail = 1 << 20

// parseMail reads an e-mail: its headers, and a text and an HTML part.
func parseMail(raw io.Reader) (message, error) {
	letter, err := mail.ReadMessage(raw)
	if err != nil {
		return message{}, err
	}
	var words mime.WordDecoder
	subject, err := words.DecodeHeader(letter.Header.Get("Subject"))
	if err != nil {
		return message{}, err
	}
	from, err := words.DecodeHeader(letter.Header.Get("From"))
	if err != nil {
		return message{}, err
	}
	m := message{
		ID: strings.Trim(letter.Header.Get("Message-Id"), "<>"), From: from, Kind: letter.Header.Get("X-Perennial-Kind"), Subject: subject,
		Unsubscribe: strings.Trim(letter.Header.Get("List-Unsubscribe"), "<>"),
	}
	if err := m.read(letter.Header.Get("Content-Type"), letter.Header.Get("Content-Transfer-Encoding"), letter.Body); err != nil {
		return message{}, err
	}
	m.Links = linksIn(m.HTML, m.Text)
	return m, nil
}

// read reads a part and the parts in it.
func (m *message) read(media, encoding string, body io.Reader) error {
	kind, params, err := mime.ParseMediaType(media)
	if err != nil {
		return fmt.Errorf("content type %q: %w", media, err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := m.read(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part); err != nil {
				return err
			}
		}
	}
	if strings.EqualFold(encoding, "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	words := strings.ReplaceAll(string(text), "\r\n", "\n")
	switch kind {
	case "text/plain":
		m.Text += words
	case "text/html":
		m.HTML += words
	}
	return nil
}

var (
	hrefs     = regexp.MustCompile(`href="([^"]+)"`)
	addresses = regexp.MustCompile(`https?://[^\s<>"]+`)
	entities  = strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'")
)

// linksIn returns the addresses to which an e-mail leads, once each.
func linksIn(html, text string) []string {
	links := []string{}
	add := func(link string) {
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	for _, found := range hrefs.FindAllStringSubmatch(html, -1) {
		add(entities.Replace(found[1]))
	}
	for _, found := range addresses.FindAllString(text, -1) {
		add(found)
	}
	return links
}
