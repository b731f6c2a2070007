package letters

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// allowed are the elements that a merchant's body may have, with their attributes beside class, style,
// align and width.
var allowed = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "div": nil, "span": nil, "b": nil, "strong": nil, "i": nil, "em": nil, "u": nil, "s": nil, "small": nil, "h2": nil, "h3": nil, "ul": nil, "ol": nil, "li": nil,
	"blockquote": nil, "a": {"href", "title"}, "img": {"src", "alt", "height", "border"}, "table": {"role", "cellpadding", "cellspacing", "border"}, "tbody": nil, "thead": nil, "tr": nil,
	"td": {"colspan", "rowspan", "valign", "bgcolor"}, "th": {"colspan", "rowspan", "valign", "scope"}, "center": nil,
}

var (
	everywhere = []string{"class", "style", "align", "width", "dir", "lang"}
	void       = []string{"br", "hr", "img"}
	// safeLink is an address that a mail program may open.
	safeLink = regexp.MustCompile(`^(?i)(https?://|mailto:|tel:)`)
	// unsafeStyle is what a style could load or run.
	unsafeStyle = regexp.MustCompile(`(?i)url\s*\(|expression\s*\(|@import|javascript:|position\s*:`)
)

// plainText returns markup as text. Markup that mail programs would not show as it is meant, or that
// could do something, is an error.
func plainText(markup string) (string, error) {
	var b strings.Builder
	var open []string
	link := ""
	tokens := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return "", err
			}
			if len(open) > 0 {
				return "", fmt.Errorf("<%s> is not closed", open[len(open)-1])
			}
			return tidy(b.String()), nil
		case html.TextToken:
			b.WriteString(strings.Join(strings.Fields(" "+tokens.Token().Data+" "), " "))
			b.WriteByte(' ')
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			href, err := checkTag(token)
			if err != nil {
				return "", err
			}
			switch token.Data {
			case "br", "hr", "tr", "li", "p", "h2", "h3", "div", "ul", "ol", "table", "blockquote":
				b.WriteByte('\n')
			}
			switch token.Data {
			case "li":
				b.WriteString("* ")
			case "a":
				link = href
			}
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			name := tokens.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				return "", fmt.Errorf("</%s> closes nothing", name)
			}
			open = open[:len(open)-1]
			switch name {
			case "a":
				b.WriteString("\n" + link + "\n")
			case "p", "h2", "h3", "div", "ul", "ol", "table", "blockquote":
				b.WriteString("\n\n")
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// checkTag refuses an element that a body may not have. It returns where a link leads.
func checkTag(t html.Token) (href string, err error) {
	extra, known := allowed[t.Data]
	if !known {
		return "", fmt.Errorf("<%s> is not allowed", t.Data)
	}
	for _, a := range t.Attr {
		switch {
		case !slices.Contains(everywhere, a.Key) && !slices.Contains(extra, a.Key):
			return "", fmt.Errorf("<%s> cannot have %s", t.Data, a.Key)
		case a.Key == "href" && !safeLink.MatchString(a.Val):
			return "", fmt.Errorf("the link %q must begin with https, http, mailto or tel", a.Val)
		case a.Key == "src" && !strings.HasPrefix(a.Val, "https://"):
			return "", fmt.Errorf("the picture %q must begin with https://", a.Val)
		case a.Key == "style" && unsafeStyle.MatchString(a.Val):
			return "", fmt.Errorf("the style %q is not allowed", a.Val)
		case a.Key == "href":
			href = a.Val
		}
	}
	return href, nil
}

var manyLines = regexp.MustCompile(`\n{3,}`)

// tidy breaks the lines of a text, and leaves one empty line between paragraphs.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wrap(line)
	}
	return strings.TrimSpace(manyLines.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"))
}
