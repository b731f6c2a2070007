package pages

import (
	"cmp"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var postgres = flag.Bool("postgres", false, "run the sandboxes on PostgreSQL instead of SQLite")

// rareChecks is the time between two comparisons of a sandbox with the platform: no page shows them.
const rareChecks = 7 * 24 * time.Hour

// run starts a sandbox that ends with the test. On SQLite its tasks are carried out inline, and it is
// seldom compared with the platform.
func run(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	o.DataDir, o.Listen, o.Log = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler)
	if *postgres {
		o.Database = storetest.PostgresOptions(t).URL
	} else {
		o.Inline, o.CheckEvery = true, cmp.Or(o.CheckEvery, rareChecks)
		o.Database = filepath.Join(o.DataDir, "perennial.db")
		storetest.SQLiteFile(t, o.Database)
	}
	s, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return s
}

// make sends an order to the control interface and reads the answer.
func (s *site) make(t *testing.T, path string, body, out any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.Control+path, "application/json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s answered %d", path, answer.StatusCode)
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		t.Fatal(err)
	}
}

// rest waits until nothing is under way any more.
func (s *site) rest(t *testing.T) {
	t.Helper()
	var mails []struct{ Kind string }
	s.read(t, "/mail", &mails)
}
