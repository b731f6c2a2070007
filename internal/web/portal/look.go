package portal

import (
	"context"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Look is how the portal of a store presents itself.
type Look struct {
	Name    string // of the store
	Logo    string // https address of its picture; empty: the name alone
	Brand   string // colour of buttons and links, "#2f6b4a"; empty: ours
	Help    string // address of the store's help, https, mailto or tel; empty: the store itself
	Account bool   // customers sign in on our own domain with their account at the store, too
	InTheme bool   // on the store's domain the screens are parts of its theme, not pages of their own
}

// Looks knows how the portals of stores present themselves.
type Looks interface {
	Look(ctx context.Context, of shop.Shop) (Look, error)
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
