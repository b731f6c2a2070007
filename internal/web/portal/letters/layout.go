package letters

import (
	"embed"
	"html/template"
	"strings"
	texttemplate "text/template"
	"unicode"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// page is a letter as the templates show it.
type page struct {
	Lang, Dir   string
	Subject     string
	Preheader   string // what mail programs show beside the subject; empty: the first paragraph
	Heading     string
	Hello       string
	Says        []string
	Changes     []string // a list of sentences
	Orders      []order
	Custom      []piece // the merchant's body; nil: Hello, Says, Changes, Orders, Button and Notes
	Button      *anchor
	Notes       []note
	Why         string // why the person gets it
	Unsubscribe string // address that ends messages of the kind; empty: it is always sent
	Stop        string // what its link says
	Preferences *anchor
	Help        *anchor // nil: the store names none
	Store       store
	Paint       paint

	visit portal.Visit
}

// order is an order, with how it is shown: without items it is a panel alone.
type order struct {
	Panel   *panel
	Items   []portal.Item
	Bill    []portal.Sum
	Payment string
	Link    *anchor
}

// panel is what the eye finds first.
type panel struct{ Label, Big, Small string }

// anchor is a link.
type anchor struct {
	Text string
	URL  template.URL
}

// note is a paragraph that ends with a link; nil: without.
type note struct {
	Text string
	Link *anchor
}

// store is who writes.
type store struct {
	Name     string
	Initials string
	URL      string
	Logo     string // address of the picture; empty: the initials stand for it
	Alt      string
}

func storeOf(v portal.Visit) store {
	look := v.View.Look
	s := store{Name: look.Name, Initials: initials(look.Name), URL: v.View.Store, Logo: string(v.View.Logo()), Alt: look.Design.Logo.Alt}
	if s.Alt == "" {
		s.Alt = look.Name
	}
	if !strings.HasPrefix(s.Logo, "https://") && !strings.HasPrefix(s.Logo, "http://") {
		s.Logo = ""
	}
	return s
}

// initials returns the first letters of the first two words.
func initials(name string) string {
	var b strings.Builder
	for _, word := range strings.Fields(name) {
		if first, _ := utf8.DecodeRuneInString(word); b.Len() < 2*utf8.UTFMax && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
			b.WriteRune(unicode.ToUpper(first))
		}
		if utf8.RuneCountInString(b.String()) == 2 {
			break
		}
	}
	return b.String()
}

// paint are the colours of a letter, on light and on dark paper.
type paint struct{ Light, Dark tones }

type tones struct{ Ground, Card, Ink, Quiet, Edge, Fill, On, Link, Tint template.CSS }

func paintOf(d design.Design) paint {
	d = d.Effective()
	of := func(on design.Page, edge template.CSS) tones {
		p := design.PaletteOf(d.Colour, on)
		css := func(c design.Colour) template.CSS { return template.CSS(c) } //nolint:gosec // computed
		return tones{css(on.Ground), css(on.Card), css(on.Ink), css(on.Quiet), edge, css(p.Fill), css(p.On), css(p.Link), css(p.Tint)}
	}
	return paint{of(design.LightPage, "#e5ddd0"), of(design.DarkPage, "#3a342c")}
}

// at returns the address of a screen.
func at(v portal.Visit, path string) template.URL { return template.URL(v.View.At(path)) } //nolint:gosec // our own

func (p *page) title(v portal.Visit, key string, args ...any) {
	p.Subject = v.T(key+".subject", args...)
	p.Heading = v.T(key+".heading", args...)
}

// say adds a paragraph.
func (p *page) say(text string) {
	if text != "" {
		p.Says = append(p.Says, text)
	}
}

// add adds a paragraph below the order, with a link where there is one.
func (p *page) add(text string, link *anchor) { p.Notes = append(p.Notes, note{text, link}) }

//go:embed letter.html letter.txt
var files embed.FS

var (
	asHTML = template.Must(template.ParseFS(files, "letter.html"))
	asText = texttemplate.Must(texttemplate.New("letter.txt").Funcs(texttemplate.FuncMap{"wrap": wrap, "row": row}).ParseFS(files, "letter.txt"))
)

// preheader returns what mail programs show beside the subject.
func (p page) preheader() string {
	if p.Preheader == "" && len(p.Says) > 0 {
		return p.Says[0]
	}
	return p.Preheader
}

// written returns the letter's words.
func (p page) written() (notify.Content, error) {
	p.Preheader = p.preheader()
	var rich, plain strings.Builder
	if err := asHTML.Execute(&rich, p); err != nil {
		return notify.Content{}, err
	}
	err := asText.Execute(&plain, p)
	return notify.Content{Subject: p.Subject, Text: plain.String(), HTML: rich.String()}, err
}

// darkRule begins the rules for dark screens.
const darkRule = "@media (prefers-color-scheme:dark)"

// Dark returns the HTML of a letter as a dark screen shows it, wherever it is shown.
func Dark(html string) string { return strings.ReplaceAll(html, darkRule, "@media all") }

// Sheet returns the style sheet of a letter's HTML.
func Sheet(html string) string {
	_, rest, _ := strings.Cut(html, "<style>")
	sheet, _, _ := strings.Cut(rest, "</style>")
	return sheet
}

// lineLength is how many characters a line of the text part has at most, as far as words allow.
const lineLength = 72

// wrap breaks a paragraph into lines.
func wrap(text string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+size > lineLength:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// row sets a name and an amount at the two ends of a line.
func row(name, amount string) string {
	if space := lineLength - 8 - utf8.RuneCountInString(name) - utf8.RuneCountInString(amount); space > 1 {
		return name + strings.Repeat(" ", space) + amount
	}
	return name + "  " + amount
}
