package storetest

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
)

// users runs fn in a transaction on users.
func (w world) users(fn func(staff.UserTx) error) {
	w.Helper()
	if err := w.db.Staff().UpdateUsers(w.Context(), fn); err != nil {
		w.Fatal(err)
	}
}

// addUser inserts a user of the first shop.
func (w world) addUser(email string, role staff.Role) staff.User {
	w.Helper()
	u := staff.User{Email: email, Name: "Ana", CreatedAt: day}
	w.users(func(tx staff.UserTx) error {
		u.ID, u.Version = 0, 0
		if err := tx.PutUser(w.Context(), &u); err != nil {
			return err
		}
		part, err := tx.In(w.Context(), w.shop.ID)
		if err != nil {
			return err
		}
		return part.PutStaffMember(w.Context(), &staff.Member{User: u.ID, Role: role, AddedBy: "operator", CreatedAt: day})
	})
	return u
}

// staffIn runs fn in a transaction on users that is bound to a shop.
func (w world) staffIn(of shop.ID, fn func(staff.ShopTx) error) error {
	return w.db.Staff().UpdateUsers(w.Context(), func(tx staff.UserTx) error {
		part, err := tx.In(w.Context(), of)
		if err != nil {
			return err
		}
		return fn(part)
	})
}

func testStaff(t *testing.T, open opener) {
	t.Run("a user comes back as written, under the version rule, and an address is one user's", func(t *testing.T) {
		w := begin(t, open)
		u := w.addUser("ana@staff.example", staff.Owner)
		u.Name, u.Password = "Ana Duarte", "$argon2id$x"
		u.Factor = staff.SecondFactor{Secret: "JBSWY3DP", LastStep: 7, Recovery: []staff.Hash{{1}, {2}}}
		w.users(func(tx staff.UserTx) error { put := u; return tx.PutUser(t.Context(), &put) })
		u.Version++
		got, err := w.db.Staff().User(t.Context(), u.ID)
		if err != nil || !reflect.DeepEqual(got, u) {
			t.Errorf("got %+v, %v; want %+v", got, err, u)
		}
		w.users(func(tx staff.UserTx) error {
			byEmail, err := tx.UserByEmail(t.Context(), "ana@staff.example")
			if err != nil || !reflect.DeepEqual(byEmail, u) {
				t.Errorf("by address: %+v, %v", byEmail, err)
			}
			_, err = tx.UserByEmail(t.Context(), "")
			w.wantKind(err, fault.NotFound)
			_, err = tx.UserByID(t.Context(), u.ID+99)
			w.wantKind(err, fault.NotFound)
			return nil
		})
		stale := u
		stale.Version--
		w.wantKind(w.db.Staff().UpdateUsers(t.Context(), func(tx staff.UserTx) error { put := stale; return tx.PutUser(t.Context(), &put) }), fault.Conflict)
		again := staff.User{Email: "ana@staff.example", CreatedAt: day}
		w.wantKind(w.db.Staff().UpdateUsers(t.Context(), func(tx staff.UserTx) error { put := again; return tx.PutUser(t.Context(), &put) }), fault.Conflict)
		for range 2 { // any number of users have no address
			w.users(func(tx staff.UserTx) error {
				return tx.PutUser(t.Context(), &staff.User{Name: "Store user 5", CreatedAt: day})
			})
		}
	})
	t.Run("members belong to their shop only, and removed ones are known and not listed", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		u := w.addUser("ben@staff.example", staff.Admin)
		if err := w.staffIn(other.ID, func(tx staff.ShopTx) error {
			return tx.PutStaffMember(t.Context(), &staff.Member{User: u.ID, Role: staff.Support, PlatformUser: "55", CreatedAt: day})
		}); err != nil {
			t.Fatal(err)
		}
		list, err := w.db.Staff().Memberships(t.Context(), u.ID)
		want := []staff.Membership{{Shop: w.shop.ID, Domain: w.shop.Domain, Role: staff.Admin}, {Shop: other.ID, Domain: other.Domain, Role: staff.Support}}
		if err != nil || !reflect.DeepEqual(list, want) {
			t.Errorf("memberships %+v, %v", list, err)
		}
		people, err := w.db.Staff().People(t.Context(), other.ID)
		if err != nil || len(people) != 1 || people[0].Email != "ben@staff.example" || people[0].Role != staff.Support || people[0].HasPassword || people[0].TwoFactor {
			t.Errorf("people %+v, %v", people, err)
		}
		if m, err := w.db.Staff().PlatformMember(t.Context(), other.ID, "55"); err != nil || m.User != u.ID {
			t.Errorf("by the platform's id: %+v, %v", m, err)
		}
		for _, ask := range []struct {
			of shop.ID
			id string
		}{{w.shop.ID, "55"}, {other.ID, ""}} {
			_, err := w.db.Staff().PlatformMember(t.Context(), ask.of, ask.id)
			w.wantKind(err, fault.NotFound)
		}
		if err := w.staffIn(other.ID, func(tx staff.ShopTx) error {
			members, err := tx.StaffMembers(t.Context())
			if err != nil || len(members) != 1 {
				t.Fatalf("members %+v, %v", members, err)
			}
			members[0].RemovedAt = day
			return tx.PutStaffMember(t.Context(), &members[0])
		}); err != nil {
			t.Fatal(err)
		}
		if people, err := w.db.Staff().People(t.Context(), other.ID); err != nil || len(people) != 0 {
			t.Errorf("people after the removal: %+v, %v", people, err)
		}
		if list, err := w.db.Staff().Memberships(t.Context(), u.ID); err != nil || len(list) != 1 {
			t.Errorf("memberships after the removal: %+v, %v", list, err)
		}
		if m, err := w.db.Staff().PlatformMember(t.Context(), other.ID, "55"); err != nil || !m.RemovedAt.Equal(day) || m.Version != 2 {
			t.Errorf("the removed member: %+v, %v", m, err)
		}
		w.wantKind(w.staffIn(other.ID, func(tx staff.ShopTx) error {
			return tx.PutStaffMember(t.Context(), &staff.Member{User: u.ID, Role: staff.Owner, Version: 1})
		}), fault.Conflict)
	})
	t.Run("sessions are listed by last use, end one by one or all at once, and expired ones go", func(t *testing.T) {
		w := begin(t, open)
		u := w.addUser("cai@staff.example", staff.Owner)
		session := func(n byte, seen time.Time) staff.Session {
			return staff.Session{Hash: staff.Hash{n, 0xcc}, User: u.ID, Pending: n == 3, Client: "192.0.2.1", Agent: "Browser", CreatedAt: day, SeenAt: seen, ExpiresAt: day.Add(time.Hour)}
		}
		all := []staff.Session{session(1, day.Add(2*time.Minute)), session(2, day.Add(time.Minute)), session(3, day)}
		w.users(func(tx staff.UserTx) error {
			for _, s := range all {
				if err := tx.AddUserSession(t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		})
		if got, err := w.db.Staff().UserSessions(t.Context(), u.ID, day); err != nil || !reflect.DeepEqual(got, all) {
			t.Errorf("sessions %+v, %v", got, err)
		}
		if got, err := w.db.Staff().UserSession(t.Context(), all[2].Hash); err != nil || !reflect.DeepEqual(got, all[2]) {
			t.Errorf("session %+v, %v", got, err)
		}
		w.users(func(tx staff.UserTx) error {
			if err := tx.TouchUserSession(t.Context(), all[0].Hash, day); err != nil { // backwards: no
				return err
			}
			if err := tx.TouchUserSession(t.Context(), all[1].Hash, day.Add(3*time.Minute)); err != nil {
				return err
			}
			return tx.EndUserSession(t.Context(), all[2].Hash)
		})
		got, err := w.db.Staff().UserSessions(t.Context(), u.ID, day)
		if err != nil || len(got) != 2 || got[0].Hash != all[1].Hash || !got[1].SeenAt.Equal(day.Add(2*time.Minute)) {
			t.Errorf("sessions after use: %+v, %v", got, err)
		}
		w.users(func(tx staff.UserTx) error { return tx.EndUserSessions(t.Context(), u.ID, all[1].Hash) })
		if got, err := w.db.Staff().UserSessions(t.Context(), u.ID, day); err != nil || len(got) != 1 || got[0].Hash != all[1].Hash {
			t.Errorf("sessions but one: %+v, %v", got, err)
		}
		later := session(4, day.Add(2*time.Hour))
		later.CreatedAt, later.ExpiresAt = day.Add(2*time.Hour), day.Add(3*time.Hour)
		w.users(func(tx staff.UserTx) error { return tx.AddUserSession(t.Context(), later) })
		_, err = w.db.Staff().UserSession(t.Context(), all[1].Hash)
		w.wantKind(err, fault.NotFound)
	})
	t.Run("a reset is used once, by one of many, and a newer one takes its place", func(t *testing.T) {
		w := begin(t, open)
		u := w.addUser("dee@staff.example", staff.Owner)
		r := staff.Reset{Hash: staff.Hash{1, 0xdd}, User: u.ID, ExpiresAt: day}
		w.users(func(tx staff.UserTx) error {
			return tx.AddReset(t.Context(), staff.Reset{Hash: staff.Hash{2, 0xdd}, User: u.ID, ExpiresAt: day})
		})
		w.users(func(tx staff.UserTx) error { return tx.AddReset(t.Context(), r) })
		_, err := w.db.Staff().ResetByHash(t.Context(), staff.Hash{2, 0xdd})
		w.wantKind(err, fault.NotFound)
		if got, err := w.db.Staff().ResetByHash(t.Context(), r.Hash); err != nil || got != r {
			t.Errorf("got %+v, %v", got, err)
		}
		var used atomic.Int32
		var together sync.WaitGroup
		for range 4 {
			together.Go(func() {
				err := w.db.Staff().UpdateUsers(t.Context(), func(tx staff.UserTx) error { _, err := tx.UseReset(t.Context(), r.Hash); return err })
				if err == nil {
					used.Add(1)
				} else {
					w.wantKind(err, fault.NotFound)
				}
			})
		}
		together.Wait()
		if used.Load() != 1 {
			t.Errorf("the reset was used %d times", used.Load())
		}
	})
	t.Run("an invitation comes back as written, in its shop only, until it ends", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		i := staff.Invitation{Email: "eve@staff.example", Role: staff.Analyst, Hash: staff.Hash{1, 0xee}, InvitedBy: "ana@staff.example", CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
		if err := w.staffIn(w.shop.ID, func(tx staff.ShopTx) error { return tx.AddInvitation(t.Context(), &i) }); err != nil {
			t.Fatal(err)
		}
		if got, err := w.db.Staff().InvitationByHash(t.Context(), w.shop.ID, i.Hash); err != nil || got != i {
			t.Errorf("got %+v, %v; want %+v", got, err, i)
		}
		_, err := w.db.Staff().InvitationByHash(t.Context(), other.ID, i.Hash)
		w.wantKind(err, fault.NotFound)
		if list, err := w.db.Staff().OpenInvitations(t.Context(), w.shop.ID, day); err != nil || len(list) != 1 || list[0] != i {
			t.Errorf("open: %+v, %v", list, err)
		}
		if list, err := w.db.Staff().OpenInvitations(t.Context(), w.shop.ID, day.Add(time.Hour)); err != nil || len(list) != 0 {
			t.Errorf("open after the end: %+v, %v", list, err)
		}
		w.users(func(tx staff.UserTx) error { // one transaction is bound to one shop after the other
			theirs, err := tx.In(t.Context(), other.ID)
			if err != nil {
				return err
			}
			_, err = theirs.Invitation(t.Context(), i.Hash)
			w.wantKind(err, fault.NotFound)
			if n, err := theirs.EndInvitations(t.Context(), i.Email, day); err != nil || n != 0 {
				t.Errorf("another shop ends %d, %v", n, err)
			}
			ours, err := tx.In(t.Context(), w.shop.ID)
			if err != nil {
				return err
			}
			if got, err := ours.Invitation(t.Context(), i.Hash); err != nil || got != i {
				t.Errorf("got %+v, %v", got, err)
			}
			n, err := ours.EndInvitations(t.Context(), i.Email, day)
			if n != 1 {
				t.Errorf("%d invitations ended", n)
			}
			return err
		})
		if list, err := w.db.Staff().OpenInvitations(t.Context(), w.shop.ID, day); err != nil || len(list) != 0 {
			t.Errorf("open after it ended: %+v, %v", list, err)
		}
	})
	t.Run("of tries at once none is lost", func(t *testing.T) {
		w := begin(t, open)
		var together sync.WaitGroup
		for range 6 {
			together.Go(func() {
				err := w.db.Staff().UpdateUsers(t.Context(), func(tx staff.UserTx) error {
					t, err := tx.UserThrottle(w.Context(), "subject")
					if err != nil {
						return err
					}
					t.Times, t.ExpiresAt = append(t.Times, day), day.Add(time.Hour)
					return tx.PutUserThrottle(w.Context(), t, day)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		together.Wait()
		w.users(func(tx staff.UserTx) error {
			got, err := tx.UserThrottle(t.Context(), "subject")
			if len(got.Times) != 6 || !got.ExpiresAt.Equal(day.Add(time.Hour)) {
				t.Errorf("counted %+v", got)
			}
			return err
		})
	})
	t.Run("a shop has a contract and a plan once it has its own", func(t *testing.T) {
		w := begin(t, open)
		has := func() [2]bool {
			t.Helper()
			contracts, err := w.db.Shops().HasContracts(t.Context(), w.shop.ID)
			if err != nil {
				t.Fatal(err)
			}
			plans, err := w.db.Shops().HasPlans(t.Context(), w.shop.ID)
			if err != nil {
				t.Fatal(err)
			}
			return [2]bool{contracts, plans}
		}
		if got := has(); got != [2]bool{} {
			t.Errorf("an empty shop has %v", got)
		}
		w.put(monthly(1))
		g := coffee(51, 52, 1001)
		w.in(func(tx *store.Tx) error { put := g; return tx.PutPlanGroup(t.Context(), &put) })
		if got := has(); got != [2]bool{true, true} {
			t.Errorf("the shop has %v", got)
		}
	})
	t.Run("a setup step keeps its first instant, in its shop only", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		for _, at := range []time.Time{day, day.Add(time.Hour)} {
			if err := w.db.Shops().MarkSetup(t.Context(), w.shop.ID, "proxy", at); err != nil {
				t.Fatal(err)
			}
		}
		for of, want := range map[shop.ID]time.Time{w.shop.ID: day, other.ID: {}} {
			if got, err := w.db.Shops().SetupMark(t.Context(), of, "proxy"); err != nil || !got.Equal(want) {
				t.Errorf("shop %d: %s, %v", of, got, err)
			}
		}
	})
}
