package app

import (
	"context"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/wording"
)

// wordings knows the texts of merchants. Every page of the portal asks, and they seldom change: a
// process remembers them for as long as it does the look of a store.
type wordings struct {
	*wording.Service

	seen sync.Map // wordingOf: seenWording
}

type wordingOf struct {
	shop     shop.ID
	language string
}

type seenWording struct {
	texts map[string]string
	until time.Time
}

// Wording returns the texts of a store for a reader with a tag.
func (w *wordings) Wording(ctx context.Context, of shop.ID, tag string) (map[string]string, error) {
	now, key := w.Clock.Now(), wordingOf{of, w.Catalogue.Language(tag)}
	if known, ok := w.seen.Load(key); ok && now.Before(known.(seenWording).until) {
		return known.(seenWording).texts, nil
	}
	texts, err := w.Service.Wording(ctx, of, key.language)
	if err != nil {
		return nil, err
	}
	w.seen.Store(key, seenWording{texts, now.Add(lookLife)})
	return texts, nil
}
