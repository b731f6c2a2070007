package staff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestRoleMayDoOnlyWhatTableGrants(t *testing.T) {
	t.Parallel()
	for role, want := range map[Role]string{
		Owner:       "READ_STORE MANAGE_CONTRACTS MANAGE_STORE MANAGE_KEYS MANAGE_USERS MANAGE_OWNERS",
		Admin:       "READ_STORE MANAGE_CONTRACTS MANAGE_STORE MANAGE_KEYS MANAGE_USERS",
		Support:     "READ_STORE MANAGE_CONTRACTS",
		Analyst:     "READ_STORE",
		Developer:   "READ_STORE MANAGE_KEYS",
		"":          "",
		"owner":     "",
		"SUPERUSER": "",
	} {
		var may []string
		for _, p := range Permissions {
			if role.May(p) {
				may = append(may, string(p))
			}
		}
		if got := strings.Join(may, " "); got != want {
			t.Errorf("%q may %s, want %s", role, got, want)
		}
	}
	if got := Admin.Manages(); slices.Contains(got, Owner) || len(got) != 4 {
		t.Errorf("an admin manages %v", got)
	}
	if len(Owner.Manages()) != 5 || len(Support.Manages())+len(Analyst.Manages())+len(Developer.Manages()) != 0 {
		t.Errorf("the others manage %v, %v", Owner.Manages(), Support.Manages())
	}
}

func TestWeakPasswordIsRefused(t *testing.T) {
	t.Parallel()
	for password, good := range map[string]bool{
		"correct horse battery":     true,
		"twelve chars":              true,
		"ñandú ñandú ñ":             true,
		"eleven char":               false,
		"aaaaaaaaaaaaaaaa":          false,
		"beatrice@shop.example":     false,
		"Beatrice likes tea":        false,
		strings.Repeat("ab", 65):    false,
		"not \xff valid UTF-8 text": false,
		"":                          false,
	} {
		if err := checkPassword(password, "beatrice@shop.example"); (err == nil) != good {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestPasswordMatchesOnlyItsHash(t *testing.T) {
	t.Parallel()
	h := (&Service{}).hash("correct horse battery")
	if !strings.HasPrefix(string(h), "$argon2id$v=19$m=19456,t=2,p=1$") || h == (&Service{}).hash("correct horse battery") {
		t.Errorf("the hash is %s", h)
	}
	// A hash of the reference implementation, of the password "password".
	reference := PasswordHash("$argon2id$v=19$m=16,t=2,p=1$MTIzNDU2Nzg$vtbHwQyNRrNHMD4gVKqK9RS8VdNUn8XLFOIMI6p8Tck")
	for _, row := range []struct {
		hash     PasswordHash
		password string
		want     bool
	}{
		{h, "correct horse battery", true}, {h, "correct horse batterY", false}, {h, "", false},
		{"", "no user has this password", false}, {"", "", false}, {"$argon2id$broken", "x", false}, {h + "$", "correct horse battery", false},
		{h, strings.Repeat("x", MaxPassword+1), false}, {reference, "wrong", false},
	} {
		if got := row.hash.matches(row.password); got != row.want {
			t.Errorf("%.20s matches %q: %t", row.hash, row.password, got)
		}
	}
}

func TestCodeIsAcceptedOnceAndWithinOnePeriod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 25, 12, 0, 10, 0, time.UTC)
	f := SecondFactor{Secret: newTOTPSecret()}
	code := func(at time.Time) string {
		c, err := totp.GenerateCode(f.Secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for at, want := range map[time.Duration]bool{-60 * time.Second: false, -30 * time.Second: true, 0: true, 30 * time.Second: true, 60 * time.Second: false} {
		if _, ok := f.check(code(now.Add(at)), now); ok != want {
			t.Errorf("the code of %s: %t", at, ok)
		}
	}
	used, ok := f.check(code(now)[:3]+" "+code(now)[3:], now)
	if !ok {
		t.Fatal("a code with a space is refused")
	}
	if _, ok := used.check(code(now), now); ok {
		t.Error("a code is accepted twice")
	}
	if _, ok := used.check(code(now.Add(-30*time.Second)), now); ok {
		t.Error("a code of before the used one is accepted")
	}
	if _, ok := used.check("", now); ok {
		t.Error("no code is accepted")
	}
}

func TestRecoveryCodeIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	shown, hashes := newRecoveryCodes()
	f := SecondFactor{Secret: newTOTPSecret(), Recovery: hashes}
	if len(shown) != recoveryCodes || len(shown[0]) != 19 {
		t.Fatalf("codes %q", shown)
	}
	f, ok := f.check(strings.ToLower(shown[3]), time.Unix(0, 0))
	if !ok || len(f.Recovery) != recoveryCodes-1 {
		t.Fatalf("the code is refused, or %d are left", len(f.Recovery))
	}
	if _, ok := f.check(shown[3], time.Unix(0, 0)); ok {
		t.Error("a recovery code is accepted twice")
	}
}

func TestLimitOpensWhenOldestTryIsOver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)
	l, counted := limit{"x", 2, time.Minute}, Throttle{}
	for i, row := range []struct {
		at   time.Duration
		want bool
	}{{0, true}, {10 * time.Second, true}, {59 * time.Second, false}, {60 * time.Second, true}, {61 * time.Second, false}} {
		err := l.take(&counted, now.Add(row.at))
		if (err == nil) != row.want || err != nil && !fault.Is(err, fault.RateLimited) {
			t.Errorf("try %d at %s: %v", i, row.at, err)
		}
	}
	if (limit{kind: "a"}).subject("x") == (limit{kind: "b"}).subject("x") {
		t.Error("two limits share a subject")
	}
}
