package portal

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"github.com/perennialhq/perennial/internal/web/htmx"
)

//go:embed pages/*.html
var pageFiles embed.FS

var (
	//go:embed assets/portal.css
	styles string

	//go:embed assets/portal.js
	script string
)

// asset is a file that pages name. Its name changes with its content, so browsers keep it for
// good.
type asset struct{ name, text, kind string }

func newAsset(text, ending, kind string) asset {
	sum := sha256.Sum256([]byte(text))
	return asset{hex.EncodeToString(sum[:8]) + ending, text, kind}
}

// ServeHTTP answers with the file.
func (a asset) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write([]byte(a.text)) // the client is gone
}

// assets are the files of all pages.
type assets struct{ styles, scoped, script asset }

// comments are those of the style sheet.
var comments = regexp.MustCompile(`(?s)/\*.*?\*/|\n`)

func newAssets(styles string) assets {
	styles = comments.ReplaceAllString(styles, "")
	const sheet, code = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
	return assets{newAsset(styles, ".css", sheet), newAsset(scoped(styles), ".css", sheet), newAsset(htmx.Script+"\n"+script, ".js", code)}
}

// all returns the files.
func (a assets) all() []asset { return []asset{a.styles, a.scoped, a.script} }

// scoped returns the style sheet for parts of a store's theme: its rules are those of what is
// within .portal alone, and rules of the whole page are those of .portal.
func scoped(styles string) string {
	return ".portal{" + strings.NewReplacer(":root{", "&{", "body{", "&{", "html{", ".none{").Replace(styles) + "}"
}

func parsePages() (*template.Template, error) {
	return template.New("pages").Funcs(functions).ParseFS(pageFiles, "pages/*.html")
}
