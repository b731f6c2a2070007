package roomtest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/texts"
)

const textsPath = dashboardtest.At + "/texts"

// textsSite is a dashboard with the room texts.
type textsSite struct {
	*dashboardtest.Site
	wordings *wording.Service
}

func openTexts(t *testing.T) textsSite {
	t.Helper()
	catalogue, err := locale.Load(fstest.MapFS{
		"en.json": {Data: []byte(`{"home.title": "Your subscriptions", "home.next": "Next order on {day}: {amount}",
			"order.items": {"one": "{n} item", "other": "{n} items"}, "skip.text": "You keep {rest}."}`)},
		"de.json": {Data: []byte(`{"home.title": "Ihre Abos", "home.next": "Nächste Bestellung am {day}: {amount}"}`)},
		"ja.json": {Data: []byte(`{}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var service *wording.Service
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		service = &wording.Service{Store: s.DB.Wording(), Catalogue: catalogue, Clock: s.Clock}
		o.Rooms = append(o.Rooms, texts.New(texts.Options{Wordings: service, Catalogue: catalogue, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return textsSite{s, service}
}

// has checks the merchant's texts of a language.
func (s textsSite) has(language string, want ...string) {
	s.Helper()
	got, err := s.wordings.Wording(s.Context(), s.First.ID, language)
	if err != nil || len(got) != len(want)/2 {
		s.Errorf("%s has %v (%v), want %v", language, got, err, want)
	}
	for i := 0; i < len(want); i += 2 {
		if got[want[i]] != want[i+1] {
			s.Errorf("%s has %v, want %v", language, got, want)
		}
	}
}

func TestTextIsChangedAndReset(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	s.Want(s.Get(textsPath), http.StatusOK, "Your subscriptions", "Next order on {day}: {amount}")
	s.Want(s.Get(textsPath+"?language=de"), http.StatusOK, "Ihre Abos", "2 texts are not translated into Deutsch", "Not translated", "{n} items")
	s.Want(s.Get(textsPath+"/de/home.title"), http.StatusOK, "Ihre Abos", "Save text")

	s.Want(s.Post(textsPath+"/de/home.title", "text", "Ihr <b>Teeabo</b>", "do", "save"), http.StatusOK, "The text was saved.", "Ihr &lt;b&gt;Teeabo&lt;/b&gt;", "Reset to default")
	s.has("de", "home.title", "Ihr <b>Teeabo</b>")
	s.Want(s.Get(textsPath+"?language=de&show=changed"), http.StatusOK, "Ihr &lt;b&gt;Teeabo&lt;/b&gt;", "Changed", "1–1")
	s.Want(s.Get(textsPath+"/de/home.title/reset"), http.StatusOK, "Ihr &lt;b&gt;Teeabo&lt;/b&gt;", "Ihre Abos", "Keep my text")
	s.Want(s.Post(textsPath+"/de/home.title/reset", "was", "Ein anderer"), http.StatusUnprocessableEntity, "Another user has changed this text")
	s.has("de", "home.title", "Ihr <b>Teeabo</b>")
	s.Want(s.Post(textsPath+"/de/home.title/reset", "was", "Ihr <b>Teeabo</b>"), http.StatusOK, "The text was reset.")
	s.has("de")
}

func TestEveryPluralFormHasField(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	s.Want(s.Get(textsPath+"/en/order.items"), http.StatusOK, `name="text.one"`, `name="text.other"`, "{n} items", "1 item", "2 items")
	if p := s.Get(textsPath + "/ja/order.items"); strings.Contains(p.Text, `name="text.one"`) || !strings.Contains(p.Text, `name="text.other"`) {
		t.Error("Japanese has one form")
	}
	s.Want(s.Post(textsPath+"/en/order.items", "text.one", "A tin", "text.other", "{n} tins\r\nof tea", "do", "save"), http.StatusOK, "A tin")
	s.has("en", "order.items#one", "A tin", "order.items#other", "{n} tins\nof tea")
	// The browser sends what was shown with its own line breaks.
	s.Want(s.Post(textsPath+"/en/order.items", "was.one", "A tin", "was.other", "{n} tins\r\nof tea", "text.one", "", "text.other", "{n} cans", "do", "save"), http.StatusOK)
	s.has("en", "order.items#other", "{n} cans")
}

func TestTextThatDoesNotFitStaysInForm(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	s.Want(s.Post(textsPath+"/de/home.next", "text", "Am {tag}", "do", "save"), http.StatusUnprocessableEntity, "has no value for {tag}", "Am {tag}", `id="e-text"`)
	s.Want(s.Post(textsPath+"/en/order.items", "text.one", "ok", "text.other", "{x}", "do", "save"), http.StatusUnprocessableEntity, `id="e-text.other"`)
	s.Want(s.Post(textsPath+"/de/home.title", "text", strings.Repeat("x", wording.MaxText+1), "do", "save"), http.StatusUnprocessableEntity, "at most 1000 characters")
	s.Want(s.Post(textsPath+"/de/home.title", "was", "seen", "text", "new", "do", "save"), http.StatusUnprocessableEntity, "Another user has changed this text", "new")
	s.has("de")
	s.has("en")
}

func TestPreviewShowsTextWithSamples(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	s.Want(s.Get(textsPath+"/de/home.next"), http.StatusOK, "Nächste Bestellung am Mittwoch, 9. Dezember 2026: 24,50\u00a0€")
	p := s.Post(textsPath+"/de/home.next/preview", "text", "Bald: <i>{amount}</i>")
	s.Want(p, http.StatusOK, "Bald: &lt;i&gt;24,50\u00a0€&lt;/i&gt;", "Your text leaves out {day}")
	if strings.Contains(p.Text, "<html") {
		t.Error("the preview is a whole page")
	}
	s.Want(s.Post(textsPath+"/de/home.next/preview", "text", "Bald {amuont}"), http.StatusOK, "has no value for {amuont}", "Nächste Bestellung am")
	s.Want(s.Post(textsPath+"/de/home.next", "text", "Bald: {amount}", "do", "preview"), http.StatusOK, "<html", "Bald: 24,50")
	s.Want(s.Get(textsPath+"/en/skip.text"), http.StatusOK, "You keep [rest].")
	s.has("de")
}

func TestTextsAreFoundByWordsPartAndState(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	for query, want := range map[string]string{
		"q=SUBSCRIPTIONS": "home.title", "q=order.it": "order.items", "screen=home": "home.next home.title", "screen=home&q=next": "home.next", "show=changed": "",
		"language=de&show=missing": "order.items skip.text", "language=ja&show=missing&screen=home": "home.next home.title", "q=%3Cscript%3E": "",
	} {
		p := s.Get(textsPath + "?" + query)
		s.Want(p, http.StatusOK)
		var found []string
		for _, key := range []string{"home.next", "home.title", "order.items", "skip.text"} {
			if strings.Contains(p.Text, ">"+key+"</a>") {
				found = append(found, key)
			}
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"language=pl", "language=de-AT", "show=nothing", "page=-1", "page=x"} {
		s.Want(s.Get(textsPath+"?"+query), http.StatusBadRequest)
	}
	for _, path := range []string{"/pl/home.title", "/de/home.gone", "/de/" + url.PathEscape("<b>")} {
		s.Want(s.Get(textsPath+path), http.StatusNotFound)
	}
}

func TestTextThatProductNoLongerHasIsListed(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error {
		for _, text := range []wording.Text{{Language: "de", Key: "home.gone", Text: "weg"}, {Language: "de", Key: "home.next", Text: "Am {date}"}} {
			text.ChangedAt = s.Clock.Now()
			if err := tx.PutPortalText(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Want(s.Get(textsPath+"?language=de&show=outdated"), http.StatusOK, "home.gone", "home.next", "No longer shown", "The product has no such text")
	s.Want(s.Get(textsPath+"/de/home.next"), http.StatusOK, "it no longer fits the product", "Nächste Bestellung am Mittwoch")
	s.Want(s.Get(textsPath+"/de/home.gone"), http.StatusOK, "it no longer fits the product", "customers never see yours")
	s.Want(s.Post(textsPath+"/de/home.gone/reset", "was", "weg"), http.StatusOK)
	s.has("de", "home.next", "Am {date}")
}

func TestOnlyOwnersAndAdminsChangeTexts(t *testing.T) {
	t.Parallel()
	s := openTexts(t)
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	s.Want(s.Get(textsPath+"/de/home.title"), http.StatusOK, "An owner or admin of the store can change this.")
	s.Want(s.Post(textsPath+"/de/home.title", "text", "x", "do", "save"), http.StatusForbidden)
	s.Want(s.Post(textsPath+"/de/home.title/reset"), http.StatusForbidden)
	s.has("de")
	if _, err := s.wordings.List(t.Context(), s.Second.ID); err != nil {
		t.Error(err)
	}
	err := s.wordings.Save(t.Context(), s.Second.ID, wording.Draft{Language: "de", Key: "home.title", Now: wording.Forms{"": "Fremd"}}, activity.Operator)
	if p := s.Get(textsPath + "?language=de"); err != nil || strings.Contains(p.Text, "Fremd") {
		t.Errorf("another store's text is shown (%v)", err)
	}
}
