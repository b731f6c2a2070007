package staff_test

import (
	"context"
	"errors"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// office is a service with two stores and an owner of the first.
type office struct {
	*testing.T
	*staff.Service
	db     *store.DB
	clock  *clock.Manual
	first  shop.Shop
	second shop.Shop
	owner  staff.Acting
}

const password = "correct horse battery"

var client = staff.Client{IP: "192.0.2.1", Agent: "Browser"}

func start(t *testing.T) *office {
	t.Helper()
	t.Parallel()
	o := &office{T: t, db: storetest.SQLite(t), clock: clock.NewManual(time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC))}
	o.Service = &staff.Service{Store: o.db.Staff(), Clock: o.clock, RealClock: o.clock, PublicURL: "https://perennial.example", LightHashes: true}
	o.first, o.second = o.shop("first"), o.shop("second")
	o.add(o.first, "ana@staff.example", staff.Owner)
	o.owner = staff.Acting{User: o.person(o.first, "ana@staff.example").User, Client: client}
	return o
}

func (o *office) shop(name string) shop.Shop {
	o.Helper()
	s := shop.Shop{Domain: name + ".myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: o.clock.Now()}
	if err := o.db.Shops().AddShop(o.Context(), &s); err != nil {
		o.Fatal(err)
	}
	return s
}

func (o *office) add(of shop.Shop, email string, role staff.Role) {
	o.Helper()
	if err := o.Add(o.Context(), of.ID, email, "Ana", role, password); err != nil {
		o.Fatal(err)
	}
}

func (o *office) person(of shop.Shop, email string) staff.Person {
	o.Helper()
	p, err := o.Find(o.Context(), of.ID, email)
	if err != nil {
		o.Fatal(err)
	}
	return p
}

// enter signs a user in who has no second factor.
func (o *office) enter(email string) (string, staff.Principal) {
	o.Helper()
	value, pending, err := o.SignIn(o.Context(), email, password, client)
	if err != nil || pending {
		o.Fatalf("sign in: %t, %v", pending, err)
	}
	p, err := o.Authenticate(o.Context(), value)
	if err != nil {
		o.Fatal(err)
	}
	return value, p
}

func (o *office) want(err error, kind fault.Kind, code string) {
	o.Helper()
	f, _ := errors.AsType[*fault.Error](err)
	if !fault.Is(err, kind) || code != "" && (f == nil || f.ErrorKey != code) {
		o.Errorf("got %v, want %s %s", err, kind, code)
	}
}

// link returns the path of the link in the newest e-mail to an address, or "".
func (o *office) link(of shop.Shop, to string) string {
	o.Helper()
	var found string
	err := o.db.Notify().Update(o.Context(), of.ID, func(tx notify.Tx) error {
		found = ""
		list, err := tx.DueMessages(o.Context(), o.clock.Now(), 100)
		for _, m := range list {
			if m.To == to {
				for _, word := range strings.Fields(m.Text) {
					if u, err := url.Parse(word); err == nil && u.Host == "perennial.example" {
						found = u.Path
					}
				}
			}
		}
		return err
	})
	if err != nil {
		o.Fatal(err)
	}
	return found
}

// log returns what the activity log of a store says was done, newest first.
func (o *office) log(of shop.Shop) string {
	o.Helper()
	list, _, err := o.db.Entries(o.Context(), of.ID, nil, page.Request{Size: 100})
	if err != nil {
		o.Fatal(err)
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, e.Actor.By+" "+e.Info)
	}
	return strings.Join(lines, "\n")
}

func TestSignInAnswersTheSameForUnknownUsers(t *testing.T) {
	o := start(t)
	if err := o.Add(o.Context(), o.first.ID, "nopassword@staff.example", "", staff.Support, ""); err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, email := range []string{"ana@staff.example", "nobody@staff.example", "nopassword@staff.example", "not an address", ""} {
		_, _, err := o.SignIn(t.Context(), email, "wrong password", client)
		o.want(err, fault.Unauthenticated, "credentialsInvalid")
		answers = append(answers, err.Error())
	}
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("answers differ: %q", answers)
		}
	}
	for _, email := range []string{"ana@staff.example", "nobody@staff.example"} {
		for range 9 {
			_, _, err := o.SignIn(t.Context(), email, "wrong password", client)
			o.want(err, fault.Unauthenticated, "")
		}
		_, _, err := o.SignIn(t.Context(), email, password, client)
		o.want(err, fault.RateLimited, "tooManyAttempts")
	}
	o.clock.Set(o.clock.Now().Add(16 * time.Minute))
	o.enter(" ANA@staff.example ")
}

