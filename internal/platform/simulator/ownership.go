package simulator

import (
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Owners that are no client ids.
const (
	firstApp = ""  // of what the first app made, and of all that was made before there were others
	everyApp = "*" // of an event that belongs to no app: all apps are sent it
)

// owned is an object that only the app knows that made it. Its owner is firstApp or a client id.
type owned interface{ owner() string }

func (c *contract) owner() string     { return c.App }
func (a *attempt) owner() string      { return a.contract.App }
func (d *draft) owner() string        { return d.App }
func (w *subscription) owner() string { return w.App }
func (g *planGroup) owner() string    { return g.App }

// knows reports whether the app of the token knows an object: it owns it, or no app does.
func (x *exec) knows(v any) bool {
	o, ok := v.(owned)
	return !ok || o.owner() == x.app
}

// ownByID returns the object of a number if the app of the token owns it.
func ownByID[T interface {
	comparable
	owned
}](x *exec, from *objects[T], id int64) (v T, ok bool) {
	found, ok := from.get(id)
	if !ok || !x.knows(found) {
		return v, false
	}
	return found, true
}

// ownOf keeps the objects that the app of the token owns.
func ownOf[T owned](x *exec, list []T) []T {
	foreign := func(v T) bool { return !x.knows(v) }
	if !slices.ContainsFunc(list, foreign) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), foreign)
}

// clientID returns the client id of an owner.
func (s *Simulator) clientID(owner string) string { return or(owner, s.app.ClientID) }

// ownerOf returns the owner of a new contract: the app with a client id, or, when it is empty, the app
// that sells on the first of the plans, or the first app.
func (s *Simulator) ownerOf(sh *store, client string, lines []line) (string, error) {
	switch a, _ := s.other(client); {
	case client != "" && client == s.app.ClientID:
		return firstApp, nil
	case a.OwnContracts:
		return client, nil
	case client != "":
		return "", fault.New(fault.Invalid, "no app with contracts of its own has the client id %q", client).Field("app")
	}
	for _, l := range lines {
		if g := sh.groupOfPlan(l.SellingPlanID); g != nil {
			return g.App, nil
		}
	}
	return firstApp, nil
}
