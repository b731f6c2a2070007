package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/store"
)

func testMailTemplates(t *testing.T, open opener) {
	w := begin(t, open)
	version := func(kind notify.Kind, language string, n int64) mailtemplate.Template {
		return mailtemplate.Template{
			Key:     mailtemplate.Key{Kind: kind, Language: language},
			Fields:  mailtemplate.Fields{Subject: "S", Preheader: "P", Heading: "<b>H", Body: "<p>{{ store.name }}</p>", Button: "B"},
			Version: n, Live: true, Author: "owner@demo.example", PublishedAt: day.Add(time.Duration(n) * time.Hour),
		}
	}
	retired := func(is mailtemplate.Template) mailtemplate.Template {
		is.Live = false
		return is
	}
	add := func(list ...mailtemplate.Template) {
		t.Helper()
		w.in(func(tx *store.Tx) error {
			for _, one := range list {
				if err := tx.RetireTemplate(t.Context(), one.Key); err != nil {
					return err
				}
				if err := tx.AddTemplate(t.Context(), one); err != nil {
					return err
				}
			}
			return nil
		})
	}
	want := func(live, history []mailtemplate.Template) {
		t.Helper()
		err := w.db.MailTemplates().View(t.Context(), w.shop.ID, func(tx mailtemplate.ReadTx) error {
			got, err := tx.LiveTemplates(t.Context())
			if diff := cmp.Diff(live, got); err != nil || diff != "" {
				t.Errorf("sent are: %v\n%s", err, diff)
			}
			got, err = tx.TemplateHistory(t.Context(), mailtemplate.Key{Kind: notify.Paused, Language: "de"})
			if diff := cmp.Diff(history, got); err != nil || diff != "" {
				t.Errorf("versions: %v\n%s", err, diff)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	want([]mailtemplate.Template{}, []mailtemplate.Template{})
	first, second, english := version(notify.Paused, "de", 1), version(notify.Paused, "de", 2), version(notify.Paused, "en", 1)
	other := version(notify.Canceled, "de", 1)
	add(first, english, other, second)
	want([]mailtemplate.Template{other, second, english}, []mailtemplate.Template{second, retired(first)})
	err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.AddTemplate(t.Context(), second) })
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("the same version again: %v", err)
	}
	w.in(func(tx *store.Tx) error { return tx.RetireTemplate(t.Context(), first.Key) })
	want([]mailtemplate.Template{other, english}, []mailtemplate.Template{retired(second), retired(first)})
	w.in(func(tx *store.Tx) error { return tx.DropTemplates(t.Context(), first.Key, 1) })
	want([]mailtemplate.Template{other, english}, []mailtemplate.Template{retired(second)})
}
