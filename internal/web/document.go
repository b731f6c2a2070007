package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Documents holds what an audience's documents say, by line: they depend on the
// program only, so all services of a process share them. The zero value is empty. Its
// methods may be called from many goroutines.
type Documents struct {
	mutex  sync.Mutex
	byLine map[shop.Line]*document
}

// document is the description of one line's interface. The first service that registers
// its operations computes the schemas; the services after it only read them.
type document struct {
	mutex    sync.Mutex // held while operations are registered
	schemas  huma.Registry
	finished bool // the schemas are all there and do not change any more

	machine rendering
	people  reference
}

// of returns the document of a line.
func (d *Documents) of(l shop.Line) *document {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.byLine[l] == nil {
		if d.byLine == nil {
			d.byLine = map[shop.Line]*document{}
		}
		d.byLine[l] = &document{schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)}
	}
	return d.byLine[l]
}

// complete finishes the schemas once the first service has registered its operations.
func (d *document) complete() {
	if d.finished {
		return
	}
	allowNulls(d.schemas)
	showNumbers(d.schemas)
	d.finished = true
}

// rendering is a document as it is sent.
type rendering struct {
	once sync.Once
	body []byte
	err  error
}

// from returns what render writes, which it does on the first call.
func (t *rendering) from(api *huma.OpenAPI, render func(*huma.OpenAPI) ([]byte, error)) ([]byte, error) {
	t.once.Do(func() { t.body, t.err = render(api) })
	return t.body, t.err
}

// serveDocument serves the description of the interface below a path: for machines at
// /openapi.json, for people at /docs. Both are made when they are first requested.
func (a *API) serveDocument(d *document, root string) {
	a.mux.HandleFunc("GET "+root+"/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		body, err := d.machine.from(a.Document(), func(doc *huma.OpenAPI) ([]byte, error) { return json.Marshal(doc) })
		if err != nil {
			WriteError(w, r, err)
			return
		}
		writeDocument(w, "application/json", body)
	})
	a.serveReference(&d.people, root)
}

// Describes reports whether a path is one of the documents of an interface below root.
func Describes(root, path string) bool {
	rest, ok := strings.CutPrefix(path, root+"/")
	return ok && (rest == "openapi.json" || rest == "docs" || strings.HasPrefix(rest, "docs/"))
}

// documentPolicy is the Content-Security-Policy of documents, whose pages send requests
// to the interface that they describe.
func documentPolicy() string {
	return ContentPolicy(styles, "script-src 'self'", "connect-src 'self'", "form-action 'self'")
}

func writeDocument(w http.ResponseWriter, media string, body []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Security-Policy", documentPolicy())
	_, _ = w.Write(body) // the client is gone
}
