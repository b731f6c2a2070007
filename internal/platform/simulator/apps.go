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

	bucket bucket
}

// installation is an app in a store, whether the store has it or not.
type installation struct {
	sh     *store
	app    AppSettings
	owner  string // of what the app makes: empty for the first app, the client id of another
	token  *string
	gone   *time.Time // zero: the store has the app
	grants *grantsOf
	bucket *bucket
}

func (i installation) installed() bool { return i.gone.IsZero() }

// ownsContracts reports whether the app's tokens open the API.
func (i installation) ownsContracts() bool { return i.owner == firstApp || i.app.OwnContracts }

// opens reports whether a token of the app opens the store now.
func (i installation) opens(token string, now time.Time) bool {
	if !i.installed() || !i.ownsContracts() {
		return false
	}
	if token == *i.token {
		return !i.grants.Retired
	}
	return slices.ContainsFunc(i.grants.Access, func(a accessToken) bool { return a.Token == token && now.Before(a.ExpiresAt) })
}

// opening is what a token opens: a store, for the owner of what an app makes.
type opening struct {
	sh    *store
	owner string
}

// AddApp adds an app beside that of SetApp, or replaces the settings of one. Stores install
// it and it gets tokens as the first does. It lasts until the platform is closed.
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

// secretOf returns the secret that signs what an owner is sent.
func (s *Simulator) secretOf(owner string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, known := s.other(owner); known {
		return s.secret(a)
	}
	return s.opts.AppSecret
}

// other returns an app beside the first by its client id.
func (s *Simulator) other(client string) (AppSettings, bool) {
	for _, a := range s.others {
		if a.ClientID == client {
			return a, true
		}
	}
	return AppSettings{}, false
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
		return s.firstAt(sh), true
	}
	a, known := s.other(client)
	if !known {
		return installation{}, false
	}
	if sh.Others == nil {
		sh.Others = map[string]*otherApp{}
	}
	is := sh.Others[client]
	if is == nil { // the store has never had it
		is = &otherApp{UninstalledAt: sh.CreatedAt, bucket: s.fullBucket()}
		sh.Others[client] = is
	}
	return installation{sh, a, client, &is.Token, &is.UninstalledAt, &is.Grants, &is.bucket}, true
}

// firstAt returns the first app in a store. It needs no client id.
func (s *Simulator) firstAt(sh *store) installation {
	return installation{sh, s.app, firstApp, &sh.Token, &sh.UninstalledAt, &sh.Grants, &sh.bucket}
}

// openedBy returns the app in the store that a token opens now, or false.
func (s *Simulator) openedBy(token string) (installation, bool) {
	o, known := s.state.byToken[token]
	if !known {
		return installation{}, false
	}
	i := s.firstAt(o.sh)
	if o.owner != firstApp {
		if i, known = s.at(o.sh, o.owner); !known {
			return i, false
		}
	}
	return i, i.opens(token, s.opts.Clock.Now())
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

// Install puts the first app back into a store that removed it, with a new token. Its
// webhook subscriptions are gone; its contracts go on when they have not ended.
func (s *Simulator) Install(shop, token string) error {
	return s.updateStore(shop, func(sh *store) error {
		return s.install(s.firstAt(sh), token)
	})
}

// InstallApp does the same with the app that has a client id, also in a store that has never had it.
func (s *Simulator) InstallApp(shop, client, token string) error {
	return s.updateStore(shop, func(sh *store) error {
		i, known := s.at(sh, client)
		if !known {
			return fault.New(fault.NotFound, "no app has the client id %q", client)
		}
		return s.install(i, token)
	})
}

func (s *Simulator) install(i installation, token string) error {
	if i.installed() {
		return fault.New(fault.FailedPrecondition, "%s has the app", i.sh.Domain)
	}
	if _, taken := s.state.byToken[token]; taken {
		return fault.New(fault.FailedPrecondition, "another store has this token")
	}
	delete(s.state.byToken, *i.token)
	*i.token, *i.gone, i.grants.Retired = token, time.Time{}, false
	s.open(i, token)
	s.save(i.sh)
	return nil
}

// NeverInstalled makes a new store one that has never had the first app.
func (s *Simulator) NeverInstalled(shop string) error {
	return s.updateStore(shop, func(sh *store) error {
		sh.UninstalledAt, sh.Grants.Retired = s.now(), true
		s.save(sh)
		return nil
	})
}

// Uninstall removes the first app from a store: its token is dead at once, its
// subscriptions hear of it, and its contracts end two days later.
func (s *Simulator) Uninstall(shop string) error {
	return s.updateStore(shop, func(sh *store) error {
		return s.uninstall(s.firstAt(sh))
	})
}

// UninstallApp does the same with the app that has a client id. What other apps have stays.
func (s *Simulator) UninstallApp(shop, client string) error {
	return s.updateStore(shop, func(sh *store) error {
		i, known := s.at(sh, client)
		if !known {
			return fault.New(fault.FailedPrecondition, "%s does not have the app", sh.Domain)
		}
		return s.uninstall(i)
	})
}

func (s *Simulator) uninstall(i installation) error {
	sh := i.sh
	if !i.installed() {
		return fault.New(fault.FailedPrecondition, "%s does not have the app", sh.Domain)
	}
	*i.gone = s.now()
	s.forgetTokens(i)
	s.save(sh)
	if !i.ownsContracts() {
		return nil
	}
	s.emitShop(sh, i.owner, "APP_UNINSTALLED")
	for _, w := range sh.subscriptions.order {
		if w.App == i.owner {
			w.Removed = true
			s.save(w)
		}
	}
	s.schedule(item{At: s.opts.Clock.Now().Add(orphanCancelDelay), Shop: sh.Domain, App: i.owner, CancelAll: true})
	return nil
}

// leave ends what an app has left in a store two days after it was removed.
func (s *Simulator) leave(sh *store, i item) {
	gone := sh.UninstalledAt
	if is := sh.Others[i.App]; is != nil {
		gone = is.UninstalledAt
	}
	if gone.IsZero() || i.At.Before(gone.Add(orphanCancelDelay)) {
		return // the app is back
	}
	for _, c := range sh.contracts.order {
		if c.App == i.App && !c.terminated() {
			c.Terms.Status = statusCancelled
			s.touch(c, i.At.Truncate(time.Second))
		}
	}
	s.removePlanGroups(sh, i.App)
}
