// Package design is how a merchant has the portal look: the colour of its buttons and links, its
// corners and letters, and the store's logo. Whatever colour is chosen, texts keep the contrast
// that WCAG 2.2 asks for.
package design

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// DefaultColour is that of a store which has chosen none.
const DefaultColour Colour = "#2f6b4a"

// MaxAlt is the length of the text that stands for a logo, in characters.
const MaxAlt = 100

// Corners say how round cards, buttons and fields are.
type Corners string

// The corners. Soft ones are the default.
const (
	Square Corners = "square"
	Soft   Corners = "soft"
	Round  Corners = "round"
)

// AllCorners lists the corners, in the order of the form.
var AllCorners = []Corners{Square, Soft, Round}

// Font says which letters texts are set in. Each is on the reader's machine: nothing is loaded.
type Font string

// The fonts. Serif headings are the default.
const (
	Serif   Font = "serif"   // headings with serifs, texts without
	System  Font = "system"  // the letters of the reader's system
	Rounded Font = "rounded" // round letters, where the system has some
	Theme   Font = "theme"   // those of the store's theme, where the portal is a part of it
)

// Fonts lists the fonts, in the order of the form.
var Fonts = []Font{Serif, System, Rounded, Theme}

// Design is how the portal of a store looks. The zero value is the default.
type Design struct {
	Colour  Colour  `json:"colour,omitempty"`  // empty: DefaultColour
	Corners Corners `json:"corners,omitempty"` // empty: Soft
	Font    Font    `json:"font,omitempty"`    // empty: Serif
	InTheme bool    `json:"inTheme,omitempty"` // at the store's domain the screens are parts of its theme
	Logo    Logo    `json:"logo,omitzero"`

	Version   int64     `json:"-"`
	UpdatedAt time.Time `json:"-"`
}

// Logo is the picture of a store. The zero value is none.
type Logo struct {
	Hash   string `json:"hash,omitempty"` // of the picture, which names it
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	Alt    string `json:"alt,omitempty"` // read in its place; empty: the store's name
}

// Effective returns the design with the defaults in place of what is not set.
func (d Design) Effective() Design {
	if d.Colour == "" {
		d.Colour = DefaultColour
	}
	if d.Corners == "" {
		d.Corners = Soft
	}
	if d.Font == "" {
		d.Font = Serif
	}
	return d
}

// plain returns the design with nothing set that is the default anyway.
func (d Design) plain() Design {
	if d.Colour == DefaultColour {
		d.Colour = ""
	}
	if d.Corners == Soft {
		d.Corners = ""
	}
	if d.Font == Serif {
		d.Font = ""
	}
	return d
}

// Check refuses a design with values that do not exist.
func (d Design) Check() error {
	bad := func(field, format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("portalDesign").Field(field)
	}
	if d.Colour != "" && !d.Colour.valid() {
		return bad("colour", "%.20q is not a colour: write # and six digits from 0 to f, such as %s", string(d.Colour), DefaultColour)
	}
	if d.Corners != "" && !slices.Contains(AllCorners, d.Corners) {
		return bad("corners", "%.20q does not name corners: use square, soft or round", string(d.Corners))
	}
	if d.Font != "" && !slices.Contains(Fonts, d.Font) {
		return bad("font", "%.20q is not a font of the portal: use serif, system, rounded or theme", string(d.Font))
	}
	if d.Font == Theme && !d.InTheme {
		return bad("font", "the theme's font needs the portal inside your theme: tick that, or choose another font")
	}
	if n := utf8.RuneCountInString(d.Logo.Alt); n > MaxAlt {
		return bad("alt", "the text for the logo has at most %d characters, and this one has %d", MaxAlt, n)
	}
	if strings.ContainsFunc(d.Logo.Alt, unicode.IsControl) || !utf8.ValidString(d.Logo.Alt) {
		return bad("alt", "the text for the logo must be one line without control characters")
	}
	return nil
}
