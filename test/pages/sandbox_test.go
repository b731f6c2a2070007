package pages

import (
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

var postgres = flag.Bool("postgres", false, "run the sandboxes on PostgreSQL instead of SQLite")

// run starts a sandbox that ends with the test.
func run(t *testing.T, o sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	o.DataDir, o.Listen, o.Log = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler)
	if *postgres {
		o.Database = storetest.PostgresOptions(t).URL
	} else {
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
