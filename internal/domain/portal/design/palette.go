package design

// Least contrasts, of WCAG 2.2.
const (
	// ReadableContrast is that of texts (1.4.3, level AA).
	ReadableContrast = 4.5
	// visibleContrast is that of the parts of a control that say what it is (1.4.11).
	visibleContrast = 3
	// apartContrast is that of a light button and the page. Its edge, in the colour of links, says
	// where it ends, so that a merchant's yellow may stay yellow.
	apartContrast = 1.25
)

// Page is what colours are drawn on, in one of the schemes. A test compares it with the style
// sheet.
type Page struct {
	Dark                 bool
	Ground, Card, Well   Colour
	Ink, Quiet           Colour // of texts
	share                float64
	softLight, softColor float64 // how light, and of how much chroma, a colour is that has to be lightened
}

// The schemes.
var (
	LightPage = Page{Ground: "#f8f5ef", Card: "#fffdf9", Well: "#f3eee5", Ink: "#28231c", Quiet: "#655c50", share: 0.09}
	DarkPage  = Page{Dark: true, Ground: "#171411", Card: "#211d19", Well: "#2a2520", Ink: "#f2ece3", Quiet: "#b9afa1", share: 0.14, softLight: 0.76, softColor: 0.11}
)

// Texts on a fill.
const (
	white Colour = "#ffffff"
	black Colour = "#171411"
)

// Palette is the colours of one scheme that follow from a merchant's.
type Palette struct {
	Fill Colour // of the one filled button, and of what is chosen
	On   Colour // of texts on the fill
	Link Colour // of links, edges and the outline of what has the keyboard
	Tint Colour // behind the next order
}

// PaletteOf returns the colours that follow from a colour on a page. Texts on the fill and links
// have at least ReadableContrast wherever the portal shows them.
func PaletteOf(c Colour, on Page) Palette {
	if !c.valid() {
		c = DefaultColour
	}
	p := Palette{Tint: on.Card.mix(c, on.share)}
	p.Link = on.adjust(c, func(c Colour) bool { return on.LinkContrast(c, p.Tint) >= ReadableContrast })
	least := apartContrast
	if on.Dark {
		least = visibleContrast
	}
	p.Fill = on.adjust(c, func(c Colour) bool {
		_, readable := textOn(c)
		return readable && Contrast(c, on.Card) >= least
	})
	p.On, _ = textOn(p.Fill)
	return p
}

// LinkContrast returns the contrast of links with the ground that is worst for them.
func (on Page) LinkContrast(link, tint Colour) float64 {
	return min(Contrast(link, on.Ground), Contrast(link, on.Card), Contrast(link, on.Well), Contrast(link, tint))
}

// textOn returns the colour of texts on a fill, and whether they can be read.
func textOn(fill Colour) (Colour, bool) {
	if Contrast(white, fill) >= ReadableContrast {
		return white, true
	}
	return black, Contrast(black, fill) >= ReadableContrast
}

// step is how much lighter or darker the next colour is that is tried.
const step = 0.005

// adjust returns the colour itself if it holds; else the nearest that does, of the same hue:
// darker on a light page, lighter on a dark one.
func (on Page) adjust(c Colour, holds func(Colour) bool) Colour {
	if holds(c) {
		return c
	}
	t, by := c.tone(), -step
	if on.Dark {
		t.light, t.chroma, by = max(t.light, on.softLight), min(t.chroma, on.softColor), step
	}
	for ; t.light > 0 && t.light < 1; t.light += by {
		if c = t.colour(); holds(c) {
			return c
		}
	}
	if on.Dark {
		return white
	}
	return black
}

// Change is a colour that is not drawn as the merchant has chosen it, because it could not be
// read or seen.
type Change struct {
	Link          bool // of links; else of buttons
	Dark          bool // on dark pages
	Before, After float64
	Chosen, Drawn Colour
}

// Changes returns what is not drawn as chosen.
func Changes(c Colour) []Change {
	var list []Change
	for _, on := range []Page{LightPage, DarkPage} {
		p := PaletteOf(c, on)
		if p.Link != c {
			list = append(list, Change{true, on.Dark, on.LinkContrast(c, p.Tint), on.LinkContrast(p.Link, p.Tint), c, p.Link})
		}
		if p.Fill != c {
			list = append(list, Change{false, on.Dark, Contrast(c, on.Card), Contrast(p.Fill, on.Card), c, p.Fill})
		}
	}
	return list
}
