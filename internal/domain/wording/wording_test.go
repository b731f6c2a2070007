package wording_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var by = activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example"}

// desk is the texts of a store.
type desk struct {
	*testing.T
	*wording.Service
	db *store.DB
	of shop.Shop
}

func open(t *testing.T) desk {
	t.Helper()
	now := time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)
	catalogue, err := locale.Load(fstest.MapFS{
		"en.json": {Data: []byte(`{"home.title": "Your subscriptions", "order.items": {"one": "{n} item", "other": "{n} items"}, "order.day": "On {date}"}`)},
		"de.json": {Data: []byte(`{"home.title": "Ihre Abos"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := desk{T: t, db: storetest.SQLite(t), of: shop.Shop{Domain: "first.myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: now}}
	if err := d.db.Shops().AddShop(t.Context(), &d.of); err != nil {
		t.Fatal(err)
	}
	d.Service = &wording.Service{Store: d.db.Wording(), Catalogue: catalogue, Clock: clock.NewManual(now)}
	return d
}

func (d desk) save(language, key string, was, now wording.Forms) error {
	return d.Save(d.Context(), d.of.ID, wording.Draft{Language: language, Key: key, Was: was, Now: now}, by)
}

func (d desk) want(language string, texts map[string]string) {
	d.Helper()
	got, err := d.Wording(d.Context(), d.of.ID, language)
	if err != nil || !maps.Equal(got, texts) {
		d.Errorf("%s has %v (%v), want %v", language, got, err, texts)
	}
}

// entries returns the additional information of the store's entries about texts.
func (d desk) entries() []string {
	d.Helper()
	list, _, err := d.db.Entries(d.Context(), d.of.ID, nil, page.Request{Size: 50})
	if err != nil {
		d.Fatal(err)
	}
	var infos []string
	for _, e := range list {
		if e.EntityType == activity.EntityCustomerPortalSettings && e.Actor == by {
			infos = append(infos, e.Info)
		}
	}
	slices.Reverse(infos)
	return infos
}

func TestTextsAreSavedAndResetWithEntries(t *testing.T) {
	t.Parallel()
	d := open(t)
	steps := []struct {
		language, key string
		was, now      wording.Forms
	}{
		{"de", "home.title", nil, wording.Forms{"": "  Ihr Teeabo\r\n"}},
		{"de", "home.title", wording.Forms{"": "Ihr Teeabo"}, wording.Forms{"": "Ihr Teeabo"}}, // no change, no entry
		{"en", "order.items", wording.Forms{"one": ""}, wording.Forms{"one": "One tin", "other": ""}},
		{"en", "order.items", wording.Forms{"one": "One tin"}, wording.Forms{"one": "A tin", "other": "{n} tins"}},
		{"de", "home.title", wording.Forms{"": "Ihr Teeabo"}, nil},
	}
	for _, s := range steps {
		if err := d.save(s.language, s.key, s.was, s.now); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	d.want("en-GB", map[string]string{"order.items#one": "A tin", "order.items#other": "{n} tins"})
	d.want("de", nil)
	want := []string{
		`{"language":"de","textKey":"home.title","after":["Ihr Teeabo"]}`,
		`{"language":"en","textKey":"order.items","after":["One tin"]}`,
		`{"language":"en","textKey":"order.items","before":["One tin"],"after":["A tin","{n} tins"]}`,
		`{"language":"de","textKey":"home.title","before":["Ihr Teeabo"]}`,
	}
	if got := d.entries(); !slices.Equal(got, want) {
		t.Errorf("entries:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTextThatChangedSinceItWasSeenIsNotOverwritten(t *testing.T) {
	t.Parallel()
	d := open(t)
	if err := d.save("de", "home.title", nil, wording.Forms{"": "Mein Text"}); err != nil {
		t.Fatal(err)
	}
	for name, was := range map[string]wording.Forms{"nothing": nil, "another text": {"": "Dein Text"}, "another form": {"": "Mein Text", "one": "x"}} {
		if err := d.save("de", "home.title", was, wording.Forms{"": "Unser Text"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("after %s was seen: %v", name, err)
		}
	}
	d.want("de", map[string]string{"home.title": "Mein Text"})
}

func TestTextThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	d := open(t)
	for name, s := range map[string]struct{ language, key, form, text string }{
		"a language that there is not":   {"fr", "home.title", "", "x"},
		"a key that there is not":        {"de", "home.gone", "", "x"},
		"a form of a text without forms": {"de", "home.title", "one", "x"},
		"an unknown placeholder":         {"de", "order.day", "", "Am {day}"},
		"a lone brace":                   {"de", "order.day", "", "Am {date"},
		"a long text":                    {"de", "home.title", "", strings.Repeat("ä", wording.MaxText+1)},
		"a control character":            {"de", "home.title", "", "a\x00b"},
		"broken UTF-8":                   {"de", "home.title", "", "a\xffb"},
	} {
		if err := d.save(s.language, s.key, nil, wording.Forms{s.form: s.text}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.save("de", "home.title", nil, wording.Forms{"": strings.Repeat("ä", wording.MaxText)}); err != nil {
		t.Errorf("the longest text: %v", err)
	}
	if len(d.entries()) != 1 {
		t.Errorf("entries: %v", d.entries())
	}
}

func TestTextsOfLanguageAreLimitedTogether(t *testing.T) {
	t.Parallel()
	d := open(t)
	err := d.db.Update(t.Context(), d.of.ID, func(tx *store.Tx) error {
		for i := range 66 {
			text := wording.Text{Language: "de", Key: "old." + strings.Repeat("x", i+1), Text: strings.Repeat("y", 1000), ChangedAt: d.of.CreatedAt}
			if err := tx.PutPortalText(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.save("de", "home.title", nil, wording.Forms{"": "x"}); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("more than fits: %v", err)
	}
	if err := d.save("en", "home.title", nil, wording.Forms{"": "x"}); err != nil {
		t.Errorf("in another language: %v", err)
	}
	// What the catalogue no longer knows can be deleted.
	if err := d.save("de", "old.x", wording.Forms{"": strings.Repeat("y", 1000)}, nil); err != nil {
		t.Errorf("deleting an old text: %v", err)
	}
}
