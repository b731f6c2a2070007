package keys

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// inUse is how long after its last use a key is revoked only by who types its name.
const inUse = 24 * time.Hour

// used says when a key was last used.
func used(v dashboard.Visit, k access.Key) string {
	if k.LastUsedAt.IsZero() {
		return "It was never used."
	}
	return "It was last used on " + lastUse(v, k) + "."
}

// recent reports whether a key seems to be in use.
func (m *room) recent(k access.Key) bool {
	return !k.LastUsedAt.IsZero() && m.Clock.Now().Sub(k.LastUsedAt) < inUse
}

func (m *room) revocation(v dashboard.Visit, k access.Key) dashboard.Question {
	q := dashboard.Question{
		Title: "Revoke “" + k.Name + "”", Back: "/keys", Path: "/keys/" + strconv.FormatInt(int64(k.ID), 10) + "/revoke", Button: "Revoke key", Keep: "Keep the key", Grave: true,
		Says: []string{"Requests with this key are refused at once, and for good.", "It may: " + words.Scopes(k.Scopes) + ". " + used(v, k)},
	}
	if m.recent(k) {
		q.Fields = []dashboard.Field{{Name: "typed", Label: "Type the name of the key to confirm", Hint: "A program seems to use this key: " + k.Name, Required: true, Max: access.MaxName}}
	}
	return q
}

func (m *room) askRevocation(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, _, err := m.key(r.Context(), r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, m.revocation(v, k), nil)
}

func (m *room) revoke(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, _, err := m.key(r.Context(), r, v)
	if err != nil {
		return err
	}
	if m.recent(k) && strings.TrimSpace(r.PostForm.Get("typed")) != k.Name {
		return v.Ask(w, r, m.revocation(v, k), fault.New(fault.Invalid, "type %s, the name of the key", k.Name).Field("typed"))
	}
	if err := m.Keys.Revoke(r.Context(), v.Shop.ID, k.ID, v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, "/keys", "key-revoked")
}

// graces are how long a replaced key goes on.
var graces = []dashboard.Choice{{Value: "0", Name: "Ends now"}, {Value: "24", Name: "Works for 24 hours"}, {Value: "168", Name: "Works for 7 days"}, {Value: "720", Name: "Works for 30 days"}}

func replacement(v dashboard.Visit, k access.Key, known int) dashboard.Question {
	choices := make([]dashboard.Choice, len(graces))
	for i, g := range graces {
		g.Selected = g.Value == "24"
		choices[i] = g
	}
	return dashboard.Question{
		Title: "Replace “" + k.Name + "”", Back: "/keys", Path: "/keys/" + strconv.FormatInt(int64(k.ID), 10) + "/replace", Button: "Create the new key", Keep: "Keep the key as it is",
		Says:   []string{"A new key with the same name and permissions is made and shown once. Until the old one ends, both work.", used(v, k)},
		Hidden: map[string]string{"known": strconv.Itoa(known)},
		Fields: []dashboard.Field{{Name: "grace", Label: "The old key", Type: "select", Choices: choices, Required: true}},
	}
}

func (m *room) askReplacement(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, known, err := m.key(r.Context(), r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, replacement(v, k, known), nil)
}

// replace makes the successor of a key. A form that is sent again makes no other one: the
// store has more keys by then than the question has seen.
func (m *room) replace(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	k, known, err := m.key(r.Context(), r, v)
	if err != nil {
		return err
	}
	hours, err := strconv.Atoi(r.PostForm.Get("grace"))
	if err != nil || hours < 0 || hours > int(access.MaxGrace/time.Hour) {
		return v.Ask(w, r, replacement(v, k, known), fault.New(fault.Invalid, "choose how long the old key works").Field("grace"))
	}
	seen, err := strconv.Atoi(r.PostForm.Get("known"))
	if err != nil || seen < 1 {
		return fault.New(fault.Invalid, "the form is not complete: open it again")
	}
	grace := time.Duration(hours) * time.Hour
	value, made, err := m.Keys.Rotate(r.Context(), v.Shop.ID, access.Rotation{Key: k.ID, Grace: &grace, Known: seen, Actor: v.Actor(r)})
	if err != nil {
		return v.Ask(w, r, replacement(v, k, known), err)
	}
	note := "The old key has ended."
	if hours > 0 {
		note = "The old key works until " + v.Instant(m.Clock.Now().Add(grace)) + "."
	}
	return show(w, v, value, made, note)
}