func TestClientIsLimitedOverAllAccounts(t *testing.T) {
	o := start(t)
	var limited bool
	for i := range 61 {
		_, _, err := o.SignIn(t.Context(), strings.Repeat("x", i/9+1)+"@staff.example", "wrong", client)
		limited = fault.Is(err, fault.RateLimited)
	}
	if !limited {
		t.Error("a client may try any number of accounts")
	}
	if _, _, err := o.SignIn(t.Context(), "ana@staff.example", password, staff.Client{IP: "192.0.2.2"}); err != nil {
		t.Errorf("another client: %v", err)
	}
}

func TestSessionEndsWhenIdleOrOld(t *testing.T) {
	o := start(t)
	value, _ := o.enter("ana@staff.example")
	for range 13 { // used each day
		o.clock.Set(o.clock.Now().Add(23 * time.Hour))
		if _, err := o.Authenticate(t.Context(), value); err != nil {
			t.Fatalf("at %s: %v", o.clock.Now(), err)
		}
	}
	o.clock.Set(o.clock.Now().Add(23 * time.Hour))
	if _, err := o.Authenticate(t.Context(), value); err != nil {
		t.Fatal(err)
	}
	o.clock.Set(o.clock.Now().Add(15 * time.Hour))
	_, err := o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "signedOut")

	value, _ = o.enter("ana@staff.example")
	o.clock.Set(o.clock.Now().Add(24 * time.Hour))
	_, err = o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "signedOut")
	for _, bad := range []string{"", "x", value[:42] + "\x00", strings.Repeat("A", 43)} {
		_, err := o.Authenticate(t.Context(), bad)
		o.want(err, fault.Unauthenticated, "signedOut")
	}
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	o := start(t)
	value, p := o.enter("ana@staff.example")
	other, q := o.enter("ana@staff.example")
	o.enter("ana@staff.example")
	o.add(o.second, "ben@staff.example", staff.Owner)
	foreign, b := o.enter("ben@staff.example")
	list, err := o.Sessions(t.Context(), p)
	if err != nil || len(list) != 3 || list[0].Agent != "Browser" || list[0].Client != "192.0.2.1" {
		t.Fatalf("sessions %+v, %v", list, err)
	}
	if err := o.Revoke(t.Context(), p, b.Session.Name(), client); err != nil { // not hers: nothing happens
		t.Fatal(err)
	}
	if _, err := o.Authenticate(t.Context(), foreign); err != nil {
		t.Errorf("another user's session ended: %v", err)
	}
	if err := o.Revoke(t.Context(), p, q.Session.Name(), client); err != nil {
		t.Fatal(err)
	}
	_, err = o.Authenticate(t.Context(), other)
	o.want(err, fault.Unauthenticated, "")
	if err := o.Revoke(t.Context(), p, "", client); err != nil {
		t.Fatal(err)
	}
	if list, err := o.Sessions(t.Context(), p); err != nil || len(list) != 1 {
		t.Errorf("sessions %+v, %v", list, err)
	}
	if err := o.SignOut(t.Context(), value); err != nil {
		t.Fatal(err)
	}
	_, err = o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "")
}

