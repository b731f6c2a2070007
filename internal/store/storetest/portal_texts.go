package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/store"
)

func testPortalTexts(t *testing.T, open opener) {
	w := begin(t, open)
	title := wording.Text{Language: "de", Key: "home.title", Text: "Ihr Teeabo", ChangedAt: day}
	one := wording.Text{Language: "de", Key: "order.items", Form: "one", Text: "{n} Dose", ChangedAt: day}
	many := wording.Text{Language: "de", Key: "order.items", Form: "other", Text: "{n} Dosen", ChangedAt: day}
	french := wording.Text{Language: "fr", Key: "home.title", Text: "Votre thé", ChangedAt: day}
	w.in(func(tx *store.Tx) error {
		for _, text := range []wording.Text{french, many, one, title} {
			if err := tx.PutPortalText(t.Context(), text); err != nil {
				return err
			}
		}
		return nil
	})
	want := func(language string, texts ...wording.Text) {
		t.Helper()
		for name, run := range map[string]func(func(wording.ReadTx) error) error{
			"view": func(fn func(wording.ReadTx) error) error { return w.db.Wording().View(t.Context(), w.shop.ID, fn) },
			"update": func(fn func(wording.ReadTx) error) error {
				return w.db.Wording().Update(t.Context(), w.shop.ID, func(tx wording.Tx) error { return fn(tx) })
			},
		} {
			var got []wording.Text
			err := run(func(tx wording.ReadTx) (err error) {
				got, err = tx.PortalTexts(t.Context(), language)
				return err
			})
			if diff := cmp.Diff(texts, got); err != nil || diff != "" {
				t.Errorf("%s of %q: %v\n%s", name, language, err, diff)
			}
		}
	}
	want("de", title, one, many)
	want("", title, one, many, french)

	title.Text, title.ChangedAt = "Tee <b>", day.Add(time.Hour)
	w.in(func(tx *store.Tx) error {
		if err := tx.PutPortalText(t.Context(), title); err != nil {
			return err
		}
		if err := tx.DeletePortalText(t.Context(), "de", "order.items", "one"); err != nil {
			return err
		}
		return tx.DeletePortalText(t.Context(), "it", "home.title", "")
	})
	want("", title, many, french)
}
