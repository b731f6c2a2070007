package roomtest_test

import (
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/keys"
)

// keysSite is a dashboard with the room keys.
type keysSite struct {
	*dashboardtest.Site
	keys *access.Service
}

func openKeys(t *testing.T) keysSite {
	t.Helper()
	var service *access.Service
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		service = &access.Service{Store: s.DB.Access(), Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}
		t.Cleanup(service.Wait)
		o.Rooms = append(o.Rooms, keys.New(keys.Options{Keys: service, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	return keysSite{s, service}
}

const keysPath = dashboardtest.At + "/keys"

var keyValue = regexp.MustCompile(`<output[^>]*>(prn_[0-9A-Za-z]+)</output>`)

func TestKeyIsShownOnceAndWorksUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	s.Want(s.Get(keysPath), http.StatusOK, "No key yet", "Create key")
	form := []string{"name", "Warehouse", "access", "chosen", "scope", "contracts:read", "scope", "portal:link"}
	made := s.Post(keysPath, form...)
	s.Want(made, http.StatusOK, "Store it now", "Read contracts, make portal links")
	if made.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page with the key has Cache-Control %q", made.Header.Get("Cache-Control"))
	}
	found := keyValue.FindStringSubmatch(made.Text)
	if found == nil {
		t.Fatalf("no key is shown:\n%s", made.Text)
	}
	caller, err := s.keys.Authenticate(t.Context(), found[1], "203.0.113.7")
	if err != nil || caller.Shop.ID != s.First.ID || caller.Key.CreatedBy != dashboardtest.Owner {
		t.Fatalf("the key opens %+v, %v", caller, err)
	}
	s.keys.Wait()

	again := s.Post(keysPath, form...)
	s.Want(again, http.StatusUnprocessableEntity, "exists: choose another name")
	list := s.Get(keysPath)
	s.Want(list, http.StatusOK, "Warehouse", "prn_", "…"+found[1][len(found[1])-4:], "1 of 10 places are used", "25 Nov 2026, 12:00 UTC")
	for _, p := range []dashboardtest.Page{again, list} {
		if strings.Contains(p.Text, found[1]) {
			t.Errorf("%s shows the key again", p.Path)
		}
	}

	revoke := fmt.Sprintf("%s/%d/revoke", keysPath, caller.Key.ID)
	s.Want(s.Get(revoke), http.StatusOK, "Type the name of the key")
	s.Want(s.Post(revoke, "typed", "warehouse"), http.StatusUnprocessableEntity, "Type Warehouse, the name of the key")
	s.Want(s.Post(revoke, "typed", "Warehouse"), http.StatusOK, "The key was revoked", "0 of 10 places")
	if _, err := s.keys.Authenticate(t.Context(), found[1], "203.0.113.7"); err == nil {
		t.Error("a revoked key opens the store")
	}
}

func TestReplacementThatIsSentTwiceMakesOneKey(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	_, key, err := s.keys.Create(t.Context(), s.First.ID, access.NewKey{Name: "Report", Actor: activity.System})
	if err != nil {
		t.Fatal(err)
	}
	replace := fmt.Sprintf("%s/%d/replace", keysPath, key.ID)
	s.Want(s.Get(replace), http.StatusOK, "Works for 24 hours", "never used")
	s.Want(s.Post(replace, "grace", "forever", "known", "1"), http.StatusUnprocessableEntity, "Choose how long the old key works")
	s.Want(s.Post(replace, "grace", "24", "known", "1"), http.StatusOK, "Store it now", "The old key works until 26 Nov 2026, 12:00 UTC")
	s.Want(s.Post(replace, "grace", "24", "known", "1"), http.StatusUnprocessableEntity, "The keys have changed")
	s.Want(s.Get(keysPath), http.StatusOK, "2 of 10 places", "Ends 26 Nov 2026, 12:00 UTC")
}

func TestFormOfKeySaysWhatIsWrongAtItsField(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	for name, c := range map[string]struct {
		form []string
		says string
	}{
		"without a name":           {[]string{"name", " "}, `id="e-name"`},
		"with a long name":         {[]string{"name", strings.Repeat("n", 81)}, "1 to 80 characters"},
		"without a permission":     {[]string{"name", "x", "access", "chosen"}, "Choose at least one permission"},
		"with a made up one":       {[]string{"name", "x", "access", "chosen", "scope", "everything"}, `id="e-scopes"`},
		"with an end that is past": {[]string{"name", "x", "ends", "2026-11-01"}, `id="e-ends"`},
		"with an end that is none": {[]string{"name", "x", "ends", "soon"}, "must be a day such as"},
	} {
		if p := s.Post(keysPath, c.form...); p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Text, c.says) {
			t.Errorf("a form %s answers %d without %q:\n%s", name, p.Status, c.says, p.Text)
		}
	}
	s.Want(s.Post(keysPath, "name", "Today", "ends", "2026-11-25"), http.StatusOK, "26 Nov 2026, 00:00 UTC")
}

func TestEleventhKeyIsNotOffered(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	for i := range access.MaxKeys {
		if _, _, err := s.keys.Create(t.Context(), s.First.ID, access.NewKey{Name: fmt.Sprint("key ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Want(s.Get(keysPath), http.StatusOK, `aria-disabled="true"`, "10 active keys. Revoke one", "10 of 10 places")
	s.Want(s.Post(keysPath, "name", "one more"), http.StatusUnprocessableEntity, "revoke one first")
}

func TestKeysOfAnotherStoreAndRoleAreRefused(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	_, other, err := s.keys.Create(t.Context(), s.Second.ID, access.NewKey{Name: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"revoke", "replace"} {
		path := fmt.Sprintf("%s/%d/%s", keysPath, other.ID, action)
		s.Want(s.Get(path), http.StatusNotFound)
		s.Want(s.Post(path, "grace", "0", "known", "1"), http.StatusNotFound)
	}
	s.Want(s.Get(keysPath+"/x/revoke"), http.StatusNotFound)
	s.Add("sam@staff.example", staff.Support)
	s.SignIn("sam@staff.example")
	s.Want(s.Get(keysPath), http.StatusForbidden)
	s.Want(s.Post(keysPath, "name", "x"), http.StatusForbidden)
}

func TestNameOfKeyIsShownAsText(t *testing.T) {
	t.Parallel()
	s := openKeys(t)
	name := "<script>alert(1)</script>{{7*7}}"
	if _, key, err := s.keys.Create(t.Context(), s.First.ID, access.NewKey{Name: name}); err != nil {
		t.Fatal(err)
	} else {
		for _, path := range []string{keysPath, fmt.Sprintf("%s/%d/revoke", keysPath, key.ID)} {
			p := s.Get(path)
			s.Want(p, http.StatusOK, html.EscapeString("<script>alert(1)</script>")+"{{7*7}}")
			if strings.Contains(p.Text, "<script>alert") {
				t.Errorf("%s has the name as a script", path)
			}
		}
	}
}
