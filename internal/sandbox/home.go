package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// home is the folder in which a sandbox keeps everything that must outlive its
// process.
type home struct{ dir string }

// Names of what is in the folder.
const (
	databaseFile  = "perennial.db"
	secondFile    = "second.db"
	platformFile  = "platform.db"
	secretsFile   = "secrets.json"
	clockFile     = "clock.json"
	manifestFile  = "sandbox.json"
	restoringFile = "restoring.json"
	snapshotsDir  = "snapshots"
)

func openHome(dir string) (home, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return home{}, fmt.Errorf("find a place for the sandbox's data (or give one with --data): %w", err)
		}
		if err := os.MkdirAll(filepath.Join(cache, "perennial"), 0o700); err != nil {
			return home{}, err
		}
		if dir, err = os.MkdirTemp(filepath.Join(cache, "perennial"), "sandbox-"); err != nil {
			return home{}, err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return home{}, err
	}
	return home{dir}, os.MkdirAll(filepath.Join(dir, snapshotsDir), 0o700)
}

// lock keeps a second sandbox out of the folder. It ends with the process, however that
// ends.
func (h home) lock() (io.Closer, error) {
	lock := flock.New(h.path("lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err == nil && !held {
		err = errors.New("another sandbox runs there")
	}
	if err != nil {
		return nil, fmt.Errorf("lock the folder %s: %w", h.dir, err)
	}
	return lock, nil
}

func (h home) path(name ...string) string {
	return filepath.Join(append([]string{h.dir}, name...)...)
}

// write replaces a file atomically: a reader sees the old text or the new one, also after
// a crash.
func (h home) write(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := os.CreateTemp(h.dir, name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.path(name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(f.Name()))
	}
	return nil
}

// read fills v from a file and reports whether there is one.
func (h home) read(name string, v any) (bool, error) {
	text, err := os.ReadFile(h.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", h.path(name), err)
	}
	return true, nil
}

// secrets are what a sandbox keeps to itself, or shows once and keeps valid.
type secrets struct {
	appSecrets // of the first instance

	Second               *appSecrets `json:"second,omitempty"` // nil: there is one instance
	MembershipsAppSecret string      `json:"membershipsAppSecret,omitempty"`
	Ports                []int       `json:"ports"` // as they were last
	Cast                 demo.Cast   `json:"cast"`
}

// appSecrets are those of an instance of the service.
type appSecrets struct {
	AppSecret   string                    `json:"appSecret"`
	DatabaseKey string                    `json:"databaseKey"` // base64
	Password    string                    `json:"dashboardPassword"`
	Tokens      map[string]platform.Token `json:"platformTokens"` // by domain
	Keys        map[string]string         `json:"apiKeys"`        // by domain
	Callback    string                    `json:"callback"`       // address of the service that the stores' webhook subscriptions name
}

func newAppSecrets() appSecrets {
	key := make([]byte, 32)
	rand.Read(key)
	return appSecrets{
		AppSecret: random("shpss_"), DatabaseKey: base64.StdEncoding.EncodeToString(key), Password: random(""),
		Tokens: map[string]platform.Token{}, Keys: map[string]string{},
	}
}

// openSecrets reads the folder's secrets, or makes them up, for two instances if second is set. How many
// there are is decided when the folder is new.
func (h home) openSecrets(second bool) (*secrets, error) {
	s := &secrets{}
	found, err := h.read(secretsFile, s)
	switch {
	case err != nil:
		return s, err
	case found && second && s.Second == nil:
		return s, fmt.Errorf("the sandbox in %s has one instance: leave --second out, or take another folder", h.dir)
	case found && !second && s.Second != nil:
		return s, fmt.Errorf("the sandbox in %s has two instances: add --second", h.dir)
	case found:
		return s, nil
	}
	s.appSecrets = newAppSecrets()
	if second {
		of := newAppSecrets()
		s.Second = &of
	}
	return s, h.write(secretsFile, s)
}

// keepSecrets makes the secrets durable.
func (s *Sandbox) keepSecrets() error { return s.home.write(secretsFile, s.secrets) }

// token returns the token of a store, new when it has none yet.
func (s *appSecrets) token(domain string) platform.Token {
	if s.Tokens[domain] == "" {
		s.Tokens[domain] = platform.Token(random("shpat_"))
	}
	return s.Tokens[domain]
}

func random(prefix string) string {
	b := make([]byte, 16)
	rand.Read(b)
	return prefix + hex.EncodeToString(b)
}

// instant is the text of the clock's file.
type instant struct {
	Now time.Time `json:"now"`
}

// beginning is when the time of a new sandbox begins.
func beginning() time.Time { return time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC) }

// openClock returns the clock at the instant at which it stood last.
func (h home) openClock() (*clock.Manual, error) {
	at := instant{beginning()}
	found, err := h.read(clockFile, &at)
	if err == nil && !found {
		err = h.write(clockFile, at)
	}
	return clock.NewManual(at.Now), err
}

// keepClock makes an instant durable. It comes before anything that happens at
// that instant, so that a sandbox that is killed never sees its own future.
func (h home) keepClock(t time.Time) error { return h.write(clockFile, instant{t}) }
