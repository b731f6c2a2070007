package locale_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/perennialhq/perennial/internal/base/locale"
)

func TestNearDaysHaveNoYear(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for tag := range nearDays {
		files[tag+".json"] = &fstest.MapFile{Data: []byte(`{"k":"v"}`)}
	}
	texts, err := locale.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2027, time.March, 3, 9, 0, 0, 0, time.UTC)
	for tag, want := range nearDays {
		p := texts.Printer(tag, nil)
		if got := [2]string{p.Day(day), p.ShortDay(day)}; got != want {
			t.Errorf("%s: got %q, want %q", tag, got, want)
		}
	}
}

// nearDays is a Wednesday in every language, written out and briefly.
var nearDays = map[string][2]string{
	"en": {"Wednesday, March 3", "Mar 3"}, "de": {"Mittwoch, 3. März", "03.03."}, "fr": {"mercredi 3 mars", "3 mars"}, "es": {"miércoles, 3 de marzo", "3 mar"},
	"it": {"mercoledì 3 marzo", "3 mar"}, "nl": {"woensdag 3 maart", "3 mrt"}, "pt-BR": {"quarta-feira, 3 de março", "3 de mar."}, "ja": {"3月3日水曜日", "03/03"},
}
