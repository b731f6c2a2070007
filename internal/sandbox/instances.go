package sandbox

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/store"
)

// instances returns the instances of the service, the first one first.
func (s *Sandbox) instances() []*instance {
	if s.second == nil {
		return []*instance{&s.instance}
	}
	return []*instance{&s.instance, s.second}
}

// named returns the instance of a name; empty means the first.
func (s *Sandbox) named(name string) (*instance, error) {
	for _, i := range s.instances() {
		if i.name == cmp.Or(name, firstName) {
			return i, nil
		}
	}
	return nil, fault.New(fault.NotFound, "the sandbox has no instance %q", name).Code("instanceNotFound").Field("instance")
}

// asked returns the instance that a request names in its query.
func (s *Sandbox) asked(r *http.Request) (*instance, error) {
	return s.named(r.URL.Query().Get("instance"))
}

// checkDatabases returns what is wrong with the databases of two instances.
func (o Options) checkDatabases() error {
	if !o.Second {
		if o.SecondDatabase != "" {
			return errors.New("--second-database: it is for a second instance; add --second")
		}
		return nil
	}
	_, file, err := store.SQLitePath(o.Database)
	switch {
	case err != nil:
		return err
	case o.Database != "" && !file && o.SecondDatabase == "":
		return errors.New("--second: the second instance needs a database of its own at the server; name it with --second-database")
	case o.Database != "" && o.Database == o.SecondDatabase:
		return errors.New("--second-database: the second instance cannot use the database of the first")
	}
	return nil
}

// hold keeps requests to every instance waiting until letGo. A request to one instance may wait for another,
// so it holds all of them at one moment or none.
func (s *Sandbox) hold(ctx context.Context) error {
	if s.second == nil {
		s.front.mu.Lock()
		return nil
	}
	ticks := time.NewTicker(waitEvery)
	defer ticks.Stop()
	for {
		if s.front.mu.TryLock() {
			if s.second.front.mu.TryLock() {
				return nil
			}
			s.front.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

func (s *Sandbox) letGo() {
	for _, i := range s.instances() {
		i.front.mu.Unlock()
	}
}
