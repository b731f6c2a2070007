package letters

import (
	"errors"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/liquid"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// limits of a merchant's template.
var limits = liquid.Limits{Output: 512 << 10, Text: 64 << 10, Range: 1000, Time: 250 * time.Millisecond}

// Engines read merchants' templates: lines are texts, the body is HTML in which values are escaped.
var (
	lines  = &liquid.Engine{Limits: limits}
	bodies = &liquid.Engine{Limits: limits, Escape: true}
)

// piece is a part of a merchant's body: HTML, or a block of the product's.
type piece struct {
	Block string // "orders" or "button"; empty: HTML
	HTML  template.HTML
	Text  string // the same for the text part
}

// Blocks stand in a body as marks, which no text can have: the database takes no character 0.
var mark = regexp.MustCompile("\x00(orders|button)\x00")

func block(name string) liquid.HTML { return liquid.HTML("\x00" + name + "\x00") }

// problem is what is wrong with a field of a template.
type problem struct {
	field string
	line  int
	err   error
}

func (p *problem) Error() string { return p.field + ": " + p.err.Error() }

// located returns what is wrong with a field.
func located(field string, err error) *problem {
	if f, ok := errors.AsType[*liquid.Error](err); ok {
		return &problem{field, f.Line, errors.New(f.Message)}
	}
	return &problem{field, 0, err}
}

// customise replaces parts of a letter by what a merchant has written.
func (p *page) customise(f mailtemplate.Fields, values map[string]any) *problem {
	write := func(engine *liquid.Engine, field, source string) (string, *problem) {
		t, err := engine.Parse(field, source)
		if err == nil {
			source, err = t.Render(values)
		}
		if err != nil {
			return "", located(field, err)
		}
		return source, nil
	}
	for _, one := range []struct {
		field, source string
		into          *string
	}{{"subject", f.Subject, &p.Subject}, {"preheader", f.Preheader, &p.Preheader}, {"heading", f.Heading, &p.Heading}} {
		if one.source == "" {
			continue
		}
		text, bad := write(lines, one.field, one.source)
		if bad != nil {
			return bad
		}
		if text = strings.Join(strings.Fields(text), " "); text == "" {
			return located(one.field, errors.New("nothing is left of it"))
		}
		*one.into = text
	}
	if f.Button != "" && p.Button != nil {
		text, bad := write(lines, "button", f.Button)
		if bad != nil {
			return bad
		}
		p.Button = &anchor{strings.Join(strings.Fields(text), " "), p.Button.URL}
	}
	if f.Body == "" {
		return nil
	}
	body, bad := write(bodies, "body", f.Body)
	if bad != nil {
		return bad
	}
	var err error
	if p.Custom, err = pieces(body); err != nil {
		return located("body", err)
	}
	return nil
}

// pieces takes a body apart at its blocks.
func pieces(body string) ([]piece, error) {
	var list []piece
	add := func(text string) error {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		plain, err := plainText(text)
		if err != nil {
			return err
		}
		list = append(list, piece{HTML: template.HTML(strings.TrimSpace(text)), Text: plain}) //nolint:gosec // values are escaped, and the rest was checked
		return nil
	}
	from := 0
	for _, at := range mark.FindAllStringSubmatchIndex(body, -1) {
		if err := add(body[from:at[0]]); err != nil {
			return nil, fmt.Errorf("before {{ letter.%s }}: %w", body[at[2]:at[3]], err)
		}
		list = append(list, piece{Block: body[at[2]:at[3]]})
		from = at[1]
	}
	if err := add(body[from:]); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("nothing is left of it")
	}
	return list, nil
}

// fragment returns paragraphs as HTML.
func fragment(paragraphs ...string) liquid.HTML {
	var b strings.Builder
	for _, p := range paragraphs {
		b.WriteString("<p>" + template.HTMLEscapeString(p) + "</p>\n")
	}
	return liquid.HTML(b.String())
}

// noteHTML returns the notes of a letter.
func noteHTML(notes []note) liquid.HTML {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString("<p>" + template.HTMLEscapeString(n.Text))
		if n.Link != nil {
			b.WriteString(` <a href="` + template.HTMLEscapeString(string(n.Link.URL)) + `">` + template.HTMLEscapeString(n.Link.Text) + "</a>")
		}
		b.WriteString("</p>\n")
	}
	return liquid.HTML(b.String())
}

func object(name string, properties map[string]any) *liquid.Object {
	return &liquid.Object{Name: name, Properties: properties}
}

// language returns the language of a visit's texts, as the catalogue names it.
func language(v portal.Visit) string { return v.Words.Lang() }
