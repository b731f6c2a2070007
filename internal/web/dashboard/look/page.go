package look

import (
	"context"
	"encoding/base64"
	"fmt"
	"html/template"

	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// entered is what a form says, or what is stored when none was sent.
type entered struct {
	draft   design.Draft
	colour  string // as typed
	picture []byte // the new logo as PNG; nil: none
}

// formPage is the form, with how the portal looks.
type formPage struct {
	Path, Reset string
	Seen        int64
	Colour      string       // as typed, which the form brings back to say whether it was changed
	Picked      string       // what the colour input shows, which takes colours only
	Picture     string       // the new logo, in base64; empty: none
	Logo        template.URL // of the logo that is shown; empty: none
	Width       int
	Height      int
	Corners     dashboard.Field
	Font        dashboard.Field
	InTheme     dashboard.Field
	Alt         dashboard.Field
	Remove      dashboard.Field
	Removes     bool // there is a logo to remove
	May         bool
	Changed     bool // it is not the default
	Notes       []string
	Samples     []sample
	Unsaved     bool // the samples show what is not saved
}

// sample is how the portal looks, light or dark.
type sample struct {
	Name    string
	Screens []string
}

var cornerNames = map[design.Corners]string{design.Square: "Square", design.Soft: "Soft", design.Round: "Round"}

var fontNames = map[design.Font]string{
	design.Serif: "Headings with serifs", design.System: "The reader’s system", design.Rounded: "Rounded, where the reader’s system has one", design.Theme: "Your theme’s own",
}

// page returns the form with what was entered, over what is stored.
func (m *room) page(ctx context.Context, v dashboard.Visit, stored design.Design, e entered) (dashboard.Page, error) {
	shown := e.draft.Of(stored).Effective()
	if shown.Check() != nil { // the form says why
		shown = stored.Effective()
	}
	logo := e.picture
	if logo == nil && shown.Logo.Hash != "" {
		var err error
		if logo, err = m.Designs.Logo(ctx, v.Shop.ID, shown.Logo.Hash); err != nil {
			return dashboard.Page{}, err
		}
	}
	typed := e.draft.Design.Effective()
	p := formPage{
		Path: v.At(path), Reset: v.At(path + "/reset"), Seen: e.draft.Seen, Colour: e.colour, Picked: string(shown.Colour),
		Picture: base64.StdEncoding.EncodeToString(e.picture), May: v.May(staff.ManageStore), Removes: stored.Logo.Hash != "" || e.picture != nil,
		Changed: stored.Version > 0 && stored.Effective() != (design.Design{Version: stored.Version, UpdatedAt: stored.UpdatedAt}).Effective(),
		Corners: dashboard.Field{Name: "corners", Type: "select", Label: "Corners", Required: true, Hint: "Of cards, buttons and fields."},
		Font:    dashboard.Field{Name: "font", Type: "select", Label: "Letters", Required: true, Hint: "Nothing is loaded from other sites. Your theme’s own needs the portal inside your theme."},
		InTheme: dashboard.Field{
			Name: "inTheme", Type: "checkbox", Label: "Show the portal inside your theme", Value: dashboard.Tick(typed.InTheme),
			Hint: "On your store’s domain, below your theme’s header. Without it the portal is a page of its own, with your logo.",
		},
		Alt: dashboard.Field{
			Name: "alt", Label: "Text for the logo", Plain: true, Max: design.MaxAlt, Value: typed.Logo.Alt, Hint: "Screen readers read it. Empty: the name of your store.",
		},
		Remove: dashboard.Field{Name: "remove", Type: "checkbox", Label: "Remove the logo", Value: dashboard.Tick(e.draft.Remove)},
	}
	for _, c := range design.AllCorners {
		p.Corners.Choices = append(p.Corners.Choices, dashboard.Choice{Value: string(c), Name: cornerNames[c], Selected: c == typed.Corners})
	}
	for _, f := range design.Fonts {
		p.Font.Choices = append(p.Font.Choices, dashboard.Choice{Value: string(f), Name: fontNames[f], Selected: f == typed.Font})
	}
	if logo != nil {
		p.Logo = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(logo)) //nolint:gosec // a PNG of ours
		p.Width, p.Height = shown.Logo.Width, shown.Logo.Height
	}
	for _, c := range design.Changes(shown.Colour) {
		p.Notes = append(p.Notes, says(c))
	}
	if e.draft.Remove {
		logo = nil
	}
	page := dashboard.Page{
		Name: "design", Title: "Portal design", Lead: "How the portal looks to your customers. Texts stay readable, whatever colour you choose.",
	}
	for _, dark := range []bool{false, true} {
		screens, styles, err := m.Samples.Sample(ctx, v.Shop, shown, logo, dark)
		if err != nil {
			return page, err
		}
		name := "Light"
		if dark {
			name = "Dark"
		}
		p.Samples = append(p.Samples, sample{name, screens})
		page.Sheets = append(page.Sheets, styles)
	}
	page.Content = p
	return page, nil
}

// says says what is not drawn in the chosen colour.
func says(c design.Change) string {
	what, why := "Buttons are", "seen"
	if c.Link {
		what, why = "Links are", "read"
	}
	how, where := "darker", ""
	if c.Dark {
		how, where = "lighter", "On dark pages, "
		what = string(what[0]|0x20) + what[1:]
	}
	if c.Before >= c.After { // the text on it decides
		return fmt.Sprintf("%s%s drawn %s than your colour so that the text on them can be read.", where, what, how)
	}
	return fmt.Sprintf("%s%s drawn %s than your colour so that they can be %s: %s to 1 becomes %s to 1.", where, what, how, why, ratio(c.Before), ratio(c.After))
}

// ratio writes a contrast with one digit after the point, cut off, so that it never claims more.
func ratio(x float64) string { return fmt.Sprintf("%.1f", float64(int(x*10))/10) }