func TestTwoFactorIsAskedForAndLimited(t *testing.T) {
	o := start(t)
	_, p := o.enter("ana@staff.example")
	setup, err := o.StartTwoFactor(p, "")
	if err != nil || !strings.HasPrefix(setup.URL, "otpauth://totp/Perennial:ana@staff.example?") {
		t.Fatalf("%+v, %v", setup, err)
	}
	code := func() string {
		c, err := totp.GenerateCode(setup.Secret, o.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	_, err = o.ConfirmTwoFactor(t.Context(), p, setup.Secret, code(), "wrong password", client)
	o.want(err, fault.Unauthenticated, "credentialsInvalid")
	_, err = o.ConfirmTwoFactor(t.Context(), p, setup.Secret, "000000", password, client)
	o.want(err, fault.Invalid, "codeInvalid")
	codes, err := o.ConfirmTwoFactor(t.Context(), p, setup.Secret, code(), password, client)
	if err != nil || len(codes) != 10 {
		t.Fatalf("%d codes, %v", len(codes), err)
	}
	pending, waits, err := o.SignIn(t.Context(), "ana@staff.example", password, client)
	if err != nil || !waits {
		t.Fatalf("the second factor is not asked for: %v", err)
	}
	_, err = o.Authenticate(t.Context(), pending)
	o.want(err, fault.Unauthenticated, "")
	_, err = o.Confirm(t.Context(), pending, code(), client) // the app showed it when the factor was set up
	o.want(err, fault.Unauthenticated, "codeInvalid")
	value, err := o.Confirm(t.Context(), pending, codes[0], client)
	if err != nil || value == pending {
		t.Fatalf("a recovery code: %v", err)
	}
	_, err = o.Confirm(t.Context(), pending, codes[1], client)
	o.want(err, fault.Unauthenticated, "signedOut")
	p, err = o.Authenticate(t.Context(), value)
	if err != nil || len(p.User.Factor.Recovery) != 9 {
		t.Fatalf("%d recovery codes are left, %v", len(p.User.Factor.Recovery), err)
	}
	pending, _, err = o.SignIn(t.Context(), "ana@staff.example", password, client)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		_, err = o.Confirm(t.Context(), pending, "000000", client)
		o.want(err, fault.Unauthenticated, "codeInvalid")
	}
	o.clock.Set(o.clock.Now().Add(time.Minute))
	_, err = o.Confirm(t.Context(), pending, code(), client)
	o.want(err, fault.RateLimited, "")
	o.clock.Set(o.clock.Now().Add(10 * time.Minute))
	_, err = o.Confirm(t.Context(), pending, code(), client)
	o.want(err, fault.Unauthenticated, "signedOut")
	o.want(o.DisableTwoFactor(t.Context(), p, "wrong password", client), fault.Unauthenticated, "")
	if err := o.DisableTwoFactor(t.Context(), p, password, client); err != nil {
		t.Fatal(err)
	}
	o.enter("ana@staff.example")
	if log := o.log(o.first); !strings.Contains(log, "TWO_FACTOR_ENABLED") || !strings.Contains(log, "TWO_FACTOR_DISABLED") {
		t.Errorf("the log says\n%s", log)
	}
}

func TestInvitationLetsOnePersonJoinOnce(t *testing.T) {
	o := start(t)
	if err := o.Invite(t.Context(), o.first.ID, o.owner, "Ben@Staff.example", staff.Support); err != nil {
		t.Fatal(err)
	}
	link := o.link(o.first, "ben@staff.example")
	if !strings.HasPrefix(link, "/admin/invitation/first/") {
		t.Fatalf("the link is %q", link)
	}
	secret := path.Base(link)
	i, err := o.Invitation(t.Context(), "first", secret)
	if err != nil || i.Email != "ben@staff.example" || i.Role != staff.Support || i.Shop.ID != o.first.ID {
		t.Errorf("invitation %+v, %v", i, err)
	}
	for handle, value := range map[string]string{"second": secret, "nobody": secret, "first": strings.Repeat("A", 43)} {
		_, err := o.Invitation(t.Context(), handle, value)
		o.want(err, fault.NotFound, "invitationEnded")
	}
	_, err = o.Accept(t.Context(), "first", secret, "Ben", "short", client)
	o.want(err, fault.Invalid, "passwordInvalid")
	email, err := o.Accept(t.Context(), "first", secret, "Ben", password, client)
	if err != nil || email != "ben@staff.example" {
		t.Fatal(email, err)
	}
	_, p := o.enter("ben@staff.example")
	if _, role, _, err := o.Enter(t.Context(), p, "first"); err != nil || role != staff.Support {
		t.Errorf("role %s, %v", role, err)
	}
	for _, handle := range []string{"second", "nobody"} {
		_, _, _, err := o.Enter(t.Context(), p, handle)
		o.want(err, fault.NotFound, "shopNotFound")
	}
	_, err = o.Accept(t.Context(), "first", secret, "Ben", password, client)
	o.want(err, fault.NotFound, "invitationEnded")
	o.want(o.Invite(t.Context(), o.first.ID, o.owner, "ben@staff.example", staff.Admin), fault.Conflict, "userExists")
	want := "ben@staff.example {\"change\":\"USER_JOINED\",\"user\":\"ben@staff.example\",\"role\":\"SUPPORT\"}\nana@staff.example {\"change\":\"USER_INVITED\",\"user\":\"ben@staff.example\",\"role\":\"SUPPORT\"}\noperator {\"change\":\"USER_ADDED\",\"user\":\"ana@staff.example\",\"role\":\"OWNER\"}"
	if log := o.log(o.first); log != want {
		t.Errorf("the log says\n%s\nwant\n%s", log, want)
	}
}

func TestInvitationEndsByTimeWithdrawalAndSuccessor(t *testing.T) {
	o := start(t)
	invite := func() string {
		t.Helper()
		if err := o.Invite(t.Context(), o.first.ID, o.owner, "ben@staff.example", staff.Support); err != nil {
			t.Fatal(err)
		}
		return path.Base(o.link(o.first, "ben@staff.example"))
	}
	old := invite()
	o.clock.Set(o.clock.Now().Add(time.Second))
	next := invite()
	_, err := o.Invitation(t.Context(), "first", old)
	o.want(err, fault.NotFound, "invitationEnded")
	if err := o.Withdraw(t.Context(), o.first.ID, o.owner, "ben@staff.example"); err != nil {
		t.Fatal(err)
	}
	_, err = o.Accept(t.Context(), "first", next, "Ben", password, client)
	o.want(err, fault.NotFound, "invitationEnded")
	o.clock.Set(o.clock.Now().Add(time.Second))
	last := invite()
	o.clock.Set(o.clock.Now().Add(72*time.Hour - time.Second))
	if _, err := o.Invitation(t.Context(), "first", last); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	o.clock.Set(o.clock.Now().Add(time.Second))
	_, err = o.Invitation(t.Context(), "first", last)
	o.want(err, fault.NotFound, "invitationEnded")
}

func TestUserOfAnotherStoreJoinsWithPresentPassword(t *testing.T) {
	o := start(t)
	o.add(o.second, "ben@staff.example", staff.Owner)
	if err := o.Invite(t.Context(), o.first.ID, o.owner, "ben@staff.example", staff.Developer); err != nil {
		t.Fatal(err)
	}
	secret := path.Base(o.link(o.first, "ben@staff.example"))
	_, err := o.Accept(t.Context(), "first", secret, "", "another long password", client)
	o.want(err, fault.Unauthenticated, "credentialsInvalid")
	if _, err := o.Accept(t.Context(), "first", secret, "", password, client); err != nil {
		t.Fatal(err)
	}
	_, p := o.enter("ben@staff.example")
	stores, err := o.Stores(t.Context(), p)
	if err != nil || len(stores) != 2 || stores[0].Role != staff.Developer || stores[1].Role != staff.Owner {
		t.Errorf("stores %+v, %v", stores, err)
	}
}

func TestUserManagesOnlyWhatTheRolePermits(t *testing.T) {
	o := start(t)
	acting := make(map[staff.Role]staff.Acting)
	for _, role := range []staff.Role{staff.Admin, staff.Support, staff.Analyst, staff.Developer} {
		email := strings.ToLower(string(role)) + "@staff.example"
		o.add(o.first, email, role)
		acting[role] = staff.Acting{User: o.person(o.first, email).User, Client: client}
	}
	o.add(o.second, "foreign@staff.example", staff.Owner)
	acting["foreign"] = staff.Acting{User: o.person(o.second, "foreign@staff.example").User, Client: client}
	victim := o.person(o.first, "support@staff.example").User
	for role, by := range acting {
		may := role == staff.Admin
		for what, err := range map[string]error{
			"invite an owner":       o.Invite(t.Context(), o.first.ID, by, "x@staff.example", staff.Owner),
			"remove the owner":      o.Remove(t.Context(), o.first.ID, by, o.owner.User),
			"demote the owner":      o.ChangeRole(t.Context(), o.first.ID, by, o.owner.User, staff.Analyst),
			"promote to an owner":   o.ChangeRole(t.Context(), o.first.ID, by, victim, staff.Owner),
			"promote oneself":       o.ChangeRole(t.Context(), o.first.ID, by, by.User, staff.Owner),
			"invite for a stranger": o.Invite(t.Context(), o.second.ID, acting[staff.Admin], "x@staff.example", staff.Support),
		} {
			if !fault.Is(err, fault.Forbidden) && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s may %s: %v", role, what, err)
			}
		}
		if err := o.Invite(t.Context(), o.first.ID, by, string(role)+"x@staff.example", staff.Support); (err == nil) != may {
			t.Errorf("%s invites: %v", role, err)
		}
		if err := o.ChangeRole(t.Context(), o.first.ID, by, victim, staff.Support); (err == nil) != may {
			t.Errorf("%s changes a role: %v", role, err)
		}
	}
	if err := o.Remove(t.Context(), o.first.ID, acting[staff.Analyst], acting[staff.Analyst].User); err != nil {
		t.Errorf("a user cannot leave: %v", err)
	}
	if err := o.Remove(t.Context(), o.first.ID, acting[staff.Admin], victim); err != nil {
		t.Errorf("an admin cannot remove a user: %v", err)
	}
}

