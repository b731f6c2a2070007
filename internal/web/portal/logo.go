package portal

import (
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ownLogo answers with a logo on our own domain.
func (p *portal) ownLogo(w http.ResponseWriter, r *http.Request) {
	of, err := p.shopOf(r)
	p.logo(w, r, of.ID, p.blank(r), err)
}

// proxiedLogo answers with a logo on the store's domain.
func (p *portal) proxiedLogo(w http.ResponseWriter, r *http.Request) {
	who, v, err := p.fromStore(r)
	p.logo(w, r, who.Store.ID, v, err)
}

// logo answers with a picture of a store. Its name changes with it, so browsers keep it for good.
func (p *portal) logo(w http.ResponseWriter, r *http.Request, of shop.ID, v View, err error) {
	var picture []byte
	if err == nil {
		picture, err = p.picture(r, of)
	}
	if err != nil {
		p.renderer.fail(w, r, v, err)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(picture) // the client is gone
}

func (p *portal) picture(r *http.Request, of shop.ID) ([]byte, error) {
	hash, found := strings.CutSuffix(r.PathValue("file"), ".png")
	if !found || !design.IsHash(hash) || p.Logos == nil {
		return nil, fault.New(fault.NotFound, "the store has no such logo").Code("logoNotFound")
	}
	return p.Logos.Logo(r.Context(), of, hash)
}
