package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

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

	Unsubscribe string `json:"unsubscribe,omitempty"` // where one request ends e-mails of its kind
}

// mailbox keeps every e-mail that was caught. What it has taken is in its file.
type mailbox struct {
	path  string
	clock clock.Clock

	mu   sync.Mutex
	list []message
}

// openMailbox reads what was caught before. A line that a killed process left
// unfinished was never taken, and is dropped.
func openMailbox(path string, c clock.Clock) (*mailbox, error) {
	b := &mailbox{path: path, clock: c}
	return b, b.reload()
}

// reload reads the file again.
func (b *mailbox) reload() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = nil
	text, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := os.Truncate(b.path, int64(whole)); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(text[:whole]))
	lines.Buffer(nil, 2*maxMail)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read %s: %w", b.path, err)
		}
		b.list = append(b.list, m)
	}
	return lines.Err()
}

// take keeps an e-mail for each of its recipients.
func (b *mailbox) take(to []string, raw io.Reader) error {
	m, err := parseMail(raw)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m.At = web.At(b.clock.Now())
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	var taken []message
	for _, m.To = range to {
		if err := encoder.Encode(m); err != nil {
			return err
		}
		taken = append(taken, m)
	}
	f, err := os.OpenFile(b.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		b.list = append(b.list, taken...)
	}
	return err
}

// find returns the e-mails to an address and of a kind, oldest first. Empty
// texts leave nothing out.
func (b *mailbox) find(to, kind string) []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []message{}
	for _, m := range b.list {
		if (to == "" || strings.EqualFold(m.To, to)) && (kind == "" || strings.EqualFold(m.Kind, kind)) {
			found = append(found, m)
		}
	}
	return found
}

func (b *mailbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// saveTo copies what was caught into a file.
func (b *mailbox) saveTo(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, err := os.ReadFile(b.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// loadFrom takes a file of saveTo in its place. A snapshot that has none is older
// than mail.
func (b *mailbox) loadFrom(path string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := b.path + ".restored"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(fresh, b.path); err != nil {
		return err
	}
	return b.reload()
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
