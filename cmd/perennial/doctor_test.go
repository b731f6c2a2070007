package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/app/doctor"
)

// Each failure says what to do, the exit code is 1 then, and programs read JSON.
func TestDoctorCommandPrintsFindingsAndFails(t *testing.T) {
	t.Setenv("PERENNIAL_DATABASE", filepath.Join(t.TempDir(), "perennial.db"))
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")))
	t.Setenv("PERENNIAL_APP_SECRET", "hush")
	var out, errs bytes.Buffer
	if got := run([]string{"migrate"}, &out, &errs); got != 0 {
		t.Fatalf("migrate ended with %d: %s", got, &errs)
	}
	out.Reset()
	if got := run([]string{"doctor"}, &out, &errs); got != 1 {
		t.Errorf("doctor ended with %d: %s", got, &errs)
	}
	for _, want := range []string{"STATE", "failed       public address", "→ set PERENNIAL_PUBLIC_URL", "ok           database schema", "not checked  backups"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &out)
		}
	}
	out.Reset()
	if got := run([]string{"doctor", "--json"}, &out, &errs); got != 1 {
		t.Errorf("doctor --json ended with %d: %s", got, &errs)
	}
	var read struct {
		Failed bool
		Checks []doctor.Finding
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || !read.Failed || len(read.Checks) < 15 {
		t.Errorf("%v, %+v", err, read)
	}
	if strings.Contains(out.String(), "hush") {
		t.Error("a secret is printed")
	}
}