func TestLastOwnerStays(t *testing.T) {
	o := start(t)
	ana := o.owner.User
	o.want(o.Remove(t.Context(), o.first.ID, o.owner, ana), fault.FailedPrecondition, "lastOwner")
	o.want(o.ChangeRole(t.Context(), o.first.ID, o.owner, ana, staff.Admin), fault.FailedPrecondition, "lastOwner")
	o.want(o.Remove(t.Context(), o.first.ID, staff.Acting{}, ana), fault.FailedPrecondition, "lastOwner")
	o.add(o.first, "ben@staff.example", staff.Owner)
	ben := o.person(o.first, "ben@staff.example").User
	var together sync.WaitGroup
	errs := make([]error, 2)
	for i, id := range []staff.UserID{ana, ben} { // each removes the other, at once
		together.Go(func() {
			errs[i] = o.Remove(context.Background(), o.first.ID, staff.Acting{User: ana + ben - id, Client: client}, id)
		})
	}
	together.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("of two owners who remove each other one must stay: %v", errs)
	}
	people, err := o.People(t.Context(), o.first.ID)
	if err != nil || len(people) != 1 {
		t.Errorf("people %+v, %v", people, err)
	}
}

func TestRemovedUserIsSignedOutAndCanComeBack(t *testing.T) {
	o := start(t)
	o.add(o.first, "ben@staff.example", staff.Support)
	value, p := o.enter("ben@staff.example")
	if err := o.Remove(t.Context(), o.first.ID, o.owner, p.User.ID); err != nil {
		t.Fatal(err)
	}
	_, err := o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "signedOut")
	_, _, _, err = o.Enter(t.Context(), p, "first")
	o.want(err, fault.NotFound, "")
	if err := o.Add(t.Context(), o.first.ID, "ben@staff.example", "", staff.Analyst, ""); err != nil {
		t.Fatal(err)
	}
	_, p = o.enter("ben@staff.example")
	if _, role, _, err := o.Enter(t.Context(), p, "first"); err != nil || role != staff.Analyst {
		t.Errorf("role %s, %v", role, err)
	}
}

