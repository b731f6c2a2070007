package portal

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Absent makes visits of customers who are not at the portal, for what is written to them: in the
// words, the look and with the addresses of the portal's screens.
type Absent struct {
	portal *portal
	base   func(of shop.Shop) string
}

// NewAbsent returns visits to the portal with some options, whose first screen has the address that
// base returns.
func NewAbsent(o Options, base func(of shop.Shop) string) (*Absent, error) {
	p, err := furnished(o, http.NewServeMux(), http.NewServeMux())
	if err != nil {
		return nil, err
	}
	return &Absent{p, base}, nil
}

// Visit returns the visit of a customer of a line, who reads a language, BCP 47; empty: English.
func (a *Absent) Visit(ctx context.Context, of shop.Shop, line shop.Line, customer int64, language string) (Visit, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, Path, http.NoBody)
	if err != nil {
		return Visit{}, err
	}
	v, err := a.portal.view(r, of, line, a.base(of), "", language)
	if err != nil {
		return Visit{}, err
	}
	v.Own = true
	return a.portal.visit(r, login.Principal{Shop: of.ID, Customer: customer}, of, v)
}
