package keys

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// maxRevoked is how many revoked keys the list shows, the newest ones.
const maxRevoked = 20

// row is a key in the list.
type row struct {
	ID      access.KeyID
	Name    string
	Value   string // what is known of it
	Badge   dashboard.Badge
	May     string
	By      string
	Created string
	Used    string
	Live    bool
}

// listPage is what the list shows.
type listPage struct {
	Rows  []row
	Empty dashboard.Empty
	Used  string // how many places are taken
	Full  bool   // no other key can be made
	Max   int
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	list, err := m.Keys.List(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	now := m.Clock.Now()
	var live, revoked []access.Key
	for _, k := range list {
		if k.Live(now) {
			live = append(live, k)
		} else {
			revoked = append(revoked, k)
		}
	}
	slices.SortStableFunc(revoked, func(a, b access.Key) int { return b.RevokedAt.Compare(a.RevokedAt) })
	p := listPage{
		Full: len(live) >= access.MaxKeys, Max: access.MaxKeys, Used: fmt.Sprintf("%d of %d places are used; revoked keys take none.", len(live), access.MaxKeys),
		Empty: dashboard.Empty{
			Icon: "key", Title: "No key yet", Text: "A key lets a program of yours, such as a warehouse or a report, act for this store.", Action: "Create key", Path: v.At("/keys/new"),
		},
	}
	for _, k := range slices.Concat(live, revoked[:min(len(revoked), maxRevoked)]) {
		p.Rows = append(p.Rows, rowOf(v, k, now))
	}
	return v.Answer(w, dashboard.Page{Name: "keys", Title: "API keys", Lead: "A key lets a program of yours act for this store. Revoking takes effect at once.", Content: p})
}

// lastUse says when a key was last used, and from where.
func lastUse(v dashboard.Visit, k access.Key) string {
	if k.LastUsedFrom == "" {
		return v.Instant(k.LastUsedAt)
	}
	return v.Instant(k.LastUsedAt) + " from " + k.LastUsedFrom
}

func rowOf(v dashboard.Visit, k access.Key, now time.Time) row {
	r := row{
		ID: k.ID, Name: k.Name, Value: k.Hint + "…" + k.Tail, May: words.Scopes(k.Scopes), By: cmp.Or(k.CreatedBy, "–"), Created: v.Day(k.CreatedAt), Used: "Never", Live: k.Live(now),
		Badge: dashboard.Badge{Tone: dashboard.Good, Text: "Active"},
	}
	if !k.LastUsedAt.IsZero() {
		r.Used = lastUse(v, k)
	}
	switch {
	case !r.Live:
		r.Badge = dashboard.Badge{Tone: dashboard.Neutral, Text: "Revoked", Hollow: true}
	case !k.RevokedAt.IsZero():
		r.Badge = dashboard.Badge{Tone: dashboard.Warning, Text: "Ends " + v.Instant(k.RevokedAt)}
	}
	return r
}

// key returns the key that the path names, and how many the store has.
func (m *room) key(ctx context.Context, r *http.Request, v dashboard.Visit) (found access.Key, of int, err error) {
	list, err := m.Keys.List(ctx, v.Shop.ID)
	if err != nil {
		return access.Key{}, 0, err
	}
	id, err := strconv.ParseInt(r.PathValue("key"), 10, 64)
	i := slices.IndexFunc(list, func(k access.Key) bool { return k.ID == access.KeyID(id) })
	if err != nil || i < 0 {
		return access.Key{}, 0, fault.New(fault.NotFound, "the store does not have this key").Code("apiKeyNotFound")
	}
	return list[i], len(list), nil
}
