package app

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/wording"
)

// wordings knows the texts of merchants. Every page of the portal asks, and they seldom change: a
// process remembers them for as long as it does the look of a store.
type wordings struct {
	*wording.Service

	known remembered[wordingOf, map[string]string]
}

type wordingOf struct {
	shop     shop.ID
	language string
}

// Wording returns the texts of a store for a reader with a tag.
func (w *wordings) Wording(ctx context.Context, of shop.ID, tag string) (map[string]string, error) {
	key := wordingOf{of, w.Catalogue.Language(tag)}
	return w.known.get(key, w.Clock.Now(), func() (map[string]string, error) { return w.Service.Wording(ctx, of, key.language) })
}