func TestResetSetsPasswordOnceAndEndsSessions(t *testing.T) {
	o := start(t)
	value, _ := o.enter("ana@staff.example")
	for _, email := range []string{"ana@staff.example", "nobody@staff.example"} {
		if err := o.RequestReset(t.Context(), email, client); err != nil {
			t.Fatal(err)
		}
		if err := o.SendReset(t.Context(), staff.SendReset{Email: email, IP: client.IP}); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.link(o.first, "nobody@staff.example"); got != "" {
		t.Errorf("a stranger got %q", got)
	}
	link := o.link(o.first, "ana@staff.example")
	secret := path.Base(link)
	if !strings.HasPrefix(link, "/admin/reset/") || o.CheckReset(t.Context(), secret) != nil {
		t.Fatalf("the link is %q", link)
	}
	o.want(o.ResetPassword(t.Context(), secret, "short", client), fault.Invalid, "passwordInvalid")
	if err := o.ResetPassword(t.Context(), secret, "another long password", client); err != nil {
		t.Fatal(err)
	}
	o.want(o.ResetPassword(t.Context(), secret, "a third long password", client), fault.NotFound, "resetEnded")
	_, err := o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "signedOut")
	_, _, err = o.SignIn(t.Context(), "ana@staff.example", password, client)
	o.want(err, fault.Unauthenticated, "")
	if _, _, err = o.SignIn(t.Context(), "ana@staff.example", "another long password", client); err != nil {
		t.Error(err)
	}
	if log := o.log(o.first); !strings.Contains(log, `ana@staff.example {"change":"PASSWORD_RESET","user":"ana@staff.example"}`) {
		t.Errorf("the log says\n%s", log)
	}
	if err := o.SendReset(t.Context(), staff.SendReset{Email: "ana@staff.example"}); err != nil {
		t.Fatal(err)
	}
	secret = path.Base(o.link(o.first, "ana@staff.example"))
	o.clock.Set(o.clock.Now().Add(time.Hour))
	o.want(o.CheckReset(t.Context(), secret), fault.NotFound, "resetEnded")
}

