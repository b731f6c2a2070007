package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed dashboard.css
var styles string

//go:embed embedded.js
var script string

// Paths of the style sheet and of the script of embedded pages. They change with what is
// there, so browsers keep both for good.
var (
	stylesPath = Path + "/assets/" + fingerprint(styles) + ".css"
	scriptPath = Path + "/assets/" + fingerprint(script) + ".js"
)

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func asset(text, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write([]byte(text)) // the client is gone
	}
}

func parsePages() (*template.Template, error) {
	return template.New("pages").ParseFS(pageFiles, "pages/*.html")
}
