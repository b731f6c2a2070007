package look

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// opened returns the form of what is stored.
func opened(d design.Design) entered {
	return entered{draft: design.Draft{Seen: d.Version, Design: d}, colour: string(d.Effective().Colour)}
}

func (m *room) show(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	stored, err := m.Designs.Design(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p, err := m.page(r.Context(), v, stored, opened(stored))
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

// sent returns what a form says. With a failure, what could be read is there all the same.
func sent(r *http.Request, upload *dashboard.File) (entered, error) {
	form := r.PostForm
	var e entered
	e.draft.Seen, _ = strconv.ParseInt(form.Get("seen"), 10, 64) // no number is a version that never was
	e.colour = form.Get("colour")
	if picked := form.Get("picked"); e.colour == form.Get("was") && picked != "" && picked != form.Get("picked-was") {
		e.colour = picked
	}
	e.draft.Design = design.Design{
		Colour: design.ParseColour(e.colour), Corners: design.Corners(form.Get("corners")), Font: design.Font(form.Get("font")), InTheme: form.Get("inTheme") != "",
		Logo: design.Logo{Alt: form.Get("alt")},
	}
	e.draft.Remove = form.Get("remove") != ""
	file, err := base64.StdEncoding.DecodeString(form.Get("picture")) // that an earlier form has brought
	if err != nil {
		file = []byte("no picture")
	}
	if upload != nil {
		if upload.TooLarge {
			return e, design.TooLarge()
		}
		file = upload.Data
	}
	if upload == nil && len(file) == 0 {
		return e, nil
	}
	picture, err := design.ReadPicture(file)
	if err != nil {
		return e, err
	}
	e.draft.Picture, e.picture = &picture, picture.PNG
	return e, nil
}

// save stores the form, or shows how the portal would look.
func (m *room) save(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	stored, err := m.Designs.Design(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	e, refused := sent(r, v.Upload)
	if refused == nil {
		refused = e.draft.Design.Check()
	}
	preview := r.PostForm.Get("do") == "preview"
	if refused == nil && !preview {
		if _, refused = m.Designs.Save(r.Context(), v.Shop.ID, e.draft, v.Actor(r)); refused == nil {
			return v.Go(w, path, "design-saved")
		}
	}
	p, err := m.page(r.Context(), v, stored, e)
	if err != nil {
		return err
	}
	if refused != nil {
		return v.Refuse(w, r, p, refused)
	}
	content := p.Content.(formPage)
	content.Unsaved = true
	p.Content = content
	return v.Answer(w, p)
}

// question is the one that is asked before a design is reset.
func question(d design.Design) dashboard.Question {
	q := dashboard.Question{
		Title: "Reset the design", Back: path, Path: path + "/reset", Button: "Reset to default", Keep: "Keep my design", Grave: true,
		Hidden: map[string]string{"seen": strconv.FormatInt(d.Version, 10)},
		Says:   []string{"Colour, corners and letters are those of the product again, and the portal is a page of its own."},
	}
	if d.Logo.Hash != "" {
		q.Says = append(q.Says, "Your logo is deleted. The name of your store is shown instead.")
	}
	return q
}

func (m *room) askReset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	d, err := m.Designs.Design(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	return v.Ask(w, r, question(d), nil)
}

// reset deletes the merchant's design.
func (m *room) reset(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	d, err := m.Designs.Design(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	seen, _ := strconv.ParseInt(r.PostForm.Get("seen"), 10, 64) // no number is a version that never was
	if _, err := m.Designs.Save(r.Context(), v.Shop.ID, design.Draft{Seen: seen, Remove: true}, v.Actor(r)); err != nil {
		return v.Ask(w, r, question(d), err)
	}
	return v.Go(w, path, "design-reset")
}
