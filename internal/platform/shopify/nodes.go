package shopify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/platform"
)

// nodes asks for the objects with the given graph ids with one of the documents
// that have $ids. An id that the platform does not know leaves a nil node; it
// is no error, even if the platform reports it as one.
func (s session) nodes(ctx context.Context, name, text string, ids []string, into any) error {
	variables, err := json.Marshal(struct {
		IDs []string `json:"ids"`
	}{ids})
	if err != nil {
		return fmt.Errorf("encode ids: %w", err)
	}
	errs, err := s.ask(ctx, s.client.document(name, text), variables, into)
	if err != nil {
		return err
	}
	if err := failure(besidesRights(errs)); !errors.Is(err, platform.ErrNotFound) {
		return err
	}
	return nil
}

// errNodes says that an answer has not as many nodes as were asked for, so that
// a missing one says nothing.
func errNodes(got, asked int) error {
	return fmt.Errorf("%w: %d nodes for %d ids", platform.ErrUnknown, got, asked)
}