func TestPasswordChangeEndsOtherSessions(t *testing.T) {
	o := start(t)
	other, _ := o.enter("ana@staff.example")
	value, p := o.enter("ana@staff.example")
	o.want(o.ChangePassword(t.Context(), p, "wrong", "another long password", client), fault.Unauthenticated, "credentialsInvalid")
	if err := o.ChangePassword(t.Context(), p, password, "another long password", client); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Authenticate(t.Context(), value); err != nil {
		t.Errorf("the session that changed it ended: %v", err)
	}
	_, err := o.Authenticate(t.Context(), other)
	o.want(err, fault.Unauthenticated, "signedOut")
	o.want(o.ChangePassword(t.Context(), p, password, "a third long password", client), fault.Unauthenticated, "") // p is from before
}

func TestPlatformVouchesForUsers(t *testing.T) {
	o := start(t)
	for _, row := range []struct {
		of   shop.Shop
		user string
		want staff.Role
	}{{o.second, "71", staff.Owner}, {o.second, "72", staff.Analyst}, {o.second, "71", staff.Owner}, {o.first, "71", staff.Analyst}} {
		of, p, role, err := o.EnterByPlatform(t.Context(), row.of.Domain, row.user, client)
		if err != nil || of.ID != row.of.ID || role != row.want || p.User.Known() != "Store user "+row.user {
			t.Errorf("user %s of %s: %s %s, %v", row.user, row.of.Domain, p.User.Known(), role, err)
		}
	}
	_, p, _, err := o.EnterByPlatform(t.Context(), o.first.Domain, "73", client)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Remove(t.Context(), o.first.ID, o.owner, p.User.ID); err != nil {
		t.Fatal(err)
	}
	_, _, _, err = o.EnterByPlatform(t.Context(), o.first.Domain, "73", client)
	o.want(err, fault.Forbidden, "userRemoved")
	_, _, _, err = o.EnterByPlatform(t.Context(), "nobody.myshopify.com", "71", client)
	o.want(err, fault.NotFound, "")
}

func TestOperatorResetsPasswordAndSecondFactor(t *testing.T) {
	o := start(t)
	value, p := o.enter("ana@staff.example")
	if err := o.Reset(t.Context(), p.User.ID, "another long password", true); err != nil {
		t.Fatal(err)
	}
	_, err := o.Authenticate(t.Context(), value)
	o.want(err, fault.Unauthenticated, "signedOut")
	if _, pending, err := o.SignIn(t.Context(), "ana@staff.example", "another long password", client); err != nil || pending {
		t.Error(pending, err)
	}
	o.want(o.Add(t.Context(), o.first.ID, "ana@staff.example", "", staff.Owner, ""), fault.Conflict, "userExists")
	o.want(o.Add(t.Context(), o.second.ID, "ana@staff.example", "", staff.Owner, password), fault.Conflict, "passwordExists")
	o.want(o.Add(t.Context(), o.second.ID, "no address", "", staff.Owner, password), fault.Invalid, "")
}
