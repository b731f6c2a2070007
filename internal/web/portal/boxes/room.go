// Package boxes is the screen on which subscribers choose what a box holds, within the merchant's rules.
package boxes

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Changes reads boxes and carries out what subscribers want. A contract that is no box, or is another
// subscriber's, is NotFound. Failures are faults.
type Changes interface {
	Box(ctx context.Context, who do.Caller, id contract.ID) (do.Box, error)
	DraftBox(ctx context.Context, b do.Box, want []contractedit.BoxItem) (do.BoxDraft, error)
	FillBox(ctx context.Context, who do.Caller, ref do.ContractRef, want []contractedit.BoxItem) (contract.Detail, error)
	Products(ctx context.Context, who do.Caller, id contract.ID, q do.ProductQuery) (do.ProductList, error)
}

// Options are what the room needs.
type Options struct{ Changes Changes }

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{{Pattern: "GET /s/{contract}/box", Show: r.show}, {Pattern: "POST /s/{contract}/box", Show: r.send}},
		Pages:  pages,
		Said:   map[string]string{"box": "done.box"},
	}
}

type room struct{ Options }

// box reads the box that a path names.
func (m room) box(r *http.Request, v portal.Visit) (do.Box, error) {
	id, err := portal.ContractOf(r)
	if err != nil {
		return do.Box{}, err
	}
	return m.Changes.Box(r.Context(), v.Caller(r), id)
}

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	b, err := m.box(r, v)
	if err != nil {
		return err
	}
	p, err := m.page(r, v, b, held(b), words.ProductsAsked(r))
	if err != nil {
		return err
	}
	return v.Answer(w, p)
}

// send carries out the form, or shows it again with what was chosen: with other products, or with what
// the box would cost.
func (m room) send(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	is := chosenOf(r)
	again := func(failed error) error {
		b, err := m.box(r, v)
		if err != nil {
			return err
		}
		p, err := m.page(r, v, b, is, askedIn(r))
		switch {
		case err != nil:
			return err
		case failed != nil:
			return v.Refuse(w, r, p, failed)
		}
		return v.Answer(w, p)
	}
	want, err := is.items()
	if err != nil {
		return again(err)
	}
	if r.PostForm.Get(button) != save {
		return again(nil)
	}
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		_, err := m.Changes.FillBox(ctx, v.Caller(r), ref, want)
		return "box", err
	}, again)
}
