package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/store/storetest"
)

// A store is exported from one database and imported into another, and what cannot be done is
// refused with its reason and leaves no file.
func TestExportAndImportCommandsMoveStore(t *testing.T) {
	const domain = "before.myshopify.com"
	source := storetest.Inhabited(t)["SQLite"].URL
	folder := t.TempDir()
	target := filepath.Join(folder, "target.db")
	storetest.SQLiteFile(t, target)
	t.Setenv("PERENNIAL_SECRET_KEY", base64.StdEncoding.EncodeToString(storetest.SecretKey))
	file := filepath.Join(folder, "store.zip")
	damaged := filepath.Join(folder, "damaged.zip")
	if err := os.WriteFile(damaged, []byte("PK"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, database, command string
		code                    int
		says                    string
	}{
		{"a store that is not known", source, "export --shop unknown.myshopify.com --out " + file, 1, "not known here"},
		{"a folder that is not there", source, "export --shop " + domain + " --out " + filepath.Join(folder, "none", "store.zip"), 1, "no such file or directory"},
		{"an export", source, "export --shop " + domain + " --out " + file, 0, "holds everything of " + domain},
		{"a file that is there", source, "export --shop " + domain + " --out " + file, 1, "is there already"},
		{"no file", target, "import --shop " + domain + " --archive " + file + "x", 1, "no such file or directory"},
		{"a damaged file", target, "import --shop " + domain + " --archive " + damaged, 1, "no zip file, or its end is missing"},
		{"another store", target, "import --shop other.myshopify.com --archive " + file, 1, "the archive is of " + domain},
		{"a dry run", target, "import --dry-run --shop " + domain + " --archive " + file, 0, "can take the archive"},
		{"while the service may run", target, "import --shop " + domain + " --archive " + file, 1, "--restarted"},
		{"an import", target, "import --restarted --shop " + domain + " --archive " + file, 0, "is not charged until the merchant confirms it"},
		{"the same once more", target, "import --shop " + domain + " --archive " + file, 0, "has this archive already"},
		{"into the store that it is of", source, "import --shop " + domain + " --archive " + file, 1, "an import needs an empty store"},
	} {
		t.Setenv("PERENNIAL_DATABASE", row.database)
		var out, errs bytes.Buffer
		if got := run(strings.Fields(row.command), &out, &errs); got != row.code || !strings.Contains(out.String()+errs.String(), row.says) {
			t.Errorf("%s: ended with %d and says %s%s, want %d and %q", row.name, got, &out, &errs, row.code, row.says)
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the export: %v, %v", info, err)
	}
}
