package portal

import (
	"context"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Look is how the portal of a store presents itself.
type Look struct {
	Name    string // of the store
	Design  design.Design
	Help    string // address of the store's help, https, mailto or tel; empty: the store itself
	Account bool   // customers sign in on our own domain with their account at the store, too
}

// Looks knows how the portals of stores present themselves.
type Looks interface {
	Look(ctx context.Context, of shop.Shop) (Look, error)
}

// Logos has the pictures of stores.
type Logos interface {
	// Logo returns the picture of a store with a hash, as PNG, or NotFound.
	Logo(ctx context.Context, of shop.ID, hash string) ([]byte, error)
}

// Wordings knows texts that merchants have written in place of the catalogue's.
type Wordings interface {
	// Wording returns the texts of a store in a language, by key.
	Wording(ctx context.Context, of shop.ID, language string) (map[string]string, error)
}

// LookOf returns the look of a store without settings.
func LookOf(of shop.Shop) Look {
	name := strings.ReplaceAll(login.Handle(of.Domain), "-", " ")
	if name != "" {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return Look{Name: name}
}
