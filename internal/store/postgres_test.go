package store_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/store"
)

// A node that stands still in the middle of a transaction must not keep its locks
// for as long as its connection lives, and statements that read few rows must not be
// compiled. The address may say otherwise.
func TestPostgresConnectionsHaveOwnSettings(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	for _, test := range []struct{ url, longestIdle, jit string }{
		{url, "1min", "off"},
		{url + "&idle_in_transaction_session_timeout=7s", "7s", "off"},
		{url + "&jit=on", "1min", "on"},
	} {
		db, err := store.Open(t.Context(), store.Options{URL: test.url, SecretKey: make([]byte, 32)})
		if err != nil {
			t.Fatal(err)
		}
		for setting, want := range map[string]string{"idle_in_transaction_session_timeout": test.longestIdle, "jit": test.jit} {
			var got string
			if err := db.Raw().QueryRowContext(t.Context(), "SHOW "+setting).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %s is %q, want %q (%v)", test.url, setting, got, want, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
