package design_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/portal/design"
)

// The ratios are those of the W3C's examples and of WebAIM's checker.
func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b design.Colour
		want float64
	}{
		{"#000000", "#ffffff", 21}, {"#ffffff", "#000000", 21}, {"#767676", "#ffffff", 4.54}, {"#777777", "#ffffff", 4.48}, {"#ff0000", "#ffffff", 4.00},
		{"#0000ff", "#ffffff", 8.59}, {"#2f6b4a", "#2f6b4a", 1},
	} {
		if got := design.Contrast(row.a, row.b); math.Abs(got-row.want) > 0.005 {
			t.Errorf("%s on %s: %.3f, want %.2f", row.a, row.b, got, row.want)
		}
	}
}

// Whatever a merchant chooses can be read, on light and on dark pages.
func TestEveryColourLeavesTextsReadable(t *testing.T) {
	t.Parallel()
	for _, on := range []design.Page{design.LightPage, design.DarkPage} {
		for n := range 4096 {
			c := design.Colour(fmt.Sprintf("#%x%[1]x%x%[2]x%x%[3]x", n>>8, n>>4&15, n&15))
			p := design.PaletteOf(c, on)
			for _, pair := range []struct {
				name        string
				text, below design.Colour
				least       float64
			}{
				{"a button's text", p.On, p.Fill, 4.5}, {"a link on the page", p.Link, on.Ground, 4.5}, {"a link on a card", p.Link, on.Card, 4.5},
				{"a link in a note", p.Link, on.Well, 4.5}, {"a link on the tint", p.Link, p.Tint, 4.5}, {"a text on the tint", on.Ink, p.Tint, 4.5},
				{"a quiet text on the tint", on.Quiet, p.Tint, 4.5}, {"the button on a card", p.Fill, on.Card, 1.25},
			} {
				if got := design.Contrast(pair.text, pair.below); got < pair.least {
					t.Fatalf("%s, dark %t: %s has %.2f to 1: %s on %s", c, on.Dark, pair.name, got, pair.text, pair.below)
				}
			}
		}
	}
}

func TestColourStaysWhereItCanBeRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		colour      design.Colour
		light, dark design.Palette // empty: as chosen
	}{
		{"a dark green is pale on dark pages", "#2f6b4a", design.Palette{On: "#ffffff"}, design.Palette{Fill: "#84c19c", On: "#171411", Link: "#84c19c"}},
		{"a yellow button has dark text, and links are darker", "#ffd400", design.Palette{On: "#171411", Link: "#806a0b"}, design.Palette{On: "#171411"}},
		{"black is grey on dark pages", "#000000", design.Palette{On: "#ffffff"}, design.Palette{Fill: "#b1b1b1", On: "#171411", Link: "#b1b1b1"}},
		{"white is grey on light pages", "#ffffff", design.Palette{Fill: "#e4e4e4", On: "#171411", Link: "#6c6c6c"}, design.Palette{On: "#171411"}},
		{"a red between white and black text gets darker", "#d34a4a", design.Palette{Fill: "#cf4747", On: "#ffffff", Link: "#c33b3d"}, design.Palette{Fill: "#ef958f", On: "#171411", Link: "#ef958f"}},
	} {
		for name, page := range map[string]struct {
			on   design.Page
			want design.Palette
		}{"light": {design.LightPage, row.light}, "dark": {design.DarkPage, row.dark}} {
			got, want := design.PaletteOf(row.colour, page.on), page.want
			if want.Fill == "" {
				want.Fill = row.colour
			}
			if want.Link == "" {
				want.Link = row.colour
			}
			if want.Tint = got.Tint; got != want {
				t.Errorf("%s: %s: %+v, want %+v", row.name, name, got, want)
			}
		}
	}
}

func TestChangesSayWhatIsNotDrawnAsChosen(t *testing.T) {
	t.Parallel()
	got := design.Changes("#ffd400")
	if len(got) != 1 || !got[0].Link || got[0].Dark || got[0].Before > 1.5 || got[0].After < design.ReadableContrast || got[0].Drawn == got[0].Chosen {
		t.Errorf("yellow: %+v, want links on light pages alone", got)
	}
	if got := design.Changes(design.DefaultColour); len(got) != 2 || !got[0].Dark || !got[1].Dark {
		t.Errorf("our own: %+v, want links and buttons on dark pages", got)
	}
}

func TestColourIsReadAsTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]design.Colour{"2F6B4A": "#2f6b4a", " #2f6b4a ": "#2f6b4a", "": "", "#2f6": "#2f6", "red": "red", "12345g": "12345g"} {
		if got := design.ParseColour(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
