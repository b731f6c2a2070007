package portal

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// language returns that of the reader: the one that the address asks for, the reader has chosen, or
// the browser asks for.
func (p *portal) language(r *http.Request, chosen string) string {
	return p.Texts.Match(r.URL.Query().Get(localeParam), chosen, r.Header.Get("Accept-Language"))
}

// blank returns the view of a page of no store.
func (p *portal) blank(r *http.Request) View {
	return View{Own: true, words: p.Texts.Printer(p.language(r, ""), nil), newID: newRequestID, known: p.known, pictures: p.Pictures}
}

// view returns what every page of a store shows, at a place of a line; none: the place of both.
// The path of the page below the portal says which tab is open. Chosen is the reader's language; empty:
// the browser's.
func (p *portal) view(r *http.Request, of shop.Shop, line shop.Line, base, path, chosen string) (View, error) {
	v := View{Base: base, Store: "https://" + of.Domain + "/", Zone: city(of.TimeZone), newID: newRequestID, known: p.known, pictures: p.Pictures, Look: LookOf(of)}
	language := p.language(r, chosen)
	var overrides map[string]string
	var err error
	if p.Wordings != nil {
		if overrides, err = p.Wordings.Wording(r.Context(), of.ID, language); err != nil {
			return v, err
		}
	}
	v.words = inWordsFor(line, p.Texts.Printer(language, overrides))
	if p.Looks != nil {
		if v.Look, err = p.Looks.Look(r.Context(), of); err != nil {
			return v, err
		}
	}
	kept := url.Values{}
	if r.URL.Query().Has(localeParam) {
		kept.Set(localeParam, language)
	}
	if r.URL.Query().Get(pageParam) != "" {
		kept.Set(pageParam, "1")
	}
	if len(kept) > 0 {
		v.Query = "?" + kept.Encode()
	}
	for _, t := range p.tabs {
		if t.When != nil {
			if has, err := t.When(r.Context(), of); err != nil || !has {
				if err != nil {
					return v, err
				}
				continue
			}
		}
		here := path == t.Path || t.Path == "" && strings.HasPrefix(path, "/s/") || t.Path != "" && strings.HasPrefix(path, t.Path+"/")
		v.Tabs = append(v.Tabs, tab{v.T(t.Text), v.At(t.Path), here})
	}
	return v, nil
}

// city returns the place whose clocks a time zone is: "Los Angeles".
func city(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndexByte(zone, '/')+1:], "_", " ")
}

// visit returns what every screen of a customer needs. A form must be one of ours.
func (p *portal) visit(r *http.Request, who login.Principal, of shop.Shop, v View) (Visit, error) {
	now := p.Clock.Now()
	calendar, err := of.Calendar()
	if err != nil {
		return Visit{}, err
	}
	v.token, v.SignedIn = p.key.token(who, now), true
	if key, known := p.said[r.URL.Query().Get("done")]; known {
		v.Done = v.T(key)
	}
	if who.OpenedBy != "" {
		v.Support = &support{who.OpenedBy, who.Until.In(calendar.Zone).Format("15:04 MST")}
	}
	visit := Visit{Who: who, Shop: of, Calendar: calendar, Now: now, Words: v.words, View: v, renderer: p.renderer, repeats: p.Repeats}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return visit, nil
	}
	return visit, p.key.check(who, r.PostForm.Get(tokenField), now)
}

// parseForm reads a form, and refuses what is no text.
func parseForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return fault.Because(fault.Invalid, err, "the form could not be read").Code("formUnreadable")
	}
	for name, values := range r.PostForm {
		for _, value := range values {
			if err := web.CheckText("the form", name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// newRequestID returns what a form names its request by: sent again, it is the same request.
func newRequestID() string {
	value, _ := secret.New()
	return value[:22]
}
