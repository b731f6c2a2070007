package web

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/web/reference"
)

// headerNote is what the document says of a header of answers.
type headerNote struct {
	name, kind, doc string
	in              []string // statuses whose answers can have it; none: all
}

// headerNotes are the headers that any operation's answers can have.
func headerNotes() []headerNote {
	busy, done := []string{"409", "429", "503"}, []string{"200", "201", "202", "204"}
	return []headerNote{
		{"X-Request-Id", huma.TypeString, "Names the request: the one that was sent, or one that was made.", nil},
		{"RateLimit-Limit", huma.TypeInteger, "Requests that can be made at once.", nil},
		{"RateLimit-Remaining", huma.TypeInteger, "Requests that can still be made at once.", nil},
		{"RateLimit-Reset", huma.TypeInteger, "Seconds until nothing is used up any more.", nil},
		{"Retry-After", huma.TypeInteger, "Seconds after which it is worth trying again.", busy},
		{"Deprecation", huma.TypeString, "The request used something deprecated, such as the key in the query.", done},
		{replayedHeader, huma.TypeString, "true: the answer is the stored one of an earlier request with the same Idempotency-Key.", done},
	}
}

// describeHeaders lets every answer of the document name its headers. What each
// is is said once.
func describeHeaders(doc *huma.OpenAPI) {
	doc.Components.Headers = map[string]*huma.Header{}
	notes := headerNotes()
	for _, n := range notes {
		doc.Components.Headers[n.name] = &huma.Header{Description: n.doc, Schema: &huma.Schema{Type: n.kind}}
	}
	add := func(r *huma.Response, status string, op *huma.Operation) {
		for _, h := range r.Headers {
			if h.Description == "" && h.Schema != nil {
				h.Description, h.Schema.Description = h.Schema.Description, ""
			}
		}
		for _, n := range notes {
			if n.in != nil && !slices.Contains(n.in, status) || n.name == replayedHeader && !takesKey(op) {
				continue
			}
			if r.Headers == nil {
				r.Headers = map[string]*huma.Header{}
			}
			r.Headers[n.name] = &huma.Header{Ref: "#/components/headers/" + n.name}
		}
	}
	for _, item := range doc.Paths {
		for _, op := range reference.Operations(item) {
			for status, r := range op.Responses {
				if r.Ref != "" {
					r = doc.Components.Responses[r.Ref[strings.LastIndex(r.Ref, "/")+1:]]
				}
				add(r, status, op)
			}
		}
	}
}

// takesKey reports whether repeating the operation can be answered from store.
func takesKey(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == repeatHeader })
}
