package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform/platformtest/teashop"
	"github.com/perennialhq/perennial/internal/store"
)

// Webhooks are delivered to the service, not to the command: until the service has
// subscribed to them the platform reports no change.
func TestConnectedStoreIsReadByCommandOrRunningService(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tea := teashop.Open(t, clock.System{})
	made := tea.Subscribe(time.Now().AddDate(0, 0, 9))
	domain := tea.At.Domain
	key := []byte("0123456789abcdef0123456789abcdef")
	file, token := filepath.Join(t.TempDir(), "perennial.db"), filepath.Join(t.TempDir(), "token")
	must(os.WriteFile(token, []byte("shpat_demo\n"), 0o600))
	t.Setenv("PERENNIAL_DATABASE", file)
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString(key))
	t.Setenv("PERENNIAL_PLATFORM_URL", tea.URL)
	var out, errs bytes.Buffer
	if got := run([]string{"migrate"}, &out, &errs); got != 0 {
		t.Fatalf("migrate ended with %d: %s", got, &errs)
	}
	if got := run([]string{"shops", "connect", "--shop", domain, "--token-file", token}, &out, &errs); got != 0 {
		t.Fatalf("shops connect ended with %d: %s", got, &errs)
	}
	db, err := store.Open(t.Context(), store.Options{URL: file, SecretKey: key, Relaxed: true})
	must(err)
	defer db.Close()
	id, err := db.Shops().IDOf(t.Context(), domain)
	must(err)
	must(db.Update(t.Context(), id, func(tx *store.Tx) error {
		rows, err := tx.Contracts(t.Context(), []contract.ID{contract.ID(made)})
		if err == nil && len(rows) != 1 {
			t.Error("the contract was not read")
		}
		return err
	}))
	due, err := db.Shops().UnreconciledShops(t.Context(), time.Now(), 10)
	must(err)
	if len(due) != 1 {
		t.Error("the service does not reconcile the store at once")
	}

	// The key is lost: another one opens nothing, and only --key-lost replaces the token.
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString([]byte("fedcba9876543210fedcba9876543210")))
	connect := []string{"shops", "connect", "--shop", domain, "--token-file", token}
	refuses(t, 1, "cannot be opened with this secret key: check PERENNIAL_SECRET_KEY", connect...)
	out.Reset()
	if got := run(append(connect, "--key-lost"), &out, &errs); got != 0 || !strings.Contains(out.String(), "lost with the secret key: the secrets of 0 webhook endpoints") {
		t.Errorf("with --key-lost it ended with %d: %s %s", got, &out, &errs)
	}
	out.Reset()
	if got := run(append(connect, "--key-lost"), &out, &errs); got != 0 || strings.Contains(out.String(), "lost") {
		t.Errorf("once more it ended with %d: %s %s", got, &out, &errs)
	}
}
