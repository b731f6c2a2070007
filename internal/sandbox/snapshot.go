package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// snapshotRef names a snapshot.
type snapshotRef struct {
	ID string `json:"id"`
}

// beginningID names the snapshot that a reset goes back to.
const beginningID = "beginning"

// snapshotMeta is what a snapshot says of itself.
type snapshotMeta struct {
	instant
	Callback string `json:"callback"`         // where the service listened
	Second   string `json:"second,omitempty"` // where the second instance listened
}

// Names in a snapshot's folder, in addition to the vault's.
const (
	metaFile      = "snapshot.json"
	platformState = "platform.json"
)

// takeSnapshot keeps the whole sandbox as it is now.
func (s *Sandbox) takeSnapshot(r *http.Request) (snapshotRef, error) {
	ctx := r.Context()
	var ref snapshotRef
	err := s.steps.alone(ctx, func() error {
		taken, err := os.ReadDir(s.home.path(snapshotsDir))
		if err != nil {
			return err
		}
		ref.ID = fmt.Sprintf("snapshot-%d", len(taken))
		return s.snapshot(ctx, ref.ID)
	})
	return ref, err
}

// keepBeginning takes the snapshot that a reset goes back to, once.
func (s *Sandbox) keepBeginning(ctx context.Context) error {
	if s.begun() {
		return nil
	}
	return s.steps.alone(ctx, func() error { return s.snapshot(ctx, beginningID) })
}

// begun reports whether the sandbox was ready before, in this process or an earlier one.
func (s *Sandbox) begun() bool {
	_, err := os.Stat(s.home.path(snapshotsDir, beginningID))
	return err == nil
}

// folder is where a snapshot has the instance's database, in its own folder.
func (i *instance) folder() string {
	if i.first() {
		return ""
	}
	return i.name
}

// save copies the instance's database into a snapshot's folder.
func (i *instance) save(ctx context.Context, dir string) error {
	dir = filepath.Join(dir, i.folder())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return i.vault.save(ctx, dir)
}

// snapshot saves both sides while nothing moves: requests to the service wait, and time
// does not advance.
func (s *Sandbox) snapshot(ctx context.Context, name string) error {
	for {
		if err := s.steps.settle(ctx); err != nil {
			return err
		}
		if err := s.hold(ctx); err != nil {
			return err
		}
		due, err := s.steps.due(ctx)
		if err == nil && due == "" {
			break
		}
		s.letGo() // a request came between
		if err != nil {
			return err
		}
	}
	defer s.letGo()
	dir, err := os.MkdirTemp(s.home.dir, "snapshot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // by then it has moved, or is not needed
	for _, i := range s.instances() {
		if err := i.save(ctx, dir); err != nil {
			return fmt.Errorf("copy the database of the %s instance: %w", i.name, err)
		}
	}
	f, err := os.Create(filepath.Join(dir, platformState))
	if err != nil {
		return err
	}
	if err := errors.Join(s.sim.Snapshot(f), f.Close()); err != nil {
		return fmt.Errorf("copy the platform: %w", err)
	}
	if err := s.mails.saveTo(filepath.Join(dir, mailsFile)); err != nil {
		return fmt.Errorf("copy the mails: %w", err)
	}
	if err := s.texts.caught.saveTo(filepath.Join(dir, smsFile)); err != nil {
		return fmt.Errorf("copy the SMS: %w", err)
	}
	meta := snapshotMeta{instant: instant{s.clock.Now()}, Callback: s.own.Callback}
	if s.second != nil {
		meta.Second = s.second.own.Callback
	}
	if err := (home{dir}).write(metaFile, meta); err != nil {
		return err
	}
	return os.Rename(dir, s.home.path(snapshotsDir, name))
}

func (s *Sandbox) restoreSnapshot(r *http.Request) (clockView, error) {
	var in snapshotRef
	if err := body(r, &in); err != nil {
		return clockView{}, err
	}
	return s.goBack(r, in.ID)
}

// reset goes back to the instant at which the sandbox was ready for the first
// time.
func (s *Sandbox) reset(r *http.Request) (clockView, error) { return s.goBack(r, beginningID) }

var snapshotName = regexp.MustCompile(`^[a-z]+(-[0-9]+)?$`)

func (s *Sandbox) goBack(r *http.Request, name string) (clockView, error) {
	if _, err := os.Stat(s.home.path(snapshotsDir, name)); !snapshotName.MatchString(name) || err != nil {
		return clockView{}, fault.New(fault.NotFound, "there is no snapshot %q", name).Code("snapshotNotFound").Field("id")
	}
	if s.hand == nil {
		return clockView{}, fault.New(fault.FailedPrecondition, "this sandbox follows the machine's clock (--wall-clock): it cannot go back").Code("wallClock")
	}
	// The client may disconnect: a restore that has begun is completed.
	ctx := context.WithoutCancel(r.Context())
	err := s.steps.alone(ctx, func() error {
		if err := s.hold(ctx); err != nil {
			return err
		}
		err := s.exchange(ctx, name)
		s.letGo() // the platform's webhooks must get through again
		return settled(err, func() error { return s.steps.settle(ctx) })
	})
	if err != nil {
		return clockView{}, err
	}
	return s.readClock(r)
}

// exchange stops the instances, puts everything back as it was, and starts
// others. What is begun here and cut off is ended at the next start.
func (s *Sandbox) exchange(ctx context.Context, name string) error {
	stopping, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	for _, i := range s.instances() {
		if err := errors.Join(i.closeService(stopping)...); err != nil {
			return fmt.Errorf("stop the %s instance: %w", i.name, err)
		}
	}
	if err := s.home.write(restoringFile, snapshotRef{name}); err != nil {
		return err
	}
	if err := s.resumeRestore(ctx); err != nil {
		return err
	}
	for _, i := range s.instances() {
		if err := i.openService(ctx); err != nil {
			return err
		}
	}
	for _, i := range s.instances() {
		if err := i.reconnect(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resumeRestore completes the restore of a snapshot if one was begun. The service must not
// run.
func (s *Sandbox) resumeRestore(ctx context.Context) error {
	var ref snapshotRef
	if found, err := s.home.read(restoringFile, &ref); err != nil || !found {
		return err
	}
	dir := s.home.path(snapshotsDir, ref.ID)
	var meta snapshotMeta
	if _, err := (home{dir}).read(metaFile, &meta); err != nil {
		return err
	}
	for _, i := range s.instances() {
		if err := i.vault.load(ctx, filepath.Join(dir, i.folder())); err != nil {
			return fmt.Errorf("put the database of the %s instance back: %w", i.name, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, platformState))
	if err != nil {
		return err
	}
	defer f.Close()
	if s.hand != nil {
		if err := s.setClock(meta.Now); err != nil {
			return err
		}
	}
	if err := s.sim.Restore(f); err != nil {
		return fmt.Errorf("put the platform back: %w", err)
	}
	if err := s.mails.loadFrom(filepath.Join(dir, mailsFile)); err != nil {
		return fmt.Errorf("put the mails back: %w", err)
	}
	if err := s.texts.caught.loadFrom(filepath.Join(dir, smsFile)); err != nil {
		return fmt.Errorf("put the SMS back: %w", err)
	}
	s.own.Callback = meta.Callback
	if s.second != nil {
		s.second.own.Callback = meta.Second
	}
	if err := s.keepSecrets(); err != nil {
		return err
	}
	return os.Remove(s.home.path(restoringFile))
}
