package web

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/web/reference"
)

// serveDocument serves a description of an interface below a path: for machines at
// /openapi.json, for people at /docs. Both are made when they are first requested.
func serveDocument(mux *router, d *document, api *huma.OpenAPI, keyed bool, root string) {
	mux.HandleFunc("GET "+root+"/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		rendered := d.machine.from(func() rendering {
			body, err := json.Marshal(api)
			return rendering{body, err}
		})
		if rendered.err != nil {
			WriteError(w, r, rendered.err)
			return
		}
		writeDocument(w, mediaJSON, rendered.body)
	})
	serveReference(mux, root, func() *reference.Reference {
		return d.people.from(func() *reference.Reference {
			return reference.New(api, reference.Options{
				Root: root, Keyed: keyed, KeyParam: keyParam, RepeatHeader: repeatHeader, Credentials: curlCredentials(),
			})
		})
	})
}

// serveReference serves the pages of a reference: the index with its search, a page for
// each resource, and a page for each shape.
func serveReference(mux *router, root string, of func() *reference.Reference) {
	page := func(find func(pages *reference.Reference, r *http.Request) reference.Page) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			shown, status := find(of(), r), http.StatusOK
			if shown.Missing {
				if !WantsPage(r) {
					WriteError(w, r, pathNotFound(r))
					return
				}
				status = http.StatusNotFound
			}
			writePage(w, r, status, shown.Template, documentPolicy(), shown)
		}
	}
	mux.HandleFunc("GET "+root+"/docs", page(func(pages *reference.Reference, r *http.Request) reference.Page {
		return pages.Index(r.URL.Query().Get("q"))
	}))
	mux.HandleFunc("GET "+root+"/docs/docs.js", func(w http.ResponseWriter, _ *http.Request) {
		writeDocument(w, "text/javascript; charset=utf-8", reference.Script)
	})
	mux.HandleFunc("GET "+root+"/docs/shapes", page(func(pages *reference.Reference, _ *http.Request) reference.Page {
		return pages.Shapes()
	}))
	mux.HandleFunc("GET "+root+"/docs/shapes/{name}", page(func(pages *reference.Reference, r *http.Request) reference.Page {
		return pages.Shape(r.PathValue("name"))
	}))
	mux.HandleFunc("GET "+root+"/docs/{slug...}", page(func(pages *reference.Reference, r *http.Request) reference.Page {
		return pages.Group(r.PathValue("slug"))
	}))
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
