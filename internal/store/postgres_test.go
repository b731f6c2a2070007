package store_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/store"
)

// A node that stands still in the middle of a transaction must not keep its locks
// for as long as its connection lives.
func TestPostgresEndsIdleTransactions(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	for _, test := range []struct{ url, want string }{{url, "1min"}, {url + "&idle_in_transaction_session_timeout=7s", "7s"}} {
		db, err := store.Open(t.Context(), store.Options{URL: test.url, SecretKey: make([]byte, 32)})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.Raw().QueryRowContext(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&got); err != nil || got != test.want {
			t.Errorf("%s: a transaction may wait %q for its client, want %q (%v)", test.url, got, test.want, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
