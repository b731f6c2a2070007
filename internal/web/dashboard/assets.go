package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"

	"github.com/perennialhq/perennial/internal/web/htmx"
)

//go:embed pages/*.html
var pageFiles embed.FS

var (
	//go:embed assets/dashboard.css
	styles string

	//go:embed assets/dashboard.js
	script string

	//go:embed assets/embedded.js
	embeddedScript string

	//go:embed assets/icons.svg
	symbols string
)

// icons has the symbols that icon draws.
var icons = newAsset(symbols, ".svg", "image/svg+xml")

// asset is a file that pages name. Its path changes with its content, so browsers keep it for
// good.
type asset struct{ path, text, kind string }

func newAsset(text, ending, kind string) asset {
	sum := sha256.Sum256([]byte(text))
	return asset{Path + "/assets/" + hex.EncodeToString(sum[:8]) + ending, text, kind}
}

// ServeHTTP answers with the file.
func (a asset) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write([]byte(a.text)) // the client is gone
}

// assets are the files of all pages.
type assets struct{ Styles, Script, EmbeddedScript asset }

func newAssets(styles string) assets {
	const code = "text/javascript; charset=utf-8"
	return assets{newAsset(styles, ".css", "text/css; charset=utf-8"), newAsset(htmx.Script+"\n"+script, ".js", code), newAsset(embeddedScript, ".js", code)}
}

func (a assets) register(mux *http.ServeMux) {
	for _, file := range []asset{a.Styles, a.Script, a.EmbeddedScript, icons} {
		mux.Handle("GET "+file.path, file)
	}
}

// Path returns the address of the file.
func (a asset) Path() string { return a.path }

func parsePages() (*template.Template, error) {
	return template.New("pages").Funcs(functions).ParseFS(pageFiles, "pages/*.html")
}
