package portal

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Sampler draws screens of the portal with a design that is not saved, for those who choose it.
type Sampler struct {
	portal  *portal
	screens []drawable
}

// SampleScreen is a screen that a sampler draws.
type SampleScreen struct {
	Room    Room // which is none of those of the options
	Pattern string
	Path    map[string]string // what stands for the names in the pattern
}

// drawable is a screen with its templates.
type drawable struct {
	show  Show
	path  map[string]string
	pages *template.Template
}

// NewSampler returns a sampler of the portal with some options.
func NewSampler(o Options, screens ...SampleScreen) (*Sampler, error) {
	p, err := furnished(o, http.NewServeMux(), http.NewServeMux())
	if err != nil {
		return nil, err
	}
	s := &Sampler{portal: p}
	for _, screen := range screens {
		i := slices.IndexFunc(screen.Room.Routes, func(r Route) bool { return r.Pattern == screen.Pattern })
		if i < 0 {
			return nil, fmt.Errorf("the portal has no screen %q", screen.Pattern)
		}
		pages, err := p.pagesOf(screen.Room)
		if err != nil {
			return nil, err
		}
		s.screens = append(s.screens, drawable{screen.Room.Routes[i].Show, screen.Path, pages})
	}
	return s, nil
}

// Sample returns the screens for a store with a design, light or dark, each as a page of HTML that
// needs nothing else, and what the one style element of each holds. The logo is a PNG; nil: the
// design has none.
func (s *Sampler) Sample(ctx context.Context, of shop.Shop, d design.Design, logo []byte, dark bool) (pages []string, styles string, err error) {
	styles = s.sheet(d, dark)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, Path, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	v, err := s.portal.view(r, of, shop.Subscriptions, "", "", "")
	if err != nil {
		return nil, "", err
	}
	v.Own, v.Look.Design, v.sheet = true, d, styles
	if logo != nil {
		v.picture = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(logo)) //nolint:gosec // a PNG
	} else {
		v.Look.Design.Logo = design.Logo{}
	}
	visit, err := s.portal.visit(r, login.Principal{Shop: of.ID}, of, v)
	if err != nil {
		return nil, "", err
	}
	for _, screen := range s.screens {
		for name, value := range screen.path {
			r.SetPathValue(name, value)
		}
		visit.View.pages = screen.pages
		page := &drawing{header: http.Header{}}
		if err := screen.show(page, r, visit); err != nil {
			return nil, "", err
		}
		if page.status != http.StatusOK {
			return nil, "", fmt.Errorf("draw a sample of the portal: status %d", page.status)
		}
		pages = append(pages, page.String())
	}
	return pages, styles, nil
}

// sheet returns the style sheet for a design on a light or dark page, whatever the reader's
// system asks for.
func (s *Sampler) sheet(d design.Design, dark bool) string {
	light, onDark := declarations(d, false)
	scheme := "light"
	if dark {
		scheme, light = "dark", light+onDark
	}
	return inScheme(s.portal.renderer.assets.styles.text, dark) + ":root{" + light + "color-scheme:" + scheme + "}"
}

// inScheme returns a style sheet with its rules for dark pages always, or never.
func inScheme(sheet string, dark bool) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(sheet, darkPages)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end, open := 0, 1
		for ; open > 0 && end < len(rest); end++ {
			switch rest[end] {
			case '{':
				open++
			case '}':
				open--
			}
		}
		if dark {
			b.WriteString(rest[:end-1])
		}
		sheet = rest[end:]
	}
}

// drawing is a page that is not sent.
type drawing struct {
	bytes.Buffer

	header http.Header
	status int
}

// Header returns the page's header.
func (d *drawing) Header() http.Header { return d.header }

// WriteHeader keeps the status.
func (d *drawing) WriteHeader(status int) { d.status = status }
