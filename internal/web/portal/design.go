package portal

import (
	"html/template"

	"github.com/perennialhq/perennial/internal/domain/portal/design"
)

// corners are the rules that change the corners of the style sheet, which are soft.
var corners = map[design.Corners]string{
	design.Square: "--r:0;--r2:0;--r3:0;--pill:0;",
	design.Round:  "--r:1.5rem;--r2:1.375rem;--r3:1.375rem;",
}

// letters are the rules that change the letters of the style sheet. Each font is on the reader's
// machine. A theme names its own in the properties that Shopify's themes have.
var letters = map[design.Font]string{
	design.System:  "--display:var(--font);",
	design.Rounded: `--font:ui-rounded,"SF Pro Rounded","Hiragino Maru Gothic ProN",Nunito,Quicksand,Comfortaa,"Arial Rounded MT Bold",Calibri,sans-serif;--display:var(--font);`,
	design.Theme:   "--font:var(--font-body-family,sans-serif);--display:var(--font-heading-family,var(--font));",
}

// declarations returns what a design changes in the style sheet, on light pages and in addition
// on dark ones. They are made of names and computed colours, never of what anybody has typed.
func declarations(d design.Design, part bool) (light, dark string) {
	d = d.Effective()
	if d.Font == design.Theme && !part {
		d.Font = design.System
	}
	if d.Colour != design.DefaultColour {
		light, dark = colours(d.Colour, design.LightPage), colours(d.Colour, design.DarkPage)
	}
	return light + corners[d.Corners] + letters[d.Font], dark
}

func colours(c design.Colour, on design.Page) string {
	p := design.PaletteOf(c, on)
	return "--fill:" + string(p.Fill) + ";--on:" + string(p.On) + ";--link:" + string(p.Link) + ";--tint:" + string(p.Tint) + ";"
}

// darkPages begins the rules for dark pages.
const darkPages = "@media (prefers-color-scheme:dark){"

// rule returns the rules of the store's design, or "". In a theme they are those of the part alone.
func (v View) rule() string {
	at := ":root"
	if v.Part {
		at = ".portal"
	}
	light, dark := declarations(v.Look.Design, v.Part)
	var rules string
	if light != "" {
		rules = at + "{" + light + "}"
	}
	if dark != "" {
		rules += darkPages + at + "{" + dark + "}}"
	}
	return rules
}

// Rule returns the rules of the store's design, or "".
func (v View) Rule() template.CSS { return template.CSS(v.rule()) } //nolint:gosec // names and computed colours

// Sheet returns all styles of a sample, or "".
func (v View) Sheet() template.CSS { return template.CSS(v.sheet) } //nolint:gosec // our own, and the design's rules

// logoPath is what the paths of logos begin with, below the portal's.
const logoPath = "/logo/"

// Logo returns the address of the store's logo, or "".
func (v View) Logo() template.URL {
	hash := v.Look.Design.Logo.Hash
	if v.picture != "" || !design.IsHash(hash) {
		return v.picture
	}
	return template.URL(v.Base + logoPath + hash + ".png") //nolint:gosec // a path of ours
}
