package app

import (
	"context"
	"fmt"
	"net/url"

	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/job"
)

// Start begins to work tasks. Nothing is charged before the platform has confirmed
// that this installation charges its stores.
func (a *App) Start(ctx context.Context) error {
	place, err := a.place(ctx)
	if err != nil {
		return err
	}
	if err := a.Repair.SetPlace(ctx, place); err != nil {
		return fmt.Errorf("say where the installation lives: %w", err)
	}
	if a.inline != nil {
		return nil
	}
	a.jobs, err = a.Store.Run(ctx, &a.handlers, job.Options{
		MaxWorkers: a.options.Settings.Workers, PollOnly: a.options.Settings.PollOnly, PollInterval: a.options.Settings.JobPoll, Cooldown: a.options.Cooldown, Log: a.options.Log,
		Tracer: a.options.Tracer, Observe: a.Metrics.Task,
	})
	if err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	return nil
}

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

// Stop takes up no more tasks and waits for those that run, until ctx ends.
func (a *App) Stop(ctx context.Context) error {
	if a.jobs == nil {
		return nil
	}
	err := a.jobs.Stop(ctx)
	a.jobs = nil
	return err
}
