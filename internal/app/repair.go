package app

import (
	"context"
	"fmt"
	"net/url"

	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/web"
)

// place says where the installation lives. All nodes of an installation say the
// same.
func (a *App) place(ctx context.Context) (repair.Place, error) {
	database, err := a.Store.Place(ctx)
	if err != nil {
		return repair.Place{}, err
	}
	u, err := url.Parse(a.options.Settings.PublicURL)
	if err != nil {
		return repair.Place{}, fmt.Errorf("read the public URL: %w", err)
	}
	return repair.Place{Database: database, Host: u.Hostname()}, nil
}

// noneFrozen is the check of readiness: with a store frozen requests are served,
// and its orders wait.
func (a *App) noneFrozen(ctx context.Context) error {
	n, err := a.Store.Shops().Frozen(ctx)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %d stores are frozen: run perennial doctor", web.ErrDegraded, n)
	}
	return err
}
