package simulator

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// otherApp is what a store has given to an app that is not the first.
type otherApp struct {
	Token         string    `json:",omitempty"`
	UninstalledAt time.Time `json:",omitzero"`
	Grants        grantsOf
}

// installation is an app in a store, whether the store has it or not.
type installation struct {
	sh     *store
	app    AppSettings
	first  bool // its tokens open the API
	token  *string
	gone   *time.Time // zero: the store has the app
	grants *grantsOf
}

func (i installation) installed() bool { return i.gone.IsZero() }

// AddApp adds an app beside that of SetApp, or replaces the settings of one. Stores install
// it and it gets tokens as the first does. They do not open the API: the platform shows an
// app its own contracts, and all are the first app's. It lasts until the platform is closed.
func (s *Simulator) AddApp(a AppSettings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = slices.DeleteFunc(s.others, func(o AppSettings) bool { return o.ClientID == a.ClientID })
	s.others = append(s.others, a)
}

// secret returns the client secret of an app.
func (s *Simulator) secret(a AppSettings) string {
	if a.Secret != "" {
		return a.Secret
	}
	return s.opts.AppSecret
}

// apps returns all apps, the first one first.
func (s *Simulator) apps() []AppSettings {
	if s.app.ClientID == "" {
		return nil
	}
	return append([]AppSettings{s.app}, s.others...)
}

// at returns an app in a store, or false when no app has the client id.
func (s *Simulator) at(sh *store, client string) (installation, bool) {
	if client == s.app.ClientID && client != "" {
		return installation{sh, s.app, true, &sh.Token, &sh.UninstalledAt, &sh.Grants}, true
	}
	i := slices.IndexFunc(s.others, func(a AppSettings) bool { return a.ClientID == client })
	if i < 0 {
		return installation{}, false
	}
	if sh.Others == nil {
		sh.Others = map[string]*otherApp{}
	}
	is := sh.Others[client]
	if is == nil { // the store has never had it
		is = &otherApp{UninstalledAt: sh.CreatedAt}
		sh.Others[client] = is
	}
	return installation{sh, s.others[i], false, &is.Token, &is.UninstalledAt, &is.Grants}, true
}

// HasApp reports whether a store has the app with a client id.
func (s *Simulator) HasApp(shop, client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return false
	}
	i, known := s.at(sh, client)
	return known && i.installed()
}

// UninstallApp removes the app with a client id from a store. Removing the first app does what
// Uninstall does; removing another ends its tokens and nothing else.
func (s *Simulator) UninstallApp(shop, client string) error {
	s.mu.Lock()
	first := client == s.app.ClientID
	s.mu.Unlock()
	if first {
		return s.Uninstall(shop)
	}
	return s.update(func() error {
		sh, err := s.store(shop)
		if err != nil {
			return err
		}
		i, known := s.at(sh, client)
		if !known || !i.installed() {
			return fault.New(fault.FailedPrecondition, "%s does not have the app", sh.Domain)
		}
		*i.gone = s.now()
		s.forgetTokens(i)
		s.save(sh)
		return nil
	})
}
